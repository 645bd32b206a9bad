"""The relative error of answers, with a sanity bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.trees.lattice import Float

SANITY = 0.001
"""The sanity bound as a share of the number of records (PrivTree, §6.1: 0.1 %)."""


def relative_errors(answers: ArrayLike, exact: ArrayLike, bound: float) -> Float:
    """|answer − exact| / max(exact, bound), float64 of the shape of the answers.

    ``bound``: the sanity bound in records, above 0: it keeps empty queries from deciding a mean.

    >>> relative_errors([12, 3], [10, 0], bound=5).tolist()
    [0.2, 0.6]
    """
    exact = np.asarray(exact, dtype=np.float64)
    return np.asarray(np.abs(np.asarray(answers) - exact) / np.maximum(exact, bound))


def sanity_bound(total: int, share: float = SANITY) -> float:
    """The sanity bound in records: a share of all records, one record where there is none."""
    return share * total if total else 1.0
