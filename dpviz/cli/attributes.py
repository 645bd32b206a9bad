"""What commands print of a release beside its counts: its kinds and their shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpviz.domain import Domain
    from dpviz.releases.areas.release import AreaRelease
    from dpviz.releases.points.quotient import Quotients
    from dpviz.releases.points.release import PointRelease


def attribute_rows(
    release: PointRelease | AreaRelease, rects: Sequence[Sequence[float]], period: str | None
) -> list[dict[str, Any]]:
    """Of each rectangle what JSON says beside the count; nothing of a plain release."""
    from dpviz.releases.points.kinds import KindsRelease

    rows: list[dict[str, Any]] = [{} for _ in rects]
    if isinstance(release, KindsRelease):
        for row in rows:
            row["kinds"] = {}
        for name in release.names:
            counts = release.count(rects, period, name)
            shares = quotient_rows(release.share(rects, name, period=period))
            for at, row in enumerate(rows):
                row["kinds"][name] = {
                    **{each: float(getattr(counts, each)[at]) for each in COUNT},
                    "share": shares[at],
                }
    return rows


COUNT = ("count", "noise_sd", "low", "high")


def quotient_rows(answers: Quotients) -> list[dict[str, Any]]:
    """One dictionary per quotient; its value is null where there are not enough records."""
    columns = zip(
        *(getattr(answers, name).tolist() for name in ("value", "low", "high", "enough")),
        strict=True,
    )
    return [
        {
            "value": None if math.isnan(value) else value,
            "low": low,
            "high": high,
            "enough": enough,
        }
        for value, low, high, enough in columns
    ]


def attribute_lines(row: dict[str, Any]) -> list[str]:
    """The same for people, a line for each kind."""
    return [
        f"  {name}: {each['count']:,.1f} ({each['low']:,.0f} to {each['high']:,.0f}); share "
        f"{_percent(each['share'])}"
        for name, each in row.get("kinds", {}).items()
    ]


def _percent(share: dict[str, Any]) -> str:
    if not share["enough"]:
        return "unknown: too few records"
    return f"{share['value']:.1%} ({share['low']:.1%} to {share['high']:.1%})"


def attribute_facts(domain: Domain) -> list[str]:
    """What ``dpviz info`` says of them."""
    if domain.kinds is None:
        return []
    return [f"kinds by {domain.kinds.column}: {', '.join(domain.kinds.names)}"]
