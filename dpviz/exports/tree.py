"""Pack a release's tree as columns, from which the page answers queries and draws cells.

The page computes bounds, areas and levels from the tree; only adaptive detail, which is costly to
compute again, is stored beside it, in a few bytes per node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.exports.pack import Packer
from dpviz.files.arrow import number_array
from dpviz.releases.counts import PointRelease
from dpviz.render.cells import adaptive, detail_columns
from dpviz.render.detail import NEVER
from dpviz.trees.shrinkage import nonnegative_counts


def pack_tree(packer: Packer, name: str, release: PointRelease) -> dict[str, Any]:
    """Add the columns of a 2-D release; its lattice lines fit 32 bits.

    Returns:
        Further values that the page needs.
    """
    nodes = release.nodes
    for column in ("lo", "hi"):
        packer.add(f"{name}.{column}", getattr(nodes, column).astype(np.uint32), delta=True)
    packer.add(f"{name}.n_children", nodes.n_children.astype(np.int32))
    for column in ("count", "variance", "assumed"):
        if column in nodes.columns:
            packer.add(f"{name}.{column}", nodes.columns[column])
    if release.noise is not None:
        packer.add(f"{name}.nonnegative", nonnegative_counts(nodes))
    if release.sums is not None:
        packer.add(f"{name}.sum", release.sums.sum)
        packer.add(f"{name}.sum_variance", release.sums.variance)
    detail = adaptive(release)
    drawn = detail_columns(release, detail)
    for column in ("kind", "since", "until"):
        packer.add(f"{name}.{column}", number_array(drawn[column]))
    index = np.arange(len(nodes))
    packer.add(f"{name}.back", (index - number_array(drawn["group"])).astype(np.int32))
    merged = (detail.kind != NEVER) & (detail.variance != nodes.variance)
    sd = np.where(merged, np.sqrt(detail.variance), 0.0)
    packer.add(f"{name}.merged_sd", sd.astype(np.float32))
    noise = release.noise and release.noise.to_dict()
    return {
        "name": name,
        "roots": int(nodes.levels[0].stop),
        "noise": noise,
        "coherence": nodes.coherence,
    }
