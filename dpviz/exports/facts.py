"""Text of exported files: the guarantee, the price, answers. It reads releases only."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpviz.errors import DpvizError
from dpviz.exports.levels import budget_rows
from dpviz.methods import METHODS
from dpviz.planning.calls import code_of
from dpviz.private.curve import PrivacyCurve, privacy_curve
from dpviz.private.load.names import names_persons
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas, is_points, is_roads
from dpviz.releases.flows.release import is_flows
from dpviz.releases.header import Header, price_words
from dpviz.releases.points.promises import promises
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.window import has_windows
from dpviz.releases.release import Release
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.legend import with_noun
from dpviz.render.numbers import (
    count_words,
    half_width_words,
    odds,
    percent_interval,
    with_interval,
    with_noise,
)
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds

Mapped = PointRelease | AreaRelease

TOO_FEW = "too few records"


@dataclass(frozen=True)
class Reply:
    """One release's answer in words.

    Attributes:
        label: label of the release.
        count: noisy count ± half of the 95 % interval for the noise and ``uniformity`` together.
        uniformity: ± error from uneven records inside cut leaves, an ESTIMATE.
        nodes: nodes used.
        sums: sum (with such a ±) and mean of the values, and the share of a kind, with their names;
            empty without them.
    """

    label: str
    count: str
    uniformity: str
    nodes: str
    sums: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ReleaseFacts:
    """Text about one release that an exported file shows beside the map.

    Attributes:
        label: name of the release in the file.
        method: title of the method.
        header: header of the release.
        budget: see :func:`~dpviz.exports.levels.budget_rows`.
        kind, privacy_status: privacy status as a key and in words, see
            :attr:`~dpviz.releases.header.Header.privacy_status`.
        statement: the guarantee, explained, one sentence each.
        total: noisy count of the whole domain; empty without one.
        sizes: names and sizes of the release in words.
        promises: accuracy promises of the header, each with its probability.
        curve: its privacy profile; None if it is not private.
        command, python, note: code that repeats the build; empty if the header lacks the facts.
    """

    label: str
    method: str
    header: Header
    budget: Sequence[Mapping[str, Any]]
    kind: str
    privacy_status: str
    statement: tuple[str, ...]
    total: str
    sizes: tuple[tuple[str, str], ...]
    promises: tuple[str, ...] = ()
    curve: PrivacyCurve | None = None
    command: str = ""
    python: str = ""
    note: str = ""


def facts(release: Release, label: str) -> ReleaseFacts:
    """The facts of a release of any kind."""
    total, sizes, wishes = "", {}, []
    if isinstance(release, SequenceRelease):
        sizes = {"Symbols": len(release.alphabet.names)}
    elif is_roads(release):
        sizes = {"Streets": len(release.frame.graph)}
    elif is_areas(release):
        sizes = {"Areas": release.frame.leaves, "Levels": len(release.frame.levels)}
    elif is_flows(release):
        sizes = {"Pairs": int(release.parts[0].nodes.leaf.sum())}
        total = count_words(release.count([(None, None)]))
    elif is_points(release):
        nodes = release.joined_nodes
        sizes = {"Cells": int(nodes.leaf.sum()), "Levels": nodes.depth}
    if is_areas(release) or is_points(release):
        total, wishes = count_words(release.count(release.domain.bounds)), promises(release)
    try:
        script = code_of(release)
        code = {"command": script.command(), "python": script.python(), "note": script.note}
    except DpvizError:  # a window of a longer release, or a header of another version
        code = {}
    kind, words = release.header.privacy_status
    return ReleaseFacts(
        label=label,
        method=method_title(release.header.method),
        header=release.header,
        budget=budget_rows(release),
        kind=kind,
        privacy_status=words,
        statement=statement(release.header),
        total=total,
        sizes=tuple((name, f"{size:,}") for name, size in sizes.items()),
        promises=tuple(map(str, wishes)),
        curve=privacy_curve(release.header),
        **code,
    )


def label_of(release: Release) -> str:
    """Default label of a release: its method, its price, and its part of a period."""
    name = f"{method_title(release.header.method)} · ε = {release.header.epsilon:g}"
    period = release.header.extra.get("period")
    return name if period is None else f"{name} · {' to '.join(period)}"


def method_title(name: str) -> str:
    """Title of a method without the part in brackets; its name if the method is unknown."""
    known = METHODS.get(name)
    return re.sub(r" \(.*\)$", "", known.title) if known else name


def statement(header: Header) -> tuple[str, ...]:
    """The guarantee in sentences that anyone can read."""
    if not header.private:
        return (
            f"{header.guarantee}.",
            "It shows what a private map looks like and gives NO PROTECTION: use it with public "
            "data only.",
        )
    return (
        f"This map is {header.guarantee}.",
        protection(header.unit, header.epsilon, header.delta),
        *([f"{header.persons} Such a count is a slot."] if header.persons else []),
        "The guarantee holds whatever is done with this file: zooming, asking and copying cost "
        "nothing more. Another release of the same records adds its ε to this one's.",
    )


STRONG_EPSILON, WEAK_EPSILON = math.log(3.0), 3.0
"""Values of ε: up to the first, the guarantee is strong; beyond the second, it is weak."""


def strength(epsilon: float) -> str:
    """Name a guarantee by its strength.

    >>> strength(1.0), strength(2.0), strength(10.0)
    ('a strong guarantee', 'a moderate guarantee', 'a weak guarantee')
    """
    if epsilon <= STRONG_EPSILON:
        return "a strong guarantee"
    return "a moderate guarantee" if epsilon <= WEAK_EPSILON else "a weak guarantee"


def protection(unit: str, epsilon: float, delta: float = 0.0) -> str:
    """State what ε means for a privacy unit, in words that promise no more than it gives.

    >>> protection("one record", 10.0)
    'Anyone who sees the release, whatever else they know: the odds of any conclusion on whether \
one record was in the data change by a factor of at most e^ε = 22,026. This is a weak \
guarantee; at ε = 1 the factor is 2.72.'
    """
    slack = f", but for events of total probability δ = {delta:g}" if delta else ""
    factor = f"change by a factor of at most e^ε = {odds(epsilon)}{slack}."
    who = "Anyone who sees the release, whatever else they know"
    was = "were" if "'s records of one " in unit else "was"
    if epsilon <= STRONG_EPSILON:
        return (
            f"{who}, can hardly tell whether {unit} {was} in the data: the odds of any conclusion "
            f"{factor}"
        )
    weak = f" This is {strength(epsilon)}; at ε = 1 the factor is {odds(1.0)}."
    return (
        f"{who}: the odds of any conclusion on whether {unit} {was} in the data {factor}"
        f"{weak if epsilon > WEAK_EPSILON else ''}"
    )


_UNIT = re.compile(r"\bone (.+?)('s records of one \w+)?(?= with at most \d)")


def person_words(text: str, *, column: bool = True) -> str:
    """Call the privacy unit in a text a person, if its column is of persons by its name.

    >>> person_words("one PersonID with at most 10 records")
    'one person (column PersonID) with at most 10 records'
    >>> person_words("one trip_id with at most 10 records")
    'one trip_id with at most 10 records'
    """

    def named(match: re.Match[str]) -> str:
        name, of_time = match[1], match[2] or ""
        if name == "person" or not names_persons(name):
            return match[0]
        return f"one person{of_time}{f' (column {name})' if column else ''}"

    return _UNIT.sub(named, text)


def guarantee_sentence(
    releases: Sequence[Release], names: Sequence[str], noun: str = ""
) -> tuple[str, str]:
    """Privacy status of a page's releases and their guarantee together in one plain sentence.

    ``noun`` is the owner's plural of what is counted, in place of "records".

    Returns:
        "private", "simulated" or "open" as in :attr:`~dpviz.releases.header.Header.privacy_status`,
        and the sentence.
    """
    headers = [each.header for each in (releases[:1] if are_views_of_one(releases) else releases)]
    first = headers[0]
    kinds = [header.privacy_status[0] for header in headers]
    if set(kinds) == {"private"}:
        epsilon, delta = (
            sum(getattr(each, name) for each in headers) for name in ("epsilon", "delta")
        )
        weaker = first.weaker
        if weaker and len(headers) > 1:
            weaker = "WEAKER for longer than a release's unit of time: each states its numbers."
        unit = person_words(first.unit, column=False)
        if first.persons:  # which states the bound
            unit = unit.partition(" with at most ")[0]
        plain = plain_guarantee(unit, epsilon, delta, noun)
        return "private", " ".join(filter(None, (plain, first.persons, weaker)))
    if len(headers) == 1:
        return kinds[0], f"{first.privacy_status[1]}."
    status = "open" if "open" in kinds else "simulated"
    exposed = [name for name, kind in zip(names, kinds, strict=False) if kind == status]
    which = "" if len(exposed) == len(headers) else f": {', '.join(exposed)}"
    words = "NOT PRIVATE" if status == "open" else "Simulated noise, not private"
    return status, f"{words}{which}."


def plain_guarantee(unit: str, epsilon: float, delta: float = 0.0, noun: str = "") -> str:
    """State the guarantee in plain words, and with its price; neither promises more than ε gives.

    >>> plain_guarantee("one person with at most 3 records", 1.0, noun="crimes")
    'Counts are slightly wrong on purpose, so that whether any one person is in these data remains \
uncertain: ε = 1 per person, at most 3 crimes of each.'
    >>> plain_guarantee("one record", 5.0, noun="crimes")
    'Counts are slightly wrong on purpose. The odds of any conclusion on whether any one of the \
crimes is in these data change by a factor of at most 148, a weak guarantee: ε = 5 for each.'
    """
    who, _, bound = with_noun(unit, noun).partition(" with at most ")
    price = price_words(epsilon, delta)
    limit = f", at most {bound} of each" if bound else ""
    budget = f"{price} per {who.removeprefix('one ')}{limit}"
    if noun and unit == "one record":
        who, budget = f"one of the {noun}", f"{price} for each"
    are = "are" if "'s records of one " in unit else "is"
    wrong = "Counts are slightly wrong on purpose"
    if epsilon <= STRONG_EPSILON:
        return (
            f"{wrong}, so that whether any {who} {are} in these data remains uncertain: {budget}."
        )
    return (
        f"{wrong}. The odds of any conclusion on whether any {who} {are} in these data change by "
        f"a factor of at most {odds(epsilon)}, {strength(epsilon)}: {budget}."
    )


def relation(header: Header) -> str:
    """Neighbouring relation, without the privacy unit that the text names next to it."""
    return header.neighbouring.removesuffix(f" {header.unit}")


VIEWS = ("period", "marginal")
"""Keys of a header's facts that name a view of a longer or wider release."""


