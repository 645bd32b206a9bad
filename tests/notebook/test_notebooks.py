"""The notebooks of the documentation run from top to bottom, and are stored without outputs."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "assets" / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def value(code, names):
    """Runs a cell as a notebook does; the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return (
        None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_something_is_shown(path, capsys):
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    names, shown = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            shown.append(value("".join(cell["source"]), names))
    assert any("_columns" in each.keys for each in shown if hasattr(each, "get_state"))
    assert "nan" not in capsys.readouterr().out


def test_each_kind_of_reader_has_a_notebook():
    assert [path.stem for path in NOTEBOOKS] == ["five-minutes", "lesson", "stakeholder"]
