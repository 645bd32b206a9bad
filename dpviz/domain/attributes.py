"""Attributes of a record besides its place: its kind, and a value that is added up.

The list of kinds and the clip of values are public: chosen without looking at the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.checks import require, texts
from dpviz.domain.rectangles import numbers_of
from dpviz.errors import DomainError

OTHER = "other"
"""Kind of records of unlisted kinds, if the list contains it."""

MAX_KINDS = 64
MAX_NAME_LENGTH = 100
"""Limits of a list of kinds: how many, and how long the name of one is."""


@dataclass(frozen=True)
class Kinds:
    """A public list of kinds: each record is of one of them, so that they are disjoint.

    ``names``: names of the kinds; ``other`` is the kind of records of unlisted kinds. Raises
    DomainError: no name, one that is empty, too long or given twice, or too many.
    """

    column: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        require(self.column, str, "column", DomainError)
        object.__setattr__(self, "names", texts(self.names, "kinds", DomainError))
        if not self.column:
            raise DomainError("a list of kinds without a column: name the column")
        if not 1 <= len(self.names) <= MAX_KINDS:
            raise DomainError(f"{len(self.names)} kinds: give 1 to {MAX_KINDS}")
        for name in self.names:
            if not 1 <= len(name) <= MAX_NAME_LENGTH:
                raise DomainError(
                    f"kind {name!r}: give a text of 1 to {MAX_NAME_LENGTH} characters"
                )
            if name.encode(errors="ignore").decode() != name:  # a release could not be written
                raise DomainError(f"kind {name!r} is not valid Unicode: write it in UTF-8")
            if "\0" in name:  # no database accepts it
                raise DomainError(f"kind {name!r} contains a NUL character: remove it")
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise DomainError(f"kind {twice!r} is listed twice: list it once")

    def number(self, name: str) -> int:
        """The place of a kind in the list."""
        if name not in self.names:
            raise DomainError(f"no kind {name!r}: choose one of {', '.join(self.names)}")
        return self.names.index(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a release header."""
        return {"column": self.column, "names": list(self.names)}

    @classmethod
    def of(cls, column: str | None, names: Iterable[str] | None) -> Kinds | None:
        """Make kinds from a column and a list; None if neither is given."""
        if column is None and names is None:
            return None
        if column is None or names is None:
            raise DomainError(
                "kind and kinds require each other: give the column and the public list"
            )
        return cls(column, texts(names, "kinds", DomainError))


MAX_STEPS = 1 << 20
"""Steps of the grid from zero to the farther end of a clip: a public cap."""


@dataclass(frozen=True)
class Values:
    """A public clip of a record's value, and the grid on which values are added up.

    A value beyond an end of the clip counts as that end, and every one as the nearest multiple of
    the grid (the upper one of two): so one record moves a sum by at most :attr:`reach` steps,
    whatever it holds, and sums are exact integers.

    ``grid``: the step; by default the power of ten for which the farther end of the clip is between
    10,000 and 100,000 steps from zero. Raises DomainError: ends that are not finite or not in
    order, or a grid too coarse or too fine.
    """

    column: str
    low: float
    high: float
    grid: float = 0.0

    def __post_init__(self) -> None:
        require(self.column, str, "column", DomainError)
        if not self.column:
            raise DomainError("a clip without a column of values: name the column")
        low, high, grid = (
            float(numbers_of(getattr(self, name), name, "give a number"))
            for name in ("low", "high", "grid")
        )
        farther = max(abs(low), abs(high))
        if not low < high < math.inf or low == -math.inf:
            raise DomainError(f"clip {low:g} to {high:g}: give finite limits, the lower one first")
        if not 1e-100 < farther < 1e100:
            raise DomainError(
                f"clip {low:g} to {high:g}: the larger limit must be between 1e-100 and 1e100 "
                f"in absolute value"
            )
        grid = grid or float(f"1e{math.floor(math.log10(farther)) - 4}")
        if not (grid > 0 and 1 <= farther / grid <= MAX_STEPS):
            raise DomainError(
                f"grid {grid:g} with clip {low:g} to {high:g}: give a step from "
                f"{farther / MAX_STEPS:.3g} to {farther:.3g}"
            )
        for name, value in (("low", low), ("high", high), ("grid", grid)):
            object.__setattr__(self, name, value)

    def steps(self, values: ArrayLike) -> NDArray[np.int64]:
        """Finite values as steps of the grid: ⌊clipped / grid + ½⌋, in this order everywhere."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        return np.floor(clipped / self.grid + 0.5).astype(np.int64)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value on the grid: no mean of values passes them."""
        low, high = (self.steps([self.low, self.high]) * self.grid).tolist()
        return low, high

    @property
    def reach(self) -> int:
        """Largest number of steps by which one record can move a sum."""
        return int(np.abs(self.steps([self.low, self.high])).max())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a release header."""
        return {"column": self.column, "low": self.low, "high": self.high, "grid": self.grid}

    @classmethod
    def of(cls, column: str | None, clip: ArrayLike | None, grid: float | None) -> Values | None:
        """Make values from a column, a clip and an optional grid; None if none is given."""
        if column is None and clip is None:
            if grid is not None:
                raise DomainError(f"grid={grid:g} without values: name their column and clip")
            return None
        if column is None or clip is None:
            raise DomainError(
                "value and clip require each other: give the column and its public limits"
            )
        ends = numbers_of(clip, "ends of the clip", "give two numbers, as in 0,50").ravel()
        if len(ends) != 2:
            raise DomainError(f"clip of {len(ends)} numbers: give a lower and an upper limit")
        if grid == 0:
            raise DomainError("grid 0: give a step above 0, or leave it out")
        return cls(column, float(ends[0]), float(ends[1]), grid or 0.0)
