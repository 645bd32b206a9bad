"""Deltas: who needs one, how it is priced, and what a group of records costs."""

import math

import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError
from dpviz.private.driver import group_growth

from .cases import handle, skewed_points

SMOOTH = {"median": "smooth", "height": 2, "flatten": 1}


@pytest.mark.slow
def test_smooth_medians_cost_a_delta_that_adds_up_in_the_ledger():
    release = dpviz.build(handle(skewed_points(200, 2), 2), "kdtree", 1.0, seed=0, **SMOOTH)
    header = release.header
    assert header.delta == 1e-6
    assert "δ = 1e-06" in header.guarantee
    assert math.fsum(row["delta"] for row in header.budget) == pytest.approx(1e-6)
    assert sum(row["delta"] > 0 for row in header.budget) == 2


def test_a_delta_is_asked_for_where_it_is_needed_and_only_there():
    data = handle(skewed_points(50, 2), 2)
    with pytest.raises(ParameterError, match="is pure ε-DP: leave delta out"):
        dpviz.build(data, "privtree", 1.0, delta=1e-6, seed=0)
    with pytest.raises(ParameterError, match="needs a delta above 0"):
        dpviz.build(data, "kdtree", 1.0, delta=0.0, seed=0, **SMOOTH)


@pytest.mark.slow
@pytest.mark.parametrize("group", [1, 2, 5])
def test_a_group_of_records_costs_the_delta_that_was_asked_for(group):
    data = handle(np.full((30, 2), 0.3), 2, max_per_unit=group, unit="one person")
    header = dpviz.build(data, "kdtree", 1.0, delta=1e-5, seed=0, **SMOOTH).header
    assert math.fsum(row["epsilon"] for row in header.budget) == pytest.approx(1.0)
    assert math.fsum(row["delta"] for row in header.budget) == pytest.approx(1e-5)
    of_all = f"; {group} records: {group} times ε (group privacy)"
    assert all(row["theorem"].endswith(of_all) == (group > 1) for row in header.budget)


@pytest.mark.parametrize(("epsilon", "group"), [(0.5, 1), (0.1, 4), (2.0, 7)])
def test_growth_is_the_closed_form(epsilon, group):
    closed = math.expm1(group * epsilon) / math.expm1(epsilon)
    assert group_growth(epsilon, group) == pytest.approx(closed)


def test_a_delta_that_a_group_uses_up_is_refused_before_anything_is_paid(tmp_path):
    square = dpviz.Domain((0.0, 0.0), (1.0, 1.0))
    data = dpviz.from_points(np.full((30, 2), 0.3), square, name="visits")
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(ParameterError, match="nothing of it is left for one record"):
        dpviz.build(data, "kdtree", 2000.0, neighbours="replace", ledger=ledger, **SMOOTH)
    assert ledger.account("visits").spent == 0
