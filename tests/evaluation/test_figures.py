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
from dpviz.evaluation import experiments, figures
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
from dpviz.releases.answers import RangeAnswers
from tests.commands import fails, run

RESULTS = Path(__file__).parents[2] / "assets" / "results"


@pytest.fixture
def redone(tmp_path, monkeypatch):
    """Redoes a figure, some of whose constants are others: its statements, rows and page."""

    def redone(module, repeats=1, **constants):
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        name = module.__name__.rpartition(".")[2]
        statements = reproduce(name, tmp_path, repeats)
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        return statements, rows, (tmp_path / f"{name}.md").read_text()

    return redone


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


def here(*plan, **_):
    """An experiment in this process."""
    return experiments.run(*plan, processes=0)


def test_fanout_writes_rows_pictures_and_a_page(redone, tmp_path):
    data = {"city-50k": (1, 2)}
    statements, rows, page = redone(fanout, DATA=data, EPSILONS=(0.4,), QUERIES=50, run=here)
    assert len(statements) == 1
    assert {row["fanout"] for row in rows} == {"2", "4"}
    assert len(rows) == 6
    assert (tmp_path / "fanout-city-50k.png").read_bytes().startswith(b"\x89PNG")
    assert "agrees" in page


@pytest.fixture
def small(monkeypatch):
    """The figures of kd-trees on little data, in this process."""
    monkeypatch.setattr(shapes, "DATA", "city-50k")
    monkeypatch.setattr(shapes, "QUERIES", 20)
    monkeypatch.setattr(shapes, "run", here)


def test_shapes_cover_the_paper_s_share_of_our_domain(small):
    handle = dpviz.load("city-50k")
    (load,) = shapes.queries(handle, ["(15, 0.2)"], seed=3)
    assert (load.size, len(load)) == ("(15, 0.2)", 20)
    west, south, east, north = handle.domain.bounds
    wide, high = (load.rects[:, 2:] - load.rects[:, :2]).T
    np.testing.assert_allclose(wide, 15 / 21.82 * (east - west), rtol=1e-5)
    np.testing.assert_allclose(high, 0.2 / 17.67 * (north - south), rtol=1e-5)


def test_kd_trees_write_every_setting(small, redone):
    statements, rows, _ = redone(kdtrees, EPSILONS=(0.5,))
    assert len(statements) == 7
    assert statements[0].agrees  # leaves are cut by queries, whatever the noise
    assert {row["tree"] for row in rows} == set(kdtrees.METHODS)
    assert len(rows) == len(kdtrees.METHODS) * len(shapes.SHAPES)


def test_heights_write_every_setting(small, redone):
    statements, rows, page = redone(heights, HEIGHTS=(5, 8))
    assert len(statements) == 5
    settings = {(row["tree"], row["height"], row["shape"]) for row in rows}
    assert len(settings) == len(heights.METHODS) * 2 * len(heights.SHAPES)
    assert "disagrees" in page


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


def test_districts_write_a_row_for_each_way_and_say_what_they_find(redone):
    constants = {"DATA": "city-50k", "EPSILONS": (1.0,), "SIZES": (9, 400)}
    ways = {each: each for each in ("measured", "hierarchy")}
    found, rows, page = redone(districts, **constants, WAYS=ways, compare=lambda *_: [])
    assert found == []
    assert [row["way"] for row in rows] == ["measured", "hierarchy"] * 2
    assert all(0.3 < float(row["mean_absolute_error"]) < 5 for row in rows)
    assert "| 400 | 1 | " in page


@pytest.mark.parametrize("repeats", [12, pytest.param(1_000, marks=pytest.mark.campaign)])
def test_intervals_of_every_answer_cover_where_edges_follow_cells(repeats, redone):
    """False alarm at other seeds below 1e-6 for each of the five kinds of answers."""
    settings = (("ugrid", 1.0), ("areas", 0.1)) if repeats < 100 else coverage.SETTINGS
    statements, _, page = redone(coverage, repeats, SETTINGS=settings)
    assert [each.claim.split()[4] for each in statements] == [
        "counts", "sums", "means", "shares", "differences"
    ]  # fmt: skip
    assert all(each.agrees for each in statements), statements
    assert "| `areas` | " in page
    assert not coverage.compare({("areas", 1.0, "counts", "x"): 0.5}, 40)[0].agrees


def test_intervals_write_a_row_per_method_and_size(redone):
    constants = {"SETS": {"city-50k": 2}, "EPSILONS": (0.5,), "QUERIES": 50}
    grid = {"ugrid": of_kind("points")["ugrid"]}
    (statement,), rows, page = redone(intervals, 2, **constants, of_kind=lambda _: grid)
    assert "of 4 settings" in statement.measured
    assert len(rows) == 2 * (len(intervals.SIZES) + 1)
    assert all(float(row["noise_only"]) <= float(row["with_uniformity"]) for row in rows)
    assert "| `ugrid` | " in page


def test_attributes_write_counts_and_sums_of_every_kind(redone):
    """Kinds lie unevenly in the same places: all together are covered as each is; fixed seeds."""
    constants = {"METHODS": ("ugrid",), "EPSILONS": (0.1,), "QUERIES": 50}
    statements, rows, page = redone(attributes, 2, **constants)
    assert [each.claim.split()[-1] for each in statements] == ["counts", "sums"]
    assert len(rows) == 2 * 4 * 2 * len(attributes.SIZES)
    together = [row for row in rows if (row["what"], row["of"]) == ("counts", attributes.ALL)]
    assert np.mean([float(row["with_uniformity"]) for row in together]) >= 0.95
    assert "| `ugrid` | 0.1 | walk | " in page


def test_matching_writes_both_paddings_and_says_what_is_covered(redone, monkeypatch):
    monkeypatch.setattr(matching.registers, "SIZE", 800)
    monkeypatch.setattr(matching.registers, "SHARED", 400)
    names = ("quad-baseline", "kd-noisymean", "kd-standard")
    trees = {name: matching.TREES[name] for name in names}
    times = dict(zip(matching.CONSTRUCTION, (1.0, 9.0, 5.0, 4.0, 3.0, 10.0), strict=True))
    constants = {"ATTRIBUTES": (2,), "EPSILONS": (0.5,), "TREES": trees}
    statements, rows, page = redone(matching, **constants, construction=lambda *_: times)
    assert [each.agrees for each in statements[1:]] == [True, True, False]
    assert len(rows) == 2 * len(matching.TREES)
    for row in rows:
        recall = float(row["recall"])
        assert recall == 1 if row["padding"] == "upward" else 0 < recall <= 1
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


def test_hours_compare_weights_on_the_same_questions(redone):
    constants = {"METHODS": ("privtree",), "WORTHS": (None, 1.0, 10_000.0), "QUERIES": 20}
    statements, rows, page = redone(hours, **constants)
    assert all(each.agrees for each in statements)
    assert len(rows) == 3 * len(hours.LOADS)
    assert "| privtree | 10,000 m |" in page
