import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError
from dpviz.evaluation.tradeoff import epsilon_for, half_width

DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
RECT = [0.1, 0.2, 0.7, 0.8]


@pytest.mark.parametrize("method", ["ugrid", "quad-geo", "quad-post"])
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.8])
def test_the_law_is_what_a_release_at_that_price_says(method, epsilon):
    """On cells that do not depend on the records: rebuilt at another price, the law is exact up to
    the discreteness of the noise, (r/2)/sinh(r/2) at rate r: 2.6 % at 0.8."""
    handle = dpviz.from_points(np.empty((0, 2)), DOMAIN, public=True)
    parameters = {"cells": 12} if method == "ugrid" else {"height": 4}
    first = dpviz.build(handle, method, 0.1, seed=1, **parameters).count(RECT)
    other = dpviz.build(handle, method, epsilon, seed=2, **parameters).count(RECT)
    stated = half_width(first.noise_sd[0], 0.1, epsilon)
    measured = half_width(other.noise_sd[0], epsilon, epsilon)
    assert stated == pytest.approx(measured, rel=0.0265)


def test_the_price_and_the_width_are_inverse():
    price = epsilon_for(12.0, 0.4, wanted=30.0)
    assert half_width(12.0, 0.4, price) == pytest.approx(30.0)
    with pytest.raises(ParameterError, match="positive number"):
        epsilon_for(12.0, 0.4, wanted=0.0)
