"""A declared workload: what a release of points is for, and which parameters follow from it.

Everything here is public. A workload is a word, several with their shares, or queries that were
chosen without looking at the records; a parameter that was given by name is never changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.domain.rectangles import numbers_of
from dpviz.errors import ParameterError
from dpviz.methods.registry import method, method_with, names

WORKLOADS = {
    "uniform": "rectangles of 0.01 to 10 % of the area, anywhere",
    "hot": "squares of less than 1 % of the domain's side, where records are",
    "districts": "areas of about equally many records that fill the domain, such as wards",
}
"""Workloads that a release may be tuned for, by word."""

HOT_BELOW = 0.01
"""Queries whose typical side is below this share of the domain's are hot; others are uniform."""

LEAST_SIDE = 1e-4
"""No method is fitted to squares below this share of the domain's side."""

FOLLOWING: dict[str, dict[str, dict[str, Any]]] = {
    "hot_grid": {"hot": {"side": 0.0045}},
    "ladder_tree": {
        "hot": {"c": 1.2},
        "districts": {"c": 3.0, "reserve": 1.5, "sharing": False},
    },
    "ugrid": {"hot": {"c": 0.17}, "districts": {"c": 1.0}},
}
"""Method → workload → parameters; what is not named keeps its default, which is for ``uniform``.

Measured on the built-in ``city-250k`` and ``persons`` and on two real sets (London's postcodes,
Gowalla), the ladder tree's districts on all eight sets in the plane: see assets/results/ours.md.
UG's 10 is its authors'; 0.17 is about what S. Zeighami, R. Ahuja, G. Ghinita, C. Shahabi (PVLDB
15(5), 2022) need on hot squares."""


def is_worded(text: str) -> bool:
    """Return whether a text begins with a word of :data:`WORKLOADS`; else it may be a path."""
    return text.partition(",")[0].partition("=")[0].strip() in WORKLOADS


