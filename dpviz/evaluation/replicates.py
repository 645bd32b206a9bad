"""Replicates: errors of a release of points, simulated from the release alone.

Synthetic records are drawn from a release, and the same method is run on them with simulated noise:
the error of a replicate is its answer less that of its own synthetic records. This needs no records
and costs no ε. It is an ESTIMATE of the noise after any post-processing, and no bound: it cannot
see how records lie inside a leaf, nor what lies below the release's leaves, so that the trees of
replicates are a little smaller than the release's. On small data their errors alone are too small:
on 3,000 records at ε = 0.5 they covered 91 % of differences of cells. So
:func:`dpviz.releases.joint.joint` scales them up to the variance that the release states of each
count: then 96 %.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpviz.build import build, from_points
from dpviz.errors import ParameterError, ReleaseError
from dpviz.evaluation.truth import exact_counts
from dpviz.methods import method
from dpviz.private.budget import per_record
from dpviz.private.handle import DataHandle
from dpviz.releases.counts import CountRelease, PointRelease, is_points
from dpviz.releases.subset import Subset
from dpviz.trees.lattice import Float
from dpviz.trees.prior import Prior

COUNT = 25
"""Replicates by default: the root mean square of their errors is known to about 14 %."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Simulated releases of synthetic records, one list for each part of a release.

    ``parts``: pairs of synthetic records and their release, by part and replicate.
    """

    release: CountRelease[Any]
    parts: Sequence[Sequence[tuple[DataHandle, PointRelease]]]

    def errors(self, subset: Subset) -> Float:
        """Errors of the count of a subset, one per replicate."""
        rows = self.release.part_rows(subset.period, subset.kind)
        errors = [self._errors_of_part(row, subset) for row in rows.ravel().tolist()]
        return np.asarray(np.sum(errors, axis=0))

    def _errors_of_part(self, row: int, subset: Subset) -> Float:
        domain = self.release.parts[row].frame.domain
        place = domain.without_time.bounds if subset.place is None else subset.place
        rect = np.asarray(place, dtype=np.float64)
        if domain.time is not None:
            period = subset.period if self.release.steps is None else None
            rect = domain.query_boxes(rect, period)
        return np.array(
            [
                float(made.count(rect).count[0] - exact_counts(records, rect)[0])
                for records, made in self.parts[row]
            ]
        )


def replicated(
    release: CountRelease[Any], count: int = COUNT, *, prior: Prior | None = None
) -> Replicates:
    """Simulate releases like one of points; equal for equal releases.

    Args:
        release: a release of points, without values.
        count: number of replicates.
        prior: the public prior that the release follows, if it follows one.

    Raises:
        ReleaseError: of areas or streets, whose covariances are exact; of sums; or one without a
            positive total to sample from.
        ParameterError: fewer than two replicates, or not the release's prior.
    """
    if not is_points(release):
        raise ReleaseError(f"a release of {release.kind} needs no replicates: leave them out")
    if release.domain.values is not None:
        raise ReleaseError("replicates are of counts, and this release has sums: leave them out")
    if release.header.persons:
        raise ReleaseError(
            "replicates are of counts of records, and this release counts persons: leave them out"
        )
    followed = release.header.extra.get("prior", {}).get("sha256")
    if followed != (None if prior is None else prior.facts["sha256"]):
        raise ParameterError(
            f"replicates follow the prior of their release, SHA-256 {followed}: give it (--prior)"
            if followed
            else "the release follows no prior: leave it out"
        )
    if count < 2:
        raise ParameterError(f"{count} replicates: give at least 2")
    seeds = np.random.SeedSequence(_digest(release)).generate_state(len(release.parts) * count)
    parts = [
        [_replicate(part, prior, int(seed)) for seed in each]
        for part, each in zip(release.parts, seeds.reshape(-1, count), strict=True)
    ]
    return Replicates(release, parts)


def _replicate(
    part: PointRelease, prior: Prior | None, seed: int
) -> tuple[DataHandle, PointRelease]:
    """Synthetic records of one part, and their release by the same method with simulated noise."""
    header = part.header
    domain = replace(part.frame.domain, kinds=None)
    records = from_points(part.sample(seed=seed), domain, public=True, name="synthetic")
    chosen = method(header.method, "points", **header.parameters)
    epsilon = per_record(header.epsilon, header.steps)
    made = build(records, chosen, epsilon, delta=header.delta or None, prior=prior, seed=seed)
    return records, made


def _digest(release: CountRelease[Any]) -> int:
    """A number that equal releases share."""
    text = json.dumps(release.header.to_dict(), sort_keys=True, default=str)
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for part in release.parts:
        digest.update(part.nodes.count.tobytes())
    return int.from_bytes(digest.digest(), "big")
