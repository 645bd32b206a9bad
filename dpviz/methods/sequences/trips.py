"""Trips as a whole: where they begin and end, how long they are, and the moves between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.sequences.base import SequenceMethod, SequenceTask, parameter, register
from dpviz.methods.sequences.markov import LEAVES, grown, noisy_contexts
from dpviz.private.events import events_of
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.sequences import Sequences
from dpviz.sequences.model import projected
from dpviz.sequences.trips import TripModel, distances, likely_pairs, longest_trip, step_rule
from dpviz.trees.lattice import Int

LENGTH_SHARE = 0.2
"""Share of the trips' ε for their numbers of symbols: a small table."""


@register
@dataclass(frozen=True, kw_only=True)
class Trips(SequenceMethod):
    """Noisy counts of trips by both ends, of lengths by their distance, and of moves.

    What is measured follows M. E. Gursoy et al., CCS 2018 (trip distribution, lengths, first-order
    moves); synthetic trips are drawn from both ends inwards, by a Markov bridge of the length.

    Privacy: one sequence more adds one to one pair of first and last symbol, and one to one cell of
    the table of lengths, so each of the two has L1 sensitivity 1 and costs its share, with noise of
    scale 1/ε₁ and 1/ε₂. It has at most l_top events, each counted in one leaf of a tree of contexts
    whose shape is public: L1 sensitivity l_top, noise of scale l_top/ε₃. The three shares add up to
    ε. Distances between symbols are of the public alphabet, and all that follows sees noisy numbers
    only. Do not use it where what comes next depends on more than the last symbol and the end.

    >>> Trips(l_top=5).trip_share
    0.5
    """

    name: ClassVar[str] = "trips"
    title: ClassVar[str] = "Trips by ends, length and moves"
    paper: ClassVar[str] = (
        "After M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei: Utility-Aware Synthesis of "
        "Differentially Private and Attack-Resilient Location Traces. CCS 2018"
    )
    advice: ClassVar[str] = "Strings that depend on more than the last symbol: it forgets them."
    tiny: ClassVar[dict[str, object]] = {"l_top": 3}

    l_top: int = parameter(
        20, "Public bound on the events of a sequence; longer ones are cut", 1, 10_000
    )
    trip_share: float = parameter(
        0.5, "Share of ε for ends and lengths; the rest is for moves", 0.01, 0.99
    )

    def build(self, task: SequenceTask) -> TripModel:
        """See the class."""
        size, follows, budget = len(task.alphabet), task.alphabet.follows, task.budget
        longest = longest_trip(size, self.l_top)
        steps = distances(step_rule(follows, size), longest)
        far = min(int(steps.max()) + 1, longest)
        pairs, lengths = _tables(task.sequences, steps, longest, far)
        one = "a sequence is in one cell: sensitivity 1 in L1"

        share = budget.spend(
            self.trip_share * (1 - LENGTH_SHARE) * budget.epsilon,
            "first and last symbols",
            mechanism="geometric",
            theorem=one,
        )
        noisy, _ = geometric(task.noise, share, pairs)
        likely = likely_pairs(noisy.astype(np.float64), 1 / share.epsilon, steps, longest)
        share = budget.spend(
            self.trip_share * LENGTH_SHARE * budget.epsilon,
            "lengths",
            mechanism="geometric",
            theorem=one,
        )
        noisy, _ = geometric(task.noise, share, lengths)
        # Ends that are k steps apart have k symbols between them, the first one counted, at least.
        enough = np.arange(longest) >= np.arange(far)[:, None]
        by_length = projected(noisy.astype(np.float64), enough)

        events = events_of(task.sequences, size, self.l_top)
        first_child, exact = grown(events, size, lambda scores, _: np.ones(len(scores), bool), 1)
        share = budget.spend(budget.left, "moves", mechanism="geometric", theorem=LEAVES)
        counts, spread = noisy_contexts(task.noise, share, first_child, exact, self.l_top, follows)
        return TripModel(first_child, counts, spread, follows, pairs=likely, lengths=by_length)


def _tables(sequences: Sequences, steps: Int, longest: int, far: int) -> tuple[Int, Int]:
    """Trips of at most ``longest`` symbols by both ends, and by distance and number: private.

    A trip whose ends no public step joins within the cap is in no pair, and among the farthest.
    """
    some = sequences.length > 0
    start, length = sequences.start[:-1][some], np.minimum(sequences.length[some], longest)
    first, last = sequences.symbol[start], sequences.symbol[start + length - 1]
    pairs = np.zeros(steps.shape, dtype=np.int64)
    np.add.at(pairs, (first, last), 1)
    lengths = np.zeros((far, longest), dtype=np.int64)
    apart = steps[first, last]
    np.add.at(lengths, (np.where((apart >= 0) & (apart < far), apart, far - 1), length - 1), 1)
    return pairs, lengths
