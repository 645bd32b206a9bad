"""Audits of methods on areas: with one record against without it, in a square of four quarters.

As for spatial methods, a bound above the claim refutes it, and one below proves nothing. The
records are made here: an audit never sees anybody's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.domain import Domain
from dpviz.evaluation.audit import CONFIDENCE, Audit
from dpviz.evaluation.search import finding
from dpviz.methods.areas.base import AreaMethod
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress
from dpviz.releases.areas.partition import Areas
from dpviz.trees.lattice import Float, Int

FEATURES = (
    "count of the record's quarter",
    "count of its half",
    "count of the whole",
    "count of the other quarter of its half",
    "count of the other half",
    "counts of its quarter, its half and the whole together",
)
"""What an attacker looks at, who knows every record and asks whether one more is there."""


@dataclass(frozen=True, eq=False)
class Quarters:
    """Records in each of four quarters; the neighbour has one more in the first."""

    name: str
    counts: tuple[int, int, int, int]


def quarters(epsilon: float) -> Iterator[Quarters]:
    """The inputs that an audit tries; sizes follow the noise, which is of the order 1/ε."""
    many = math.ceil(15 / epsilon)
    yield Quarters("no record, or one", (0, 0, 0, 0))
    yield Quarters("one record in another quarter, or one more", (0, 1, 0, 0))
    yield Quarters(f"{many} records, or one more among them", (many, 0, 0, 0))
    yield Quarters(f"{many} records in each quarter, or one more", (many, many, many, many))


def audit_areas(
    method: AreaMethod,
    epsilon: float = 1.0,
    *,
    trials: int = 40_000,
    confidence: float = CONFIDENCE,
    seed: int | None = 0,
    secure: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Try to refute the claim of a method on areas; see :func:`dpviz.evaluation.audit.audit`.

    Raises:
        ParameterError: fewer than 100 trials, or a confidence outside (0, 1).
    """
    epsilon = positive_epsilon(epsilon)
    noise: Noise = SecureNoise() if secure else SimulatedNoise(seed)
    bench = AreaBench(method, epsilon, noise, trials, progress)
    result = finding(bench, list(quarters(epsilon)), list(FEATURES), confidence)
    return Audit.of(method, epsilon, result, None, confidence, trials, secure)


class AreaBench:
    """Runs a method with and without a record and keeps the features of what comes out."""

    def __init__(
        self,
        method: AreaMethod,
        epsilon: float,
        noise: Noise,
        trials: int,
        progress: Progress | None,
    ) -> None:
        self.method, self.epsilon, self.noise = method, epsilon, noise
        self.delta, self.trials, self.done, self.progress = method.delta, trials, 0, progress
        self.areas = square()

    def run(self, case: Quarters, n: int) -> tuple[Float, Float]:
        """Features of n releases with the record and n without, shape (n, features) each."""
        without: Int = np.array(case.counts)
        inputs = without + np.array([1, 0, 0, 0]), without
        tables: tuple[list[list[float]], list[list[float]]] = ([], [])
        for _ in range(n):
            for counts, table in zip(inputs, tables, strict=True):
                budget = Budget(self.epsilon)
                estimate, _ = self.method.build(self.areas, counts, budget, self.noise)
                whole, half, other, first, second = estimate[:5].tolist()
                table.append([first, half, whole, second, other, first + half + whole])
            self.done += 1
            if self.progress is not None and self.done % 100 == 0:
                self.progress(min(self.done / self.trials, 1.0), "auditing")
        return np.array(tables[0]), np.array(tables[1])


def square() -> Areas:
    """A square, its halves and its quarters."""
    import shapely

    domain = Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
    corners = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.0), (0.5, 0.5)]
    shapes = np.array([shapely.box(x, y, x + 0.5, y + 0.5) for x, y in corners], dtype=object)
    names = ("square", "west", "east", "sw", "nw", "se", "ne")
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    return Areas(domain, ("whole", "half", "quarter"), names, parent, shapes)
