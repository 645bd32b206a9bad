"""Reproductions: what they measure, and the pages they write."""

import numpy as np
import pandas as pd
import pytest
import scipy.spatial

import dpviz
from dpviz import Domain
from dpviz.datasets import registers
from dpviz.errors import ParameterError
from dpviz.evaluation import figures
from dpviz.evaluation.experiments import SECONDS
from dpviz.evaluation.figures import fanout, heights, kdtrees, matching, medians, reproduce, shapes
from dpviz.evaluation.figures.report import Reproduction, Statement
from dpviz.evaluation.rows import MeasureRow
from tests.commands import fails, run


def rows_in(path):
    return [MeasureRow(*row) for row in pd.read_csv(path).itertuples(index=False)]


@pytest.fixture
def redone(tmp_path, monkeypatch):
    """Redoes a figure, some of whose constants are others: its statements, rows and page."""

    def redone(module, repeats=1, **constants):
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        name = module.__name__.rpartition(".")[2]
        statements = reproduce(name, tmp_path, repeats)
        rows = [row for path in tmp_path.glob(f"{name}*.csv") for row in rows_in(path)]
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_fanout_writes_rows_pictures_and_a_page(redone, tmp_path):
    constants = {"DATA": {"city-50k": (1, 2)}, "EPSILONS": (0.4,), "QUERIES": 50}
    (statement,), rows, page = redone(fanout, **constants)
    assert statement.agrees == ("**disagrees**" not in page)
    assert {row.method for row in rows} == {"privtree:axes=1", "privtree:axes=2"}
    assert {row.size for row in rows} == set(fanout.SIZES)
    assert (tmp_path / "fanout-city-50k.png").read_bytes().startswith(b"\x89PNG")
    assert "![Impact of fanout on PrivTree (SIGMOD 2016, appendix B)](fanout-city-50k.png)" in page


@pytest.fixture
def small(monkeypatch):
    """The figures of kd-trees on little data, in this process."""
    monkeypatch.setattr(shapes, "DATA", "city-50k")
    monkeypatch.setattr(shapes, "QUERIES", 20)


def test_shapes_cover_the_paper_s_share_of_our_domain(small):
    handle = dpviz.load("city-50k")
    (load,) = shapes.queries(handle, ["(15, 0.2)"], seed=3)
    assert (load.size, len(load)) == ("(15, 0.2)", 20)
    west, south, east, north = handle.domain.bounds
    wide, high = (load.rects[:, 2:] - load.rects[:, :2]).T
    np.testing.assert_allclose(wide, 15 / 21.82 * (east - west), rtol=1e-5)
    np.testing.assert_allclose(high, 0.2 / 17.67 * (north - south), rtol=1e-5)


@pytest.mark.slow
def test_kd_trees_write_every_setting(small, redone):
    statements, rows, _ = redone(kdtrees, EPSILONS=(0.5,))
    assert len(statements) == 7
    assert statements[0].agrees  # queries cut leaves at any noise
    assert {row.method for row in rows} == set(kdtrees.METHODS)
    assert len(rows) == len(kdtrees.METHODS) * len(shapes.SHAPES) * 2  # errors and seconds


@pytest.mark.slow
def test_heights_write_every_setting(small, redone):
    statements, rows, page = redone(heights, HEIGHTS=(5, 8))
    assert len(statements) == 5
    settings = {(row.method, row.size) for row in rows}
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


@pytest.mark.slow
def test_matching_writes_both_paddings_and_says_what_is_covered(redone, monkeypatch):
    monkeypatch.setattr(registers, "SIZE", 800)
    monkeypatch.setattr(registers, "SHARED_SIZE", 400)
    names = ("quad-baseline", "kd-noisymean", "kd-standard")
    trees = {name: matching.TREES[name] for name in names}
    times = [
        MeasureRow(name, 1.0, "city", 0, SECONDS, value)
        for name, value in zip(matching.CONSTRUCTION, (1.0, 9.0, 5.0, 4.0, 3.0, 10.0), strict=True)
    ]
    constants = {"ATTRIBUTES": (2,), "EPSILONS": (0.5,), "TREES": trees}
    statements, rows, page = redone(matching, **constants, construction=lambda *_: times)
    assert [each.agrees for each in statements[1:]] == [True, True, False]
    recalls = {(row.method, row.size): row.value for row in rows if row.measure == "recall"}
    assert len(recalls) == 2 * len(names)
    for (_, size), recall in recalls.items():
        assert recall == 1 if size.endswith("upward") else 0 < recall <= 1
    assert "suppressed, are outside" in page
    assert "Secure Computation, CCS 2017" in page


def test_registers_share_people_up_to_the_stated_errors():
    a, b = (registers.register(each) for each in "ab")
    assert a.shape == b.shape == (registers.SIZE, 4)
    near = scipy.spatial.cKDTree(a / registers.ERRORS).query(
        b / registers.ERRORS, distance_upper_bound=1.0001, p=np.inf
    )[0]
    assert np.isfinite(near).sum() >= registers.SHARED_SIZE
    assert (near == 0).sum() < registers.SHARED_SIZE


@pytest.mark.parametrize(
    ("name", "repeats", "message"),
    [
        ("figure 9", 1, "choose one of fanout, medians, kdtrees, heights, matching"),
        ("fanout", 0, "give at least 1"),
    ],
)
def test_bad_requests_are_refused(tmp_path, name, repeats, message):
    with pytest.raises(ParameterError, match=message):
        reproduce(name, tmp_path, repeats)
    with pytest.raises(ParameterError, match="the folder does not exist"):
        reproduce("fanout", tmp_path / "absent")


def test_no_file_of_a_folder_is_replaced(tmp_path, monkeypatch):
    statement, rows = Statement("c", "m", False), [MeasureRow("a", 1.0, "s", 0, "b", 1.0)]
    redone = Reproduction("T", "I", [statement], {"medians": rows})
    monkeypatch.setitem(figures.FIGURES, "medians", lambda *_: redone)
    words = ["reproduce", "medians", "-o", tmp_path]
    for file in ("medians.csv", "medians.md", "medians-2.png"):
        (tmp_path / file).write_text("id,lon,lat\n1,2,3\n")
        assert f"{file}' exists: name another folder" in fails(*words)
        assert (tmp_path / file).read_text() == "id,lon,lat\n1,2,3\n"
        (tmp_path / file).unlink()
    assert run(*words)[0] == 0
    assert rows_in(tmp_path / "medians.csv") == rows
    assert "| c | m | **disagrees** |" in (tmp_path / "medians.md").read_text()
    assert "exists" in fails(*words)
