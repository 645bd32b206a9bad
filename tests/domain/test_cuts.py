"""The order in which axes are halved: bits that only change places, and what trees make of it."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz import METHODS
from dpviz.domain.crs import cut_order
from dpviz.domain.cuts import CutOrder, metres
from dpviz.errors import DomainError, ParameterError
from dpviz.methods import of_kind
from dpviz.methods.points.cell_tree import CellTree
from dpviz.private.index import PointIndex
from dpviz.trees.lattice import morton
from tests.commands import fails
from tests.commands import run as cli
from tests.methods.cases import quick

WEEK = ("2024-01-01", "2024-01-08")
UTM = {"crs": "EPSG:32631", "period": WEEK}
BOX = dpviz.Domain.from_bounds([400_000, 0, 408_000, 4_000], ("x", "y"), **UTM, hour_worth="500m")
RANDOM = np.random.default_rng(3)
RECORDS = RANDOM.uniform(BOX.lower, BOX.upper, (300, 3))
SPLITTING = [name for name, cls in of_kind("points").items() if 3 in cls.dims and cls.splits_axes]

orders = st.permutations([0, 1, 2] * 5).map(lambda axes: CutOrder(tuple(axes), 3))
places = st.lists(st.tuples(*[st.integers(0, 31)] * 3), min_size=1, max_size=30)


@pytest.mark.slow
@given(orders, places)
@settings(max_examples=60)
def test_an_order_moves_every_bit_of_a_code_to_its_place(order, cells):
    codes = morton(cells)
    moved = order.from_morton(codes)
    taken, expected = [4, 4, 4], np.zeros(len(cells), dtype=np.uint64)
    for axis in order.axes:
        bit = [cell[axis] >> taken[axis] & 1 for cell in cells]
        expected = expected << np.uint64(1) | np.array(bit, dtype=np.uint64)
        taken[axis] -= 1
    np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(order.to_morton(moved), codes)


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=4), st.integers(1, 12))
@settings(max_examples=60)
def test_the_longest_side_is_halved_until_it_has_all_of_its_bits(lengths, bits):
    order = CutOrder.longest_first(lengths, bits)
    assert order.halvings(len(order.axes)) == (bits,) * len(lengths)
    for cut, axis in enumerate(order.axes):
        done = order.halvings(cut)
        left = [side / 2**n for side, n in zip(lengths, done, strict=True) if n < bits]
        assert lengths[axis] / 2 ** done[axis] == max(left)


def test_without_a_weight_axes_are_halved_in_turn_and_files_say_nothing_of_it():
    plain = dpviz.Domain.from_bounds([400_000, 0, 408_000, 4_000], ("x", "y"), **UTM)
    assert cut_order(plain).is_morton
    assert plain.to_dict()["time"] == {"step": 0.0, "zone": "UTC"}
    index = PointIndex.from_points(plain, RECORDS)
    assert index.runs.codes is index.codes


def test_an_hour_of_500_m_cuts_the_longest_first():
    """168 hours are 84 km, beside 8 km and 4 km."""
    assert cut_order(BOX).axes[:10] == (2, 2, 2, 2, 0, 2, 0, 1, 2, 0)
    degrees = dpviz.Domain.from_bounds([0, 59.5, 0.1, 60.5], period=WEEK, hour_worth=1)
    assert cut_order(degrees).axes[:5] == (1,) * 5  # 111 km, against 5.6 km across
    assert dpviz.Domain.from_dict(json.loads(json.dumps(BOX.to_dict()))) == BOX


@pytest.mark.parametrize("name", SPLITTING)
def test_cells_are_a_partition_that_one_more_record_changes_by_one_on_each_level(name):
    """So that every theorem holds as it does in turn: which axis a level cuts is public."""
    release, more = (
        dpviz.build(
            dpviz.from_points(points, BOX, public=True), name, 1e4, seed=7, **quick(name, 3)
        )
        for points in (RECORDS, RECORDS[::-1])
    )
    nodes = release.nodes
    assert nodes.is_partition()
    np.testing.assert_array_equal(nodes.count, more.nodes.count)
    if METHODS[name].measured or "shrink" in METHODS[name].parameter_fields():
        return  # what was not measured is modelled
    cells, _ = BOX.to_lattice(RECORDS)
    inside = ((cells >= nodes.lo[:, None]) & (cells < nodes.hi[:, None])).all(axis=2).sum(axis=1)
    assert (np.abs(nodes.count - inside) <= 0.1 + 40 * np.sqrt(nodes.variance)).all()


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.floats(0.0, 0.999)] * 3), max_size=20), st.randoms())
@settings(max_examples=30)
def test_one_record_more_is_in_one_cell_of_every_level(rows, random):
    share = np.array(rows, dtype=np.float64).reshape(-1, 3)
    points = np.array(BOX.lower) + share * np.subtract(BOX.upper, BOX.lower)
    one = np.array(BOX.lower) + 0.999 * random.random() * np.subtract(BOX.upper, BOX.lower)
    counts = []
    for each in (points, np.vstack([points, one])):
        tree = CellTree(PointIndex.from_points(BOX, each), 3)
        for _ in range(3):
            tree.split(np.ones(len(tree.codes[-1]), dtype=np.bool_))
        counts.append([tree.level_counts(depth) for depth in range(4)])
        lo, hi = (side[-512:, None] for side in tree.boxes())
        cells, _ = BOX.to_lattice(each)
        exact = ((cells >= lo) & (cells < hi)).all(axis=2).sum(axis=1)
        np.testing.assert_array_equal(counts[-1][-1], exact)
    for less, more in zip(*counts, strict=True):
        assert sorted((more - less).tolist())[-2:] in ([0, 1], [1])


def test_what_divides_all_sides_alike_is_refused_before_anything_is_paid():
    data = dpviz.from_points(RECORDS, BOX)
    with pytest.raises(ParameterError, match="ugrid divides all sides alike: leave hour_worth out"):
        dpviz.build(data, "ugrid", 1.0)


@pytest.mark.parametrize("wrong", ["far", "0m", "-5m", "5 miles", "nan", "inf", ""])
def test_invalid_distances_are_refused(wrong):
    with pytest.raises(DomainError, match="give metres above 0"):
        metres(wrong)
    with pytest.raises(DomainError, match="without a period"):
        dpviz.Domain.from_bounds([0, 0, 1, 1], hour_worth="500m")
    with pytest.raises(DomainError, match="no axis"):
        dpviz.Domain((0, 0), (1, 1), hour_worth=500.0)


def test_an_hour_s_worth_from_file_to_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(RECORDS, columns=["x", "y", "when"]).to_csv("records.csv", index=False)
    build = ["build", "records.csv", "--bounds=400000,0,408000,4000", "--crs=EPSG:32631"]
    build += [
        "--columns=x,y",
        "--time=when",
        "--time-format=seconds",
        f"--period={','.join(WEEK)}",
        "--public",
        "--seed=1",
    ]
    build += ["--method=quadtree", "--set=height=3", "--epsilon=100"]
    assert cli(*build, "-o", "plain.parquet")[0] == 0
    assert cli(*build, "-o", "worth.parquet", "--hour-worth", "500m")[0] == 0
    assert "an hour worth 500 m" in cli("info", "worth.parquet")[1]
    assert "--hour-worth 500m" in cli("info", "worth.parquet", "--code", "command")[1]
    plain, worth = dpviz.read("plain.parquet"), dpviz.read("worth.parquet")
    assert worth.domain.hour_worth == 500.0
    assert "hour_worth" not in str(plain.domain.to_dict())
    shortest = [int((each.nodes.hi - each.nodes.lo)[:, 2].min()) for each in (plain, worth)]
    assert shortest[1] < shortest[0]
    start, _ = BOX.period
    for day in range(7):
        period = (start + 86_400 * day, start + 86_400 * (day + 1))
        exact = ((RECORDS[:, 2] >= period[0]) & (RECORDS[:, 2] < period[1])).sum()
        assert abs(worth.count([400_000, 0, 408_000, 4_000], period).count[0] - exact) < 12
    error = fails(*build, "-o", "no.parquet", "--hour-worth", "far")
    assert "give metres above 0" in error
