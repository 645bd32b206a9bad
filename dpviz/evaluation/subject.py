"""Subjects of audits: inputs, builds and features of a kind of data.

A subject is a list of neighbouring inputs that are the worst case we know, a way to build, and
numbers that an attacker looks at. The records are made here: an audit never sees real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise

Row = tuple[int, ...]

Pair = tuple[str, tuple[tuple[Row, int], ...], Row]
"""Two sets of sequences that differ by one: a description; the smaller one, with the number of
copies of each sequence; the additional sequence."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two neighbouring inputs.

    Attributes:
        larger: the input with the record.
        smaller: the input without it.
    """

    name: str
    larger: Any
    smaller: Any
    target: Any


@dataclass(frozen=True, eq=False)
class Subject:
    """Builds of a method on small inputs.

    Attributes:
        cases: neighbouring inputs; sizes follow the noise, which is of the order 1/ε.
        build: function from an input, a budget and noise to a release.
        features: function from a release and a target to one number per name.
        structure: the split decisions of a build, if their exact loss can be computed.
    """

    cases: Sequence[Neighbours]
    names: Sequence[str]
    build: Callable[[Any, Budget, Noise], Any]
    features: Callable[[Any, Any], list[float]]
    structure: Structure | SharedThreshold | None = None


def neighbours_of(pairs: Iterable[Pair], read: Callable[[Any], Any]) -> list[Neighbours]:
    """Cases of sets of sequences or trips that differ by one; ``read`` makes data of rows."""
    cases = []
    for name, others, target in pairs:
        rows = [row for row, times in others for _ in range(times)]
        cases.append(Neighbours(name, read([*rows, target]), read(rows), target))
    return cases
