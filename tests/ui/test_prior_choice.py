"""A public prior as a choice of a page."""

import numpy as np

import dpviz
from dpviz.ui.shared.method_form import Choice, ChosenPrior
from tests.strategies import UNIT_SQUARE


def test_another_column_of_weights_is_another_choice(tmp_path):
    """Pages keep what they built for a choice, and compare choices by what they print."""
    path = tmp_path / "homes.csv"
    np.savetxt(path, [[0.1, 0.1, 2, 3]], "%g", ",", header="x,y,people,homes", comments="")
    one, two, again = (
        Choice("ladder_tree", {}, 1.0, prior=ChosenPrior("homes.csv", data))
        for data in (
            dpviz.prior(path, UNIT_SQUARE, weight) for weight in ("people", "homes", "people")
        )
    )
    assert repr(one) != repr(two)
    assert repr(one) == repr(again)
    assert one == again
