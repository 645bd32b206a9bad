"""Audit of sequence methods: broken ones are caught, sound ones are not refuted.

At confidence 1 − 1e-6 the false-positive rate is at most 1e-6 whatever the seed.
"""

from __future__ import annotations  # parameter types are read from annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dpviz.evaluation.audit import audit
from dpviz.evaluation.audits import small_method
from dpviz.evaluation.exact import chain_losses
from dpviz.evaluation.sequence_audit import ALPHABET, FEATURES, features, pairs
from dpviz.evaluation.subject import neighbours_of
from dpviz.methods import of_kind
from dpviz.methods.sequences.base import SequenceMethod, SequenceTask, parameter
from dpviz.methods.sequences.markov import Markov
from dpviz.private.budget import Budget
from dpviz.private.events import events_of
from dpviz.private.mechanisms.noise import SimulatedNoise, geometric
from dpviz.private.sequences import Sequences
from dpviz.sequences.grams import GramTree

SURE = 1 - 1e-6


@dataclass(frozen=True, kw_only=True)
class Symbols(SequenceMethod):
    """Noisy counts of symbols, with noise for a sequence that has ``moves`` of them."""

    name: ClassVar[str] = "symbols"
    l_top: int = parameter(3, "Events of a sequence", 1, 9)
    moves: int = parameter(3, "What the noise is for", 1, 9)

    def build(self, task):
        events = events_of(task.sequences, len(task.alphabet), self.l_top)
        exact = np.bincount(events.text[events.items(3)], minlength=4)[None]
        share = task.budget.spend(task.budget.left, "symbols")
        noisy, _ = geometric(task.noise, share, exact, sensitivity=self.moves)
        return GramTree(np.full((1, 3), -1), np.maximum(noisy, 0).astype(float), 0.0)


@pytest.mark.slow
def test_noise_for_one_event_of_three_is_caught():
    """The bound of 800 trials is above 2 on average, eight standard deviations above the claim."""
    result = audit(Symbols(moves=1), 1.0, trials=800, confidence=SURE)
    assert result.violates
    assert 1.0 < result.epsilon_lower_bound <= 3.0
    assert "aaa" in result.neighbours


def test_the_reference_without_noise_is_caught():
    result = audit(small_method("truncate"), 1.0, trials=300, confidence=SURE)
    assert result.violates
    assert result.epsilon_lower_bound > 2


@pytest.mark.slow
def test_the_mechanism_that_chooses_strings_is_audited_with_power():
    """One choice: the loss is at most 1, and reached where the others weigh much."""
    result = audit(small_method("topk_em", k=1), 1.0, trials=2_000, confidence=SURE)
    assert 0.3 < result.epsilon_lower_bound <= 1.0


@pytest.mark.parametrize("size", [2, 4, 18, 258])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
def test_the_exact_loss_of_split_decisions_is_what_their_share_pays(size, epsilon):
    """Appending an event moves the scores of one path by 0 or 1; l_top of them cost ε₁ at most.

    By dynamic programming over every chain of scores that never rises and every end of the path.
    The loss is bounded from below too: the constant is not many times too large.
    """
    method, l_top = Markov(l_top=20, max_depth=5 if size > 4 else 12, tree_share=0.5), 20
    structure = method.structure(2 * epsilon, size - 1)
    loss = l_top * max(chain_losses(dataclasses.replace(structure, records=1)))
    assert loss <= epsilon
    assert loss > 0.75 * epsilon
    assert max(chain_losses(structure)) <= epsilon  # all events of a sequence lie on one path


def test_neighbours_differ_by_one_sequence_of_at_most_l_top_events():
    cases = list(pairs(0.5, 3))
    assert len({name for name, *_ in cases}) == len(cases) >= 8
    for case, (*_, target) in zip(neighbours_of(cases, Sequences.of), cases, strict=True):
        larger, smaller = case.larger, case.smaller
        assert len(larger) == len(smaller) + 1
        assert tuple(larger[len(smaller)].tolist()) == target
        assert events_of(larger, 3, 3).truncated >= 0


@pytest.mark.parametrize("name", sorted(of_kind("sequences")))
def test_every_model_has_every_feature(name):
    for case in neighbours_of(pairs(1.0, 3), Sequences.of):
        task = SequenceTask(case.larger, ALPHABET, Budget(1e6), SimulatedNoise(1))
        values = features(small_method(name).build(task), case.target)
        assert len(values) == len(FEATURES)
        assert np.isfinite(values).all()
