"""Search of an audit for the inputs and event that lose most, then a bound on fresh runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.events import Event, best_event, epsilon_bound
from dpviz.evaluation.subject import Neighbours, Subject
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.progress import Progress, silent
from dpviz.trees.lattice import Float

FINAL_SHARE = 0.6
"""Share of the trials that bound the chosen event; the others look for it."""

SHORT_LIST = 3
"""Inputs that get a second look before one is chosen."""

MIN_RUNS = 7
"""Minimum runs of each input that is tried, even if together they exceed the trials.

With 100 trials, every seed then detects splits on exact counts; with five runs no seed does.
"""

REPORT_EVERY = 100
"""Trials between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Event that tells the worst neighbours apart, and the lower bound on ε that follows.

    Attributes:
        epsilon_lower_bound: the real ε is at least this.
        more_likely: "with" or "without" the record.
        probabilities: estimates of the event's probability, more and less likely input.
    """

    epsilon_lower_bound: float
    event: str
    neighbours: str
    more_likely: str
    probabilities: tuple[float, float]


class Search:
    """Builds a subject again and again on neighbouring inputs.

    ``trials``: runs on each of two neighbours, search included.
    """

    def __init__(
        self,
        subject: Subject,
        budget: Budget,
        noise: Noise,
        trials: int,
        progress: Progress | None = None,
    ) -> None:
        if trials < 100:
            raise ParameterError(f"trials={trials}: give at least 100")
        self.subject, self.budget, self.noise = subject, budget, noise
        cases = len(subject.cases)
        self.last = int(FINAL_SHARE * trials)
        self.first = max(MIN_RUNS, (trials - self.last) // 2 // cases)
        left = trials - self.last - self.first * cases
        self.again = max(MIN_RUNS, left // min(SHORT_LIST, cases))
        self._all = self.first * cases + self.again * min(SHORT_LIST, cases) + self.last
        self._done, self._progress = 0, progress or silent

    def run(self, case: Neighbours, n: int) -> tuple[Float, Float]:
        """Features of n releases with the record and n without, shape (n, features) each."""
        tables: tuple[list[list[float]], list[list[float]]] = ([], [])
        for _ in range(n):
            for data, table in zip((case.larger, case.smaller), tables, strict=True):
                budget = Budget(self.budget.epsilon, self.budget.delta)
                release = self.subject.build(data, budget, self.noise)
                table.append(self.subject.features(release, case.target))
            self._done += 1
            if self._done % REPORT_EVERY == 0:
                self._progress(self._done / self._all, "auditing")
        return np.array(tables[0]), np.array(tables[1])

    def finding(self, confidence: float) -> Finding:
        """Search with some of the trials and bound with the others."""
        if not 0 < confidence < 1:
            raise ParameterError(f"confidence={confidence:g}: give a number between 0 and 1")
        case, likelier_with, event = self._worst()
        hits = [int(event.holds(table).sum()) for table in self.run(case, self.last)]
        more, fewer = hits if likelier_with else hits[::-1]
        delta = self.budget.delta
        return Finding(
            epsilon_lower_bound=epsilon_bound(more, fewer, self.last, 1 - confidence, delta),
            event=event.described(self.subject.names),
            neighbours=case.name,
            more_likely="with" if likelier_with else "without",
            probabilities=(more / self.last, fewer / self.last),
        )

    def _worst(self) -> tuple[Neighbours, bool, Event]:
        """The inputs, the likelier side and the event that look most damaging."""
        cases, delta = self.subject.cases, self.budget.delta
        seen = [self.run(case, self.first) for case in cases]
        ranked = sorted(range(len(cases)), key=lambda at: -_best(*seen[at], delta)[0])
        scores = []
        for at in ranked[:SHORT_LIST]:
            second = self.run(cases[at], self.again)
            tables = [np.concatenate(pair) for pair in zip(seen[at], second, strict=True)]
            scores.append((*_best(tables[0], tables[1], delta), cases[at]))
        _, likelier_with, event, case = max(scores, key=lambda score: score[0])
        return case, likelier_with, event


def _best(with_record: Float, without: Float, delta: float) -> tuple[float, bool, Event]:
    """Both directions."""
    adding = best_event(with_record, without, delta)
    removing = best_event(without, with_record, delta)
    score, event = max(adding, removing, key=lambda each: each[0])
    return score, event is adding[1], event
