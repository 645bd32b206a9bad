"""Errors of road releases other than noise, which no interval includes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.releases.axis import OF_STEPS
from dpviz.releases.counts import RoadRelease
from dpviz.roads.paths import Paths, require_workload
from dpviz.trees.lattice import Float

EVENTS = "events"
"""Noun for records that are trips of one edge: the street nearest to their place."""


def is_above_noise(release: RoadRelease, workload: Paths) -> bool:
    """Return whether the noise of a workload's answers is smaller than the true answers.

    The mean square of the true answers is estimated by that of the noisy ones minus their noise
    variance; below the noise variance, answering zero is as good. Post-processing: free.
    """
    require_workload(workload)
    answers = release.answers_to(workload)
    variance: Float = answers.noise_sd**2
    return bool(np.mean(answers.count**2 - variance) > np.mean(variance))


def limits(release: RoadRelease) -> list[int]:
    """L of a release, or of each step where steps differ; empty if no trip is cut."""
    if release.records == EVENTS:
        return []
    return [each["limit"] for each in facts_of_each_step(release) if "limit" in each]


def is_truncation_corrected(release: RoadRelease) -> bool:
    """Return whether counts are scaled up to correct the estimated loss by truncation."""
    return any("factors" in each for each in facts_of_each_step(release))


def facts_of_each_step(release: RoadRelease) -> list[dict[str, Any]]:
    """Return the extra header fields of all steps, then those of each step that differ."""
    extra = release.header.extra
    return [extra, *extra.get(OF_STEPS, [])]


def beyond_noise(release: RoadRelease, *, truncation: bool = True) -> list[str]:
    """A sentence for each error that is in no interval: truncation, smoothing, shared counts.

    Sources are the release's header fields. Measured on synthetic trips without truncation,
    smoothed counts at ε = 0.1 to 2 lay in the noise interval for 99.7 % of all streets, and for 90
    to 100 % of the fifty busiest.
    """
    sentences = _of_truncation(release) if truncation else []
    share = max(each.get("smoothing", 0.0) for each in facts_of_each_step(release))
    if share > 0:
        sentences.append(
            f"Counts were drawn {100 * share:.0f} % of the way towards what neighbouring streets "
            "make likely: the fullest streets may be off by more than the noise."
        )
    if any((part.frame.leaves(part.nodes)[1] < 1).any() for part in release.parts):
        sentences.append(
            "Some streets share one count: how far each differs from their mean is not known."
        )
    return sentences


def _of_truncation(release: RoadRelease) -> list[str]:
    """Sentence on how trips were truncated, for all steps of time together."""
    each, retained = limits(release), release.header.extra.get("kept")
    if not each or is_truncation_corrected(release) or retained == 1:
        return []
    least, most = min(each), max(each)
    streets = "1 street" if most == 1 else f"{most:,} streets"
    if least < most:
        streets = f"{least:,} to {streets} (by step of time)"
    if retained is None:
        return [f"Trips of more than {streets} are cut to as many."]
    visits = f"about {100 * retained:.0f} % of all visits are counted (an estimate)"
    return [f"Trips are cut to {streets}: {visits}."]
