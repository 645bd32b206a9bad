import math

import pytest

from dpviz.errors import ParameterError
from dpviz.evaluation.tradeoff import epsilon_for

EPSILONS = (0.1, 1.0, 10.0)


@pytest.mark.parametrize(
    ("wanted", "epsilon"),
    [(300, 0.0), (200, 0.1), (20 * 10**0.5, 10**-0.5), (20, 1.0), (2, 10.0), (1, math.inf)],
)
def test_the_price_of_a_width_lies_between_those_of_the_releases_around_it(wanted, epsilon):
    assert epsilon_for(EPSILONS, (200, 20, 2), wanted) == pytest.approx(epsilon)


def test_a_price_is_enough_for_every_dearer_release_too():
    """A finer release can have the wider interval: what is cheap by luck promises nothing."""
    assert epsilon_for(EPSILONS, (15, 20, 2), wanted=16) > 1.0


def test_a_width_is_positive():
    with pytest.raises(ParameterError, match="positive number"):
        epsilon_for(EPSILONS, (3, 2, 1), wanted=0.0)
