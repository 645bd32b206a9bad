"""Maps of areas in the whole period and in each of its steps; post-processing."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from dpviz.domain.periods import span_words, whole_words
from dpviz.releases.counts import AreaRelease, CountRelease
from dpviz.releases.points.sums import Sums


def step_windows(release: AreaRelease, most: int = 12) -> tuple[list[AreaRelease], list[str]]:
    """Maps of the whole period and its at most ``most`` parts, and the period of each in words.

    Parts are whole steps, as many in each but the last. A map adds up all categories.

    Args:
        release: in steps of time.
        most: parts at most.
    """
    steps = release.steps
    assert steps is not None
    axis, edges = steps.calendar, steps.edges.tolist()
    pairs = list(pairwise([*edges[: -1 : math.ceil(len(steps) / most)], edges[-1]]))
    parts = pairs if len(pairs) > 1 else []
    maps = []
    for ends in ((edges[0], edges[-1]), *parts):
        part = release.during(ends)
        extra = {**release.header.extra, "period": [*map(axis.text, ends)]}
        sums = Sums.added(each.sums for each in part.parts)
        header = replace(release.header, extra=extra)
        maps.append(CountRelease(part.frame, part.nodes, header, sums))
    names = [whole_words(axis, *steps.period), *(span_words(axis, *ends) for ends in parts)]
    return maps, names
