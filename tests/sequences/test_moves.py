"""Map of a model: frequent strings, contexts, and the reach of the noise."""

import numpy as np
import pytest

from dpviz.build import build
from dpviz.errors import ParameterError
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.moves import contexts, following_sd, frequent, string_sd, visit_sd, visits

from .cases import public

SIZE = 3
ALWAYS = {"threshold": -1e6, "max_depth": 1, "l_top": 3}
"""A tree that is split once and no more, whatever the noise."""


def letters(n):
    random = np.random.default_rng(5)
    rows = [random.integers(0, SIZE, random.integers(1, 3)).tolist() for _ in range(n)]
    return public(rows)


@pytest.fixture(scope="module")
def data():
    return letters(40_000)


def model(data, method="markov", epsilon=1.0, seed=0, **parameters):
    return build(data, method, epsilon, seed=seed, **parameters).model


def test_frequent_strings_are_those_of_the_model_by_length_and_without_returns(data):
    tree = model(data, l_top=3)
    every = tree.top(2000, 4)
    wanted = [s for s, _ in every if len(s) >= 2 and len(set(s)) == len(s)][:5]
    strings = frequent(tree, 5, 2, 4, returns=False)
    assert list(strings.symbols) == wanted
    np.testing.assert_allclose(strings.count, [tree.count(s) for s in wanted])
    assert len(frequent(tree, 5, 2, 4).first(3)) == 3
    with pytest.raises(ParameterError, match="k=0"):
        frequent(tree, 0)


def test_a_ranking_has_an_order_and_nothing_else(data):
    ranking = model(data, "topk_em", k=12)
    strings = frequent(ranking, 50, 2)
    assert strings.symbols == tuple(s for s in ranking.strings if len(s) >= 2)
    assert strings.count is None
    assert strings.sd is None
    assert visit_sd(ranking) is None
    assert contexts(ranking, 0) == []
    with pytest.raises(ParameterError, match="ranks strings"):
        visits(ranking)


def test_n_grams_tell_the_noise_of_single_symbols_only(data):
    grams = model(data, "ngram", l_top=3)
    np.testing.assert_allclose(visit_sd(grams), np.full(SIZE, np.sqrt(grams.variance)))
    assert string_sd(grams, (0,)) == visit_sd(grams)[0]
    assert string_sd(grams, (0, 1)) is None
    assert following_sd(grams, (0,)) is None
    assert frequent(grams, 5, 2).sd is None


def test_contexts_stand_before_their_longer_ones_and_are_the_trees(data):
    tree = model(data, epsilon=20.0, l_top=3, threshold=-1e6, max_depth=2)
    listed = contexts(tree, 1)
    symbols = [each.symbols for each in listed]
    assert symbols[0] == (1,)
    assert set(symbols) == {(1,), *((before, 1) for before in range(SIZE + 1))}
    for each in listed:
        np.testing.assert_array_equal(each.chance.sum().round(9), 1.0)
        if SIZE not in each.symbols:
            np.testing.assert_array_equal(each.chance, tree.following(each.symbols))
    assert len(contexts(tree, 1, most=3)) == 3
    seen = [each.seen for each in listed[1:]]
    assert seen == sorted(seen, reverse=True)


@pytest.mark.slow
def test_the_stated_noise_is_the_noise():
    """Over 600 builds of one tree, of counts far above where noise would be cut off at 0.

    Noise is Laplace-like, so the sample variance of 600 draws has a relative sd of sqrt(5/600) <
    0.092 even for a single draw; 0.3 of the sd (0.5 of the variance) is beyond 5 of them: a false
    alarm below 1e-6 per line.
    """
    data = letters(4_000)
    runs = [model(data, epsilon=2.0, seed=seed, **ALWAYS) for seed in range(600)]
    middle = runs[0]
    drawn = np.array([run.count((0,)) for run in runs])
    assert drawn.std() == pytest.approx(visit_sd(middle)[0], rel=0.3)
    drawn = np.array([run.following((0,)) for run in runs])
    np.testing.assert_allclose(drawn.std(axis=0), following_sd(middle, (0,)), rtol=0.3)
    drawn = np.array([run.count((0, 1)) for run in runs])
    assert drawn.std() == pytest.approx(string_sd(middle, (0, 1)), rel=0.3)


@pytest.mark.slow
def test_what_a_rule_forbids_brings_no_noise_into_visits():
    """Twelve places in a row: three leaves' noise in a visit instead of thirteen's."""
    size = 12
    near = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) == 1
    alphabet = Alphabet(tuple(f"p{each}" for each in range(size)), near)
    row = public([[0, 1, 2]] * 2000, alphabet)
    runs = [model(row, seed=seed, projection="clip", **ALWAYS) for seed in range(600)]
    tree = runs[0]
    assert tree.root_leaves.tolist() == [2, *[3] * (size - 2), 2, size]
    drawn = np.array([visits(run)[1] for run in runs])
    assert drawn.std() == pytest.approx(visit_sd(tree)[1], rel=0.3)
    assert drawn.mean() == pytest.approx(2000, abs=6 * visit_sd(tree)[1] / np.sqrt(600))
