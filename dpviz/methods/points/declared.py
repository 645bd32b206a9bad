"""Declared workloads: the intended use of a release of points, and derived parameters.

Everything here is public. A workload is a word, or queries that were chosen without looking at the
records; a parameter that was given by name is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.domain.rectangles import numbers_of
from dpviz.errors import ParameterError
from dpviz.methods.registry import method_with, names

WORKLOADS = {
    "uniform": "rectangles of 0.01 to 10 % of the area, anywhere",
    "hot": "squares of less than 1 % of the domain's side, where records are",
    "districts": "areas of about equally many records that fill the domain, such as wards",
}
"""Workloads that a release may be tuned for, by name."""

HOT_BELOW = 0.01
"""Queries with a typical side below this share of the domain's side are hot, others uniform."""

MIN_SIDE = 1e-4
"""Least side, as a share of the domain's side, that a method is tuned for."""

FOLLOWING: dict[str, dict[str, dict[str, Any]]] = {
    "hot_grid": {"hot": {"side": 0.0045}},
    "ladder_tree": {
        "hot": {"c": 1.2},
        "districts": {"c": 3.0, "reserve": 1.5, "sharing": False},
    },
    "ugrid": {"hot": {"c": 0.17}, "districts": {"c": 1.0}},
}
"""Method → workload → parameters; others keep their defaults, which suit ``uniform``.

Measured on the built-in ``city-250k`` and ``persons`` and on two real sets (London's postcodes,
Gowalla), the ladder tree's districts on all eight sets in the plane: assets/docs/results/ours.md.
UG's 10 is its authors'; 0.17 is about what S. Zeighami, R. Ahuja, G. Ghinita, C. Shahabi (PVLDB
15(5), 2022) need on hot squares."""


@dataclass(frozen=True)
class Declared:
    """A declared workload.

    Attributes:
        name: a key of :data:`WORKLOADS`.
        side: typical side of the given queries, as a share of the domain's side.
    """

    name: str
    side: float | None = None

    def __post_init__(self) -> None:
        if self.name not in WORKLOADS:
            listed = ", ".join(WORKLOADS)
            raise ParameterError(f"workload {self.name!r}: choose one of {listed}, or queries")

    @classmethod
    def of(cls, workload: Declared | str | ArrayLike, domain: Domain) -> Declared:
        """Build a declared workload from a word or from public queries.

        The typical side of queries is the median, over them, of the geometric mean of a query's
        sides as shares of the domain's: below :data:`HOT_BELOW` they are hot, else uniform. (No
        size tells districts: declare those by their word.)

        ``workload``: a word, or queries of shape (q, 2·dims): all lower limits, then all upper
        limits.
        """
        if isinstance(workload, Declared):
            return workload
        if isinstance(workload, str):
            return cls(workload)
        remedy = f"give a word, or one row of {2 * domain.dims} limits for each query"
        rects = numbers_of(workload, "queries of the workload", remedy)
        if rects.ndim != 2 or not len(rects):
            raise ParameterError(f"workload of shape {rects.shape}: {remedy}")
        low, high = domain.boxes(rects)
        shares = np.maximum(high - low, 1) / domain.side
        side = float(np.median(np.exp(np.log(shares).mean(axis=1))))
        return cls("hot" if side < HOT_BELOW else "uniform", side)

    def method(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """Method of this name (or alias), with derived values for parameters that are not given."""
        method_with(name, "points", parameters)  # refuses unknown names and parameters
        return method_with(name, "points", {**self.following(name, parameters), **parameters})

    def following(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Derived parameters of a method, except those given by name or by its alias.

        The side of the queries, if these were given, replaces the default side.
        """
        known = {word.lower(): entry for word, entry in names("points").items()}
        owner, preset = known[name.lower()]
        follow = dict(FOLLOWING.get(owner, {}).get(self.name, {}))
        if self.side is not None and "side" in follow:
            follow["side"] = float(f"{max(self.side, MIN_SIDE):.4g}")
        return {key: value for key, value in follow.items() if key not in {*preset, *given}}

    @property
    def text(self) -> str | None:
        """The word; None for queries, as a header stores only their side."""
        return self.name if self.side is None else None

    @classmethod
    def from_dict(cls, facts: Any) -> Declared | None:
        """Read the workload from a release's header; None if it holds no valid one."""
        try:
            return cls(facts["name"], float(facts["side"]) if "side" in facts else None)
        except (TypeError, ValueError, KeyError, ParameterError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values for the header of a release."""
        return {"name": self.name} | ({} if self.side is None else {"side": self.side})
