"""All settings of parameters: the exact loss of split decisions is within the price at each.

Corners and random points of every method that draws bits, in every dimension and fanout, for
ε from 10⁻³ to 100, and for privacy units of several records. No tolerance: methods leave a margin.
"""

import dataclasses
import itertools

import numpy as np
import pytest

from dpviz.evaluation.exact import chain_losses
from dpviz.methods import of_kind
from dpviz.methods.structure import Structure

COUNTS = 400
"""Counts of a chain at most: evenly spaced, where one record is far below the noise."""

EPSILONS = (1e-3, 0.1, 1.0, 100.0)
UNITS = (1, 2, 3, 10, 200)
"""Records of one privacy unit."""

ALPHABETS = (1, 2, 3, 17, 300)


def settings_of(cls):
    """Values of what moves a structure: every choice, or both ends and the default."""
    plain = cls()
    settings = {}
    for name, field in cls.parameter_fields().items():
        parameter = field.metadata["parameter"]
        value = getattr(plain, name)
        if isinstance(value, bool) or name == "projection":
            continue  # post-processing
        ends = list(parameter.choices) or [parameter.low, parameter.high]
        settings[name] = [value, *ends]
    return settings


def random_setting(cls, random):
    drawn = {}
    for name, values in settings_of(cls).items():
        field = cls.parameter_fields()[name]
        parameter = field.metadata["parameter"]
        if parameter.choices or random.random() < 0.15:
            drawn[name] = values[random.integers(len(values))]
        elif str(field.type).startswith("int"):
            drawn[name] = int(random.integers(parameter.low, parameter.high, endpoint=True))
        elif parameter.high > 1e3:  # a threshold: of every order of magnitude
            drawn[name] = float(random.choice([-1, 1]) * 10 ** random.uniform(-1, 6))
        else:
            drawn[name] = random.uniform(parameter.low, parameter.high)
    return drawn


def holds(structure, epsilon, unit):
    """A method's exact losses compared with its prices, for units of one and several records."""
    assert isinstance(structure, Structure)
    structure = dataclasses.replace(structure, records=structure.records * unit)
    loss = max(chain_losses(structure, COUNTS))
    assert loss <= unit * structure.price
    assert loss + unit * structure.other_epsilon <= epsilon
    return loss / (unit * structure.price)


def with_bits(kind, public):
    """Methods of a kind whose splits are random bits, by name."""
    methods = sorted(of_kind(kind).items())
    return {
        name: cls for name, cls in methods if isinstance(cls().structure(1.0, public), Structure)
    }


POINTS, SEQUENCES = with_bits("points", 2), with_bits("sequences", 3)
METHODS = {**POINTS, **SEQUENCES}


def publics(name):
    """Public facts beside the parameters: dimensions, or the size of the alphabet."""
    return METHODS[name].dims if name in POINTS else ALPHABETS


def allowed(setting, public):
    """A fanout needs as many axes."""
    return (setting.get("axes") or 1) <= public


def test_every_method_that_splits_at_random_is_walked():
    assert "privtree" in POINTS
    assert list(SEQUENCES) == ["markov"]


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_no_corner_of_the_parameters_costs_more_than_its_price(name):
    every, cls = publics(name), METHODS[name]
    values = settings_of(cls)
    random = np.random.default_rng(0)
    corners = list(itertools.product(*values.values(), every, EPSILONS, UNITS))
    # A few parameters have thousands of corners: test a fixed choice, and each value alone.
    chosen = [corners[row] for row in random.choice(len(corners), 30, replace=False)]
    for parameter, ends in values.items():
        chosen += [
            (*[end if other == parameter else values[other][0] for other in values], public, 1.0, 1)
            for end in ends
            for public in every
        ]
    for *setting, public, epsilon, unit in chosen:
        parameters = dict(zip(values, setting, strict=True))
        if allowed(parameters, public):
            holds(cls(**parameters).structure(epsilon / unit, public), epsilon, unit)


def random_points(name, n, seed):
    random = np.random.default_rng(seed)
    for _ in range(n):
        parameters = random_setting(METHODS[name], random)
        public, unit = random.choice(publics(name)), int(random.choice(UNITS))
        epsilon = 10 ** random.uniform(-3, 2)
        if allowed(parameters, public):
            method = METHODS[name](**parameters)
            yield holds(method.structure(epsilon / unit, int(public)), epsilon, unit)


CAMPAIGN = [pytest.param(seed, 1_100, marks=pytest.mark.campaign) for seed in range(10, 20)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "points"), [(1, 120), *CAMPAIGN])
@pytest.mark.parametrize("name", METHODS)
def test_no_random_parameters_cost_more_than_their_price(name, seed, points):
    prices = list(random_points(name, points, seed))
    assert max(prices) > 0.8  # the search detects losses close to the prices
