"""Exact samplers: distributions, decided and drawn; band of doubt, entropy, extremes."""

import math
import os
import threading
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpviz.errors import ParameterError
from dpviz.private.mechanisms import bounds, comparison, counts, samplers
from dpviz.private.mechanisms.noise import SecureNoise, SimulatedNoise, geometric, nested_counts
from tests.strategies import share

ALARM = 1e-6
SCALES = (0.05, 0.3, 1.0, 7.5, 400.0, 1e6)


def decimal(x):
    """A fraction, to as many digits as the context has."""
    return Decimal(x.numerator) / Decimal(x.denominator)


@pytest.mark.slow
@given(st.fractions(0, 300, max_denominator=10**9), st.sampled_from([1, 16, 80, 144]))
def test_bounds_hold_the_exponential_and_are_narrow(x, bits):
    low, high = bounds.exponential_bounds(x, bits)
    with localcontext(prec=150):
        exact = decimal(-x).exp() * 2**bits
        assert low <= exact <= high
    assert high - low <= 2


@given(st.floats(2.0**-40, 30), st.floats(1, 50), st.sampled_from([16, 80]))
def test_bounds_hold_the_odds_that_a_refinement_changes_anything(rate, factor, bits):
    coarse, fine = Fraction(rate), Fraction(rate * factor)
    low, high = bounds.changed(coarse, fine)(bits)
    with localcontext(prec=150):
        p, q = decimal(-coarse).exp(), decimal(-fine).exp()
        odds = 2 * (p - q) * (1 - p * q) / ((1 + p) * (1 - q) ** 2)
        assert low <= odds * 2**bits <= high
    assert high - low <= 2
    for kind, error in ((np.float64, 1e-12), (np.float32, comparison.MAX_ERROR / 4)):
        first = counts.change_probability(kind(coarse), kind(fine))
        assert first.dtype == kind
        assert abs(float(first) - float(odds)) < error


def scripted(*prefixes):
    """A source whose first sixteen bits are given; a decision that needs more fails the test."""
    todo = list(prefixes)

    def words(n):
        assert n == 1
        return np.array([todo.pop(0)], dtype=np.uint64)

    return words


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(1, 2), Fraction(1, 2**17), Fraction(7, 8)])
def test_every_prefix_decides_as_the_whole_number_would(q):
    """All 2^16 prefixes: below the bounds yes, above them no, and between them more bits decide."""
    prefixes = np.arange(1 << 16, dtype=np.uint16)
    undecided = []

    def words(n):
        if n == (1 << 16) // 4:
            return prefixes.view(np.uint64)
        undecided.append(n)
        return np.zeros(n, dtype=np.uint64)  # then U equals the prefix

    yes = comparison.is_below(words, 1 << 16, float(q), lambda _: bounds.number(q))
    assert (yes == [Fraction(prefix, 1 << 16) < q for prefix in range(1 << 16)]).all()
    assert len(undecided) <= 2


@given(st.floats(0.01, 0.99), st.integers(0, 2**16 - 1), st.integers(0, 2**64 - 1))
def test_a_doubtful_prefix_is_decided_by_the_bits_behind_it(q, prefix, behind):
    exact = Fraction(q)
    whole = Fraction(prefix << 64 | behind, 1 << 80)
    if whole == exact:
        return
    decided = comparison.decide_exactly(
        scripted(behind, *[0] * 4), prefix, comparison.FIRST_BITS, bounds.number(exact)
    )
    assert decided == (whole < exact)


