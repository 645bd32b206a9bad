"""Axes along which a release is split into parts: a list of kinds, or steps of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.lazy import pa
from dpviz.releases.files import identifiers, whole_numbers
from dpviz.releases.roads.streets import step_times
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import Int

OF_STEPS = "of_steps"
"""Key of a header's ``extra`` for what methods learnt about each step."""

NEEDED = ("kind", "step")
"""Columns that name the part of a row."""


@dataclass(frozen=True)
class ByKind:
    """One part for each kind of a public list."""

    kinds: Kinds
    column: ClassVar[str] = "kind"

    def __len__(self) -> int:
        return len(self.kinds.names)

    def extras(self, extra: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the extra header fields of each part."""
        return [{**extra, "kind": name} for name in self.kinds.names]

    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns that name the part of a row, with one value per part."""
        return {"kind": np.array(self.kinds.names, dtype=object)}

    def facts(self) -> dict[str, Any]:
        """Return no header fields: the frame's domain states the kinds."""
        return {}

    def numbers(self, table: pa.Table) -> Int:
        """Number of the part that each row of a file belongs to."""
        place = {name: number for number, name in enumerate(self.kinds.names)}
        named = identifiers(table, self.column).tolist()
        unknown = set(named) - set(place)
        if unknown:
            raise ReleaseError(f"kind {min(map(repr, unknown))} is not in the header's list")
        return np.array([place[name] for name in named], dtype=np.int64)


@dataclass(frozen=True)
class ByStep:
    """One part for each step of time."""

    steps: Steps
    column: ClassVar[str] = "step"

    def __len__(self) -> int:
        return len(self.steps)

    def extras(self, extra: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the extra header fields of each part."""
        common = {name: value for name, value in extra.items() if name != OF_STEPS}
        stated = extra.get(OF_STEPS) or [{}] * len(self)
        if len(stated) != len(self):
            raise ReleaseError(f"facts of {len(stated)} steps: expected {len(self)}")
        words = map(self.steps.words, range(len(self)))
        return [
            {**common, **facts, "period": list(ends)}
            for facts, ends in zip(stated, words, strict=True)
        ]

    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns that name the part of a row: a step's number, its start and its end."""
        return {"step": np.arange(len(self)), **step_times(self.steps)}

    def facts(self) -> dict[str, Any]:
        """Return the header fields that state the steps."""
        return {"time": self.steps.to_dict()}

    def numbers(self, table: pa.Table) -> Int:
        """Number of the part that each row of a file belongs to."""
        return whole_numbers(table, self.column)


Axis = ByKind | ByStep


def blocks(axis: Axis, table: pa.Table) -> list[pa.Table]:
    """The rows of each part of a file.

    Raises:
        ReleaseError: parts are not in order, or one has no rows.
    """
    part, count = axis.numbers(table), len(axis)
    if (np.diff(part) < 0).any() or not np.array_equal(np.unique(part), np.arange(count)):
        raise ReleaseError(f"the rows are not those of {count} {axis.column}s, one after the other")
    cuts = np.searchsorted(part, np.arange(count + 1)).tolist()
    return [table.slice(low, high - low) for low, high in pairwise(cuts)]


def during(by: ByStep, extra: dict[str, Any], period: Any) -> tuple[ByStep, slice, dict[str, Any]]:
    """The steps in a period, their rows, and the header fields of their sum.

    Raises:
        DomainError: no such period, one outside, or one that cuts a step.
    """
    part = by.steps.during(period)
    rows = by.steps.rows(part)
    of_steps = extra.get(OF_STEPS, [{}] * len(by))[rows]
    rest = {name: value for name, value in extra.items() if name not in (OF_STEPS, "kept")}
    return replace(by, steps=part), rows, rest | facts_of_steps(of_steps)


def facts_of_steps(extras: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Header fields ``extra``: those common to all steps once, the others step by step."""
    first = extras[0]
    common = {
        name: value
        for name, value in first.items()
        if all(name in extra and extra[name] == value for extra in extras)
    }
    rest = [{k: v for k, v in extra.items() if k not in common} for extra in extras]
    estimated = [extra for extra in rest if "kept" in extra and "lengths" in extra]
    if estimated:
        common["kept"] = _kept_of_all(estimated)
    return {**common, OF_STEPS: rest} if any(rest) else common


def _kept_of_all(extras: Sequence[dict[str, Any]]) -> float:
    """Estimated share of visits kept by truncation in all steps, from noisy lengths.

    Only steps whose visits can be told from noise have such lengths.
    """
    retained, visits = np.zeros(len(extras)), np.zeros(len(extras))
    for step, extra in enumerate(extras):
        lengths = np.asarray(extra["lengths"], dtype=np.float64)
        retained[step] = extra["kept"]
        visits[step] = max(float(lengths @ np.arange(1, len(lengths) + 1)), 0.0)
    return round(float(retained @ visits / visits.sum()), 4) if visits.sum() > 0 else 1.0
