import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import BudgetError, ParameterError
from dpviz.private.budget import Budget, per_record


@given(st.floats(1e-6, 100), st.lists(st.floats(1e-6, 10), min_size=1, max_size=12))
def test_split_spends_everything_and_never_more(epsilon, weights):
    budget = Budget(epsilon)
    shares = budget.split(weights, [str(row) for row in range(len(weights))])
    spent = sum(Fraction(share.epsilon) for share in shares)
    assert spent <= Fraction(epsilon)
    assert float(spent) == pytest.approx(epsilon, rel=1e-12)
    assert [row.epsilon for row in budget.rows] == [share.epsilon for share in shares]


@pytest.mark.parametrize(("epsilon", "group"), [(0.1, 3), (1.0, 7), (0.3, 10**5)])
def test_what_records_of_a_unit_cost_together_is_never_more_than_epsilon(epsilon, group):
    assert Fraction(per_record(epsilon, group)) * group <= Fraction(epsilon)


@pytest.mark.parametrize(("epsilon", "group"), [(1e-20, 1), (1e-3, 10**4)])
def test_an_absurdly_small_epsilon_is_refused_in_one_line(epsilon, group):
    with pytest.raises(ParameterError, match="noise of such a scale hides everything"):
        per_record(epsilon, group)


@given(st.floats(1e-6, 100), st.integers(2, 50))
def test_equal_shares_of_epsilon_fit_into_the_budget(epsilon, shares):
    budget = Budget(epsilon)
    for row in range(shares):
        budget.spend(epsilon / shares, f"part {row}")
    assert sum(Fraction(row.epsilon) for row in budget.rows) <= Fraction(epsilon)


def test_overspending_says_what_was_asked_and_what_is_left():
    budget = Budget(1.0, delta=1e-6)
    budget.spend(0.5, "structure", delta=1e-6)
    with pytest.raises(BudgetError, match=r"epsilon=0.6 on counts: 0.5 of 1 is left"):
        budget.spend(0.6, "counts")
    with pytest.raises(BudgetError, match=r"delta=1e-07 on counts: 0 of 1e-06 is left"):
        budget.spend(0.1, "counts", delta=1e-7)
    assert budget.left == 0.5


@pytest.mark.parametrize("amount", [0, -0.1, math.nan, math.inf])
def test_spending_an_invalid_amount_is_refused(amount):
    with pytest.raises(BudgetError, match="give a positive number"):
        Budget(1.0).spend(amount, "counts")


def test_a_share_pays_for_one_draw_unless_a_theorem_covers_more():
    budget = Budget(1.0)
    single, covered = budget.spend(0.5, "a"), budget.spend(0.5, "b", theorem="theorem 1")
    assert single.use() == 0.5
    with pytest.raises(BudgetError, match="share for a is used up"):
        single.use()
    assert [covered.use(), covered.use()] == [0.5, 0.5]


def test_an_epsilon_without_any_noise_is_refused_in_one_line():
    with pytest.raises(ParameterError, match=r"^epsilon=1e\+300 leaves no noise at all: choose"):
        Budget(1e300)
