"""Header: the metadata of a release of any kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpviz.releases.answers import GAUSSIAN_SDS, INTERVAL_SDS

SCHEMA = 2
"""Version of the header and columns; a reader refuses any other one."""


def of_unit(theorem: str, steps: int) -> str:
    """Theorem behind a price of one record, extended to all records of a privacy unit.

    >>> of_unit("disjoint cells, sensitivity 1", 3)
    'one record: disjoint cells, sensitivity 1 (3 for 3 records); 3 records: 3 times ε \
(group privacy)'
    """
    if steps == 1:
        return theorem
    several = f"{steps:,} records"

    def of_all(match: re.Match[str]) -> str:
        return f"{match[0]} ({int(match[1]) * steps:,} for {several})"

    each = re.sub(r"\bsensitivity (\d+)\b", of_all, theorem)
    return f"one record: {each}; {several}: {steps:,} times ε (group privacy)"


def price_words(epsilon: float, delta: float = 0.0) -> str:
    """ε, and δ where it is not 0, in words.

    >>> price_words(1.0), price_words(0.5, 1e-6)
    ('ε = 1', 'ε = 0.5, δ = 1e-06')
    """
    return f"ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else "")


WEAKER = "WEAKER for longer: "
"""Words in a guarantee before what it is worth for longer times than its unit of time."""


def longer_words(longer: dict[str, float | None]) -> str:
    """ε of a person's records of longer times than the calendar's unit, in words.

    >>> longer_words({"day": 1.0, "week": 7.0, "month": 31.0, "for ever": None})
    "ε = 7 for a person's calendar week, ε = 31 for a person's calendar month, unbounded for ever"
    """
    if not longer:
        return "no number is stated, as it spends δ"
    return ", ".join(
        ("unbounded" if price is None else f"ε = {price:g}")
        + (" for ever" if each == "for ever" else f" for a person's calendar {each}")
        for each, price in [*longer.items()][1:]
    )


REPEATED = "One person can be counted several times."
"""Note beside every total of a release that counts a person in several places."""


def repeated(extra: Mapping[str, Any]) -> str:
    """Note on totals of a release with these facts; empty unless persons are counted repeatedly."""
    many = extra.get("counts") == "persons" and int(extra.get("slots", 1)) > 1
    return REPEATED if many else ""


def counted_persons(extra: Mapping[str, Any]) -> str:
    """Sentences on how often a person is counted, from the facts; empty for counts of records.

    >>> counted_persons({"counts": "persons", "slots": 10, "mechanism": "geometric"})
    'Each person counts once per cell or area, step and category, at most 10 times; more are left \
out. One person can be counted several times.'
    """
    if extra.get("counts") != "persons":
        return ""
    most, calendar = int(extra.get("slots", 1)), extra.get("calendar")
    each = f", in each {calendar.get('unit')}," if isinstance(calendar, dict) else ""
    # Noise on slots names its mechanism; a category's tree has that of its method.
    once = "cell or area, step and category" if extra.get("mechanism") else "category"
    limit = f"at most {most:,} times; more are left out" if most > 1 else "and only once in all"
    if extra.get("weighted"):
        limit = f"with weight √({most:,}/n) instead of 1 if these are n > {most:,}"
    words = f"Each person counts{each} once per {once}"
    return f"{words}, {limit}. {repeated(extra)}".strip()


@dataclass(frozen=True)
class Header:
    """Public metadata of a release: method, parameters, guarantee, budget.

    Attributes:
        method, parameters: how it was made, every parameter with its value.
        private: False for simulated noise and for methods without a guarantee.
        guarantee: the sentence to quote; in capitals where it is NOT PRIVATE.
        epsilon, delta: the price for one privacy unit.
        neighbouring: the neighbouring relation.
        unit: the privacy unit.
        budget: rows (purpose, epsilon, delta, mechanism, theorem) that add up to the price.
        source: the public name of the data set, as its owner gave it.
        noise: how the nodes' noise is correlated, see :mod:`dpviz.trees.haar`; empty where the
            variance of a sum of disjoint nodes is at most the sum of theirs.
    """

    method: str
    parameters: dict[str, Any]
    private: bool
    guarantee: str
    epsilon: float
    delta: float = 0.0
    neighbouring: str = "add or remove one record"
    unit: str = "one record"
    budget: tuple[dict[str, Any], ...] = ()
    source: str = ""
    noise: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Records by which neighbouring data differ: a row of the budget is for all of them."""
        theorems = (str(row.get("theorem", "")) for row in self.budget)
        matches = (re.search(r"; ([\d,]+) records: \1 times ε", each) for each in theorems)
        return next((int(each[1].replace(",", "")) for each in matches if each), 1)

    @property
    def interval_sds(self) -> float:
        """Half-width of a 95 % interval for the noise, in its standard deviations."""
        gaussian = self.extra.get("mechanism") == "discrete Gaussian"
        return GAUSSIAN_SDS if gaussian else INTERVAL_SDS

    @property
    def persons(self) -> str:
        """Sentences on counts of persons, to show beside every answer; else empty."""
        return counted_persons(self.extra)

    @property
    def repeated(self) -> str:
        """Note beside every total, see :func:`repeated`."""
        return repeated(self.extra)

    @property
    def synthetic(self) -> bool:
        """True if the records are the built-in synthetic ones."""
        return str(self.extra.get("records", "")).startswith("synthetic")

    @property
    def privacy_status(self) -> tuple[str, str]:
        """Privacy status as (kind, words); the kind is "private", "simulated" or "open".

        Simulated noise on public records is legitimate and is stated calmly; "open" is a method
        without a guarantee, which screens show in red.
        """
        if self.private or "simulated noise" not in self.guarantee:
            return "private" if self.private else "open", self.guarantee
        noise = f"noise as at ε = {self.epsilon:g}"
        if self.synthetic:
            return "simulated", f"Demo · synthetic people · {noise}"
        return "simulated", f"Public records · simulated {noise}, not private"

    @property
    def weaker(self) -> str:
        """Sentence on longer times of a person; empty unless a unit of time is protected."""
        words = self.guarantee.partition(f"; {WEAKER}")[2]
        return f"{WEAKER}{words}." if words and self.private else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "budget": [dict(row) for row in self.budget]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Header:
        """The inverse of :meth:`to_dict`."""
        return cls(**{**values, "budget": tuple(values.get("budget", ()))})
