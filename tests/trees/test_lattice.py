import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.domain import LATTICE_BITS
from dpviz.trees.lattice import grid_edges, morton, overlaps, unmorton, volumes
from tests.strategies import boxes, cells

pytestmark = pytest.mark.slow


def interleaved(cell, bits):
    """Morton code by strings of bits: the definition."""
    digits = [format(value, f"0{bits}b") for value in cell]
    return int("".join("".join(place) for place in zip(*digits, strict=True)), 2)


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@given(data=st.data())
def test_morton_interleaves_bits_and_comes_back(dims, data):
    bits = LATTICE_BITS[dims]
    rows = data.draw(cells(dims, bits, most=8))  # each is a code of its own
    codes = morton(rows)
    assert codes.tolist() == [interleaved(row.tolist(), bits) for row in rows]
    assert (unmorton(codes, dims) == rows).all()


@given(st.data())
def test_overlap_volume_equals_counted_cells(data):
    lo, hi = data.draw(boxes(8))
    grid = np.stack(np.meshgrid(np.arange(8), np.arange(8)), -1).reshape(-1, 2)

    def inside(row):
        return ((grid >= lo[row]) & (grid < hi[row])).all(axis=1)

    for a in range(len(lo)):
        assert volumes(lo, hi)[a] == inside(a).sum()
        for b in range(len(lo)):
            common = overlaps(lo[a : a + 1], hi[a : a + 1], lo[b : b + 1], hi[b : b + 1])
            assert common[0] == (inside(a) & inside(b)).sum()


@given(st.integers(1, 5000))
def test_grid_edges_are_near_equal(count):
    widths = np.diff(grid_edges(2**26, count))
    assert widths.sum() == 2**26
    assert widths.max() - widths.min() <= 1
