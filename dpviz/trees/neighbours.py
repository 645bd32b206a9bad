"""Which cell lies beside each node of a tree of Morton cells, across each of its sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpviz.progress import checkpoint
from dpviz.trees.lattice import Int

Int32 = NDArray[np.int32]


def beside(lo: Int, parent: Int32 | Int, first_child: Int32, levels: tuple[slice, ...]) -> Int32:
    """The node of each node's own size across each side, or the leaf around that, int32 (d, 2, n).

    Across the lower and the upper side of each axis; −1 at the domain's edge. A family's members
    lie beside each other; what lies beyond is a child of what lies beside their parent.

    Of a tree of one root; in each level all splits halve the same axes, once each, and have their
    children in the same order. Its columns are those of a decomposition.
    """
    there = np.full((lo.shape[1], 2, len(lo)), -1, dtype=np.int32)
    for part in levels[1:]:
        fanout = int(parent[part].searchsorted(parent[part.start], "right"))
        above = parent[part][::fanout]
        first = np.arange(part.start, part.stop, fanout, dtype=np.int32)
        family = lo[part.start : part.start + fanout]
        bits = [1 << place for place in range(fanout.bit_length() - 1)]
        for axis, both in enumerate(there):
            checkpoint()
            # Which bit of a member's number says on which side of the middle it lies, if any.
            bit = next((bit for bit in bits if family[bit, axis] > family[0, axis]), 0)
            for upper, column in enumerate(both):
                beyond, rows = column.take(above), column[part].reshape(-1, fanout)
                child = first_child.take(beyond)
                divided = (beyond >= 0) & (child >= 0)
                for corner in range(fanout):
                    if bit and bool(corner & bit) != bool(upper):
                        rows[:, corner] = first + (corner ^ bit)
                    else:
                        rows[:, corner] = np.where(divided, child + (corner ^ bit), beyond)
    return there
