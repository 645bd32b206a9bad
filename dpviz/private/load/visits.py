"""Convert places in time to sequences of cells, person by person."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.sequences import Sequences
from dpviz.releases.sequences.cells import Cells
from dpviz.trees.lattice import Int


def cell_sequences(
    points: ArrayLike, person: ArrayLike, time: ArrayLike, cells: Cells, gap: float
) -> tuple[Sequences, Int]:
    """Cell sequence of each person's visits, without repeats, cut at long gaps.

    Returns the sequences, in order of persons and time, and the person's number of each.

    Args:
        points: coordinates (n, 2) in the domain's CRS; those outside it are left out.
        person: person of each point, any values.
        time: time of each point, finite numbers in any unit.
        gap: a public time above 0 after which a new sequence begins.
    """
    points, time = np.asarray(points, dtype=np.float64), np.asarray(time, dtype=np.float64)
    who = np.unique(np.asarray(person), return_inverse=True)[1].astype(np.int64)
    lattice, inside = cells.domain.to_lattice(points)
    who, time = who[inside], time[inside]
    same = who[1:] == who[:-1]
    if not ((who[1:] > who[:-1]) | (same & (time[1:] >= time[:-1]))).all():  # else it is sorted
        order = np.lexsort((time, who))
        who, time, lattice = who[order], time[order], lattice[order]
        same = who[1:] == who[:-1]
    opens = np.ones(len(who), dtype=np.bool_)
    with np.errstate(over="ignore"):  # no warning: it would reveal a record; infinity works
        opens[1:] = ~same | (time[1:] - time[:-1] > gap)
    symbol = cells.symbol(lattice)
    opening = opens.copy()
    opening[1:] |= symbol[1:] != symbol[:-1]
    starts = np.flatnonzero(opens[opening])
    return Sequences(np.append(starts, opening.sum()), symbol[opening]), who[opening][starts]
