"""The code of a release runs as it stands, and makes the same release again."""

import dataclasses
import json
import shlex

import geopandas
import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from shapely import box

import dpviz
from dpviz.datasets import DATASETS
from dpviz.errors import ParameterError, ReleaseError
from dpviz.exports.data_use import data_use
from dpviz.exports.report import report_page
from dpviz.planning.calls import code_of
from tests.commands import as_json, fails, run

DOMAIN = dpviz.Domain((-1.0, 50.0), (1.0, 52.0), columns=("x", "y"))
EVENTS = "crashes.csv --public --seed=7 --graph=nodes.csv,edges.csv"
TRIPS = "trips.csv --public --seed=7 --graph=nodes.csv,edges.csv"
PLACES = "visits.csv --public --seed=7 --bounds=-1,50,1,52 --time=at --unit=who --max-per-unit=3"
PAIRS = "visits.csv --public --seed=7 --columns=x,y,x2,y2 --bounds=-1,50,-1,50,1,52,1,52"
FILE = "visits.csv --public --seed=7 --columns=x,y --bounds=-1,50,1,52"


def without_placeholders(code, words):
    """Printed code with the seed and the files that no release holds."""
    edges = "apart.csv" if "apart" in words else "edges.csv"
    for name, value in {
        "--seed 0": "--seed 7",
        "simulate=True": "seed=7",
        "AREAS": "wards.gpkg",
        "'GRAPH'": f"'nodes.csv', '{edges}'",
        "GRAPH": f"nodes.csv,{edges}",
    }.items():
        code = code.replace(name, value)
    return code


def same(one, other):
    assert one.to_arrow().equals(other.to_arrow())
    if one.kind == "points":
        np.testing.assert_array_equal(one.nodes.lo, other.nodes.lo)
    if one.kind == "areas":
        assert one.frame.names == other.frame.names
    if one.kind in ("points", "areas"):
        assert one.domain == other.domain
    assert one.header == other.header


@pytest.fixture
def folder(tmp_path, monkeypatch):
    points = np.random.default_rng(0).uniform([-1, 50], [1, 52], (500, 2))
    frame = pd.DataFrame(points.round(6), columns=["x", "y"])
    frame["who"] = np.arange(500) // 5
    frame["mode"], frame["fare"] = np.where(frame["who"] % 3, "bike", "walk"), frame["who"] % 40
    frame["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(500) % 72, "h")
    frame["x2"], frame["y2"] = frame["x"][::-1].to_numpy(), frame["y"][::-1].to_numpy()
    frame.to_csv(tmp_path / "visits.csv", index=False)
    wards = {"ward": ["a", "b", "c"], "side": ["west", "east", "east"]}
    shapes = [box(-1, 50, 0, 52), box(0, 50, 1, 51), box(0, 51, 1, 52)]
    (tmp_path / "nodes.csv").write_text("node,x,y\na,0,0\nb,1,0\nc,2,0\nd,3,1\n")
    (tmp_path / "edges.csv").write_text("edge,src,dst\n1,a,b\n2,b,c\n3,c,d\n")
    (tmp_path / "trips.csv").write_text(
        "trip,edge,who,at\n1,1,p,2024-01-01\n1,2,p,\n2,2,p,2024-01-02T23:30\n3,3,q,2024-01-02\n"
    )
    (tmp_path / "trips.json").write_text('[{"edges": [1, 2]}, {"edges": [3]}]')
    (tmp_path / "crashes.csv").write_text("px,py,who\n0.5,0.1,p\n1.5,0,p\n2.5,0.4,q\n")
    (tmp_path / "apart.csv").write_text("edge,src,dst\n1,a,b\n2,c,d\n")
    (tmp_path / "WORKLOAD").write_text("west,south,east,north\n-1,50,-0.9,50.1\n0,51,0.2,51.2\n")
    (tmp_path / "walks.txt").write_text("a b a\nb c\na\n")
    (tmp_path / "walks.csv").write_text("who,walk\n1,a b a\n1,b x c\n2,a\n")
    geopandas.GeoDataFrame(wards, geometry=shapes, crs=4326).to_file(tmp_path / "wards.gpkg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "city-50k --seed=7 --method=ugrid --set cells=8 --want='any 9 km2 +-50'",
        f"{FILE} --method=quadtree --set=height=3 --set=budget=uniform --epsilon=0.3 "
        "--bits=12 --unit=who --max-per-unit=9 --neighbours=replace",
        f"{FILE} --method=ugrid --kind=mode --kinds=bike,walk --sum=fare --clip=0,9 --sum-share=.3",
        f"{FILE} --areas=wards.gpkg --levels=side,ward --set=whole=true "
        "--unit=who --max-per-unit=2 --want='areas=wards.gpkg +-50'",
        "city-50k --seed=7 --areas=h3:5",
        f"{FILE} --areas='rect=-1,50,0,51.5;rect=0,51,.5,52'",
        f"{FILE} --method=ugrid --set=cells=4 --time=at --period=2024-01-01,2024-01-15 --every=2w",
        f"{FILE} --method=hot_grid --workload=hot --set=side=0.2",
        f"{FILE} --method=hot_grid --workload=WORKLOAD",
        f"{PAIRS} --method=ugrid --set=cells=3",
        f"{TRIPS} --workload=clustered:2 --set=limit=2 --set=truncation=fixed",
        f"{TRIPS} --workload=corridor --unit=who --max-per-unit=2 --directed",
        "trips.json --public --seed=7 --graph=nodes.csv,edges.csv --columns=edges "
        "--workload=corridor",
        f"{EVENTS} --workload=corridor --columns=px,py --unit=who --max-per-unit=2",
        f"{TRIPS.replace('edges', 'apart')} --components=all --drop-unknown",
        "generate:50 --seed=7 --graph=nodes.csv,edges.csv --workload=corridor",
        f"{TRIPS} --time=at --cycle=week --every=1d --zone=Asia/Tokyo --method=dwork",
        "walks.txt --public --seed=7 --alphabet=a,b,c --set=l_top=4",
        "walks.csv --public --seed=7 --alphabet=a,b,c --column=walk --drop-unknown",
        f"{PLACES} --side=3 --gap=2 --steps --epsilon=0.5",
    ],
    ids=[
        *("built-in", "file", "attributes", "areas", "hexagons", "rectangles"),
        *("time", "workload", "queries", "trips", "roads", "one-way"),
        *("lists", "events", "apart", "made up", "days"),
        *("symbols", "columns", "places"),
    ],
)
def test_command_python_and_notebook_make_the_same_release(folder, words):
    """Points, in time, with kinds and values, pairs; areas, roads, sequences."""
    source, *options = shlex.split(words)
    assert run("build", source, *options, "-o", "first.parquet")[0] == 0
    first = dpviz.read("first.parquet")
    given = [] if source in DATASETS else ["--source", source]
    code = ["info", "first.parquet", *given, "--code"]
    _, command, _ = run(*code, "command")
    assert run(*shlex.split(without_placeholders(command, words))[1:])[0] == 0
    same(dpviz.read("release.parquet"), first)
    (folder / "release.parquet").unlink()
    _, python, _ = run(*code, "python")
    exec(without_placeholders(python, words), {})
    same(dpviz.read("release.parquet"), first)
    (folder / "release.parquet").unlink()
    _, notebook, _ = run(*code, "notebook")
    cells = json.loads(without_placeholders(notebook, words))["cells"]
    space = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    same(dpviz.read("release.parquet"), first)


