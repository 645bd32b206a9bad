"""Axis: how a release is split into parts, by kind, by step of time, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.lazy import pa
from dpviz.releases.files import identifiers, whole_numbers
from dpviz.releases.points.box import on_axis
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import Int

OF_STEPS = "of_steps"
"""Key of a header's ``extra`` for what methods learnt about each step of time."""

NEEDED = ("kind", "step")
"""Columns that name the part of a row."""


@dataclass(frozen=True)
class Axis:
    """The parts of a release: one for each kind in each step, kind by kind.

    Attributes:
        kinds: a public list of kinds; None for a release that is not split by kind.
        steps: public steps of time; None for a release that is not split by time.
    """

    kinds: Kinds | None = None
    steps: Steps | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of kinds and number of steps; 1 along an axis without a split."""
        kinds = 1 if self.kinds is None else len(self.kinds.names)
        return kinds, 1 if self.steps is None else len(self.steps)

    def __len__(self) -> int:
        kinds, steps = self.shape
        return kinds * steps

    @property
    def rows(self) -> Int:
        """Row of the part of each kind (first axis) in each step (second axis)."""
        return np.arange(len(self)).reshape(self.shape)

    def __str__(self) -> str:
        return " and ".join(name for name, each in vars(self).items() if each is not None)

    def extras(self, extra: dict[str, Any]) -> list[dict[str, Any]]:
        """Header fields ``extra`` of each part, from those of the whole release."""
        common = {name: value for name, value in extra.items() if name != OF_STEPS}
        learnt = extra.get(OF_STEPS) or [{}] * len(self)
        if len(learnt) != len(self):
            raise ReleaseError(f"facts of {len(learnt)} parts: expected {len(self)}")
        kinds = [{}] if self.kinds is None else [{"kind": name} for name in self.kinds.names]
        steps: list[dict[str, Any]] = [{}]
        if self.steps is not None:
            steps = [{"period": list(self.steps.step_limits(at))} for at in range(len(self.steps))]
        return [
            {**common, **facts, **kind, **step}
            for facts, (kind, step) in zip(learnt, product(kinds, steps), strict=True)
        ]

    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns that name the part of a row, one value per part.

        They are ``kind``, and ``step`` with its start ``t0`` and end ``t1``: UTC in milliseconds,
        or hours within a cycle.
        """
        columns: dict[str, NDArray[Any]] = {}
        kinds, steps = self.shape
        if self.kinds is not None:
            columns["kind"] = np.repeat(np.array(self.kinds.names, dtype=object), steps)
        if self.steps is not None:
            first, last = (
                on_axis(each, self.steps.cycle)
                for each in (self.steps.edges[:-1], self.steps.edges[1:])
            )
            columns["step"] = np.tile(np.arange(steps), kinds)
            columns |= {"t0": np.tile(first, kinds), "t1": np.tile(last, kinds)}
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Header fields that state the axis, ``kinds`` and ``time``."""
        stated = {"kinds": self.kinds, "time": self.steps}
        return {name: each.to_dict() for name, each in stated.items() if each is not None}

    @classmethod
    def popped(cls, stated: dict[str, Any]) -> Axis | None:
        """Remove the axis from header fields and return it; None for a release of one part."""
        kinds, time = stated.pop("kinds", None), stated.pop("time", None)
        if kinds is None and time is None:
            return None
        return cls(
            None if kinds is None else Kinds(kinds["column"], tuple(kinds["names"])),
            None if time is None else Steps.from_dict(time),
        )

    def blocks(self, table: pa.Table) -> list[pa.Table]:
        """Rows of a file, part by part."""
        part = np.zeros(len(table), dtype=np.int64)
        if self.kinds is not None:
            part += _kind_numbers(table, self.kinds) * self.shape[1]
        if self.steps is not None:
            part += whole_numbers(table, "step")
        if (np.diff(part) < 0).any() or not np.array_equal(np.unique(part), np.arange(len(self))):
            raise ReleaseError(f"the rows are not those of {len(self)} {self}, in their order")
        cuts = np.searchsorted(part, np.arange(len(self) + 1)).tolist()
        return [table.slice(low, high - low) for low, high in pairwise(cuts)]


def _kind_numbers(table: pa.Table, kinds: Kinds) -> Int:
    """Number of the kind of each row of a file."""
    number = {name: row for row, name in enumerate(kinds.names)}
    names = identifiers(table, "kind").tolist()
    unknown = set(names) - set(number)
    if unknown:
        raise ReleaseError(f"kind {min(map(repr, unknown))} is not in the header's list")
    return np.array([number[name] for name in names], dtype=np.int64)


def common_extra(extras: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Header fields ``extra`` of a release, from those of its parts: the inverse of ``extras``.

    Fields that all parts share are stated once, the others part by part.
    """
    first = extras[0]
    common = {
        name: value
        for name, value in first.items()
        if all(name in extra and extra[name] == value for extra in extras)
    }
    different = [{k: v for k, v in extra.items() if k not in common} for extra in extras]
    estimated = [extra for extra in different if "kept" in extra and "lengths" in extra]
    if estimated:
        common["kept"] = _retained_share(estimated)
    return {**common, OF_STEPS: different} if any(different) else common


def _retained_share(extras: Sequence[dict[str, Any]]) -> float:
    """Estimated share of visits that truncation retains in all parts, from noisy lengths.

    Only parts whose visits stand out from noise have such lengths.
    """
    retained, visits = np.zeros(len(extras)), np.zeros(len(extras))
    for part, extra in enumerate(extras):
        lengths = np.asarray(extra["lengths"], dtype=np.float64)
        retained[part] = extra["kept"]
        visits[part] = max(float(lengths @ np.arange(1, len(lengths) + 1)), 0.0)
    return round(float(retained @ visits / visits.sum()), 4) if visits.sum() > 0 else 1.0
