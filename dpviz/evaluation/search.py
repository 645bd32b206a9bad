"""The search of an audit: which inputs and which event lose most, then a bound on fresh runs.

It is the same for every kind of method: a bench runs one on neighbours and tells features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.events import Event, best_event, epsilon_bound
from dpviz.progress import Progress, silent
from dpviz.trees.lattice import Float

FINAL = 0.6
"""Share of the trials that bound the chosen event; the others look for it."""

SHORT_LIST = 3
"""Inputs that get a second look before one is chosen."""

LEAST = 7
"""Runs of each input that is tried, at least, also where that is more than the trials.

Of 100 trials, splits on exact counts are then caught by every seed; with five runs by none.
"""

REPORT = 100
"""Trials between two reports of progress."""


class Named(Protocol):
    """Two neighbouring inputs."""

    @property
    def name(self) -> str:
        """Description of the two inputs, in words."""


Case = TypeVar("Case", bound=Named)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sets of sequences that differ by one.

    Attributes:
        name: what they are, in words.
        others: the smaller one, with how often each sequence is there.
        target: the one sequence more.
    """

    name: str
    others: tuple[tuple[tuple[int, ...], int], ...]
    target: tuple[int, ...]

    def rows(self, more: bool) -> list[tuple[int, ...]]:
        """The larger or the smaller one."""
        rows = [row for row, times in self.others for _ in range(times)]
        return [*rows, self.target] if more else rows


class Bench(ABC, Generic[Case]):
    """Runs a method on two neighbours and keeps the features of what comes out.

    Args:
        trials: runs on each of two neighbours, search included.
        delta: of the claim.
        progress: called with the share of the runs that are done.

    Attributes:
        expected: runs on each of two neighbours that will be made in all.
    """

    def __init__(self, trials: int, delta: float, progress: Progress | None) -> None:
        self.trials, self.expected, self.delta = trials, trials, delta
        self._done, self._progress = 0, progress or silent

    @abstractmethod
    def inputs(self, case: Case) -> tuple[Any, Any]:
        """Inputs of the method with the record and without it."""

    @abstractmethod
    def features(self, case: Case, data: Any) -> list[float]:
        """Make one release of such an input and return its features."""

    def run(self, case: Case, n: int) -> tuple[Float, Float]:
        """Features of n releases with the record and n without, shape (n, features) each."""
        inputs = self.inputs(case)
        tables: tuple[list[list[float]], list[list[float]]] = ([], [])
        for _ in range(n):
            for data, table in zip(inputs, tables, strict=True):
                table.append(self.features(case, data))
            self._done += 1
            if self._done % REPORT == 0:
                self._progress(self._done / self.expected, "auditing")
        return np.array(tables[0]), np.array(tables[1])


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Event that tells the worst neighbours apart, and the lower bound on ε that follows.

    Attributes:
        epsilon_lower_bound: the real ε is at least this.
        event: what tells the neighbours apart.
        neighbours: the two inputs.
        more_likely: "with" or "without" the record.
        probabilities: estimates of the event's probability, more and less likely input.
    """

    epsilon_lower_bound: float
    event: str
    neighbours: str
    more_likely: str
    probabilities: tuple[float, float]


def finding(
    bench: Bench[Case], cases: Sequence[Case], names: Sequence[str], confidence: float
) -> Finding:
    """Search with some of the bench's trials and bound with the others.

    Args:
        bench: runs the method.
        cases: inputs to try.
        names: of the features, for the event in words.
        confidence: of the bound, for all events and inputs together.

    Raises:
        ParameterError: fewer than 100 trials, or a confidence outside (0, 1).
    """
    if bench.trials < 100:
        raise ParameterError(f"trials={bench.trials}: give at least 100")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence:g}: give a number between 0 and 1")
    first, again, last = planned(bench.trials, len(cases))
    bench.expected = runs(bench.trials, len(cases))
    case, more_with, event = _search(bench, cases, first, again)
    with_record, without = bench.run(case, last)
    hits = [int(event.holds(table).sum()) for table in (with_record, without)]
    more, fewer = hits if more_with else hits[::-1]
    return Finding(
        epsilon_lower_bound=epsilon_bound(more, fewer, last, 1 - confidence, bench.delta),
        event=event.described(names),
        neighbours=case.name,
        more_likely="with" if more_with else "without",
        probabilities=(more / last, fewer / last),
    )


def planned(trials: int, cases: int) -> tuple[int, int, int]:
    """Runs of each of so many inputs, again of each on the short list, and of the chosen one."""
    last = int(FINAL * trials)
    first = max(LEAST, (trials - last) // 2 // cases)
    again = max(LEAST, (trials - last - first * cases) // min(SHORT_LIST, cases))
    return first, again, last


def runs(trials: int, cases: int) -> int:
    """All of :func:`planned`: more than the trials where these are few and the inputs are many."""
    first, again, last = planned(trials, cases)
    return first * cases + again * min(SHORT_LIST, cases) + last


def _search(
    bench: Bench[Case], cases: Sequence[Case], first: int, again: int
) -> tuple[Case, bool, Event]:
    """The inputs, the likelier side and the event that look most damaging."""
    seen = [bench.run(case, first) for case in cases]
    ranked = sorted(range(len(cases)), key=lambda at: -_best(*seen[at], bench.delta)[0])
    scores = []
    for at in ranked[:SHORT_LIST]:
        second = bench.run(cases[at], again)
        tables = [np.concatenate(pair) for pair in zip(seen[at], second, strict=True)]
        scores.append((*_best(tables[0], tables[1], bench.delta), cases[at]))
    _, more_with, event, case = max(scores, key=lambda entry: entry[0])
    return case, more_with, event


def _best(with_record: Float, without: Float, delta: float) -> tuple[float, bool, Event]:
    """Both directions."""
    adding = best_event(with_record, without, delta)
    removing = best_event(without, with_record, delta)
    score, event = max(adding, removing, key=lambda entry: entry[0])
    return score, event is adding[1], event
