"""Contract of every sequence method, over the registry."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.errors import ParameterError
from dpviz.methods import method as find_method
from dpviz.methods import of_kind
from dpviz.methods.sequences.base import SequenceTask
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.sequences import Sequences
from dpviz.sequences import model
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import Ranking
from dpviz.sequences.model import ContextTree
from tests.methods.cases import any_value, is_paid

from .cases import ABC, ROWS, grams, public

every = pytest.mark.parametrize("name", sorted(of_kind("sequences")))
PRIVATE = sorted(
    name for name, method in of_kind("sequences").items() if method.guarantee != "none"
)

private = pytest.mark.parametrize("name", PRIVATE)

TALLEST = {"l_top": 30, "max_depth": 6, "n_max": 4, "k": 30, "strings": 30}
"""Upper ends for random settings, so that a model stays small."""

MANY = [[0, 1, 2, 0], [0, 1], [2], [1, 1, 1]] * 40


def answers(model):
    if isinstance(model, Ranking):
        return model.strings
    strings = [[0], [0] * 9, [model.size - 1, 0]]
    return (
        [model.count(string) for string in strings],
        model.top(5),
        model.following([]).tolist(),
        [row.tolist() for row in model.sample(20, seed=1, longest=9)],
    )


def setting(name):
    """Any setting of a method's parameters from their metadata, models kept small."""
    fields = of_kind("sequences")[name].parameter_fields()
    return st.fixed_dictionaries(
        {key: any_value(field, TALLEST, -20.0, 20.0) for key, field in fields.items()}
    )


@every
@settings(max_examples=25)
@given(data=st.data())
def test_exactly_epsilon_is_spent_with_every_setting(name, data):
    method = find_method(name, **data.draw(setting(name)))
    epsilon = data.draw(st.sampled_from([0.05, 0.1, 0.7, 1.0, 2.5]))
    budget = Budget(epsilon)
    model = method.build(SequenceTask(Sequences.of(MANY), ABC, budget, SimulatedNoise(1)))
    if isinstance(model, Ranking):
        assert len(set(model.strings)) == len(model.strings) > 0
    else:
        assert np.isfinite(model.counts).all()
        assert (model.counts >= 0).all()
    is_paid(budget, epsilon, method.private, rel=1e-12)


@every
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("rows", [[], [[0]], [[0] * 50]], ids=["none", "one", "long"])
def test_empty_data_and_single_symbols_are_built_like_any_other(name, size, ruled, rows):
    """Empty data must not be distinguished by an error, nor must one sequence."""
    follows = ~np.eye(size, dtype=bool) if ruled else None
    alphabet = Alphabet(("a", "b", "c")[:size], follows)
    for epsilon in (0.1, 1.0, 100.0):
        release = build(public(rows, alphabet), name, epsilon, seed=3)
        assert answers(release.model)
        if not isinstance(release.model, Ranking):
            assert release.model.following([0]).sum() == pytest.approx(1.0)
            assert (release.model.following([0]) >= 0).all()


@pytest.mark.slow
@every
@settings(max_examples=20)
@given(ROWS.filter(bool))
def test_a_large_epsilon_ranks_single_symbols_exactly(name, rows):
    release = build(public(rows * 20), name, 1e8, seed=1, l_top=10)
    counted = {symbol: grams(rows * 20, 10, 1)[(symbol,)] for symbol in range(3)}
    singles = [string[0] for string, _ in release.model.top(1) if len(string) == 1]
    assert counted[singles[0]] == max(counted.values())
    if not isinstance(release.model, Ranking):
        for symbol, count in counted.items():
            assert release.model.count([symbol]) == pytest.approx(count, abs=1e-3)


@every
def test_columns_refuse_writes(name):
    model = build(public(MANY), name, 1.0, seed=7).model
    for field in dataclasses.fields(model):
        values = getattr(model, field.name)
        if isinstance(values, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 0


@pytest.mark.parametrize("many", [-1, 10**12])
def test_the_number_of_drawn_sequences_has_a_public_cap(many):
    with pytest.raises(ParameterError, match="give a number from 0 to 10,000,000"):
        build(public(MANY), "markov", 1.0, seed=7).model.sample(many)


@pytest.mark.slow
def test_drawing_many_sequences_takes_the_memory_of_few_and_draws_the_same(monkeypatch):
    tree = ContextTree(np.array([-1]), np.append(np.ones(200), 1e5)[None], 1.0)
    tracemalloc.start()
    drawn = tree.sample(50_000, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # all probabilities at once would take 80 MB
    monkeypatch.setattr(model, "AT_ONCE", 50_000 * 201)
    assert all(map(np.array_equal, drawn, tree.sample(50_000, seed=1)))
