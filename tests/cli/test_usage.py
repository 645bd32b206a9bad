"""Options that do not apply, or are ambiguous, are refused; none is silently ignored."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.cli.root import numbers
from tests.commands import fails, refused, run, seen

BOX = "--bounds=0,0,1,1"
POINTS = ("build", "points.csv", BOX, "-o", "out.parquet")
CITY = ("--public", "--seed", "1", "-o", "out.parquet")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("build", "points.csv", "--bounds=0,0,1_0,1", "-o", "out.parquet"), "'1_0' is not a"),
        (("query", "r.parquet", "--rect", "0,0,١,1"), "'١' is not a number"),
        (("match", "r.parquet", "r.parquet", "--within", "1_0"), "'1_0' is not a number"),
        ((*POINTS, "--method", "ugrid", "--set", "cells=1_0"), "cells='1_0': give a number"),
        ((*POINTS, "--areas", "rect=0,0,1_0,1"), "a rect is four numbers"),
        ((*POINTS, "--want", "rect=0,0,1_0,1 ±5"), "a rect is four numbers"),
        ((*POINTS, "--want", "rect=0,0,1,1 ±٥"), "write it as"),
        (
            ("build", "city", "--graph=city", "--workload", "clustered:١", *CITY),
            "workload 'clustered:١': give clustered:LENGTH",
        ),
    ],
)
def test_odd_numbers_are_refused(folder, words, line):
    refused(folder, words, line)


@pytest.mark.parametrize(("group", "option"), [("roads", "--graph"), ("sequences", "--alphabet")])
def test_a_former_group_of_commands_names_what_replaces_it(group, option):
    assert f"use 'dpviz build … {option} " in fails(group, "build", "trips.csv")


@pytest.mark.parametrize("word", ["data", "seed", "self"])
@pytest.mark.parametrize(
    "command",
    [
        [*POINTS, "--method", "ugrid", "--set"],
        ["audit", "ugrid", "--trials", "100", "--set"],
    ],
    ids=["build", "audit"],
)
def test_a_parameter_named_like_a_python_argument_is_refused(folder, command, word):
    """Python would refuse it with "got multiple values for argument"."""
    refused(folder, [*command, f"{word}=x"], f"method ugrid has no parameter {word!r}: it has")


def test_repeated_options_and_numeric_names_are_accepted(folder):
    assert run("query", "r.parquet", "--rect=0,0,1,1", "--rect=0,0,0.5,1e0")[0] == 0
    assert seen(*POINTS, "--dataset", "2024_01", "--json", "--json")[0] == 0
    assert dpviz.Ledger().account("2024_01").spent == 1
    assert numbers("1e-6,-.5,2.", "--within") == [1e-6, -0.5, 2.0]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("build", "absent.csv", BOX, "-o", "out.parquet"), "no file 'absent.csv'"),
        (("build", "points.csv", "-o", "out.parquet"), "--bounds is missing"),
        (("build", "city-50", "-o", "out.parquet"), "give a path, or one of city-250k"),
        (("info", "r.parquet", "--source", "x.csv"), "--source requires --code: give it too"),
        ((*POINTS, "--declare-public"), "--declare-public requires --public"),
        (("build", "city-50k", "--declare-public", "-o", "out.parquet"), "requires --public"),
        (
            (*POINTS, "--public", "--purpose", "x"),
            "public data are not entered in the ledger: leave",
        ),
        (("build", "city-50k", "--purpose", "x", "-o", "out.parquet"), "public data are not"),
        (
            ("build", "city-50k", "--ledger", "x.sqlite", "-o", "out.parquet"),
            "--ledger is not for built-in data, which cost nothing",
        ),
        *(
            (("build", "city", frame, *unfit, *CITY), line)
            for frame, unfit, line in (
                ("--graph=city", ("--dataset", "x"), "not for the built-in trips: leave it out"),
                ("--side=8", ("--dataset", "x"), "not for the built-in sequences: leave it out"),
                ("--graph=nodes.csv", (), "the built-in trips need --graph city"),
                ("--graph=city", ("--ledger", "x.sqlite"), "--ledger is not for built-in"),
                ("--public", (), "give --graph city for trips, or --side 8"),
            )
        ),
        (
            ("build", "points.csv", "-o", "out.parquet", "--alphabet=a,", "--gap=0"),
            "--alphabet and --gap are for different kinds of data: give one",
        ),
        *(
            (("audit", *words), line)
            for words, line in (
                (("all", "--set", "cells=3"), "--set is for one method"),
                (("privtree", "--seed", "1", "--secure"), "--secure draws exact noise: give one"),
            )
        ),
    ],
)
def test_an_unknown_source_or_an_option_of_something_else_is_refused(folder, words, line):
    refused(folder, words, line)


def test_the_app_refuses_a_file_that_is_not_a_release(folder, monkeypatch):
    """Regression: the server started, and a page showed the error."""
    monkeypatch.setattr("streamlit.web.cli.main", lambda: pytest.fail("a server started"))
    refused(folder, ("app", "points.csv"), "points.csv")


@pytest.mark.parametrize("beside", [("kinds",), ("sums",), ("kinds", "sums")])
def test_a_sample_says_what_it_lacks(folder, beside):
    rng = np.random.default_rng(0)
    columns = {"lon": rng.random(50), "lat": rng.random(50), "k": ["a"] * 50, "v": [1.0] * 50}
    pq.write_table(pa.table(columns), "kinds.parquet")
    words = ["--kind", "k", "--kinds", "a,b"] if "kinds" in beside else []
    words += ["--sum", "v", "--clip=0,2", "--grid", "1"] if "sums" in beside else []
    built = ("build", "kinds.parquet", BOX, *words, "--public", "--seed", 1, "-o", "k.parquet")
    assert run(*built)[0] == 0
    _, _, err = run("sample", "k.parquet", "-o", "s.csv", "-n", 5)
    assert f"note: the points have no {' and '.join(beside)}:" in err
    assert run("sample", "r.parquet", "-o", "plain.csv", "-n", 5)[2] == ""


def test_records_of_the_current_folder_pay_under_its_name(folder, monkeypatch):
    (folder / "visits").mkdir()
    monkeypatch.chdir(folder / "visits")
    pq.write_table(pa.table({"lon": [0.5], "lat": [0.5]}), "a.parquet")
    assert dpviz.load(".", dpviz.Domain((0, 0), (1, 1))).name == "visits"


def test_a_missing_ledger_is_refused(folder):
    for words in (("verify",), ("show",), ("show", "people")):
        line = "--ledger 'no/ledger.sqlite': no such file: check its name"
        words = ("ledger", *words, "--ledger", "no/ledger.sqlite")
        refused(folder, words, line)
    assert run("ledger", "verify")[1].endswith(": no ledger yet\n")
    assert run("ledger", "verify", "--accept", "--ledger", "new.sqlite")[0] == 0


def test_match_states_how_to_declare_data_public(folder):
    dpviz.Ledger().set_total("points", 1)
    records = ("--records-a", "points.csv", "--records-b", "points.csv", "--public")
    line = fails("match", "r.parquet", "r.parquet", "--within", "0.1", *records)
    assert "declare it public with declare_public=True (dpviz build --public --declare" in line
    build = ("build", "points.csv", BOX, "--public", "--declare-public", "-o", "out.parquet")
    assert run(*build)[0] == 0
    assert run("match", "r.parquet", "r.parquet", "--within", "0.1", *records)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("far", "line"),
    [
        (400, "warning: the graph's bounds 0,0,400,1 reach far beyond the area of use"),
        (1e6, "reach far beyond the area of use"),
    ],
)
def test_a_graph_is_doubted_as_bounds_are(folder, far, line):
    (folder / "nodes.csv").write_text(f"node,x,y\na,0,0\nb,{far},1\n")
    (folder / "edges.csv").write_text("edge,src,dst,length\n1,a,b,1\n")
    (folder / "walks.csv").write_text("trip,edge\n1,1\n")
    words = ("build", "walks.csv", "--graph", "nodes.csv,edges.csv", "-o", "out.parquet")
    words += ("--workload", "clustered:1", "--method", "event-histogram")
    assert line in run(*words, "--crs", "EPSG:4326")[2]
    (folder / "out.parquet").unlink(missing_ok=True)
    assert "warning" not in run(*words[:-4], *words[-4:])[2]


def test_a_graph_outside_the_area_of_use_is_refused(folder):
    (folder / "nodes.csv").write_text("node,x,y\na,14.5,-24\nb,14.6,-23.9\n")
    (folder / "edges.csv").write_text("edge,src,dst,length\n1,a,b,1\n")
    words = ("build", "walks.csv", "--graph", "nodes.csv,edges.csv", "-o", "out.parquet")
    line = "lie outside the area of use of EPSG:32631"
    refused(folder, (*words, "--crs", "EPSG:32631"), line)


LONG = "x" * 300
"""A name that no system takes."""


@pytest.mark.parametrize(
    "words",
    [
        ("build", "points.csv", BOX, "-o", f"{LONG}.parquet"),
        ("check", f"{LONG}.csv", BOX),
        ("app", LONG),
    ],
)
def test_a_file_name_that_is_too_long_is_one_line(folder, words):
    line = (
        "names of up to 255 bytes"
        if words[0] == "check"
        else "File name too long: give another file"
    )
    refused(folder, words, line)