def test_text_of_a_header_is_inert_in_a_notebook(folder):
    release = dpviz.build(dpviz.load("persons"), "ugrid", 1.0, seed=7, cells=2)
    odd = "x\n\n# owned\n```\n<img src=x onerror=alert(1)> [go](http://evil.example)\x1b[2J"
    header = dataclasses.replace(release.header, unit=odd, guarantee=odd)
    dataclasses.replace(release, header=header).save("odd.parquet")
    _, notebook, _ = run("info", "odd.parquet", "--code", "notebook")
    cell = json.loads(notebook)["cells"][0]
    shown = MarkdownIt("commonmark").enable("table").parse("".join(cell["source"]))
    blocks = [token.tag for token in shown if token.nesting == 1 or token.type == "code_block"]
    assert blocks[0] == "h1"
    assert set(blocks[1:]) == {"p", "code"}
    children = [each for token in shown for each in token.children or ()]
    assert {each.type for each in children} <= {"text", "text_special", "softbreak"}
    assert "\x1b" not in "".join(cell["source"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [f"build {FILE} --method=ugrid --set=cells=4", "build walks.txt --alphabet=a,b,c"]
)
def test_the_code_pays_from_the_account_that_the_release_did(folder, words):
    """The file's own name would be another account, whose whole budget could be spent again."""
    arguments = [each for each in shlex.split(words) if each not in ("--public", "--seed=7")]
    assert run(*arguments, "--dataset", "people", "-o", "first.parquet")[0] == 0
    source = arguments[arguments.index("build") + 1]
    code = ["info", "first.parquet", "--source", source, "--code"]
    _, command, _ = run(*code, "command")
    assert run(*shlex.split(command)[1:])[0] == 0
    (folder / "release.parquet").unlink()
    _, python, _ = run(*code, "python")
    exec(python, {})
    assert dpviz.Ledger().account("people").spent == pytest.approx(3.0)


@pytest.mark.slow
def test_the_code_of_sensitive_records_names_no_file(folder):
    data = dpviz.load(folder / "visits.csv", DOMAIN)
    release = dpviz.build(data, "ugrid", 0.5, cells=4)
    script = code_of(release)
    assert shlex.split(code_of(release, "-o.csv").command())[:3] == ["dpviz", "build", "./-o.csv"]
    assert "visits" not in script.command() + script.python()
    assert "--public" not in script.command()
    page = report_page([release])
    assert "--set cells=4" in page
    assert str(folder) not in page


@pytest.mark.slow
def test_a_header_cannot_smuggle_code_in():
    release = dpviz.build(dpviz.from_points([[0, 51]], DOMAIN), "ugrid", cells=2)
    for change in (
        {"parameters": {"cells=2); import os; print(": 1}},
        {"method": "ugrid'); import os; ('"},
    ):
        strange = dataclasses.replace(release, header=dataclasses.replace(release.header, **change))
        with pytest.raises(ParameterError):
            code_of(strange)
        assert "import os" not in report_page([strange]).partition("<h2>The code</h2>")[2]
    unit = "one '); import os; (' with at most 3 records"
    strange = dataclasses.replace(release, header=dataclasses.replace(release.header, unit=unit))
    script = code_of(strange)
    compile(script.python(), "", "exec")
    assert repr("'); import os; ('") in script.python()
    assert "'); import os; ('" in shlex.split(script.command())


def test_the_statement_says_what_is_hidden_and_nothing_of_what_is_not(folder):
    data = dpviz.load(folder / "visits.csv", DOMAIN, unit="who", max_per_unit=5)
    release = dpviz.build(data, "ugrid", 0.5, cells=4)
    path = release.save(folder / "r.parquet")
    entry = as_json("info", path, "--code", "statement")
    deployment = entry["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {
        "epsilon": 0.5,
        "delta": None,
        "rho": None,
    }
    assert deployment["privacy_loss"]["privacy_unit"] == "one who with at most 5 records"
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert "public domain" in deployment["dp_variant"]["unprotected_quantities"]
    assert deployment["basic"]["data_curators"] is None  # for the publisher to fill in
    _, text, _ = run("info", path, "--code", "statement")
    assert "It hides one who with at most 5 records from everyone who sees the release" in text
    public = dpviz.from_points([[0, 51]], DOMAIN, public=True)
    simulated = data_use(dpviz.build(public, "ugrid", 0.5, seed=1, cells=4))["deployment"]
    assert simulated["dp_variant"]["variant_name"] is None
    assert set(simulated["privacy_loss"]["privacy_parameters"].values()) == {None}
    assert simulated["deployment_model"]["actors"] == "Nothing is hidden."
    assert "choose one of" in fails("info", path, "--code", "perl")
    assert "requires --code" in fails("info", path, "--source", "a.csv")


@pytest.mark.slow
@pytest.mark.parametrize("cells", [5, {"domain": "x"}, {"side": {}}, {"domain": {"lower": 1}}])
def test_a_header_of_damaged_cells_has_no_code(cells):
    release = dpviz.build(dpviz.load("city", kind="sequences"), "ngram", seed=1)
    extra = {**release.header.extra, "cells": cells}
    strange = dataclasses.replace(release, header=dataclasses.replace(release.header, extra=extra))
    with pytest.raises(ReleaseError, match="cells in the header are damaged"):
        code_of(strange)


def test_a_session_that_is_none_and_a_bound_without_end_are_not_read():
    release = dpviz.build(dpviz.load("city", kind="sequences"), "ngram", seed=1)
    usual = code_of(release).python().replace(", gap=12.0", "")
    extra, unit = {**release.header.extra, "session": 5}, f"one x with at most {'9' * 5_000} trips"
    header = dataclasses.replace(release.header, extra=extra, unit=unit)
    assert code_of(dataclasses.replace(release, header=header)).python() == usual


@pytest.mark.parametrize("kinds", [["bus, tram", "bike"], [" walk ", '5"'], ["one,"], ['"']])
def test_a_command_builds_what_its_lists_name_whatever_they_hold(tmp_path, kinds, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = ("x,1", ' the "y"')
    rows = pd.DataFrame([[0.5, 0.5, kinds[0]]] * 9, columns=[*columns, "what"])
    rows.to_csv("visits.csv", index=False)
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], columns, kind="what", kinds=kinds)
    data = dpviz.load("visits.csv", domain, public=True)
    first = dpviz.build(data, "ugrid", seed=0, cells=2)
    assert run(*shlex.split(code_of(first, "visits.csv").command())[1:])[0] == 0
    same(dpviz.read("release.parquet"), first)


def test_a_stray_quote_in_a_list_is_refused(folder):
    words = ["visits.csv", "--bounds=-1,50,1,52", "--kind=mode", "-o", "r.parquet", "--kinds"]
    for kinds in ('bike,"walk', 'bi"ke', '"bike"walk'):
        assert f"--kinds {kinds!r}: unmatched quotation mark" in fails("build", *words, kinds)
