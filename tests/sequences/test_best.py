"""The k most frequent strings of a model: those of the plain way, in little memory."""

import heapq
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.sequences import grams
from dpviz.sequences.grams import GramTree
from dpviz.sequences.model import ContextTree, best_first

from .cases import ROWS, counted, public


def plainly(counts, longer, k, longest):
    """Every extension of every listed string waits for its turn."""
    strings = []
    queue = [(-float(counts[s]), (s,)) for s in np.flatnonzero(counts[:-1] > 0).tolist()]
    heapq.heapify(queue)
    while queue and len(strings) < k:
        negative, string = heapq.heappop(queue)
        strings.append((string, -negative))
        if len(string) < longest:
            after = longer(string, -negative)
            for symbol in np.flatnonzero(after[:-1] > 0).tolist():
                heapq.heappush(queue, (-float(after[symbol]), (*string, symbol)))
    return strings


@settings(max_examples=50)
@given(
    st.integers(1, 6), st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.integers(0, 99)
)
def test_few_counts_and_many_ties_have_the_order_of_the_plain_way(size, k, longest, most, seed):
    """Also where a string is more frequent than its beginning, as noise may make it."""

    def longer(string, count):
        random = np.random.default_rng([seed, *string])
        return random.integers(0, most + 1, size + 1).astype(float)

    counts = longer((), 0.0)
    assert best_first(counts, longer, k, longest) == plainly(counts, longer, k, longest)


@pytest.mark.parametrize("name", ["markov", "ngram", "truncate"])
@settings(max_examples=40)
@given(rows=ROWS, k=st.integers(1, 80), seed=st.integers(0, 9))
def test_models_list_the_strings_of_the_plain_way(name, rows, k, seed):
    model = build(public(rows), name, 2.0, seed=seed).model
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{type(model).__module__}.best_first", plainly)
        wanted = model.top(k, 6)
    assert model.top(k, 6) == wanted


@pytest.mark.parametrize(
    ("name", "parameters"), [("markov", {"l_top": 30, "max_depth": 4}), ("ngram", {"n_max": 3})]
)
def test_without_noise_the_most_frequent_strings_are_those_of_brute_force(name, parameters):
    rows = [[0, 1, 2], [0, 1], [0, 1, 1], [2], [0]] * 40
    model = build(public(rows), name, 1e9, seed=1, **parameters).model
    exact, top = counted(rows, 30, 3), model.top(6)
    assert [count for _, count in top] == pytest.approx(sorted(exact.values(), reverse=True)[:6])
    assert all(exact[string] == pytest.approx(count) for string, count in top)
    counts = [count for _, count in model.top(50)]
    assert counts == sorted(counts, reverse=True)


def uniform(kind, size):
    """A model of one context, after which any symbol follows."""
    counts = np.append(np.full(size, 1e6), 1.0)[None]
    if kind is ContextTree:
        return ContextTree(np.array([-1]), counts, 1.0)
    return GramTree(np.full((1, size), -1), counts, 1.0)


@pytest.mark.parametrize("kind", [ContextTree, GramTree])
def test_many_strings_of_a_large_alphabet_take_the_memory_of_what_is_listed(kind, monkeypatch):
    """All extensions of 2,000 strings are 2 million; the chances after each symbol, 8 MB."""
    monkeypatch.setattr(grams, "AT_ONCE", 100_000)
    model = uniform(kind, 1_000)
    tracemalloc.start()
    strings = model.top(2_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(strings) == 2_000
    assert peak < 3e6
