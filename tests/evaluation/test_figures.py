"""Reproductions: what they measure, and the pages they write."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.spatial

import dpviz
from dpviz import Domain
from dpviz.errors import ParameterError
from dpviz.evaluation import figures
from dpviz.evaluation.figures import (
    OUTPUTS,
    attributes,
    coverage,
    districts,
    fanout,
    heights,
    hours,
    intervals,
    kdtrees,
    matching,
    medians,
    reproduce,
    shapes,
)
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, comparison
from dpviz.lazy import mpl
from dpviz.methods import of_kind
from dpviz.releases.points.range_count import RangeAnswers
from tests.commands import fails, run

RESULTS = Path(__file__).parents[2] / "assets" / "results"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rank_errors_are_those_of_a_count_by_hand(monkeypatch):
    monkeypatch.setattr(medians, "LEVELS", 3)
    points = np.arange(0, 1024, 2).reshape(-1, 1)
    handle = dpviz.from_points(points, Domain((0.0,), (1024.0,)), public=True)
    release = dpviz.build(
        handle, "kdtree", 0.5, seed=1, height=3, flatten=1, prune=0, median="exponential"
    )
    by_depth = medians.rank_errors(handle, release)
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
        assert by_depth[depth] == pytest.approx(np.mean(errors))


def test_medians_spend_the_paper_s_epsilon_on_every_level(monkeypatch):
    monkeypatch.setattr(medians, "LEVELS", 3)
    handle = dpviz.from_points(np.zeros((50, 1)), Domain((0.0,), (1024.0,)), public=True)
    for parameters in medians.MEDIANS.values():
        rows = medians.median_tree(handle, parameters, 0).header.budget
        spent = [row for row in rows if "counts, level" not in row["purpose"]]
        if parameters["median"] == "cell":
            assert spent[0]["epsilon"] == pytest.approx(0.01)
        else:
            per_level = 2 if parameters["median"] == "noisy_mean" else 1
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
    rows = rows_of(tmp_path / "fanout.csv")
    assert {row["fanout"] for row in rows} == {"2", "4"}
    assert len(rows) == 6
    assert (tmp_path / "fanout-city-50k.png").read_bytes().startswith(b"\x89PNG")
    assert "agrees" in (tmp_path / "fanout.md").read_text()


@pytest.fixture
def small(monkeypatch):
    """The figures of kd-trees on little data, in this process."""
    from dpviz.evaluation import experiments

    monkeypatch.setattr(shapes, "DATA", "city-50k")
    monkeypatch.setattr(shapes, "QUERIES", 20)
    monkeypatch.setattr(
        shapes, "run", lambda *plan, **_: experiments.run(*plan, processes=0, progress=None)
    )


def test_shapes_cover_the_paper_s_share_of_our_domain(small):
    handle = dpviz.load("city-50k")
    (load,) = shapes.queries(handle, ["(15, 0.2)"], seed=3)
    assert (load.size, len(load)) == ("(15, 0.2)", 20)
    west, south, east, north = handle.domain.bounds
    wide, high = (load.rects[:, 2:] - load.rects[:, :2]).T
    np.testing.assert_allclose(wide, 15 / 21.82 * (east - west), rtol=1e-5)
    np.testing.assert_allclose(high, 0.2 / 17.67 * (north - south), rtol=1e-5)


def test_kd_trees_write_every_setting(small, tmp_path, monkeypatch):
    monkeypatch.setattr(kdtrees, "EPSILONS", (0.5,))
    statements = reproduce("kdtrees", tmp_path, repeats=1)
    assert len(statements) == 7
    assert statements[0].agrees  # leaves are cut by queries, whatever the noise
    rows = rows_of(tmp_path / "kdtrees.csv")
    assert {row["tree"] for row in rows} == set(kdtrees.METHODS)
    assert len(rows) == len(kdtrees.METHODS) * len(shapes.SHAPES)


def test_heights_write_every_setting(small, tmp_path, monkeypatch):
    monkeypatch.setattr(heights, "HEIGHTS", (5, 8))
    assert len(reproduce("heights", tmp_path, repeats=1)) == 5
    rows = rows_of(tmp_path / "heights.csv")
    settings = {(row["tree"], row["height"], row["shape"]) for row in rows}
    assert len(settings) == len(heights.METHODS) * 2 * len(heights.SHAPES)
    assert "disagrees" in (tmp_path / "heights.md").read_text()


def test_statements_follow_the_errors():
    """Errors made to agree with every statement of the paper on figure 6, then not."""
    errors = {
        (name, height, shape): factor * 2.0 ** (10 - height)
        for name, factor in {"quad-opt": 1, "kd-hybrid": 2, "kd-cell": 9, "Hilbert-R": 2}.items()
        for height in heights.HEIGHTS
        for shape in heights.SHAPES
    }
    for height in heights.HEIGHTS:
        errors["kd-cell", height, "(1, 1)"] = 1.1 * 2.0 ** (10 - height)
        errors["Hilbert-R", height, "(1, 1)"] = 1.2 * 2.0 ** (10 - height)
    for shape in heights.SHAPES[1:]:
        errors["kd-hybrid", 8, shape] = 1.3
    assert all(statement.agrees for statement in heights.compare(errors))
    errors["kd-hybrid", 9, "(10, 10)"] = 0.5
    assert not heights.compare(errors)[0].agrees


def test_coverage_counts_what_lies_inside():
    answers = RangeAnswers(
        *(np.array([10.0, 10.0, 10.0]), np.ones(3), np.full(3, 8.0), np.full(3, 12.0)),
        *(np.full(3, 1.0), np.ones(3, dtype=np.int64)),
    )
    inside, widened = intervals.covered(answers, np.array([12, 14, 15]))
    assert inside.tolist() == [1, 0, 0]
    assert widened.tolist() == [1, 1, 0]  # 12 + 2.12 holds 14


def test_districts_write_a_row_for_each_way_and_say_what_they_find(tmp_path, monkeypatch):
    monkeypatch.setattr(districts, "DATA", "city-50k")
    monkeypatch.setattr(districts, "EPSILONS", (1.0,))
    monkeypatch.setattr(districts, "SIZES", (9, 400))
    monkeypatch.setattr(districts, "WAYS", {each: each for each in ("measured", "hierarchy")})
    monkeypatch.setattr(districts, "compare", lambda errors, totals: [])
    assert reproduce("districts", tmp_path, repeats=1) == []
    rows = rows_of(tmp_path / "districts.csv")
    assert [row["way"] for row in rows] == ["measured", "hierarchy"] * 2
    assert all(0.3 < float(row["mean_absolute_error"]) < 5 for row in rows)
    assert "| 400 | 1 | " in (tmp_path / "districts.md").read_text()


@pytest.mark.parametrize("repeats", [12, pytest.param(1_000, marks=pytest.mark.campaign)])
def test_intervals_of_every_answer_cover_where_edges_follow_cells(repeats, tmp_path, monkeypatch):
    """False alarm at other seeds below 1e-6 for each of the five kinds of answers."""
    if repeats < 100:
        monkeypatch.setattr(coverage, "SETTINGS", (("ugrid", 1.0), ("areas", 0.1)))
    statements = reproduce("coverage", tmp_path, repeats=repeats)
    assert [each.claim.split()[4] for each in statements] == [
        "counts", "sums", "means", "shares", "differences"
    ]  # fmt: skip
    assert all(each.agrees for each in statements), statements
    assert "| `areas` | " in (tmp_path / "coverage.md").read_text()
    assert not coverage.compare({("areas", 1.0, "counts", "x"): 0.5}, 40)[0].agrees


def test_intervals_write_a_row_per_method_and_size(tmp_path, monkeypatch):
    monkeypatch.setattr(intervals, "SETS", {"city-50k": 2})
    monkeypatch.setattr(intervals, "EPSILONS", (0.5,))
    monkeypatch.setattr(intervals, "QUERIES", 50)
    monkeypatch.setattr(intervals, "of_kind", lambda kind: {"ugrid": of_kind(kind)["ugrid"]})
    (statement,) = reproduce("intervals", tmp_path, repeats=2)
    assert "of 4 settings" in statement.measured
    rows = rows_of(tmp_path / "intervals.csv")
    assert len(rows) == 2 * (len(intervals.SIZES) + 1)
    assert all(float(row["noise_only"]) <= float(row["with_uniformity"]) for row in rows)
    assert "| `ugrid` | " in (tmp_path / "intervals.md").read_text()


def test_attributes_write_counts_and_sums_of_every_kind(tmp_path, monkeypatch):
    """Kinds lie unevenly in the same places: all together are covered as each is; fixed seeds."""
    monkeypatch.setattr(attributes, "METHODS", ("ugrid",))
    monkeypatch.setattr(attributes, "EPSILONS", (0.1,))
    monkeypatch.setattr(attributes, "QUERIES", 50)
    statements = reproduce("attributes", tmp_path, repeats=2)
    assert [each.claim.split()[-1] for each in statements] == ["counts", "sums"]
    rows = rows_of(tmp_path / "attributes.csv")
    assert len(rows) == 2 * 4 * 2 * len(attributes.SIZES)
    together = [row for row in rows if (row["what"], row["of"]) == ("counts", attributes.ALL)]
    assert np.mean([float(row["with_uniformity"]) for row in together]) >= 0.95
    assert "| `ugrid` | 0.1 | walk | " in (tmp_path / "attributes.md").read_text()


def test_matching_writes_both_paddings_and_says_what_is_covered(tmp_path, monkeypatch):
    monkeypatch.setattr(matching, "ATTRIBUTES", (2,))
    monkeypatch.setattr(matching, "EPSILONS", (0.5,))
    trees = {
        name: matching.TREES[name] for name in ("quad-baseline", "kd-noisymean", "kd-standard")
    }
    monkeypatch.setattr(matching, "TREES", trees)
    times = dict(zip(matching.CONSTRUCTION, (1.0, 9.0, 5.0, 4.0, 3.0, 10.0), strict=True))
    monkeypatch.setattr(matching, "construction", lambda *_: times)
    monkeypatch.setattr(matching.registers, "SIZE", 800)
    monkeypatch.setattr(matching.registers, "SHARED", 400)
    statements = reproduce("matching", tmp_path, repeats=1)
    assert [each.agrees for each in statements[1:]] == [True, True, False]
    rows = rows_of(tmp_path / "matching.csv")
    assert len(rows) == 2 * len(matching.TREES)
    for row in rows:
        recall = float(row["recall"])
        assert recall == 1 if row["padding"] == "upward" else 0 < recall <= 1
    page = (tmp_path / "matching.md").read_text()
    assert "suppressed, are outside" in page
    assert "Secure Computation, CCS 2017" in page


def test_registers_share_people_up_to_the_stated_errors():
    from dpviz.datasets import registers

    a, b = (registers.register(each) for each in "ab")
    assert a.shape == b.shape == (registers.SIZE, 4)
    near = scipy.spatial.cKDTree(a / registers.ERRORS).query(
        b / registers.ERRORS, distance_upper_bound=1.0001, p=np.inf
    )[0]
    assert np.isfinite(near).sum() >= registers.SHARED
    assert (near == 0).sum() < registers.SHARED


@pytest.mark.parametrize(
    ("name", "repeats", "message"),
    [
        ("figure 9", 1, "choose one of fanout, medians, kdtrees, heights, intervals"),
        ("fanout", 0, "give at least 1"),
    ],
)
def test_bad_requests_are_refused(tmp_path, name, repeats, message):
    with pytest.raises(ParameterError, match=message):
        reproduce(name, tmp_path, repeats)
    with pytest.raises(ParameterError, match="the folder does not exist"):
        reproduce("fanout", tmp_path / "absent")


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_a_figure_writes_is_known_beforehand(name, tmp_path):
    """The files of the last run say so; those of another figure, or anybody's, are refused."""
    outputs = OUTPUTS[name]
    files = [f"{name}.md", *(f"{each}.csv" for each in outputs.tables)]
    files += [f"{each}.png" for each in outputs.pictures]
    stem = re.compile(rf"{name}(-.*)?\.(md|csv|png)")
    assert sorted(files) == sorted(each.name for each in RESULTS.iterdir() if stem.match(each.name))
    for file in files:
        shutil.copy(RESULTS / file, tmp_path)
    outputs.require_place(tmp_path, name)
    for file in files:
        place = tmp_path / file
        before = place.read_bytes()
        for content in (b"id,lon,lat\n1,2,3\n", b"notes", b"\n" + before):
            place.write_bytes(content)
            with pytest.raises(ParameterError, match=f"{file}' exists and is not of an earlier"):
                outputs.require_place(tmp_path, name)
        place.write_bytes(before)
    (tmp_path / f"{name}.csv").write_bytes(b"")
    outputs.require_place(tmp_path, name)


