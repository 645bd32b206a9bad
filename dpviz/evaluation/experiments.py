"""Repeated measures of releases of public data, for methods and epsilons.

One runner for every kind of data: a bench knows the data and measures one release after another.
Rows come back as builds are finished, so that a caller who stops early keeps those made.
"""

from __future__ import annotations

import itertools
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpviz.build import build
from dpviz.errors import ParameterError
from dpviz.evaluation.rows import MeasureRow
from dpviz.methods import method_with
from dpviz.methods.points.declared import Declared
from dpviz.private.budget import positive_epsilon
from dpviz.progress import Progress, silent

SECONDS = "build_seconds"
"""The measure of a build's duration, in every experiment."""


@dataclass(frozen=True)
class Experiment:
    """A plan: every method at every epsilon, ``repeats`` times.

    Attributes:
        methods: names, aliases, or names with parameters: ``quadtree:height=6:prune=0``.
        seed: makes everything repeatable, with simulated noise and a stream of its own for each
            build; None for noise as of a release.
        kind: kind of data: "points", "sequences" or "roads".
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    repeats: int = 5
    seed: int | None = 0
    kind: str = "points"

    def __post_init__(self) -> None:
        for what in ("methods", "epsilons"):
            if not getattr(self, what):
                raise ParameterError(f"no {what} to evaluate: give at least one")
        if self.repeats < 1:
            raise ParameterError(f"repeats={self.repeats}: give at least 1")
        for epsilon in self.epsilons:
            positive_epsilon(epsilon)
        for name in self.methods:
            method_of_text(name, self.kind)

    @property
    def builds(self) -> list[Build]:
        """Every build of a complete run, in order."""
        settings = itertools.product(range(self.repeats), self.methods, self.epsilons)
        return [
            Build(method, epsilon, repeat, build_seed(self.seed, method, epsilon, repeat))
            for repeat, method, epsilon in settings
        ]


@dataclass(frozen=True)
class Build:
    """One method at one epsilon.

    ``seed``: seed of the simulated noise; None for noise as of a release.
    """

    method: str
    epsilon: float
    repeat: int
    seed: int | None


Measures = Iterator[tuple[str, str, float]]
"""Size, measure and value."""


class Benchmark(Protocol):
    """Public data with exact answers, and what is measured against them."""

    @property
    def data(self) -> Any:
        """The handle, declared public."""

    def method(self, text: str) -> Any:
        """The method of a name with parameters; refused where it is not for these data."""

    def measures(self, task: Build) -> Measures:
        """Build, and measure on every workload."""


def run(
    bench: Benchmark,
    plan: Experiment,
    *,
    progress: Progress | None = None,
) -> Iterator[list[MeasureRow]]:
    """Rows as builds are finished, a list per build; what cannot be run is refused at once."""
    bench.data.require_public()
    for name in plan.methods:
        bench.method(name)
    return _reported(bench, plan.builds, progress or silent)


def _reported(
    bench: Benchmark, builds: list[Build], progress: Progress
) -> Iterator[list[MeasureRow]]:
    for count, task in enumerate(builds, 1):
        rows = _rows(bench, task)
        progress(count / len(builds), f"build {count} of {len(builds)}")
        yield rows


def _rows(bench: Benchmark, task: Build) -> list[MeasureRow]:
    return [
        MeasureRow(task.method, task.epsilon, size, task.repeat, measure, value)
        for size, measure, value in bench.measures(task)
    ]


def timed_build(data: Any, method: Any, task: Build, **how: Any) -> tuple[Any, float]:
    """Build a release with the noise of a task; the release, and the seconds that it took."""
    started = time.perf_counter()
    release = build(data, method, task.epsilon, seed=task.seed, **how)
    return release, round(time.perf_counter() - started, 6)


def build_seed(seed: int | None, method: str, epsilon: float, repeat: int) -> int | None:
    """Seed of the noise of one build of a plan with this seed; None for noise as of a release."""
    if seed is None:
        return None
    word = zlib.crc32(f"{method}|{epsilon!r}|{repeat}".encode())
    return int(np.random.default_rng([seed, word]).integers(2**63))


def method_of_text(text: str, kind: str = "points") -> Any:
    """The method of a name, followed by any parameters as ``:key=value``.

    >>> method_of_text("quadtree:height=6:prune=0").height
    6
    """
    name, parameters = parsed(text)
    return method_with(name, kind, parameters)


def with_workload(text: str, declared: Declared | None) -> str:
    """A method as :func:`method_of_text` reads it, with what follows from a declared workload.

    >>> from dpviz.methods.points.declared import Declared
    >>> with_workload("ugrid", Declared("hot")), with_workload("ugrid:c=5", Declared("hot"))
    ('ugrid:c=0.17', 'ugrid:c=5')
    """
    if declared is None:
        return text
    method_of_text(text)
    follow = declared.following(*parsed(text))
    return text + "".join(f":{key}={value}" for key, value in follow.items())


def parsed(text: str) -> tuple[str, dict[str, str]]:
    """A method's name and its parameters in ``name:key=value``.

    >>> parsed("quadtree:height=6")
    ('quadtree', {'height': '6'})
    """
    name, *pairs = text.split(":")
    return name, dict(pair.partition("=")[::2] for pair in pairs)