def outcomes(sampler, ratio, monkeypatch):
    """All outcomes of a sampler with their exact probabilities, by walking its decisions.

    Each decision's own probability is asked of its bounds (200 bits); decisions are yes or no. An
    attempt that is rejected begins anew, so only accepted ones are walked, and each has its share
    of what is accepted: the sum over l < 2^m of 2^−m·ratio^l.
    """
    law = defaultdict(Fraction)
    waiting = [()]
    while waiting:
        script = waiting.pop()
        if len(script) > 14:  # counts far beyond the compared ones
            continue
        taken, probability, attempts = [], [Fraction(1)], []

        def decide(likely, script=script, taken=taken, probability=probability):
            answer = script[len(taken)] if len(taken) < len(script) else False
            if len(taken) >= len(script):
                waiting.append((*taken, True))
            taken.append(answer)
            probability.append(likely if answer else 1 - likely)
            return answer

        def uniform(words, n, places, decide=decide, attempts=attempts):
            most = int(places.max())  # a single draw has one number of places
            all_odds = sum((ratio**low for low in range(1 << most)), Fraction(0))
            attempts.append(all_odds / (1 << most))
            bits = [decide(Fraction(1, 2)) << place for place in range(most)]
            return np.array([sum(bits)], dtype=np.int32)

        def is_below(
            words, n, approximate, exact, decide=decide, attempts=attempts, so_far=probability
        ):
            near(approximate, n, exact)
            if attempts:
                so_far.append(middle(exact(0)) / attempts.pop())
                return np.array([True])
            return np.array([decide(middle(exact(row))) for row in range(n)], dtype=bool)

        def fair_bits(words, n, decide=decide):
            return np.array([decide(Fraction(1, 2)) for _ in range(n)], dtype=bool)

        monkeypatch.setattr(samplers, "is_below", is_below)
        monkeypatch.setattr(samplers, "fair_bits", fair_bits)
        monkeypatch.setattr(samplers, "uniform", uniform)
        result = sampler()
        law[result] += math.prod(probability)
    return law


def near(approximate, n, exact):
    """The first bits are decided by numbers that are eight times as good as they need be."""
    real = [float(middle(exact(row))) for row in range(n)]
    assert np.abs(np.broadcast_to(approximate, n) - real).max(initial=0) < comparison.MAX_ERROR / 8


def test_first_bits_are_near_enough_at_every_rate(monkeypatch):
    seen = []

    def is_below(words, n, approximate, exact):
        near(approximate, n, exact)
        seen.append(n)
        return np.full(n, len(seen) < 3)  # all draws are small, accepted, and keep their sign

    monkeypatch.setattr(samplers, "is_below", is_below)
    draws = samplers.two_sided(SimulatedNoise(1).words, 804, np.geomspace(2.0**-40, 1e6, 804))
    assert seen == [804] * 3
    assert (np.abs(draws) < 1 + np.geomspace(2.0**40, 1e-6, 804)).all()


@pytest.mark.parametrize("many", [False, True], ids=["one rate", "a rate each"])
def test_a_rejected_attempt_is_drawn_anew_and_the_others_stay(many, monkeypatch):
    """Row 1 is rejected twice, row 2 once, rows 0 and 3 never: each has its last attempt."""
    verdicts = [[True, False, False, True], [False, True], [True]]
    attempts = [[1, 2, 3, 4], [5, 6], [7]]
    wanted = []

    def is_below(words, n, approximate, exact):
        tried = wanted.pop()
        near(approximate, n, exact)
        real = [float(middle(exact(row))) for row in range(n)]
        np.testing.assert_allclose(real, np.exp(-0.1 * np.array(tried)), rtol=1e-12)
        return np.array(verdicts.pop(0))

    def uniform(words, n, places):
        wanted.append(attempts.pop(0))
        assert len(wanted[0]) == n
        assert (np.asarray(places) == 3).all()  # 0.1 · 2³ is from ½ to below 1
        return np.array(wanted[0], dtype=np.int32)

    monkeypatch.setattr(samplers, "is_below", is_below)
    monkeypatch.setattr(samplers, "uniform", uniform)
    monkeypatch.setattr(samplers, "_heights", lambda words, n, rates: np.zeros(n, dtype=np.int64))
    draws = samplers.one_sided(None, 4, np.full(4, 0.1) if many else 0.1)
    assert draws.tolist() == [1, 7, 6, 4]
    assert not verdicts


def test_uniform_numbers_are_the_first_bits_of_their_words():
    words = SimulatedNoise(2).words(64)
    for most, width in ((31, 32), (57, 64)):
        source = words.view(np.uint32) if width == 32 else words
        places = np.arange(len(source)) % (most + 1)
        drawn = comparison.uniform(lambda n: words[:n], len(source), places)
        pairs = zip(source.tolist(), places.tolist(), strict=True)
        assert drawn.tolist() == [word >> (width - place) for word, place in pairs]
        one = comparison.uniform(lambda n: words[:n], len(source), np.int32(most))
        assert (one == source >> (width - most)).all()


def middle(limits):
    low, high = limits(200)
    assert high - low <= 4
    return Fraction(low + high, 1 << 201)


