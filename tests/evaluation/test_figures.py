"""Reproductions: what they measure, and the pages they write."""

import csv

import numpy as np
import pytest

import dpviz
from dpviz import Domain
from dpviz.errors import ParameterError
from dpviz.evaluation.figures import fanout, medians, reproduce
from dpviz.evaluation.figures.report import Statement, write_page


def test_rank_errors_are_those_of_a_count_by_hand(monkeypatch):
    monkeypatch.setattr(medians, "LEVELS", 3)
    points = np.arange(0, 1024, 2).reshape(-1, 1)
    handle = dpviz.from_points(points, Domain((0.0,), (1024.0,)), public=True)
    release = dpviz.build(
        handle, "kdtree", 0.5, seed=1, height=3, flatten=1, prune=0, median="exponential"
    )
    found = medians.rank_errors(handle, release)
    nodes = release.nodes
    line = release.domain.to_coordinates(np.hstack([nodes.lo, nodes.hi]))
    for depth in range(3):
        errors = []
        for node in np.flatnonzero((nodes.level == depth) & (nodes.n_children == 2)):
            inside = ((points >= line[node, 0]) & (points < line[node, 1])).sum()
            left = line[nodes.first_child[node]]
            first = ((points >= left[0]) & (points < left[1])).sum()
            if inside:
                errors.append(abs(first - inside / 2) / (inside / 2))
        assert found[depth] == pytest.approx(np.mean(errors))


def test_medians_spend_the_paper_s_epsilon_on_every_level(monkeypatch):
    monkeypatch.setattr(medians, "LEVELS", 3)
    handle = dpviz.from_points(np.zeros((50, 1)), Domain((0.0,), (1024.0,)), public=True)
    for knobs in medians.MEDIANS.values():
        rows = medians.median_tree(handle, knobs, 0).header.budget
        spent = [row for row in rows if "counts, level" not in row["purpose"]]
        if knobs["median"] == "cell":
            assert spent[0]["epsilon"] == pytest.approx(0.01)
        else:
            per_level = 2 if knobs["median"] == "noisy_mean" else 1
            assert len(spent) == 3 * per_level
            assert {round(row["epsilon"] * per_level, 12) for row in spent} == {0.01}


def test_fanout_writes_rows_pictures_and_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(fanout, "DATA", {"city-50k": (1, 2)})
    monkeypatch.setattr(fanout, "EPSILONS", (0.4,))
    monkeypatch.setattr(fanout, "QUERIES", 50)
    monkeypatch.setattr(
        fanout, "run", lambda handle, plan, progress: real_run(handle, plan, processes=0)
    )
    real_run = dpviz.evaluation.experiments.run
    statements = reproduce("fanout", tmp_path, repeats=1)
    assert len(statements) == 1
    with (tmp_path / "fanout.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["fanout"] for row in rows} == {"2", "4"}
    assert len(rows) == 6
    assert (tmp_path / "fanout-city-50k.png").read_bytes().startswith(b"\x89PNG")
    assert "agrees" in (tmp_path / "fanout.md").read_text()


@pytest.mark.parametrize(
    ("name", "repeats", "message"),
    [("figure 9", 1, "choose one of fanout, medians"), ("fanout", 0, "give at least 1")],
)
def test_bad_requests_are_refused(tmp_path, name, repeats, message):
    with pytest.raises(ParameterError, match=message):
        reproduce(name, tmp_path, repeats)
    with pytest.raises(ParameterError, match="the folder does not exist"):
        reproduce("fanout", tmp_path / "absent")


def test_a_page_says_where_we_disagree(tmp_path):
    path = tmp_path / "page.md"
    write_page(path, "T", "I", ["p.png"], [Statement("a", "b", True), Statement("c", "d", False)])
    text = path.read_text()
    assert "| a | b | agrees |" in text
    assert "| c | d | **disagrees** |" in text
