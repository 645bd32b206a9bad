"""A public prior as a choice of a page."""

import numpy as np
import pytest

import dpviz
from dpviz.ui.shared.method_form import Choice, ChosenPrior
from tests.strategies import UNIT_SQUARE
from tests.ui.opening import opened_page, texts


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


@pytest.mark.parametrize(("data", "reason"), [("year", "time"), ("rides", "values")])
def test_a_prior_that_cannot_be_followed_is_shown_with_the_reason(data, reason):
    """It vanished without a word once time or values were chosen."""
    app = opened_page("explore", data=data)
    assert app.button(key="explore.prior.no").disabled
    assert f"Not for records with {reason}" in texts(app)
