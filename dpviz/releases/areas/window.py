"""Maps of areas in the whole period and in each of its steps; post-processing."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from dpviz.domain.periods import steps_words, whole_words
from dpviz.releases.axis import Axis
from dpviz.releases.counts import AreaRelease
from dpviz.releases.points.sums import Sums
from dpviz.releases.split import count_release


def step_windows(release: AreaRelease, most: int = 12) -> tuple[list[AreaRelease], list[str]]:
    """Maps of the whole period and its at most ``most`` parts, and the period of each in words.

    Parts are whole steps, as many in each but the last. Each map has the categories of the release.

    ``release``: in steps of time.
    """
    steps = release.steps
    assert steps is not None
    kinds = Axis(kinds=release.by.kinds) if release.by and release.kinds else None
    axis, edges = steps.calendar, steps.edges.tolist()
    pairs = list(pairwise([*edges[: -1 : math.ceil(len(steps) / most)], edges[-1]]))
    parts = pairs if len(pairs) > 1 else []
    maps = []
    for ends in ((edges[0], edges[-1]), *parts):
        part = release.during(ends)
        every = [part.of(kind) for kind in part.kinds] or [part]
        sums = [Sums.added(one.sums for one in each.parts) for each in every]
        trees = [(each.frame, each.nodes, one) for each, one in zip(every, sums, strict=True)]
        extra = {**release.header.extra, "period": [*map(axis.text, ends)]}
        maps.append(count_release(kinds, trees, replace(release.header, extra=extra)))
    names = [whole_words(axis, *steps.period), *steps_words(axis, parts)]
    return maps, names
