"""The experiments of PrivTree on sequences (figures 6 and 7), on public sequences only.

Precision of the k most frequent strings, and the total variation distance of the lengths of
synthetic sequences, both against the whole sequences: what truncation costs is part of the error.
Where symbols are places, also the measures of AdaTrace on synthetic trajectories.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.build import Cells, SequenceData, build, cells_of
from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.experiments import parsed, task_seed
from dpviz.evaluation.sequence_truth import (
    exact_lengths,
    exact_lines,
    exact_sequences,
    exact_top,
    sequences_digest,
)
from dpviz.evaluation.trajectories import MEASURES, Trajectories, measures
from dpviz.methods import method as find_method
from dpviz.methods import method_with
from dpviz.methods.sequences.base import SequenceMethod
from dpviz.progress import Progress
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.sequences.grams import Ranking
from dpviz.sequences.places import drawn_places
from dpviz.trees.lattice import Float, Int, ragged

METHODS = ("markov", "ngram", "topk_em", "truncate")
EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
TOPS = (50, 100, 150, 200)
SAMPLES = 200_000

LENGTHS = "lengths"
"""The measure of figure 7; those of figure 6 are named ``top 50`` and so on."""

Key = tuple[str, float, int]


@dataclass(frozen=True)
class MeasureRow:
    """One measure of one release.

    Attributes:
        method: as it was asked for, parameters included.
        epsilon: the whole price.
        measure: ``top k``, the share of the k most frequent strings that were found;
            ``lengths``, half the L1 distance of the distributions of lengths; or one of
            :data:`dpviz.evaluation.trajectories.MEASURES`.
        repeat: from 0.
        value: of the measure.
        build_seconds: of the release.
    """

    method: str
    epsilon: float
    measure: str
    repeat: int
    value: float
    build_seconds: float


@dataclass(frozen=True)
class SequenceExperiment:
    """What to run: every method at every epsilon, ``repeats`` times.

    Methods without noise are run once at each epsilon: they have no spread.

    Attributes:
        methods: names, or names with parameters: ``ngram:n_max=3``.
        epsilons: prices.
        tops: numbers of strings.
        l_top: events of a sequence that every method keeps.
        repeats: repetitions with independent noise.
        samples: synthetic sequences whose lengths are compared.
        seed: makes everything repeatable, with simulated noise and a stream of its own for each
            task; None for noise as of a release.

    Raises:
        ParameterError: an unknown method or parameter, or nothing to run.
    """

    methods: tuple[str, ...] = METHODS
    epsilons: tuple[float, ...] = EPSILONS
    tops: tuple[int, ...] = TOPS
    l_top: int = 20
    repeats: int = 10
    samples: int = SAMPLES
    seed: int | None = 0

    def __post_init__(self) -> None:
        for what in ("methods", "epsilons", "tops"):
            if not getattr(self, what):
                raise ParameterError(f"no {what} to evaluate: give at least one")
        for what in ("repeats", "samples"):
            if getattr(self, what) < 1:
                raise ParameterError(f"{what}={getattr(self, what)}: give at least 1")
        if not 1 <= min(self.tops) <= max(self.tops) <= 1000:
            raise ParameterError(f"top {min(self.tops)} to {max(self.tops)}: give 1 to 1000")
        for epsilon in self.epsilons:
            if not 0 < epsilon < float("inf"):
                raise ParameterError(f"epsilon={epsilon:g}: give positive, finite numbers")
        for name in self.methods:
            self.method(name)

    def method(self, text: str, **parameters: Any) -> SequenceMethod:
        """The method of a text; what it says goes before ``parameters`` and the plan's."""
        name, given = parsed(text)
        common = {"l_top": self.l_top, "strings": max(self.tops)}
        fitting = {
            key: value
            for key, value in common.items()
            if key in find_method(name, "sequences").parameter_fields()
        }
        method: SequenceMethod = method_with(name, "sequences", {**fitting, **parameters, **given})
        return method

    def tasks(self) -> list[Key]:
        """Every (method, epsilon, repeat), repetition by repetition."""
        return [
            (name, epsilon, repeat)
            for repeat in range(self.repeats)
            for name in self.methods
            for epsilon in self.epsilons
            if repeat == 0 or self.method(name).private
        ]


def about(data: SequenceData, plan: SequenceExperiment) -> dict[str, Any]:
    """What rows must have in common to be compared; methods and epsilons may be added later.

    Raises:
        PrivacyError: the sequences are not declared public.
    """
    return {
        "source": data.name,
        "max_per_unit": data.max_per_unit,
        "symbols": len(data.alphabet),
        "tops": list(plan.tops),
        "l_top": plan.l_top,
        "samples": plan.samples,
        "seed": plan.seed,
        "places": "cells" in data.facts,
        "records": sequences_digest(data),  # last: of what differs, the rest says more
    }


