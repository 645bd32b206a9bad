"""The theorem of the self-budgeting tree: on every path the rates add up to at most ε, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings

from dpviz.methods.points import self_budgeting_tree
from dpviz.methods.points.cell_tree import counts_at
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise, geometric_at
from tests.methods.cases import any_tree, path_totals


@settings(max_examples=60)
@any_tree("self_budgeting_tree", slopes=False)
def test_rates_of_every_path_add_up_to_epsilon(index, epsilon, chosen, seed):
    """Every draw is logged: of the root, then of each level at its first look and its second."""
    drawn = []

    def logged(noise, share, exact, rate):
        drawn.append(rate)
        return counts_at(noise, share, exact, rate)

    budget = Budget(epsilon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self_budgeting_tree, "counts_at", logged)
        nodes = chosen.build(index, budget, SimulatedNoise(seed))
    assert [row.epsilon for row in budget.rows] == [epsilon]
    looks = [np.zeros(1), *drawn]
    spent = zip(np.concatenate(looks[::2]), np.concatenate(looks[1::2]), strict=True)
    totals = path_totals(nodes.parent, [sum(map(Fraction, both)) for both in spent])
    assert max(totals) <= Fraction(epsilon)
    assert min(totals) > 0.999 * epsilon  # nothing is left unspent on any path


def test_noise_of_each_rate_has_its_own_scale():
    share = Budget(3.0).spend(3.0, "test", theorem="test")
    rates = np.repeat([0.1, 1.0, 3.0], 60_000)
    noisy = geometric_at(SimulatedNoise(0), share, np.zeros(len(rates), dtype=np.int64), rates)
    for rate in (0.1, 1.0, 3.0):
        sample = noisy[rates == rate]
        a = np.exp(-rate)
        # Kurtosis below 40 even at rate 3: sd of the sample variance under sqrt(39/n) of it.
        assert sample.var() == pytest.approx(2 * a / (1 - a) ** 2, rel=4.9 * np.sqrt(39 / 60_000))
