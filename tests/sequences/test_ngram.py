"""N-grams against brute force: counts, thresholds, levels, budgets of paths, consistency."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.methods import method as find_method
from dpviz.methods.sequences import ngram
from dpviz.methods.sequences.base import SequenceTask
from dpviz.methods.sequences.ngram import NGram
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.sequences import Sequences
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.exploration import Exploration

from .cases import ABC, ROWS, grams, public


class NoNoise(SimulatedNoise):
    """Every draw is zero, so that counts are exact at any ε."""

    def two_sided(self, n, rates):
        return np.zeros(n, dtype=np.int64)


class Watched(SimulatedNoise):
    """Keeps the scale of every draw."""

    def __init__(self, seed):
        super().__init__(seed)
        self.scales = []

    def two_sided(self, n, rates):
        self.scales += (1 / np.broadcast_to(rates, n)).tolist()
        return super().two_sided(n, rates)


def explored(rows, epsilon, noise, alphabet=ABC, **parameters):
    """The exploration of a build, with all its levels, and the tree that it gives."""
    levels = []

    class Recorded(Exploration):
        def __init__(self, *words, **named):
            super().__init__(*words, **named)
            levels.append(self)

    task = SequenceTask(Sequences.of(rows), alphabet, Budget(epsilon), noise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngram, "Exploration", Recorded)
        tree = find_method("ngram", **parameters).build(task)
    return levels[0], tree


def strings(child):
    texts = {0: ()}
    for row in range(len(child)):
        for symbol, below in enumerate(child[row].tolist()):
            if below >= 0:
                texts[below] = (*texts[row], symbol)
    return texts


@pytest.mark.slow
@given(ROWS.filter(bool), st.integers(1, 9), st.integers(1, 5))
def test_without_noise_every_explored_count_is_exact(rows, l_top, n_max):
    """At a huge ε each string that occurs is above its threshold, so that all are explored."""
    tree, _ = explored(rows, 1e9, NoNoise(), l_top=l_top, n_max=n_max)
    counted = grams(rows, l_top, n_max)
    noisy = np.concatenate([level.noisy for level in tree.levels])
    spelled = strings(tree.child)
    for row, string in spelled.items():
        wanted = [counted[(*string, mark)] for mark in range(4)]
        wanted[3] = wanted[3] if string else 0  # the empty string's end mark is not released
        assert noisy[row].tolist() == wanted
    shorter = {string for string in counted if len(string) < n_max and 3 not in string}
    assert set(spelled.values()) == {(), *shorter}


def test_scale_and_threshold_are_those_of_the_specification():
    """l_top/ε_v, and P(Lap(l_top/ε) > θ) = 1/|I|; few symbols count as three."""
    method = NGram(l_top=20)
    for size in (3, 17, 256):
        for epsilon in (0.05, 0.32):
            theta = method.threshold(epsilon, size)
            assert 0.5 * math.exp(-theta * epsilon / 20) == pytest.approx(1 / size)
    assert method.threshold(1.0, 1) == method.threshold(1.0, 3) > 0
    noise = Watched(1)
    task = SequenceTask(Sequences.of([[0, 1]] * 50), ABC, Budget(0.5), noise)
    NGram(l_top=20, n_max=5).build(task)
    # Single symbols without the end mark.
    assert noise.scales[:3] == pytest.approx([20 / (0.5 / 5)] * 3)


@given(st.integers(1, 20), st.floats(1e-9, 1.0, exclude_max=True), st.floats(0.0, 1.0))
def test_levels_are_whole_at_least_one_and_end_where_the_threshold_is_reached(most, ratio, mode):
    levels = int(NGram().levels_left(most, np.array([ratio]), np.array([mode]))[0])
    assert 1 <= levels <= most
    if not 0 < mode < 1:
        assert levels == most  # no estimate, or a certain path
    elif levels < most:
        # mode^h reaches the ratio at the h-th level, and not before.
        assert mode**levels <= ratio * (1 + 1e-9)
        assert levels == 1 or mode ** (levels - 1) > ratio * (1 - 1e-9)


def spent_on_paths(tree):
    """The exact sum of ε along the path of every string, level by level."""
    paths = [Fraction(0)]
    for level in tree.levels:
        above = [paths[row] if row >= 0 else Fraction(0) for row in level.parent.tolist()]
        rates = [Fraction(rate) for rate in level.rate.tolist()]
        assert all(rate > 0 for rate in rates)
        paths = [sum(pair, Fraction(0)) for pair in zip(above, rates, strict=True)]
        yield paths


@pytest.mark.slow
@settings(max_examples=150)
@given(ROWS, st.floats(1e-3, 1e6), st.integers(1, 20), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_no_path_spends_more_than_epsilon(rows, epsilon, n_max, l_top, seed):
    """Sums in exact fractions, for every transcript of the noise."""
    tree, _ = explored(rows * 20, epsilon, SimulatedNoise(seed), n_max=n_max, l_top=l_top)
    assert len(tree.levels) <= n_max
    for paths in spent_on_paths(tree):
        assert max(paths) <= Fraction(epsilon)


def test_a_path_to_the_bottom_spends_all_of_epsilon_but_rounding():
    tree, _ = explored([[0, 1, 2, 0, 1, 2]] * 400, 50.0, SimulatedNoise(1), n_max=5)
    assert len(tree.levels) == 5
    *_, bottom = spent_on_paths(tree)
    assert float(max(bottom)) == pytest.approx(50.0, rel=1e-11)


def test_every_count_has_noise_of_its_path_s_rate():
    rows = [[0, 1, 2, 0, 1], [0, 1]] * 200
    noise = Watched(3)
    tree, _ = explored(rows, 2.0, noise, l_top=6, n_max=4)
    wanted = []
    for level in tree.levels:
        wanted += [6 / rate for rate in level.rate.tolist() for _ in range(4)]
    del wanted[3]  # the empty string has no end mark
    assert sorted(noise.scales) == pytest.approx(sorted(wanted))


def test_only_strings_above_their_threshold_are_explored():
    rows = [[0, 1, 2, 0, 1], [0, 1], [2]] * 60
    tree, _ = explored(rows, 1.0, SimulatedNoise(5), l_top=6, n_max=4)
    for above, level in zip(tree.levels[:-1], tree.levels[1:], strict=True):
        noisy = above.noisy[level.parent, level.symbol]
        theta = 6 * math.log(1.5) / above.rate[level.parent]
        assert (noisy > theta).all()
        assert not above.last[level.parent].any()
    for level in tree.levels[1:]:
        theta = 6 * math.log(1.5) / level.rate[:, None]
        assert (level.released == ((level.noisy > theta) | level.last[:, None])).all()


@pytest.mark.slow
@settings(max_examples=40)
@given(ROWS.filter(bool), st.floats(0.05, 20), st.integers(0, 2**32 - 1), st.booleans())
def test_extensions_add_up_to_their_string(rows, epsilon, seed, ruled):
    follows = ~np.eye(3, dtype=bool) if ruled else None
    alphabet = Alphabet(("a", "b", "c"), follows)
    data = public(rows * 30, alphabet)
    tree = build(data, "ngram", epsilon, seed=seed, l_top=8, n_max=4).model
    parent, symbol = np.nonzero(tree.child >= 0)
    below = tree.child[parent, symbol]
    np.testing.assert_allclose(tree.counts[below].sum(axis=1), tree.counts[parent, symbol])
    assert (tree.counts >= 0).all()
    assert tree.counts[0, 3] == 0
    if ruled:
        assert (tree.counts[below, symbol] == 0).all()  # no symbol comes twice in a row


def test_a_missing_extension_gets_what_its_markov_parent_says():
    """By hand: after "ab" only "c" passed; "b" was followed by c : a : & = 6 : 3 : 1."""
    tree = Exploration(3, None, 0.2, last=False)
    every = np.ones((1, 4), dtype=bool)
    tree.observe(np.array([[40, 10, 30, 0]]), every & tree.level.possible)
    one = np.ones(2)
    parent, symbol = np.array([0, 0]), np.array([0, 1])
    assert tree.markov_parents(parent, symbol).tolist() == [0, 0]
    tree.extend(parent, symbol, np.array([0, 0]), one * 0.2, one * 0.4, one > 1)
    tree.observe(
        np.array([[0, 40, 0, 0], [3, 0, 6, 1]]), np.array([[0, 1, 0, 0], [1, 1, 1, 1]]) > 0
    )
    parent, symbol = np.array([0]), np.array([1])  # "ab"
    assert tree.markov_parents(parent, symbol).tolist() == [2]  # the row of "b"
    tree.extend(parent, symbol, np.array([2]), one[:1] * 0.2, one[:1] * 0.6, one[:1] > 0)
    tree.observe(np.array([[9, 9, 20, 9]]), np.array([[0, 0, 1, 0]]) > 0)
    counts = tree.consistent()
    assert counts[0].tolist() == [40, 10, 30, 0]
    assert counts[1].tolist() == [0, 40, 0, 0]  # the given counts leave nothing for missing ones
    assert counts[2].tolist() == [3, 0, 6, 1]
    # c = 20 stands for 6 of 10: a gets 10 and & gets 10/3; then all are scaled to 40.
    raw = np.array([20 * 3 / 6, 0, 20, 20 * 1 / 6])
    assert counts[3] == pytest.approx(raw * 40 / raw.sum())


def test_a_string_without_released_extensions_is_an_end():
    tree, model = explored([[0]] * 300, 1.0, NoNoise(), l_top=1, n_max=3)
    assert len(tree.levels) == 2  # "a" is explored and has no extension
    assert len(model) == 1
    assert model.count([0]) == 300
    # Beyond the tree: predicted from the longest known suffix, the empty one.
    assert model.count([0, 0]) == 300


def test_forbidden_steps_get_neither_noise_nor_a_string():
    follows = np.array([[False, True, False], [True, False, True], [False, True, False]])
    noise = Watched(2)
    alphabet = Alphabet(("a", "b", "c"), follows)
    rows = Sequences.of([[0, 1, 2, 1]] * 200)
    tree = NGram(n_max=3).build(SequenceTask(rows, alphabet, Budget(5.0), noise))
    for string in strings(tree.child).values():
        assert all(follows[pair] for pair in itertools.pairwise(string))
    assert tree.following([1])[1] == 0
    paper = NGram(n_max=3, mask=False).build(SequenceTask(rows, alphabet, Budget(5.0), Watched(2)))
    assert paper.follows is None
    more = Watched(2)
    NGram(n_max=3, mask=False).build(SequenceTask(rows, alphabet, Budget(5.0), more))
    assert len(noise.scales) < len(more.scales)


def test_a_tree_stops_at_the_public_cap(monkeypatch):
    """A paid build is released with fewer strings, not refused."""
    rows = public([[0, 1, 2] * 3] * 200)
    whole = len(build(rows, "ngram", 50.0, seed=1).model)
    monkeypatch.setattr(ngram, "MAX_CELLS", 15)
    assert 1 <= len(build(rows, "ngram", 50.0, seed=1).model) < whole
