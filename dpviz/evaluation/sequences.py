"""The experiments of PrivTree on sequences (figures 6 and 7), on public sequences only.

Precision of the k most frequent strings, and the total variation distance of the lengths of
synthetic sequences, both against the whole sequences: what truncation costs is part of the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.experiments import SECONDS, Build, Measures, parsed, timed_build
from dpviz.evaluation.rows import MeasureRow, grouped
from dpviz.evaluation.truth import exact_lengths, exact_top
from dpviz.methods import method as find_method
from dpviz.methods import method_with
from dpviz.methods.sequences.base import SequenceMethod
from dpviz.private.sequences import SequenceData
from dpviz.sequences.grams import Ranking
from dpviz.trees.lattice import Float, Int
from dpviz.trees.ragged import Ragged

METHODS = ("markov", "ngram", "topk_em", "truncate")
TOPS = (50, 100, 150, 200)
SAMPLES = 200_000

LENGTHS = "lengths"
"""The measure of figure 7; those of figure 6 are named ``top 50`` and so on."""

ALL = "all"
"""The size in every row: there is one workload."""


def require_sizes(tops: tuple[int, ...], samples: int) -> None:
    """Refuse sizes of measures that make no sense.

    Raises ParameterError: no number of strings or one outside 1 to 1000, or no sample.
    """
    if not tops:
        raise ParameterError("no tops to evaluate: give at least one")
    if samples < 1:
        raise ParameterError(f"samples={samples}: give at least 1")
    if not 1 <= min(tops) <= max(tops) <= 1000:
        raise ParameterError(f"top {min(tops)} to {max(tops)}: give 1 to 1000")


class SequenceBench:
    """Every measure that a method's model can answer.

    ``top k`` is the share of the k most frequent strings that a release lists; ``lengths`` is half
    the L1 distance between the distributions of lengths.

    Args:
        data: public.
        tops: numbers of strings.
        l_top: events of a sequence that every method keeps.
        samples: synthetic sequences whose lengths are compared.
    """

    def __init__(
        self,
        data: SequenceData,
        tops: tuple[int, ...] = TOPS,
        l_top: int = 20,
        samples: int = SAMPLES,
    ) -> None:
        require_sizes(tops, samples)
        self.data, self.tops, self.l_top, self.samples = data, tops, l_top, samples
        self._strings = [string for string, _ in exact_top(data, max(tops))]
        if not self._strings:
            raise DataError(
                f"{data.name} has no sequence over its alphabet: give an alphabet of its symbols"
            )
        self._lengths = shares(exact_lengths(data))

    def method(self, text: str, **parameters: Any) -> SequenceMethod:
        """The method of a text; its own parameters go before ``parameters`` and the bench's."""
        name, given = parsed(text)
        fields = find_method(name, "sequences").parameter_fields()
        common = {"l_top": self.l_top, "strings": max(self.tops)}
        fitting = {key: value for key, value in common.items() if key in fields}
        method: SequenceMethod = method_with(name, "sequences", {**fitting, **parameters, **given})
        return method

    def measures(self, task: Build) -> Measures:
        """Build once, or once for every k where k choices are paid for."""
        method = self.method(task.method)
        fits_k = "k" in method.parameter_fields() and "k" not in parsed(task.method)[1]
        if fits_k:
            chosen = {k: self.method(task.method, k=k) for k in self.tops}
            releases = {k: timed_build(self.data, chosen[k], task) for k in self.tops}
        else:
            releases = dict.fromkeys(self.tops, timed_build(self.data, method, task))
        for k, (release, _) in releases.items():
            model, wanted = release.model, set(self._strings[:k])
            listed = k if not isinstance(model, Ranking) else min(k, len(model))
            strings = {string for string, _ in model.top(listed)}
            yield ALL, f"top {k}", len(wanted & strings) / len(wanted)
        release, seconds = releases[self.tops[-1]]
        if not isinstance(release.model, Ranking):
            # A method without noise has no synthetic sequences: use its truncated sequences.
            if method.private:
                lengths = Ragged.of(release.model.sample(self.samples, task.seed)).length
            else:
                lengths = np.minimum(exact_lengths(self.data), self.l_top)
            yield ALL, LENGTHS, variation(shares(lengths), self._lengths)
        yield ALL, SECONDS, seconds


def summary(rows: Sequence[MeasureRow]) -> list[dict[str, Any]]:
    """Mean, least and greatest value over repetitions per measure, method and epsilon."""
    groups = dict(sorted(grouped(rows).items()))
    order = measure_order(rows)
    entries = [
        {
            "measure": measure,
            "method": method,
            "epsilon": epsilon,
            "repeats": len(values),
            "mean": float(np.mean(values)),
            "least": min(values),
            "greatest": max(values),
            "build_seconds": float(np.mean(groups[method, epsilon, ALL, SECONDS])),
        }
        for (method, epsilon, _, measure), values in groups.items()
        if measure != SECONDS
    ]
    return sorted(entries, key=lambda entry: order.index(entry["measure"]))


def measure_order(rows: Iterable[MeasureRow]) -> list[str]:
    """Measures of some rows: strings by their number, then lengths."""
    present = {row.measure for row in rows}
    tops = (each for each in present if each.startswith("top"))
    ordered = sorted(tops, key=lambda measure: int(measure.rpartition(" ")[2]))
    return [*ordered, *({LENGTHS} & present)]


def shares(length: Int) -> Float:
    """Share of each length, from length 0."""
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