def run(
    data: SequenceData,
    plan: SequenceExperiment,
    *,
    done: Collection[Key] = (),
    progress: Progress | None = None,
) -> Iterator[list[MeasureRow]]:
    """Rows as tasks are finished, a list for each; whoever stops asking keeps what there is.

    Args:
        data: public sequences.
        plan: what to run.
        done: tasks whose rows exist already.
        progress: called with the share of the tasks that are finished.

    Raises:
        PrivacyError: the sequences are not declared public.
        DataError: there are none.
    """
    strings = [string for string, _ in exact_top(data, max(plan.tops))]
    if not strings:
        raise DataError(
            f"{data.name} has no sequence over its alphabet: there is nothing to measure"
        )
    lengths = shares(exact_lengths(data))
    bench = SequenceBaseline(data, plan, strings, lengths, *_places(data))
    open_tasks = [task for task in plan.tasks() if task not in set(done)]
    for count, task in enumerate(open_tasks, 1):
        rows = bench.run(*task)
        if progress is not None:
            progress(count / len(open_tasks), f"release {count} of {len(open_tasks)}")
        yield rows


@dataclass(frozen=True, eq=False)
class SequenceBaseline:
    """What every task shares: the sequences, their most frequent strings, their lengths."""

    data: SequenceData
    plan: SequenceExperiment
    strings: list[tuple[int, ...]]
    lengths: Float
    cells: Cells | None = None
    real: Trajectories | None = None

    def run(self, text: str, epsilon: float, repeat: int) -> list[MeasureRow]:
        """Every measure that the method's model can answer."""
        plan = self.plan
        seed = task_seed(plan.seed, f"{text}|{epsilon!r}|{repeat}")

        def release(**parameters: Any) -> tuple[SequenceRelease, float]:
            started = time.perf_counter()
            made = build(self.data, plan.method(text, **parameters), epsilon, seed=seed)
            return made, round(time.perf_counter() - started, 4)

        method = plan.method(text)
        fits_k = "k" in method.parameter_fields() and "k" not in parsed(text)[1]
        rows = []
        for at, k in enumerate(plan.tops):
            if fits_k or at == 0:  # where k choices are paid for, every k is a release of its own
                made, seconds = release(**({"k": k} if fits_k else {}))
            wanted = set(self.strings[:k])
            listed = k if not isinstance(made.model, Ranking) else min(k, len(made.model))
            strings = {string for string, _ in made.model.top(listed)}
            rows.append(
                MeasureRow(
                    text, epsilon, f"top {k}", repeat, len(wanted & strings) / len(wanted), seconds
                )
            )
        if not isinstance(made.model, Ranking):
            # A method without noise has no synthetic sequences: its own are the truncated ones.
            start, symbol = (
                ragged(made.model.sample(plan.samples, seed))
                if method.private
                else exact_sequences(self.data, plan.l_top)
            )
            value = variation(shares(np.diff(start)), self.lengths)
            rows.append(MeasureRow(text, epsilon, LENGTHS, repeat, value, seconds))
            if self.cells is not None and self.real is not None:
                lines = drawn_places(self.cells.boxes, start, symbol, seed or 0)
                synthetic = Trajectories(*lines, self.real.bounds)
                # The same circles for every release of a plan; none where all drawn are empty.
                taken = measures(self.real, synthetic, plan.seed or 0) if len(synthetic) else {}
                for measure, value in taken.items():
                    rows.append(MeasureRow(text, epsilon, measure, repeat, value, seconds))
        return rows


def _places(data: SequenceData) -> tuple[Cells | None, Trajectories | None]:
    """The cells that symbols stand for, and the places themselves; None where there are none."""
    cells, lines = cells_of(data.facts, data.alphabet.names), exact_lines(data)
    if cells is None or lines is None:
        return None, None
    west, south, east, north = cells.domain.bounds
    return cells, Trajectories(*lines, (west, south, east, north))


def shares(length: Int) -> Float:
    """How often each length occurs, as shares of all, from length 0."""
    histogram = np.bincount(length).astype(np.float64)
    return np.asarray(histogram / max(histogram.sum(), 1.0))


def variation(one: Float, other: Float) -> float:
    """Total variation distance of two distributions: half the L1 distance.

    >>> variation(np.array([0.5, 0.5]), np.array([0.5, 0.25, 0.25]))
    0.25
    """
    size = max(len(one), len(other))
    padded = [np.pad(each, (0, size - len(each))) for each in (one, other)]
    return float(np.abs(padded[0] - padded[1]).sum() / 2)


def summary(rows: Iterable[MeasureRow]) -> list[dict[str, Any]]:
    """Mean, least and greatest value over repetitions per measure, method and epsilon."""
    groups: dict[tuple[str, str, float], list[MeasureRow]] = {}
    for row in rows:
        groups.setdefault((row.measure, row.method, row.epsilon), []).append(row)
    measures = []
    for (measure, method, epsilon), group in sorted(groups.items(), key=_place):
        values = [row.value for row in group]
        measures.append(
            {
                "measure": measure,
                "method": method,
                "epsilon": epsilon,
                "repeats": len(group),
                "mean": float(np.mean(values)),
                "least": min(values),
                "greatest": max(values),
                "build_seconds": float(np.mean([row.build_seconds for row in group])),
            }
        )
    return measures


def _place(group: tuple[tuple[str, str, float], list[MeasureRow]]) -> tuple[int, int, str, float]:
    measure, method, epsilon = group[0]
    number = measure.rpartition(" ")[2]
    after = MEASURES.index(measure) + 2 if measure in MEASURES else int(measure == LENGTHS)
    return after, int(number) if number.isdigit() else 0, method, epsilon
