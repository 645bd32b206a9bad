"""Releases of counts: what holds of every frame, whole or split into parts."""

import dataclasses
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import dpviz
from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.private.roads import RoadData
from dpviz.releases.axis import Axis
from dpviz.releases.split import SplitRelease
from dpviz.releases.store import from_arrow
from dpviz.roads.paths import Paths
from dpviz.roads.steps import Steps
from dpviz.roads.tables import road_graph
from tests.methods.cases import same_columns

RECTS = [[0, 0, 4, 4], [0.3, 0, 2, 4], [1, 1, 1.7, 3.1]]
PATHS = Paths.of([[0, 1], [2], [0, 1, 2]])
LISTED = {"kind": "k", "kinds": ("a", "b")}
CLIPPED = {"value": "v", "clip": (0.0, 10.0)}
KINDS = Kinds("k", ("a", "b"))
DAYS = Steps.of("t", "2024-01-01,2024-01-03", "1d")
PERIOD = {"time": "t", "period": (0, 86_400)}


def points(**stated):
    domain = dpviz.Domain.from_bounds([0, 0, 4, 4], ("x", "y"), **stated)
    random = np.random.default_rng(5)
    columns = {"x": 4 * random.random(400), "y": 4 * random.random(400), "v": random.random(400)}
    columns |= {"t": 86_400 * random.random(400), "k": random.choice(["a", "b"], 400)}
    data = dpviz.load(pd.DataFrame(columns), domain, public=True, name="x")
    return dpviz.build(data, "quadtree", 1.0, seed=1, height=3)


def areas():
    domain = dpviz.Domain.from_bounds([0, 0, 4, 4], ("x", "y"))
    halves = np.array([shapely.box(0, 0, 2, 4), shapely.box(2, 0, 4, 4)], dtype=object)
    names, parent = ("all", "west", "east"), np.array([-1, 0, 0])
    partition = dpviz.Areas(domain, ("whole", "half"), names, parent, halves)
    records = np.random.default_rng(3).uniform(0, 4, size=(400, 2))
    data = dpviz.from_points(records, domain, public=True, name="x")
    return dpviz.build(data, areas=partition, seed=0)


def split(one, by):
    """A release with different counts in each part; no command builds most of these."""
    trees = [
        (one.frame, one.nodes.replace(count=(part + 1) * one.nodes.count), one.sums)
        for part in range(len(by))
    ]
    return SplitRelease(by, trees, one.header)


def streets(steps=None):
    nodes = {"node": [1, 2, 3, 4], "x": [0, 1, 1, 2], "y": [0, 0, 1, 1]}
    graph = road_graph(nodes, {"edge": ["a", "b", "c"], "src": [1, 2, 3], "dst": [2, 3, 4]})
    walks = Paths.of([np.array(walk) for walk in ([0, 1], [1, 2], [0, 1, 2], [2])])
    step = None if steps is None else np.array([0, 0, 1, 1])
    data = RoadData("x", graph, walks, public=True, steps=steps, step=step)
    return dpviz.build(data, "event-histogram", 1.0, workload=PATHS, seed=0)


MADE = {
    "points": points,
    "points by kind": lambda: points(**LISTED),
    "values by kind": lambda: points(**LISTED, **CLIPPED),
    "time": lambda: points(**PERIOD),
    "time by kind": lambda: points(**PERIOD, **LISTED),
    "areas": areas,
    "areas by kind": lambda: split(areas(), Axis(KINDS)),
    "areas by step": lambda: split(areas(), Axis(steps=DAYS)),
    "streets": streets,
    "streets by step": lambda: streets(DAYS),
} | {
    f"{name} by kind and step": lambda one=one: split(one(), Axis(KINDS, DAYS))
    for name, one in (("points", points), ("areas", areas), ("streets", streets))
}


@cache
def made(name):
    return MADE[name]()


def asked(release):
    return PATHS if release.kind == "roads" else RECTS


def assert_alike(one, other):
    for column, values in dataclasses.asdict(one).items():
        np.testing.assert_array_equal(getattr(other, column), values)


@pytest.mark.parametrize("name", MADE)
def test_a_release_is_read_as_it_was_saved(name, tmp_path):
    release = made(name)
    again = dpviz.read(release.save(tmp_path / "r.parquet"), release.kind)
    assert again.header == release.header
    assert again.kinds == release.kinds
    assert again.steps == release.steps
    assert len(again.parts) == len(release.parts)
    for one, other in zip(release.parts, again.parts, strict=True):
        same_columns(one.nodes, other.nodes)
        assert one.header == other.header
        assert (one.sums is None) == (other.sums is None)
        if one.sums is not None:
            np.testing.assert_array_equal(one.sums.sum, other.sums.sum)
            np.testing.assert_array_equal(one.sums.variance, other.sums.variance)
    assert_alike(release.count(asked(release)), again.count(asked(release)))
    assert_alike(release.answers, again.answers)
    with pytest.raises(ValueError, match="read-only"):
        again.nodes.count[0] = 1
    saved = release.to_arrow()
    assert again.to_arrow().equals(saved)
    assert from_arrow(saved).frame.facts() == release.frame.facts()


