"""Sums that hold to the last digit, in any order of adding."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.trees.wholes import exact_sums, whole_numbers

from .leaves import families

PARENT = np.array([-1, -1, 0, 0, 1, 2, 2, 3, 4, 4, 4])
estimates = st.lists(
    st.one_of(st.floats(-1e12, 1e12), st.floats(-50, 50)), min_size=11, max_size=11
).map(np.array)


@settings(max_examples=40)
@given(estimates, st.permutations(range(3)))
def test_sums_are_exact_in_any_order(estimate, order):
    sums = exact_sums(PARENT, estimate)
    for row, children in families(PARENT):
        values = sums[children]
        if len(values) == 3:
            values = values[list(order)]
        total = 0.0
        for value in values.tolist():
            total += value
        assert total == sums[row]
    assert np.abs(sums[5:] - estimate[5:]).max() <= max(2**-10, np.abs(estimate).sum() * 2**-48)


@settings(max_examples=40)
@given(estimates)
def test_whole_numbers_add_up_and_are_never_negative(estimate):
    whole = whole_numbers(PARENT, estimate)
    assert (whole >= 0).all()
    assert (whole == np.floor(whole)).all()
    for row, children in families(PARENT):
        assert whole[children].sum() == whole[row]


@settings(max_examples=30)
@given(st.lists(st.floats(-6, 6), min_size=3, max_size=3), st.integers(0, 5))
def test_no_whole_numbers_of_that_sum_are_much_nearer(children, total):
    """Against every way to share the number out; each step of two costs at most one each."""
    estimate = np.array([total, *children])
    whole = whole_numbers(np.array([-1, 0, 0, 0]), estimate)[1:]
    ways = [way for way in product(range(total + 1), repeat=3) if sum(way) == total]
    best = min(np.abs(np.array(way) - estimate[1:]).sum() for way in ways)
    assert np.abs(whole - estimate[1:]).sum() <= best + 2 + 1e-9
