"""Pack a release's tree as columns, from which the page answers queries and draws cells.

The page computes bounds, areas and levels from the tree; only adaptive detail, which is costly to
compute again, is stored beside it. Numbers are rounded far below their noise, and boxes stand in
relation to their parents, so that a node takes about five bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.exports.pack import Packer
from dpviz.files.arrow import number_array
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.box import day_steps
from dpviz.render.cells import adaptive, detail_columns
from dpviz.trees.coherence import coherence
from dpviz.trees.lattice import Float
from dpviz.trees.shrinkage import nonnegative_counts

FINE = 2.0**10
"""Units of a rounded count to one standard deviation of its noise: no digit shown depends on it."""

FINE_VARIANCE = 2.0**9
"""Units of a rounded variance to the power of two below it."""


def pack_tree(packer: Packer, name: str, release: PointRelease) -> dict[str, Any]:
    """Add the columns of a 2-D release, from which the page draws cells and answers queries.

    Returns:
        Further values that the page needs.
    """
    drawn = detail_columns(release, adaptive(release))
    for column in ("kind", "since", "until"):
        packer.add(f"{name}.{column}", number_array(drawn[column]))
    index = np.arange(len(release.nodes))
    packer.add(f"{name}.back", (index - number_array(drawn["group"])).astype(np.int32))
    if release.sums is not None:
        total, variance = release.sums.sum, release.sums.variance
        packer.add(f"{name}.sum", rounded(total, np.sqrt(variance), FINE))
        packer.add(f"{name}.sum_variance", rounded(variance, variance, FINE_VARIANCE))
    return pack_nodes(packer, name, release)


def pack_nodes(packer: Packer, name: str, release: PointRelease) -> dict[str, Any]:
    """Add the columns of a release of one part, from which the page answers counts.

    Lattice lines fit 32 bits.

    Returns:
        Further values that the page needs.
    """
    nodes = release.nodes
    inner = nodes.parent >= 0
    above = nodes.parent[inner]
    lo, hi = nodes.lo.copy(), nodes.hi.copy()
    lo[inner] -= nodes.lo[above]
    hi[inner] = nodes.hi[above] - hi[inner]
    packer.add(f"{name}.lo", lo.astype(np.uint32))
    packer.add(f"{name}.hi", hi.astype(np.uint32))
    packer.add(f"{name}.n_children", nodes.n_children.astype(np.int32))
    # Noise of wavelets cancels in sums of nodes, errors of rounding would not.
    scale = np.sqrt(nodes.variance) if release.noise is None else np.zeros(len(nodes))
    packer.add(f"{name}.count", rounded(nodes.count, scale, FINE))
    packer.add(f"{name}.variance", rounded(nodes.variance, nodes.variance, FINE_VARIANCE))
    if nodes.assumed is not None:
        packer.add(f"{name}.assumed", rounded(nodes.assumed, nodes.assumed, FINE_VARIANCE))
    held = nodes.count
    if release.noise is not None:
        held = nonnegative_counts(nodes)
        packer.add(f"{name}.nonnegative", held)
    return {
        "name": name,
        "roots": int(nodes.levels[0].stop),
        "noise": release.noise and release.noise.to_dict(),
        "coherence": coherence(nodes, held, day_steps(release.domain)),
    }


def pack_windows(
    packer: Packer, whole: PointRelease, steps: Sequence[PointRelease]
) -> dict[str, Any]:
    """Add the trees of a release with time, one for each kind, and its windows as lattice lines.

    The maps of the windows have cells whose noise is an upper bound; these trees state what
    :meth:`~dpviz.releases.counts.CountRelease.count` does.
    """
    domain = whole.domain
    place, ends = domain.without_time.bounds, []
    for step in steps:
        lo, hi = domain.boxes(domain.query_boxes(place, step.header.extra["period"]))
        ends.append([int(lo[0, 2]), int(hi[0, 2])])
    trees = [pack_nodes(packer, f"whole{at}", each) for at, each in enumerate(whole.parts)]
    return {"side": domain.side, "ends": ends, "trees": trees}


def rounded(values: Float, scale: Float, fine: float) -> Float:
    """Values in whole units of a power of two below ``scale / fine``; as they are at scale 0.

    >>> rounded(np.array([1.2345, 7.0]), np.array([1.0, 0.0]), 4.0).tolist()
    [1.25, 7.0]
    """
    _, exponent = np.frexp(scale)
    unit = np.ldexp(1.0 / fine, exponent - 1)
    return np.where(scale > 0, np.rint(values / unit) * unit, values)