@pytest.mark.parametrize("name", MADE)
def test_a_count_is_the_sum_of_its_parts(name):
    release = made(name)
    whole, parts = release.count(asked(release)), []
    for part in release.parts:
        assert len(part.parts) == 1
        parts.append(part.count(asked(release)))
    assert whole.count == pytest.approx(sum(each.count for each in parts))
    assert whole.noise_sd**2 == pytest.approx(sum(each.noise_sd**2 for each in parts))
    assert whole.uniformity_sd == pytest.approx(sum(each.uniformity_sd for each in parts))
    assert whole.nodes.tolist() == sum(each.nodes for each in parts).tolist()
    if release.kind == "points" and release.domain.values:
        sums, each = release.sum(RECTS), [part.sum(RECTS) for part in release.parts]
        assert sums.sum == pytest.approx(sum(one.sum for one in each))
        assert sums.noise_sd**2 == pytest.approx(sum(one.noise_sd**2 for one in each))
    by_kind = [release.count(asked(release), kind=kind) for kind in release.kinds]
    if by_kind:
        assert whole.count == pytest.approx(sum(each.count for each in by_kind))


@pytest.mark.parametrize("name", MADE)
def test_a_count_is_its_cover_weighted_by_shares(name):
    release = made(name)
    counts = 0.0
    for part in release.parts:
        cover = part.frame.cover(part.nodes, part.frame.questions(asked(release)))
        weighted = cover.share * part.nodes.count[cover.node]
        counts += np.bincount(cover.query, weighted, minlength=cover.queries)
    assert release.count(asked(release)).count == pytest.approx(counts)


@pytest.mark.parametrize("name", MADE)
def test_a_question_of_another_frame_is_one_line(name):
    release = made(name)
    wrong = RECTS if release.kind == "roads" else [1, 2, 3]
    with pytest.raises(dpviz.DpvizError):
        release.count(wrong)
    with pytest.raises(dpviz.DpvizError, match="kind"):
        release.count(asked(release), kind="z")
    with pytest.raises(dpviz.DpvizError):
        release.count(asked(release), period="1990-01-01,1990-02-01")
    if not release.kinds:
        with pytest.raises(dpviz.DpvizError, match="kind"):
            release.only(["a"])


SPLIT = [name for name in MADE if "step" in name]


@pytest.mark.parametrize("name", [*SPLIT, "time", "time by kind"])
def test_a_timeline_adds_up_to_the_count(name):
    release = made(name)
    query = [0, 1, 2] if release.kind == "roads" else RECTS[1]
    whole = release.count(Paths.of([query]) if release.kind == "roads" else query)
    line = release.timeline(query)
    assert line.count.sum() == pytest.approx(whole.count[0])
    assert (line.start < line.end).all()


@pytest.mark.parametrize("name", SPLIT)
def test_parts_are_selected_by_kind_and_by_period(name):
    release, one_day = made(name), (DAYS.edges[0], DAYS.edges[1])
    first = release.during(one_day)
    assert first.steps is None
    assert first.kinds == release.kinds
    assert first.header.extra["period"] == ["2024-01-01", "2024-01-02"]
    assert_alike(release.count(asked(release), one_day), first.count(asked(release)))
    both = release.during(DAYS.period)
    assert both.header == release.header
    assert_alike(both.count(asked(release)), release.count(asked(release)))
    if release.kinds:
        second = release.only(["b"])
        assert second.kinds == ("b",)
        assert [part.header for part in second.parts] == [p.header for p in release.parts[2:]]
        last = release.of("b").during((DAYS.edges[1], DAYS.edges[2]))
        assert last.nodes is release.parts[-1].nodes
        assert last.header == release.parts[-1].header


BOXES = pa.list_(pa.int64(), 2)


@pytest.mark.parametrize(
    ("name", "column", "damage", "words"),
    [
        ("points", "count", lambda old: ["x"] * len(old), "holds string: expected numbers"),
        ("points", "count", lambda old: [None, *old[1:]], "holds nulls"),
        ("points", "count", lambda old: [float("nan"), *old[1:]], "finite"),
        ("points", "count", lambda old: [-1e300, *old[1:]], "holds numbers beyond ±1e"),
        ("points", "parent", lambda old: [5] * len(old), "breadth-first"),
        ("points", "lo", lambda old: [1] * len(old), "'lo' holds int64: expected 2 numbers"),
        ("points", "hi", lambda old: pa.array([[2**40] * 2] * len(old), BOXES), "outside"),
        ("points by kind", "kind", lambda old: ["car", *old[1:]], "'car' is not in the header's"),
        ("points by kind", "kind", lambda old: ["b", *old[1:]], "in their order"),
        ("points by kind", "kind", lambda old: ["a"] * len(old), "in their order"),
        ("points by kind", "kind", lambda old: range(len(old)), "is not in the header's list"),
        ("values by kind", "sum", lambda old: [float("nan"), *old[1:]], "finite"),
        ("values by kind", "sum_variance", lambda old: [-1.0] * len(old), "negative variance"),
    ],
)
def test_damaged_columns_are_refused(name, column, damage, words):
    table = made(name).to_arrow()
    values, place = table[column].to_pylist(), table.column_names.index(column)
    with pytest.raises(ReleaseError, match=words):
        from_arrow(table.set_column(place, column, pa.array(damage(values))))
    with pytest.raises(ReleaseError, match=f"column '{column}' is missing"):
        from_arrow(table.drop_columns([column]))
