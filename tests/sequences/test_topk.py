"""Top strings: probabilities of the exponential mechanism, exact top-k, refused queries."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.errors import ParameterError, PrivacyError
from dpviz.evaluation.truth import exact_lengths, exact_top
from dpviz.methods.sequences.base import SequenceTask
from dpviz.methods.sequences.topk_em import Candidates, TopK
from dpviz.private.budget import Budget
from dpviz.private.events import events_of, frequent
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.sequences.alphabet import Alphabet

from .cases import ABC, ROWS, counted, public


@given(ROWS, st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_scores_of_candidates_are_those_of_brute_force(rows, l_top, seed):
    """Whatever is chosen: candidates are the one-symbol extensions of the chosen, not chosen."""
    random = np.random.default_rng(seed)
    exact = counted(rows, l_top, 12)
    candidates = Candidates(events_of(Sequences.of(rows), 3, l_top), 3, None)
    open_strings = [(0,), (1,), (2,)]
    for _ in range(10):
        assert candidates.score.tolist() == [exact.get(string, 0) for string in open_strings]
        row = int(random.integers(len(open_strings)))
        chosen = open_strings.pop(row)
        assert candidates.take(row) == chosen
        open_strings += [(*chosen, symbol) for symbol in range(3)]


def exact_probability(strings, rows, l_top, epsilon):
    """P of a ranking: the product of its choices, each with P ∝ exp(ε · count / (k · l_top))."""
    exact, k, chance = counted(rows, l_top), len(strings), 1.0
    open_strings = [(0,), (1,), (2,)]
    for string in strings:
        weight = {
            each: math.exp(epsilon * exact.get(each, 0) / (k * l_top)) for each in open_strings
        }
        chance *= weight.get(string, 0.0) / sum(weight.values())
        if string in open_strings:
            open_strings.remove(string)
            open_strings += [(*string, symbol) for symbol in range(3)]
    return chance


def rankings(k):
    """Every ranking of k strings that can be chosen."""
    if k == 0:
        yield ()
        return
    for before in rankings(k - 1):
        chosen = set(before)
        open_strings = {(0,), (1,), (2,)} | {
            (*each, symbol) for each in before for symbol in range(3)
        }
        yield from ((*before, each) for each in sorted(open_strings - chosen))


@pytest.mark.slow
def test_rankings_have_the_probabilities_of_the_mechanism():
    """4,000 releases of two strings; each of the 15 frequencies within 5.5 sd (alarm < 1e-6)."""
    rows, n, epsilon = [[0, 1], [0], [2, 0, 1]], 4_000, 3.0
    noise = SimulatedNoise(9)
    method = TopK(k=2, l_top=4)
    drawn = Counter(
        method.build(SequenceTask(Sequences.of(rows), ABC, Budget(epsilon), noise)).strings
        for _ in range(n)
    )
    wanted = {each: exact_probability(each, rows, 4, epsilon) for each in rankings(2)}
    assert math.fsum(wanted.values()) == pytest.approx(1.0)
    assert set(drawn) <= set(wanted)
    for ranking, chance in wanted.items():
        sd = math.sqrt(n * chance * (1 - chance))
        assert abs(drawn[ranking] - n * chance) < 5.5 * sd + 1


@pytest.mark.slow
@given(
    ROWS,
    st.lists(st.integers(0, 2), min_size=1, max_size=8),
    st.integers(1, 5),
    st.sampled_from([0.1, 1.0, 4.0]),
)
def test_no_ranking_is_e_to_the_epsilon_likelier_beside_one_sequence(rows, new, l_top, epsilon):
    """Exactly, over all rankings of two strings: the guarantee itself, add or remove."""
    for ranking in rankings(2):
        before = exact_probability(ranking, rows, l_top, epsilon)
        after = exact_probability(ranking, [*rows, new], l_top, epsilon)
        assert abs(math.log(after / before)) <= epsilon * (1 + 1e-9)


def test_strings_that_no_sequence_holds_stay_candidates():
    ranking = build(public([[0]]), "topk_em", 1.0, seed=3, k=200, l_top=1).model
    assert len(ranking) == 200
    assert max(map(len, ranking.strings)) > 1


def test_forbidden_strings_are_no_candidates():
    follows = np.array([[False, True], [False, False]])
    alphabet = Alphabet(("a", "b"), follows)
    ranking = build(public([[0, 1]] * 5, alphabet), "topk_em", 1.0, seed=1, k=10).model
    assert sorted(ranking.strings) == [(0,), (0, 1), (1,)]  # there are no others
    paper = build(public([[0, 1]] * 5, alphabet), "topk_em", 1.0, seed=1, k=10, mask=False)
    assert len(paper.model) == 10


def test_a_ranking_lists_strings_and_has_no_counts():
    ranking = build(public([[0, 1]] * 50), "topk_em", 50.0, seed=1, k=4).model
    assert ranking.top(2) == [(string, None) for string in ranking.strings[:2]]
    assert all(len(string) == 1 for string, _ in ranking.top(4, longest=1))
    for k in (0, 5):
        with pytest.raises(ParameterError, match=f"k={k}: this release ranks 4 strings"):
            ranking.top(k)
    for asked in (
        lambda: ranking.count([0]),
        lambda: ranking.following([0]),
        lambda: ranking.sample(1),
    ):
        with pytest.raises(ParameterError, match="ranks strings and holds no counts"):
            asked()


@pytest.mark.slow
@given(ROWS, st.integers(1, 9), st.integers(1, 30))
def test_exact_top_strings_are_those_of_brute_force(rows, l_top, k):
    exact = counted(rows, l_top, 12)
    wanted = sorted(exact.items(), key=lambda pair: (-pair[1], pair[0]))
    strings = [
        (string, count)
        for string, count, _ in frequent(events_of(Sequences.of(rows), 3, l_top), 3, k)
    ]
    assert [count for _, count in strings] == [count for _, count in wanted[:k]]
    assert all(exact[string] == count for string, count in strings)
    whole = exact_top(public(rows), k)
    assert all(counted(rows, 100, 12)[string] == count for string, count in whole)


@pytest.mark.slow
@settings(max_examples=40)
@given(ROWS, st.integers(1, 9))
def test_truncation_alone_keeps_exact_counts_of_truncated_sequences(rows, l_top):
    model = build(public(rows), "truncate", 1.0, seed=1, l_top=l_top).model
    exact = counted(rows, l_top)
    for length in (1, 2, 3):
        for string in itertools.product(range(3), repeat=length):
            known = exact.get(string[:-1], 1) if string[:-1] else 1
            if known and len(exact) < 200:
                assert model.count(string) == exact.get(string, 0)
    assert [count for _, count in model.top(20)] == sorted(exact.values(), reverse=True)[:20]


def test_exact_answers_are_for_public_data_only():
    secret = SequenceData("visits", ABC, Sequences.of([[0, 1]]))
    for asked in (lambda: exact_top(secret, 1), lambda: exact_lengths(secret)):
        with pytest.raises(PrivacyError, match="NOT PRIVATE"):
            asked()
    with pytest.raises(PrivacyError, match="NO PRIVACY GUARANTEE"):
        build(secret, "truncate", 1.0)
    release = build(public([[0, 1]]), "truncate", 1.0)
    assert release.header.guarantee.startswith("NOT PRIVATE")
    assert not release.header.private
    assert exact_lengths(public([[0, 1], [2]])).tolist() == [2, 1]
    with pytest.raises(ParameterError, match="k=0"):
        exact_top(public([[0]]), 0)
