"""What the counts of a release on roads may be off by beside their noise: no interval has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.releases.roads.release import EVENTS
from dpviz.releases.roads.timed import OF_STEPS

if TYPE_CHECKING:
    from dpviz.releases.roads.release import RoadRelease


def limits(release: RoadRelease) -> list[int]:
    """L, of a release with time of each step where they differ; none where no trip is cut."""
    if release.records == EVENTS:
        return []
    return [each["limit"] for each in facts_of_each_step(release) if "limit" in each]


def corrected(release: RoadRelease) -> bool:
    """Whether counts are multiplied by what truncation is estimated to have lost."""
    return any("factors" in each for each in facts_of_each_step(release))


def facts_of_each_step(release: RoadRelease) -> list[dict[str, Any]]:
    """What a release says of its steps: of all of them, then of each where they differ."""
    extra = release.header.extra
    return [extra, *extra.get(OF_STEPS, [])]


def beyond_noise(release: RoadRelease, *, truncation: bool = True) -> list[str]:
    """A sentence for each error that is in no interval: truncation, smoothing, shared counts.

    From what the release says of itself: of one with time the most that any step does. Measured on
    made-up trips of which none was truncated, smoothed counts of ε = 0.1 to 2 lay in the interval
    of the noise for 99.7 % of all streets, and for 90 to 100 % of the fifty fullest.

    Args:
        release: that was asked.
        truncation: whether to say what it cut.
    """
    facts, sentences = facts_of_each_step(release), []
    longest = min(limits(release), default=None)
    if truncation and longest is not None and not corrected(release):
        kept = [each["kept"] for each in facts if "kept" in each]
        streets = "1 street" if longest == 1 else f"{longest:,} streets"
        if not kept:
            sentences.append(f"Trips of more than {streets} are cut to as many.")
        elif min(kept) < 1:
            sentences.append(
                f"Trips are cut to {streets}: about {100 * min(kept):.0f} % of all visits are "
                "counted (an estimate)."
            )
    share = max(each.get("smoothing", 0.0) for each in facts)
    if share > 0:
        sentences.append(
            f"Counts were drawn {100 * share:.0f} % of the way towards what neighbouring streets "
            "make likely: the fullest streets may be off by more than the noise."
        )
    if any((each.edge_share < 1).any() for each in release.addends):
        sentences.append(
            "Some streets share one count: how far each differs from their mean is not known."
        )
    return sentences
