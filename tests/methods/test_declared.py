"""A declared workload: a public rule from the purpose of a release to parameters."""

import numpy as np
import pytest

import dpviz
from dpviz.datasets import DATASETS
from dpviz.errors import DomainError, ParameterError
from dpviz.methods import METHODS, method
from dpviz.methods.points.declared import FOLLOWING, WORKLOADS, Declared
from dpviz.queries.workloads import workload
from tests.commands import as_json, fails, run

from .cases import handle, skewed_points

DATA = handle(skewed_points(2000, 2), 2)


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_follows_are_values_that_the_method_takes_and_uniform_is_the_default(name):
    assert name in METHODS
    for word, parameters in FOLLOWING[name].items():
        assert word in WORKLOADS
        assert method(name, **parameters).parameters().items() >= parameters.items()
    assert Declared("uniform").method(name, {}) == method(name)


def test_the_header_records_the_workload_and_what_is_given_by_name_wins():
    header = dpviz.build(DATA, "ladder_tree", seed=1, workload="hot").header
    assert header.extra["workload"] == {"name": "hot"}
    assert header.parameters["c"] == FOLLOWING["ladder_tree"]["hot"]["c"]
    header = dpviz.build(DATA, "ladder_tree", seed=1, workload="hot", c=4).header
    assert header.parameters["c"] == 4
    header = dpviz.build(DATA, method("ladder_tree"), seed=1, workload="hot").header
    assert header.parameters["c"] == method("ladder_tree").c
    assert "workload" not in dpviz.build(DATA, "ladder_tree", seed=1).header.extra


@pytest.mark.parametrize(("size", "word"), [("0.005x0.009", "hot"), ("0.02x0.01", "uniform")])
def test_queries_are_hot_where_their_typical_side_is_small(size, word):
    rects = workload(DATA.domain, size, 40).rects
    header = dpviz.build(DATA, "UG", seed=1, workload=rects).header
    declared = header.extra["workload"]
    assert declared["name"] == word
    sides = [float(side) for side in size.split("x")]
    assert declared["side"] == pytest.approx(np.sqrt(np.prod(sides)), rel=1e-3)
    assert header.parameters["c"] == (0.17 if word == "hot" else 10.0)
    follows = {"side": pytest.approx(declared["side"], rel=1e-3)} if word == "hot" else {}
    assert Declared(word, declared["side"]).following("hot_grid", {}) == follows


def test_an_invalid_workload_is_refused():
    with pytest.raises(ParameterError, match="'cold': choose one of uniform, hot, districts"):
        dpviz.build(DATA, "ugrid", seed=1, workload="cold")
    with pytest.raises(ParameterError, match=r"workload of shape \(0,\)"):
        dpviz.build(DATA, "ugrid", seed=1, workload=[])
    with pytest.raises(DomainError, match="outside the domain"):
        dpviz.build(DATA, "ugrid", seed=1, workload=[[5.0, 5.0, 6.0, 6.0]])
    with pytest.raises(ParameterError, match="unknown method 'ladder'"):
        dpviz.build(DATA, "ladder", seed=1, workload="hot")


@pytest.mark.slow
def test_the_commands_declare_a_workload(tmp_path):
    west, south, *_ = DATASETS["city-50k"].domain.bounds
    rects = tmp_path / "squares.csv"
    side = f"{west},{south},{west + 1e-3},{south + 1e-3}\n"
    rects.write_text("west,south,east,north\n" + side * 2)

    city = ("city-50k", "--public")

    def header(*words):
        out = tmp_path / "release.parquet"
        code, _, note = run("build", *city, "-o", out, *words)
        assert code == 0, note
        return dpviz.read(out, "points").header, note

    fitted, _ = header("--method", "ladder_tree", "--workload", str(rects))
    assert fitted.extra["workload"]["name"] == "hot"
    assert fitted.parameters["c"] == 1.2
    given, _ = header("--method", "ladder_tree", "--workload", "hot", "--set", "c=3")
    assert given.parameters["c"] == 3
    same, note = header("--method", "privtree", "--workload", "districts")
    assert same.extra["workload"] == {"name": "districts"}
    assert "workload districts sets no parameter of privtree" in note

    rows = tmp_path / "rows.csv"
    asked = ["--methods", "UG,ugrid:c=5", "--epsilons", "1", "--queries", "20", "--repeats", "1"]
    asked += ["--sizes", "hot", "--workload", "hot"]
    results = as_json("evaluate", *city, "-o", rows, *asked)["results"]
    measured = [row["method"] for row in results]
    assert measured == ["UG:c=0.17", "ugrid:c=5"]
    fails("build", *city, "-o", tmp_path / "never.parquet", "--workload", "cold")
    assert not (tmp_path / "never.parquet").exists()