def test_a_picture_without_its_page_is_ours_where_it_says_so(tmp_path):
    """A kill may come before the page, which is written last."""
    Reproduction([], "# T\n", {}, {"a": mpl.Figure()}).write(tmp_path, "a")
    (tmp_path / "a.md").unlink()
    Outputs("T", {}, ("a",)).require_place(tmp_path, "a")
    mpl.Figure().savefig(tmp_path / "a.png")
    with pytest.raises(ParameterError, match=r"a\.png' exists"):
        Outputs("T", {}, ("a",)).require_place(tmp_path, "a")


def test_files_of_others_are_refused_before_any_work_and_stay(tmp_path, monkeypatch):
    """They were replaced, and the command ended well."""
    statement, rows = Statement("c", "m", True), [{"a": 1}]
    page = f"# {medians.OUTPUTS.title}\n"
    begun = []

    def redone(*_):
        begun.append(1)
        return Reproduction([statement], page, {"medians": rows})

    monkeypatch.setitem(figures.FIGURES, "medians", redone)
    words = ["reproduce", "medians", "-o", tmp_path]
    for file in ("medians.csv", "medians.md", "medians.png"):
        (tmp_path / file).write_text("id,lon,lat\n1,2,3\n")
        assert f"{file}' exists and is not of an earlier 'dpviz reproduce" in fails(*words)
        assert (tmp_path / file).read_text() == "id,lon,lat\n1,2,3\n"
        (tmp_path / file).unlink()
    (tmp_path / "medians.md").mkdir()
    assert "medians.md: what is there is no plain file" in fails(*words)
    (tmp_path / "medians.md").rmdir()
    assert begun == []
    assert run(*words)[0] == 0
    before = (tmp_path / "medians.csv").read_bytes()
    with pytest.raises(ParameterError, match="exists"):  # what came while it was made
        Reproduction([], page, {"medians": [{"b": 1}]}).write(tmp_path, "medians")
    assert (tmp_path / "medians.csv").read_bytes() == before


def test_a_page_says_where_we_disagree():
    text = comparison("T", "I", [Statement("a", "b", True), Statement("c", "d", False)], ["p"])
    assert "| a | b | agrees |" in text
    assert "| c | d | **disagrees** |" in text


def test_hours_compare_weights_on_the_same_questions(tmp_path, monkeypatch):
    monkeypatch.setattr(hours, "METHODS", ("privtree",))
    monkeypatch.setattr(hours, "WORTHS", (None, 1.0, 10_000.0))
    monkeypatch.setattr(hours, "QUERIES", 20)
    statements = reproduce("hours", tmp_path, repeats=1)
    assert all(each.agrees for each in statements)
    assert len(rows_of(tmp_path / "hours.csv")) == 3 * len(hours.LOADS)
    assert "| privtree | 10,000 m |" in (tmp_path / "hours.md").read_text()
