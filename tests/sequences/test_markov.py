"""The Markov model against brute force: events, contexts, sums, counts, and its guarantee."""

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.build import build
from dpviz.errors import DataError, ParameterError
from dpviz.methods import method as find_method
from dpviz.methods.sequences import markov
from dpviz.methods.sequences.base import SequenceTask
from dpviz.methods.sequences.markov import Markov, grow_contexts
from dpviz.private.budget import Budget
from dpviz.private.events import events_of
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.model import projected
from tests.vault import sequences_of

from .cases import ABC, ROWS, counted, lists, public, truncated


def after(rows, l_top, context):
    """Symbols after a context, by brute force: a context is a tuple, "$" only in front."""
    counts = Counter()
    for row in rows:
        text = ["$", *truncated(row, l_top)]
        for place in range(1, len(text)):
            past = tuple(text[:place])
            if len(past) >= len(context) and past[len(past) - len(context) :] == context:
                counts[text[place]] += 1
    return [counts[mark] for mark in range(4)]


def contexts(first_child, width):
    """The context of every node, oldest symbol first."""
    strings = {0: ()}
    for node, child in enumerate(first_child.tolist()):
        if child >= 0:
            for symbol in range(width):
                mark = "$" if symbol == width - 1 else symbol
                strings[child + symbol] = (mark, *strings[node])
    return strings


@pytest.mark.slow
@given(ROWS, st.integers(1, 9))
def test_a_sequence_has_at_most_l_top_events_and_longer_ones_lose_their_end(rows, l_top):
    events = events_of(Sequences.of(rows), 3, l_top)
    cut = [truncated(row, l_top) for row in rows]
    assert len(events.place) == sum(map(len, cut))
    assert events.truncated == sum(3 not in row for row in cut)
    assert events.text[events.place].tolist() == [symbol for row in cut for symbol in row]


@pytest.mark.slow
@given(ROWS, st.integers(1, 9), st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_counts_of_every_context_are_those_of_brute_force(rows, l_top, seed, depth):
    random = np.random.default_rng(seed)
    events = events_of(Sequences.of(rows), 3, l_top)
    first_child, exact = grow_contexts(
        events, 3, lambda scores, _: random.random(len(scores)) < 0.7, depth
    )
    for node, context in contexts(first_child, 4).items():
        assert exact[node].tolist() == after(rows, l_top, context)
    inner = np.flatnonzero(first_child >= 0)
    for node in inner:
        child = first_child[node]
        assert (exact[child : child + 4].sum(axis=0) == exact[node]).all()


def model_of(rows, alphabet=ABC, **parameters):
    return build(public(rows, alphabet), "markov", 1e7, seed=1, **parameters).model


@pytest.mark.slow
@settings(max_examples=40)
@given(ROWS.filter(bool))
def test_without_noise_short_strings_have_their_exact_counts(rows):
    rows = rows * 60  # a context splits if its score exceeds δ, which is at least 1 per level
    model = model_of(rows, l_top=30, max_depth=3)
    exact = counted(rows, 30, 3)
    for string in ((0,), (1,), (0, 1), (2, 2), (0, 1, 2)):
        assert model.count(string) == pytest.approx(exact.get(string, 0), rel=1e-6, abs=0.02)


def test_synthetic_sequences_follow_the_model():
    """First symbols of 20,000 draws: each within 5.5 sd, false alarm below 1e-6."""
    model = model_of([[0, 1], [0, 1], [2]] * 50, l_top=30, max_depth=3)
    drawn = model.sample(20_000, seed=4)
    first = np.array([row[0] for row in drawn])
    sd = np.sqrt(2 / 9 / len(drawn))
    assert abs((first == 0).mean() - 2 / 3) < 5.5 * sd
    assert {tuple(row) for row in drawn} == {(0, 1), (2,)}


def test_synthetic_sequences_know_where_they_begin():
    """After the first a comes b; after b, a comes a third symbol, known only from the start."""
    rows = [[0, 1], [1, 0, 2, 2]]
    model = model_of(rows * 50, l_top=30, max_depth=4)
    assert model.depth >= 2
    drawn = model.sample(2_000, seed=4)
    assert {tuple(row) for row in drawn} == {tuple(row) for row in rows}
    assert {tuple(row) for row in model.sample(2_000, seed=4, longest=1)} == {(0,), (1,)}
    assert model.sample(0) == []


def test_forbidden_steps_get_no_count_and_records_are_cut_there():
    follows = np.array([[True, True, False], [True, True, True], [False, True, True]])
    data = public([[0, 2, 1], [0, 1, 2]], Alphabet(ABC.names, follows))
    assert lists(sequences_of(data)) == [[0], [0, 1, 2]]
    release = build(data, "markov", 0.5, seed=3, max_depth=2)
    for context in ([0], [1, 0], [2, 0]):
        assert release.model.following(context)[2] == 0.0


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_projected_rows_are_the_closest_ones_with_their_sums(seed):
    random = np.random.default_rng(seed)
    noisy = random.normal(1.0, 5.0, size=(20, 6))
    allowed = random.random((20, 6)) < 0.7
    closest = projected(noisy, allowed)
    assert (closest >= 0).all()
    assert (closest[~allowed] == 0).all()
    total = np.maximum(np.where(allowed, noisy, 0).sum(axis=1), 0)
    np.testing.assert_allclose(closest.sum(axis=1), total, atol=1e-9)
    # Optimality: all positive values are shifted equally, by the least shift of the row.
    for row in range(20):
        if total[row] > 0:
            shift = (noisy - closest)[row][allowed[row]]
            positive = closest[row][allowed[row]] > 0
            assert np.ptp(shift[positive]) < 1e-9
            assert (shift[~positive] <= shift[positive].min() + 1e-9).all()


def test_the_scale_is_the_theorem_s():
    """msnbc at ε = 1 (sequences of 17 symbols, l_top 20): λ₁ = 741, λ₂ = 21.2."""
    method = Markov(l_top=20)
    assert method.scale(1 / 18, 18) == pytest.approx(741, abs=0.5)
    assert abs(20 / (1 - 1 / 18) - 21.2) < 0.05


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SequenceData("x", ABC, Sequences.of([[0, 3]])), "outside the alphabet"),
        (lambda: SequenceData("x", ABC, Sequences.of([[-1]])), "outside the alphabet"),
        (lambda: SequenceData("x", ABC, Sequences.of([[0]]), max_per_unit=0), "0 sequences"),
        (lambda: Alphabet(()), "0 symbols"),
        (lambda: Alphabet(tuple(map(str, range(5000)))), "5,000 symbols"),
        (lambda: Alphabet(("a", "a")), "twice"),
        (lambda: find_method("markov", l_top=0), "l_top"),
        (lambda: events_of(Sequences.of([[0]]), 3, 0), "l_top=0"),
        (lambda: model_of([[0]]).count([]), "empty string"),
        (lambda: model_of([[0]]).count([7]), "outside the alphabet"),
        (lambda: model_of([[0]]).top(0), "k=0"),
        (lambda: model_of([[0]]).sample(-1), "-1 sequences"),
    ],
)
def test_bad_input_is_one_clear_line(make, message):
    with pytest.raises((ParameterError, DataError), match=message):
        make()


