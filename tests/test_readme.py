import importlib
import inspect
import re

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from tests.commands import blocks, run_commands
from tests.readme import README, ROOT, TABLES, with_tables

AGAIN = "run: uv run python -m tests.readme"


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


def public_names():
    for package in ("dpviz", "dpviz.exports", "dpviz.methods", "dpviz.render", "dpviz.datasets"):
        module = importlib.import_module(package)
        yield from ((f"{package}.{name}", getattr(module, name)) for name in module.__all__)


def test_public_functions_document_every_argument():
    checked = 0
    for name, member in public_names():
        if not inspect.isroutine(member):
            continue
        text = inspect.getdoc(member)
        assert text, name
        section = re.search(r"^Args:\n((?: {4}.*\n?)+)", text, re.MULTILINE)
        if section is None:
            continue
        heads = re.findall(r"^ {4}(\S[\w*, ]*?):", section[1], re.MULTILINE)
        documented = [each.strip(" *") for each in ",".join(heads).split(",")]
        assert documented == list(inspect.signature(member).parameters), name
        checked += 1
    assert checked > 15


def test_the_python_example_runs(pickups, capsys):
    (example,) = blocks("python", README)
    exec(example, {})
    assert "differentially private, ε = 1" in capsys.readouterr().out


def test_the_commands_run(pickups):
    assert len(run_commands(README)) >= 3


@pytest.fixture
def wards(tmp_path, monkeypatch):
    """The files that the examples of the page on areas read."""
    monkeypatch.chdir(tmp_path)
    west, south = np.meshgrid(np.arange(14.4, 14.95, 0.1), np.arange(-24.1, -23.65, 0.1))
    shapes = shapely.box(west, south, west + 0.1, south + 0.1).ravel()
    names = {"country": "land", "district": [f"d{at // 6}" for at in range(30)]}
    frame = geopandas.GeoDataFrame(names, geometry=shapes, crs=4326)
    frame["ward"] = [f"w{at}" for at in range(30)]
    frame.to_file("wards.gpkg")
    frame[["ward", "geometry"]].to_file("mine.gpkg")
    frame[["ward", "geometry"]].to_file("cities.gpkg", layer="wards")
    frame[["district", "geometry"]].to_file("cities.gpkg", layer="districts")
    places = np.random.default_rng(0).uniform([14.4, -24.1], [15.0, -23.6], (2_000, 2))
    visits = pd.DataFrame(places, columns=["lon", "lat"]).assign(person=np.arange(2_000) // 4)
    visits.to_csv("visits.csv", index=False)


def test_the_examples_on_areas_run_one_after_another(wards):
    """Those in Python read the file with a unit, those of the shell without: the ledger refused."""
    page = ROOT / "assets" / "areas.md"
    printed = run_commands(page)
    assert len(printed) >= 3
    assert "add or remove one person with at most 5" in "".join(printed)
    (example,) = blocks("python", page)
    exec(example, {})


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
