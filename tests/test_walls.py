"""The house holds its shape: who may see records, what start-up may import, what is documented."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpviz.methods import of_kind

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpviz"
INSIDE = ("private", "methods")
DOORS = (
    "build.py",
    "evaluation/truth.py",
    "evaluation/sequence_truth.py",
    "evaluation/audit.py",
    "evaluation/sequence_audit.py",
    "evaluation/lesson.py",
    "evaluation/privtree_trace.py",
)
READERS = ("dpviz.private.load", "dpviz.private.roads", "dpviz.private.sequences")
"""Rooms of roads and sequences that still import the vault's readers for their opaque handles."""

KINDS = (
    "releases/roads",
    "releases/sequences",
    "evaluation/roads.py",
    "evaluation/sequences.py",
    "ui/roads",
    "ui/sequences",
    "cli",
)


def imports(path, *, types=False):
    """Modules a file imports at run time; what stands under TYPE_CHECKING counts with ``types``."""
    tree = ast.parse(path.read_text())
    skipped = set()
    for node in () if types else ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            skipped |= {id(each) for child in node.body for each in ast.walk(child)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(*folders):
    for folder in folders or (".",):
        yield from sorted((PACKAGE / folder).rglob("*.py"))


def within(path, names):
    place = path.relative_to(PACKAGE).as_posix()
    return any(place == name or place.startswith(f"{name}/") for name in names)


def test_only_the_vault_and_its_doors_import_private():
    strangers = [
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if not within(path, INSIDE + DOORS)
        and any(
            name.startswith("dpviz.private")
            and not (within(path, KINDS) and name.startswith(READERS))
            and path.name != "publish.py"
            for name in imports(path, types=True)
        )
    ]
    assert strangers == []


def test_only_the_app_knows_streamlit():
    strangers = [
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if not within(path, ("ui",))
        and path.relative_to(PACKAGE).as_posix() != "cli/catalogue.py"  # the command that starts it
        and any(name.split(".")[0] == "streamlit" for name in imports(path))
    ]
    assert strangers == []


def test_the_app_reads_no_private_attribute_of_a_handle():
    offenders = [
        f"{path.name}:{node.lineno}"
        for path in modules("ui", "cli", "render")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "_index"
    ]
    assert offenders == []


def test_start_up_imports_nothing_heavy():
    heavy = "pandas geopandas numba scipy pyproj shapely duckdb matplotlib networkx opendp"
    code = (
        "import sys, dpviz, dpviz.cli\n"
        f"print(*[name for name in {heavy.split()} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", sorted(of_kind("points")))
def test_every_method_documents_itself(name):
    cls = of_kind("points")[name]
    document = cls.__doc__
    for needed in ("Privacy:", "Do not use", ">>>"):
        assert needed in document or (needed == "Privacy:" and "NOT PRIVATE" in document), needed
    assert cls.paper
    assert cls.title
    assert cls.advice
    for field in cls.knobs().values():
        assert field.metadata["knob"].help, field.name


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)], ids=" ".join
)
def test_linters(command):
    program = shutil.which(command[0], path=str(Path(sys.executable).parent)) or command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