@pytest.mark.parametrize("rate", [5.0, 1.7, 0.9, 0.4, 0.2])
def test_enumerated_decisions_give_the_law(rate, monkeypatch):
    """Exhaustive: every path of decisions, no sampling."""
    with localcontext(prec=80):
        ratio = decimal(-Fraction(rate)).exp()
    base = Fraction(ratio)
    two = outcomes(lambda: int(samplers.two_sided(None, 1, rate)[0]), base, monkeypatch)
    one = outcomes(lambda: int(samplers.one_sided(None, 1, np.array([rate]))[0]), base, monkeypatch)
    with localcontext(prec=60):
        for k in range(-6, 7):
            wanted = (1 - ratio) / (1 + ratio) * ratio ** abs(k)
            assert abs(decimal(two[k]) - wanted) < Decimal(2) ** -150
        for k in range(7):
            assert abs(decimal(one[k]) - (1 - ratio) * ratio**k) < Decimal(2) ** -150


def law_pvalue(draws, scale):
    """Chi-square of two-sided draws against the formula, in about thirty classes."""
    rate = 1 / scale
    edges = np.unique(np.round(scale * np.concatenate([np.linspace(0, 3, 13), [4, 5, 7, 9]])))
    edges = np.concatenate([-edges[::-1] - 1, edges]).astype(np.int64)  # (edge, next edge]

    def below(k):  # P(K <= k)
        upper = 1 - np.exp(-rate * (np.maximum(k, 0) + 1)) / (1 + np.exp(-rate))
        lower = np.exp(-rate * np.abs(np.minimum(k, 0))) / (1 + np.exp(-rate))
        return np.where(k >= 0, upper, lower)

    probability = np.diff(np.concatenate([[0.0], below(edges), [1.0]]))
    where = np.searchsorted(edges, draws, side="left")
    seen = np.bincount(where, minlength=len(probability))
    wanted = probability * len(draws)
    frequent = wanted > 8
    if frequent.all():
        return stats.chisquare(seen, wanted).pvalue
    # Classes too rare for the test are joined, and tested as one count if still rare.
    rest = stats.poisson.sf(seen[~frequent].sum() - 1, wanted[~frequent].sum())
    if frequent.sum() < 2:
        return float(rest)
    inner = stats.chisquare(
        seen[frequent], wanted[frequent] * (seen[frequent].sum() / wanted[frequent].sum())
    )
    return min(float(rest), inner.pvalue)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("each", ["one rate", "a rate each", "simulated"])
def test_draws_follow_the_law(scale, each):
    """False alarm below 1e-6 for each of the eighteen."""
    n = 200_000
    rates = np.full(n, 1 / scale) if each == "a rate each" else 1 / scale
    noise = SimulatedNoise(1) if each == "simulated" else SecureNoise()
    assert law_pvalue(noise.two_sided(n, rates), scale) > ALARM / 2


