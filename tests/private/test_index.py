import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz import Domain
from dpviz.errors import DataError
from dpviz.private.index import MIN_COMPILED, PointIndex
from dpviz.trees.lattice import grid_edges
from tests.strategies import UNIT_SQUARE, boxes, cells, indexes


@pytest.mark.slow
@pytest.mark.parametrize("dims", [2, 4])
@settings(max_examples=40)
@given(data=st.data())
def test_box_counts_equal_a_naive_count(dims, data):
    domain = Domain((0.0,) * dims, (1.0,) * dims)
    rows = data.draw(cells(dims, domain.bits))
    lo, hi = data.draw(boxes(domain.side, dims))
    index = PointIndex.from_cells(domain, rows)
    naive = ((rows[None] >= lo[:, None]) & (rows[None] < hi[:, None])).all(axis=2).sum(axis=1)
    for times in (1, MIN_COMPILED):  # few boxes are scanned, many use the compiled tree walk
        counts = index.box_counts(np.tile(lo, (times, 1)), np.tile(hi, (times, 1)))
        assert counts.tolist() == np.tile(naive, times).tolist()


@pytest.mark.parametrize("dims", [2, 4])
@settings(max_examples=40)
@given(data=st.data())
def test_rows_of_cells_hold_a_naive_count(dims, data):
    domain = Domain((0.0,) * dims, (1.0,) * dims)
    rows = data.draw(cells(dims, domain.bits))
    depth = data.draw(st.integers(0, 2))
    codes = np.arange(2 ** (dims * depth) + 1, dtype=np.uint64)
    index = PointIndex.from_cells(domain, rows)
    counts = np.diff(index.cumulative[index.first_rows(codes, dims * depth)])
    assert counts.sum() == len(rows)
    place = rows >> (domain.bits - depth)
    for code in range(len(counts)):
        corner = [
            sum(((code >> (dims * level + dims - 1 - axis)) & 1) << level for level in range(depth))
            for axis in range(dims)
        ]
        assert counts[code] == (place == corner).all(axis=1).sum()


@pytest.mark.slow
@given(indexes())
def test_histogram_adds_up_and_matches_numpy(index):
    edges = [grid_edges(index.domain.side, 3), grid_edges(index.domain.side, 5)]
    expected, _, _ = np.histogram2d(*index.cells.T, bins=edges, weights=index.weights)
    assert (index.histogram(edges) == expected).all()
    assert index.histogram(edges).sum() == index.total


@pytest.mark.slow
@given(st.data())
def test_order_of_records_and_rows_of_counts_do_not_matter(data):
    rows = data.draw(cells())
    number = st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows))
    weights = np.array(data.draw(number), dtype=np.int64)
    order = data.draw(st.permutations(range(len(rows))))
    repeated = PointIndex.from_cells(UNIT_SQUARE, np.repeat(rows, weights, axis=0)[::-1])
    counted = PointIndex.from_cells(UNIT_SQUARE, rows[list(order)], weights[list(order)])
    assert (repeated.codes == counted.codes).all()
    assert (repeated.cumulative == counted.cumulative).all()


def test_columns_refuse_writes():
    index = PointIndex.from_points(UNIT_SQUARE, [[0.5, 0.5]])
    with pytest.raises(ValueError, match="read-only"):
        index.codes[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        index.cumulative[0] = 5


@pytest.mark.parametrize("weights", [[-1], [1, 2]])
def test_bad_counts_are_refused(weights):
    with pytest.raises(DataError, match="whole numbers from 0, one per cell"):
        PointIndex.from_cells(UNIT_SQUARE, np.zeros((1, 2), dtype=np.int64), weights)


def test_empty_data_are_legal():
    index = PointIndex.from_points(UNIT_SQUARE, np.empty((0, 2)))
    assert index.total == 0
    assert index.box_counts([[0, 0]], [[9, 9]]).tolist() == [0]


def test_records_of_two_sources_are_added_up_exactly_or_not_at_all():
    halves = [
        PointIndex.from_cells(UNIT_SQUARE, np.full((1, 2), at), [most])
        for at, most in ((0, 1 << 52), (1, 1 << 52), (1, (1 << 52) - 1))
    ]
    with pytest.raises(DataError, match=r"add up to more than 2\^53"):
        halves[0].merged(halves[1])
    assert halves[0].merged(halves[2]).total == (1 << 53) - 1
