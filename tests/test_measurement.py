"""A method inside OpenDP: its accounting, and what it refuses."""

import numpy as np
import opendp.prelude as dp
import pytest

import dpviz
from dpviz.errors import ParameterError

BOX = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
POINTS = np.random.default_rng(0).random((1_000, 2))

dp.enable_features("contrib", "honest-but-curious")


def test_opendp_composes_two_measurements_and_adds_up_their_prices():
    both = dp.c.make_composition(
        [
            dpviz.as_measurement(BOX, "ugrid", 0.1, cells=4),
            dpviz.as_measurement(BOX, "privtree", 0.2),
        ]
    )
    assert both.map(1) == pytest.approx(0.3)
    assert both.check(2, 0.6 + 1e-9)
    assert not both.check(2, 0.59)
    grid, tree = both(POINTS)
    assert [grid.header.epsilon, tree.header.epsilon] == [0.1, 0.2]
    assert grid.header.private
    assert abs(grid.count([0, 0, 1, 1]).count[0] - 1_000) < 500


def test_the_price_of_many_records_is_never_rounded_down():
    measurement = dpviz.as_measurement(BOX, "ugrid", 0.1, cells=4)
    assert measurement.map(3) == 0.30000000000000004
    assert measurement.map(0) == 0


def test_other_inputs_and_methods_without_pure_epsilon_are_refused():
    measurement = dpviz.as_measurement(BOX, "ugrid", 1.0, cells=4)
    with pytest.raises(Exception, match="rows of 2 numbers"):
        measurement(np.zeros((3, 5)))
    with pytest.raises(ParameterError, match="choose one that is pure"):
        dpviz.as_measurement(BOX, "kdtree", 1.0, median="smooth")
    with pytest.raises(ParameterError, match="epsilon"):
        dpviz.as_measurement(BOX, epsilon=-1)
