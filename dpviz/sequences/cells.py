"""From places and times to sequences of cells of a public grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import Domain
from dpviz.errors import DataError, ParameterError
from dpviz.lattice import Int
from dpviz.sequences.data import Alphabet, Sequences


def grid_alphabet(side: int, *, neighbours: bool = True) -> Alphabet:
    """The cells of a grid of side × side, named ``column-row`` from the south-west.

    Args:
        side: cells along each axis, 2 to 64.
        neighbours: whether a step leads to one of the eight cells around only: a public rule, at
            which records that break it are cut.

    Raises:
        ParameterError: another side.

    >>> grid_alphabet(2).names
    ('0-0', '0-1', '1-0', '1-1')
    """
    if not 2 <= side <= 64:
        raise ParameterError(f"a grid of {side} cells per side: give 2 to 64")
    column, row = np.divmod(np.arange(side * side), side)
    names = tuple(f"{x}-{y}" for x, y in zip(column.tolist(), row.tolist(), strict=True))
    if not neighbours:
        return Alphabet(names)
    apart = np.maximum(
        np.abs(column[:, None] - column[None, :]), np.abs(row[:, None] - row[None, :])
    )
    return Alphabet(names, apart == 1)


def cell_sequences(
    points: ArrayLike, person: ArrayLike, time: ArrayLike, domain: Domain, side: int, gap: float
) -> tuple[Sequences, Int]:
    """Each person's places in time as cells of a grid, repeats left out, cut at long gaps.

    Args:
        points: coordinates (n, 2) in the domain's CRS; those outside are left out.
        person: of each point, any values.
        time: of each point, numbers in any unit.
        domain: the public rectangle.
        side: cells along each axis.
        gap: a public time after which a new sequence begins.

    Returns:
        The sequences, in order of persons and time, and the person's number of each.

    Raises:
        DataError: columns of different lengths, or times that are no finite numbers.
        ParameterError: a gap that is not positive.
    """
    points, time = np.asarray(points, dtype=np.float64), np.asarray(time, dtype=np.float64)
    if points.ndim != 2 or not len(points) == len(np.asarray(person)) == len(time):
        raise DataError("points, persons and times must have one row for each place")
    if not np.isfinite(time).all():
        raise DataError("a time is missing or no number: leave such rows out")
    if not gap > 0:
        raise ParameterError(f"gap={gap:g}: give a positive time")
    who = np.unique(np.asarray(person), return_inverse=True)[1].astype(np.int64)
    lattice, inside = domain.to_lattice(points)
    who, time = who[inside], time[inside]
    cell = (lattice * side) // domain.side
    symbol = cell[:, 0] * side + cell[:, 1]
    order = np.lexsort((time, who))
    who, time, symbol = who[order], time[order], symbol[order]
    opens = np.ones(len(who), dtype=np.bool_)
    opens[1:] = (who[1:] != who[:-1]) | (time[1:] - time[:-1] > gap)
    kept = opens.copy()
    kept[1:] |= symbol[1:] != symbol[:-1]
    starts = np.flatnonzero(opens[kept])
    return Sequences(np.append(starts, kept.sum()), symbol[kept]), who[kept][starts]


def centres(domain: Domain, side: int) -> NDArray[np.float64]:
    """Centres of the cells of :func:`grid_alphabet` in the domain's CRS, (side², 2)."""
    column, row = np.divmod(np.arange(side * side), side)
    low, span = np.array(domain.lower), np.subtract(domain.upper, domain.lower)
    return np.asarray(low + (np.column_stack([column, row]) + 0.5) / side * span)


def cell_boxes(domain: Domain, side: int) -> NDArray[np.float64]:
    """Boxes of the cells of :func:`grid_alphabet` in the domain's CRS, (side², 4)."""
    column, row = np.divmod(np.arange(side * side), side)
    low, span = np.array(domain.lower), np.subtract(domain.upper, domain.lower)
    corner = np.column_stack([column, row])
    return np.hstack([low + corner / side * span, low + (corner + 1) / side * span])
