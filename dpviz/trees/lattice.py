"""Integer geometry: Morton codes, boxes, overlaps and volumes, as pure functions on columns.

A box is ``lo`` (inclusive) and ``hi`` (exclusive), int64 of shape (n, d). A Morton code interleaves
the bits of a cell's coordinates, axis 0 in the most significant place, so that every cell of the
2^d-ary tree over the lattice is one contiguous range of codes (G. M. Morton, 1966).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.progress import checkpoint

Int = NDArray[np.int64]
Codes = NDArray[np.uint64]
Float = NDArray[np.float64]

Steps = list[tuple[np.uint64, np.uint64]]
"""Pairs of a shift and a mask, as NumPy's numbers: to make them takes longer than few codes do."""

_STEPS = {
    2: [
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ],
    3: [
        (32, 0x001F00000000FFFF),
        (16, 0x001F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ],
    4: [
        (24, 0x000000FF000000FF),
        (12, 0x000F000F000F000F),
        (6, 0x0303030303030303),
        (3, 0x1111111111111111),
    ],
}

_SPREAD: dict[int, Steps] = {
    dims: [(np.uint64(shift), np.uint64(mask)) for shift, mask in steps]
    for dims, steps in _STEPS.items()
}
"""Shifts and masks that put dims − 1 zero bits between neighbouring bits."""
_GATHER: dict[int, Steps] = {
    dims: [
        (shift, mask)
        for (shift, _), (_, mask) in pairwise(
            [*steps[::-1], (np.uint64(0), np.uint64((1 << 64 // dims) - 1))]
        )
    ]
    for dims, steps in _SPREAD.items()
}
"""The way back, once the last mask of the way there is laid on."""

STRIP_ROWS = 1 << 14
"""Rows whose codes are made at once: what stays in the fastest memory."""


def morton(cells: ArrayLike) -> Codes:
    """Morton codes of lattice cells.

    ``cells``: non-negative integers of shape (n, d), 1 ≤ d ≤ 4, below 2^(64 // d) (16 bits in 4-D).
    Returns uint64 of shape (n,).

    >>> morton([[0, 0], [0, 1], [1, 0], [1, 1], [2, 3]])
    array([ 0,  1,  2,  3, 13], dtype=uint64)
    """
    cells = np.asarray(cells, dtype=np.int64)
    rows, dims = cells.shape
    codes = np.empty(rows, dtype=np.uint64)
    spread, shifted = np.empty((2, min(rows, STRIP_ROWS)), dtype=np.uint64)
    for start in range(0, rows, STRIP_ROWS):
        strip = codes[start : start + STRIP_ROWS]
        for axis in range(dims):
            value = strip if axis == 0 else spread[: len(strip)]
            value[:] = cells[start : start + STRIP_ROWS, axis]
            _spread(value, shifted[: len(strip)], dims)
            if axis:
                strip <<= np.uint64(1)
                strip |= value
    return codes


def unmorton(codes: ArrayLike, dims: int) -> Int:
    """Lattice cells of Morton codes: int64 of shape (n, dims); the inverse of :func:`morton`."""
    codes = np.asarray(codes, dtype=np.uint64)
    cells = np.empty((len(codes), dims), dtype=np.int64)
    shifts = np.arange(dims - 1, -1, -1, dtype=np.uint64)[:, None]
    rows = STRIP_ROWS // dims  # all axes at once
    for start in range(0, len(codes), rows):
        checkpoint()
        strip = slice(start, start + rows)
        cells[strip] = _gather(codes[strip] >> shifts, dims).T
    return cells


def _spread(values: Codes, shifted: Codes, dims: int) -> None:
    """Leave dims − 1 zero bits between the bits of values, in place, with a second column."""
    for shift, mask in _SPREAD.get(dims, ()):
        np.left_shift(values, shift, out=shifted)
        values |= shifted
        values &= mask


def _gather(values: Codes, dims: int) -> Codes:
    """Undo :func:`_spread`, in place."""
    if dims == 1:
        return values
    values &= _SPREAD[dims][-1][1]
    for shift, mask in _GATHER[dims]:
        values |= values >> shift
        values &= mask
    return values


def hilbert(cells: ArrayLike, order: int) -> Codes:
    """Positions of cells on the Hilbert curve through a grid of 2^order cells per side.

    J. Skilling: Programming the Hilbert curve. AIP Conference Proceedings 707, 2004, for any number
    of dimensions. The leading dims·k bits are the position of the cell's block on the curve through
    the coarser grid of 2^k cells per side, so an aligned run of 2^j positions is a box.

    ``cells``: int64 of shape (n, d), below 2^order.

    >>> hilbert([[0, 0], [0, 1], [1, 1], [1, 0]], 1)
    array([0, 1, 2, 3], dtype=uint64)
    """
    axes = [np.array(column, dtype=np.int64) for column in np.asarray(cells, dtype=np.int64).T]
    for bit in range(order - 1, 0, -1):
        for axis in range(len(axes)):
            _skilling_step(axes, axis, bit)
    for axis in range(1, len(axes)):
        axes[axis] ^= axes[axis - 1]
    flip = axes[-1] >> 1
    for shift in (1, 2, 4, 8, 16, 32):
        flip ^= flip >> shift  # finally each bit is the parity of the bits above it
    return morton(np.stack([column ^ flip for column in axes], axis=1))


def unhilbert(codes: ArrayLike, order: int, dims: int) -> Int:
    """Cells at positions of the Hilbert curve, int64 (n, dims): inverse of :func:`hilbert`."""
    axes = list(unmorton(codes, dims).T.copy())
    flip = axes[-1] >> 1
    for axis in range(dims - 1, 0, -1):
        axes[axis] ^= axes[axis - 1]
    axes[0] ^= flip
    for bit in range(1, order):
        for axis in range(dims - 1, -1, -1):
            _skilling_step(axes, axis, bit)
    return np.stack(axes, axis=1)


def _skilling_step(axes: list[Int], axis: int, bit: int) -> None:
    """Skilling's step: where the bit is set invert the lower bits of axis 0, else swap them."""
    checkpoint()
    low = (1 << bit) - 1
    inverted = -(axes[axis] >> bit & 1) & low  # masks: np.where is several times slower
    if axis:
        swapped = (axes[0] ^ axes[axis]) & (inverted ^ low)
        axes[axis] ^= swapped
        inverted |= swapped
    axes[0] ^= inverted


def hilbert_run_boxes(runs: ArrayLike, bits: int, order: int, dims: int) -> tuple[Int, Int]:
    """Boxes of aligned runs of the Hilbert curve through a grid of 2^order cells per side.

    Returns first cells and cells after the last, int64 of shape (n, dims), in cells of the grid.

    Args:
        runs: the leading ``bits`` bits of the positions in each run, shape (n,).
        bits: number of leading bits; a run holds 2^(dims·order − bits) cells.
    """
    runs = np.asarray(runs, dtype=np.uint64)
    coarse = -(-bits // dims)  # the coarsest grid in which a run is a whole number of cells
    missing = dims * coarse - bits
    pieces = [
        unhilbert((runs << np.uint64(missing)) | np.uint64(part), coarse, dims)
        for part in range(1 << missing)
    ]
    low, high = pieces[0].copy(), pieces[0].copy()
    for part in pieces[1:]:
        np.minimum(low, part, out=low)
        np.maximum(high, part, out=high)
    shift = order - coarse
    return low << shift, (high + 1) << shift


def rowwise(column: NDArray[Any]) -> NDArray[Any]:
    """A view of a column of rows as one of single items, which NumPy moves four times as fast.

    Rows of two numbers become one item of sixteen bytes each; its value means nothing. Others stay.
    """
    if column.ndim == 2 and column.shape[1] * column.itemsize == 16 and column.flags.c_contiguous:
        return column.view(np.complex128)[:, 0]
    return column


def volumes(lo: Int, hi: Int) -> Int:
    """Exact volumes in lattice cells, int64 of shape (n,)."""
    product = hi[:, 0] - lo[:, 0]  # axis by axis: five times faster than a product of short rows
    for axis in range(1, lo.shape[1]):
        side = hi[:, axis] - lo[:, axis]
        product = product * side
    return np.asarray(product)


def overlaps(lo: Int, hi: Int, lo2: Int, hi2: Int) -> Int:
    """Exact volume of the intersection of each pair of boxes (shapes broadcast), int64."""
    sides = np.minimum(hi, hi2) - np.maximum(lo, lo2)
    return np.asarray(np.prod(np.maximum(sides, 0), axis=-1, dtype=np.int64))


def positions_within(sizes: Int) -> Int:
    """Position, from 0, of each member in its group; consecutive groups have these sizes.

    >>> positions_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def grid_edges(side: int, cells: int) -> Int:
    """Edges of ``cells`` near-equal intervals over 0..side: int64 of shape (cells + 1,)."""
    return np.asarray(np.arange(cells + 1, dtype=np.int64) * side // cells)