def are_views_of_one(releases: Sequence[Release]) -> bool:
    """Return whether there are several maps and all are views of one release."""
    extras = [each.header.extra for each in releases]
    plain = [{name: value for name, value in each.items() if name not in VIEWS} for each in extras]
    in_part = all(any(name in each for name in VIEWS) for each in extras)
    headers = [replace(each.header, extra={}, noise={}) for each in releases]
    same = all(each == plain[0] for each in plain) and all(each == headers[0] for each in headers)
    return len(releases) > 1 and in_part and same


def joint_cost(releases: Sequence[Release]) -> str:
    """State the total cost of several releases; empty with fewer than two private ones."""
    private = [each.header for each in releases if each.header.private]
    if len(private) < 2:
        return ""
    if are_views_of_one(releases):
        return "All maps are windows of one release, which is paid for once."
    many = "both maps" if len(private) == 2 else f"all {len(private)} maps"
    epsilon, delta = (sum(getattr(each, name) for each in private) for name in ("epsilon", "delta"))
    price = price_words(epsilon, delta)
    return f"Releases of the same records add up: {many} together cost {price}."


def replies(
    releases: Sequence[Mapped],
    labels: Sequence[str],
    rect: Bounds,
    whole: Release | None = None,
) -> list[Reply]:
    """Answers to one rectangle.

    Args:
        releases: releases of one domain.
        labels: one each.
        rect: west, south, east, north in degrees.
        whole: the release of which ``releases`` are windows. It answers itself, because the map of
            a window may state other errors.

    Raises:
        DomainError: a rectangle that is inside out or outside the domain.
    """
    inside = from_degrees(rect, releases[0].domain.crs)
    answers = []
    rows: list[tuple[str, Mapped, Any, str | None]]
    when: list[Any] = [None] * len(releases)
    if whole is not None and has_windows(whole):
        when = [each.header.extra["period"] for each in releases]
        releases = [whole] * len(releases)
    rows = [(*each, None) for each in zip(labels, releases, when, strict=True)]
    if len(releases) == 1 and (only := releases[0]).kinds:
        rows = [("all categories", only, *when, None)]
        rows += [(name, only, *when, name) for name in only.kinds]
    for label, release, period, kind in rows:
        answer = release.count(inside, period, kind)
        spread = INTERVAL_SDS * float(answer.uniformity_sd[0])
        answers.append(
            Reply(
                label=label,
                count=count_words(answer),
                uniformity=half_width_words(spread),
                nodes=f"{int(answer.nodes[0]):,}",
                sums=tuple(_attributes(release, inside, period, kind)),
            )
        )
    return answers


def _attributes(
    release: Mapped, inside: Any, period: Any, kind: str | None
) -> Iterator[tuple[str, str]]:
    """Sum and mean of the values, and the share of a kind, in words."""
    if is_areas(release):
        return
    if release.kinds:
        shares = kind and release.share(inside, kind, period=period)
        yield "Share", quotient_words(shares, shares=True) if shares else ""
    values = release.domain.values
    if values is not None:
        total = release.sum(inside, period, kind)
        yield (
            f"Sum of {values.column}",
            with_noise(float(total.sum[0]), float(total.total_error[0])),
        )
        yield f"Mean of {values.column}", quotient_words(release.mean(inside, period, kind))


def quotient_words(answer: Quotients, *, shares: bool = False) -> str:
    """Quotient and its interval in words, or a note that there are too few records."""
    if not answer.enough[0]:
        return TOO_FEW
    value, low, high = (float(each[0]) for each in (answer.value, answer.low, answer.high))
    return (percent_interval if shares else with_interval)(value, low, high)