def test_a_tree_stops_at_the_public_cap(monkeypatch):
    """A paid build is released as a smaller tree, not refused."""
    rows = [[0, 1, 2] * 5] * 20
    whole = len(model_of(rows, l_top=30).first_child)
    monkeypatch.setattr(markov, "MAX_CELLS", 30)
    cut = len(model_of(rows, l_top=30).first_child)
    assert 1 < cut <= 30 // 4 < whole


def noisy_model(follows=None, many=3, **constants):
    """Model of 3,000 sequences of three symbols at a price with visible noise: λ₂ is about 50."""
    random = np.random.default_rng(7)
    rows = [random.choice(3, size=random.integers(1, 9), p=[0.6, 0.3, 0.1]) for _ in range(3_000)]
    data = public(rows, Alphabet(ABC.names, follows))
    with patch.multiple(markov, LARGE_ALPHABET=many, **constants):
        return build(data, "markov", 0.2, seed=5, l_top=10).model


RULE = np.array([[True, True, False], [True, True, True], [False, True, True]])


@pytest.mark.parametrize("follows", [None, RULE])
def test_the_root_s_counts_are_what_its_contexts_add_up_to_and_shares_move_alone(follows):
    """Drawn to the shorter contexts, every context keeps its total, and what is forbidden stays."""
    plain = noisy_model(follows, PRIOR_SCALES=0)
    mixed = noisy_model(follows)
    assert (mixed.first_child == plain.first_child).all()
    np.testing.assert_allclose(mixed.counts.sum(axis=1), plain.counts.sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(mixed.counts[0], plain.counts[0])
    assert not np.allclose(mixed.counts[1:], plain.counts[1:])
    if follows is not None:
        assert (mixed.counts[1:4, :3][~follows] == 0).all()


@pytest.mark.slow
def test_single_symbols_are_measured_beside_the_leaves():
    """Both measurements as one: within 6 of its standard deviations, which are the smaller ones."""
    beside, alone = noisy_model(RULE), noisy_model(RULE, many=4)
    exact = noisy_model(RULE, ROOT_SHARE=0.5).counts[0]
    assert (beside.root_variances < beside.variance * beside.root_leaves).all()
    assert alone.root_variance is None
    assert (alone.root_variances == alone.variance * alone.root_leaves).all()
    sd = np.sqrt(beside.root_variances + noisy_model(RULE, ROOT_SHARE=0.5).root_variances)
    assert (np.abs(beside.counts[0] - exact) < 6 * sd).all()


def test_a_file_holds_the_variance_of_single_symbols(tmp_path):
    alphabet = Alphabet(tuple(map(str, range(32))))
    release = build(public([[0, 1], [2]] * 9, alphabet), "markov", 1.0, seed=1)
    release.save(tmp_path / "visits.parquet")
    model = dpviz.read(tmp_path / "visits.parquet", kind="sequences").model
    assert model.root_variance == release.model.root_variance > 0
    np.testing.assert_array_equal(model.root_variances, release.model.root_variances)


def test_what_a_large_alphabet_needs_follows_from_its_size():
    """A small one is released as in the paper."""
    for size, beside in ((31, []), (32, ["single symbols"])):
        budget, alphabet = Budget(1.0), Alphabet(tuple(map(str, range(size))))
        task = SequenceTask(Sequences.of([[0, 30]]), alphabet, budget, SimulatedNoise(1))
        Markov(max_depth=1).build(task)
        assert [row.purpose for row in budget.rows] == ["contexts", *beside, "next symbols"]
        assert sum(row.epsilon for row in budget.rows) == pytest.approx(1.0)


def test_every_context_knows_its_last_symbol_whatever_the_noise():
    """The paper's root stays whole in up to half of the releases of a large alphabet."""
    alphabet = Alphabet(tuple(map(str, range(60))))
    data = public([[0, 1]] * 50, alphabet)
    for seed in range(8):
        assert build(data, "markov", 0.1, seed=seed).model.depth >= 1