@pytest.mark.parametrize("scale", [0.3, 7.5, 400.0])
def test_draws_follow_those_of_opendp(scale):
    """Another implementation of the distribution; false alarm below 1e-6 each."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=scale)([0] * 12_000))
    ours = SecureNoise().two_sided(300_000, 1 / scale)
    edges = np.unique(np.quantile(ours, np.linspace(0, 1, 20)))
    tables = np.array(
        [np.bincount(np.searchsorted(edges, d), minlength=21) for d in (ours, theirs)]
    )
    assert stats.chi2_contingency(tables[:, tables[0] > 2000]).pvalue > ALARM


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**40])
def test_noise_of_extreme_scales_has_its_size(scale):
    noisy, variance = geometric(SecureNoise(), share(), np.full(1000, 7), sensitivity=scale)
    if scale < 1:
        assert (noisy == 7).all()
        assert (variance == 0).all()
    else:
        # The mean of |k| lies outside with odds below e^-100.
        assert 0.5 * scale < np.abs(noisy).mean() < 2 * scale


def test_nothing_overflows_at_the_largest_counts_and_scales():
    extreme = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min] * 50)
    noisy, _ = geometric(SecureNoise(), share(), extreme, sensitivity=2.0**40)
    assert (np.sign(noisy) == np.sign(extreme)).all()
    assert np.abs(noisy).max() <= counts.MAX_COUNT


def test_counts_of_any_layout_type_and_number_get_their_noise_in_place():
    """Rates so high that noise is 0 but for odds below e^-100: every count stays where it was."""
    table = np.arange(24, dtype=np.int32).reshape(4, 6)
    for exact in (table, np.asfortranarray(table), table[::2, ::-1], table.T, table[:0], table[:1]):
        noisy, variance = geometric(SecureNoise(), share(9.0), exact, sensitivity=2.0**-8)
        assert noisy.dtype == np.int64
        assert variance.shape == exact.shape
        np.testing.assert_array_equal(noisy, exact)
    for n in (0, 1, 24):
        rates = np.full((48, 3), 500.0)[: 2 * n : 2].T  # strided along both axes
        noisy = nested_counts(SecureNoise(), share(9.0), table.ravel()[:n], rates)
        assert (noisy == np.arange(n)).all()


@pytest.mark.parametrize("sensitivity", [2.0**41, 1e30])
def test_a_scale_above_two_to_the_forty_is_refused_in_one_line(sensitivity):
    with pytest.raises(ParameterError, match=r"above 2\^40: choose a larger epsilon"):
        geometric(SecureNoise(), share(), [1], sensitivity=sensitivity)


def test_rates_are_never_rounded_up():
    for epsilon, sensitivity in ((1.0, 3), (0.1, 7), (math.pi, 1.1), (1e-4, 121)):
        rate = counts.laplace_rate(epsilon, sensitivity)
        assert Fraction(rate) * Fraction(sensitivity) <= Fraction(epsilon)
        assert rate == pytest.approx(epsilon / sensitivity, rel=1e-15)


@pytest.mark.parametrize("noise", [SecureNoise(), SimulatedNoise(3)], ids=["secure", "simulated"])
def test_nested_counts_have_their_laws_and_know_nothing_more(noise):
    """Every level has its own distribution; what a coarser one adds does not depend on the finer
    one.

    False alarm of all together below 1e-6.
    """
    n = 100_000
    rates = np.repeat([[0.2], [0.4], [0.4], [1.5]], n, axis=1)
    noisy = nested_counts(noise, share(9.0), np.full(n, 10), rates)
    assert noisy.shape == (4, n)
    for level, rate in enumerate(rates[:, 0]):
        assert law_pvalue(noisy[level] - 10, 1 / rate) > ALARM / 20
    assert (noisy[1] == noisy[2]).all()
    for level in (0, 2):
        added = noisy[level] - noisy[level + 1]
        table = np.zeros((2, 9), dtype=np.int64)
        np.add.at(table, ((noisy[level + 1] > 10).astype(int), np.clip(added, -4, 4) + 4), 1)
        assert stats.chi2_contingency(table).pvalue > ALARM / 20


def test_nested_rates_must_not_fall():
    with pytest.raises(ValueError, match="must not fall"):
        nested_counts(SecureNoise(), share(9.0), [1], [[0.5], [0.4]])


def test_enumerated_refinements_give_the_law(monkeypatch):
    """P(N₁, N₂) from the decisions themselves, summed over N₂: the coarse distribution, no
    sampling."""
    coarse, fine = 1.3, 2.2
    p, q = np.exp(-coarse), np.exp(-fine)
    changes = float(middle(bounds.changed(Fraction(coarse), Fraction(fine))))
    reach = 60
    k = np.arange(-reach, reach + 1.0)
    added = 0.5 * changes * (1 - p) * p ** np.maximum(np.abs(k) - 1, 0)
    added[reach] = 1 - changes
    noise = (1 - q) / (1 + q) * q ** np.abs(k)
    both = np.convolve(added, noise)
    centre = len(both) // 2
    wanted = (1 - p) / (1 + p) * p ** np.abs(np.arange(-15.0, 16))
    np.testing.assert_allclose(both[centre - 15 : centre + 16], wanted, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.entropy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_or_a_thread_never_sees_the_same_bits_twice():
    """64-bit words all differ: by chance some two of 30,000 are equal with odds below 1e-9.

    The children are copies of this very process, and of a source that has been drawn from.
    """
    noise = SecureNoise()
    noise.two_sided(100, 0.1)
    seen = noise.words(64).tolist()
    threads = [
        threading.Thread(target=lambda: seen.extend(noise.words(4096).tolist())) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for _ in range(3):
        near, far = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(far, noise.words(64).tobytes())
            os._exit(0)
        os.close(far)
        assert os.waitpid(child, 0)[1] == 0
        seen.extend(np.frombuffer(os.read(near, 1024), dtype=np.uint64).tolist())
        os.close(near)
    for thread in threads:
        thread.join()
    assert len(set(seen)) == len(seen) == 64 + 6 * 4096 + 3 * 64