@dataclass(frozen=True)
class Declared:
    """A declared workload.

    Attributes:
        name: of :data:`WORKLOADS`; of a mixed one, several between commas.
        side: of queries that were given, the typical side as a share of the domain's.
        shares: of a mixed one, the share of each of its words; they add up to 1.
    """

    name: str
    side: float | None = None
    shares: tuple[float, ...] = ()

    @classmethod
    def of(cls, workload: Declared | str | ArrayLike, domain: Domain) -> Declared:
        """Build a declared workload from words or from public queries.

        The typical side of queries is the median, over them, of the geometric mean of a query's
        sides as shares of the domain's: below :data:`HOT_BELOW` they are hot, else uniform. (No
        size tells districts: declare those by their word.)

        Args:
            workload: words as of :meth:`worded`, or queries of shape (q, 2·dims): all lower
                limits, then all upper limits.
            domain: the public box.

        Raises:
            ParameterError: neither of the two, or no query.
            DomainError: a query that is no rectangle in the domain.
        """
        if isinstance(workload, Declared):
            return workload
        if isinstance(workload, str):
            return cls.worded(workload)
        remedy = f"give words, or one row of {2 * domain.dims} limits for each query"
        rects = numbers_of(workload, "queries of the workload", remedy)
        if rects.ndim != 2 or not len(rects):
            raise ParameterError(f"workload of shape {rects.shape}: {remedy}")
        low, high = domain.boxes(rects)
        shares = np.maximum(high - low, 1) / domain.side
        side = float(np.median(np.exp(np.log(shares).mean(axis=1))))
        return cls("hot" if side < HOT_BELOW else "uniform", side)

    @classmethod
    def worded(cls, text: str) -> Declared:
        """Parse a word of :data:`WORKLOADS`, or several with weights, separated by commas.

        Raises:
            ParameterError: another word, one that comes twice, or a weight that is not above 0.

        >>> Declared.worded("uniform=3,hot")
        Declared(name='uniform,hot', side=None, shares=(0.75, 0.25))
        """
        pairs = [each.partition("=") for each in text.split(",")]
        words = [word.strip() for word, _, _ in pairs]
        unknown = [word for word in words if word not in WORKLOADS]
        if unknown:
            listed = ", ".join(WORKLOADS)
            raise ParameterError(
                f"workload {unknown[0]!r}: choose one of {listed}, several as uniform=3,hot=1, or "
                "queries"
            )
        try:
            weights = [float(weight) if sign else 1.0 for _, sign, weight in pairs]
        except ValueError:
            weights = [math.nan]
        total = sum(weights)
        if not (min(weights) > 0 and math.isfinite(total)) or len(set(words)) < len(words):
            raise ParameterError(
                f"workload {text!r}: give each word once, with a weight above 0: uniform=3,hot=1"
            )
        if len(words) == 1:
            return cls(words[0])
        return cls(",".join(words), shares=tuple(weight / total for weight in weights))

    def best(self, dims: int) -> str:
        """The name of the method of ours that is for this workload: a public rule.

        >>> Declared("hot").best(2), Declared("hot").best(4), Declared("districts").best(2)
        ('hot_grid', 'ladder_tree', 'ladder_tree')
        """
        return "hot_grid" if self.name == "hot" and dims == 2 else "ladder_tree"

    def method(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """The method of this name (or alias), with what follows where nothing is given.

        Raises:
            ParameterError: see :func:`dpviz.methods.method`.
        """
        method_with(name, "points", parameters)  # an unknown name or parameter is refused here
        return method_with(name, "points", {**self.following(name, parameters), **parameters})

    def following(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that follow for a method, but for those given by name or by its alias.

        A side is that of the queries, where these were given. For a mixed workload each is the
        geometric mean of what follows from its words, weighted by their shares: these parameters
        are thresholds and sides, which matter by their ratios. A switch is on where it is for all
        words.
        """
        known = {word.lower(): entry for word, entry in names("points").items()}
        owner, preset = known[name.lower()]
        rules = FOLLOWING.get(owner, {})
        words = self.name.split(",")
        keys = dict.fromkeys(key for word in words for key in rules.get(word, {}))
        defaults = method(owner, "points").parameters()
        follow = {
            key: self._mean([rules.get(word, {}).get(key, defaults[key]) for word in words])
            for key in keys
        }
        if self.side is not None and "side" in follow:
            follow["side"] = float(f"{max(self.side, LEAST_SIDE):.4g}")
        return {key: value for key, value in follow.items() if key not in {*preset, *given}}

    def _mean(self, values: list[Any]) -> Any:
        """The value of the one word, or the mean over the words of a mixed workload."""
        if len(values) == 1:
            return values[0]
        if isinstance(values[0], bool):
            return all(values)
        if min(values) <= 0:
            return 0.0  # what one of the words does without
        logs = (math.log(value) * share for value, share in zip(values, self.shares, strict=True))
        return float(f"{math.exp(sum(logs)):.4g}")

    @property
    def text(self) -> str | None:
        """Text for :meth:`worded`; None for queries, as a header stores only their side."""
        if self.side is not None:
            return None
        pairs = zip(self.name.split(","), self.shares, strict=True) if self.shares else ()
        return ",".join(f"{word}={share!r}" for word, share in pairs) or self.name

    @classmethod
    def from_dict(cls, facts: Any) -> Declared | None:
        """Read the workload from a release's header; None if it holds no valid one.

        >>> Declared.from_dict(Declared.worded("uniform=3,hot").to_dict()).text
        'uniform=0.75,hot=0.25'
        """
        try:
            name, shares = facts["name"], tuple(map(float, facts.get("shares", ())))
            side = float(facts["side"]) if "side" in facts else None
            stated = cls(name, side, shares)
            cls.worded(stated.text or name)
        except (TypeError, ValueError, KeyError, AttributeError, ParameterError):
            return None
        return stated

    def to_dict(self) -> dict[str, Any]:
        """For the header of a release."""
        facts: dict[str, Any] = {"name": self.name}
        if self.side is not None:
            facts["side"] = self.side
        return facts | ({"shares": list(self.shares)} if self.shares else {})
