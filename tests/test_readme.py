import inspect
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.cli import main
from tests import apidocs
from tests.readme import README, ROOT, TABLES, with_tables

AGAIN = "run: uv run python -m tests.readme"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def pickups(tmp_path, monkeypatch):
    """The file that the README's examples read, in the folder where they run."""
    points = np.random.default_rng(0).normal([-73.97, 40.76], 0.03, (5_000, 2))
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1]})
    pq.write_table(table, tmp_path / "pickups.parquet")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_up_to_date(name):
    text = (ROOT / "assets" / name).read_text()
    assert with_tables(name, text) == text, AGAIN


def test_the_readme_is_a_screen_and_a_half():
    assert len(README.read_bytes()) <= 6_000


def test_the_page_on_the_api_is_up_to_date():
    assert apidocs.PAGE.read_text() == apidocs.page(), AGAIN


def test_every_public_name_is_documented_with_every_argument():
    names = list(apidocs.public())
    assert len(names) > 40
    for package, name, obj in names:
        assert len(apidocs.entry(name, obj)) > 20, f"{package}.{name}"
        if not (inspect.isfunction(obj) and "Args:\n" in (obj.__doc__ or "")):
            continue
        listed = re.search(r"\*\*Args\*\*\n\n((?:- .*\n)+)", apidocs.entry(name, obj))[1]
        documented = [
            x.strip(" *") for x in ",".join(re.findall(r"^- `(.+?)`:", listed, re.M)).split(",")
        ]
        assert documented == list(inspect.signature(obj).parameters), f"{package}.{name}"


def test_the_python_example_runs(pickups, capsys):
    (example,) = blocks("python")
    exec(example, {})
    assert "differentially private, ε = 1" in capsys.readouterr().out


def test_the_commands_run(pickups, capsys, monkeypatch):
    commands = [
        line.split()[2:] for line in "".join(blocks("sh")).splitlines() if "run dpviz" in line
    ]
    assert len(commands) >= 3
    for words in commands:
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as done:
            main()
        assert not done.value.code, (words, capsys.readouterr().err)


PAGES = [README, *sorted((ROOT / "assets").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pictures_and_links_exist(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tests_that_a_page_names_exist(page):
    for target in re.findall(r"\btests/[\w/]+(?:\.py|\.txt)?", page.read_text()):
        assert "NAME" in target or (ROOT / target).exists(), target


def test_the_index_lists_every_page():
    index = ROOT / "assets" / "index.md"
    listed = set(re.findall(r"\]\((?!http)([^)#]+)\)", index.read_text()))
    pages = {page.name for page in (ROOT / "assets").glob("*.md")} - {index.name}
    assert pages <= listed
