"""The k most frequent strings of a model: those of the plain way, in little memory."""

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.sequences.model import best_first

from .cases import ROWS, public


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["markov", "ngram", "truncate"])
@settings(max_examples=40)
@given(rows=ROWS, k=st.integers(1, 80), seed=st.integers(0, 9))
def test_models_list_the_strings_of_the_plain_way(name, rows, k, seed):
    model = build(public(rows), name, 2.0, seed=seed).model
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{type(model).__module__}.best_first", plainly)
        wanted = model.top(k, 6)
    assert model.top(k, 6) == wanted
