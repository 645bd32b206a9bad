"""Cases of the contract tests: every method in all its dimensions, presets in 2-D."""

import math
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz import METHODS, Domain
from dpviz.methods import names
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import change_probability, geometric
from tests.strategies import indexes

QUICK = {
    "height": 3,
    "max_depth": 6,
    "cells": 8,
    "log_cells": 3,
    "log_grid": 4,
    "order": 8,
    "workload": 20,
}
"""Small settings of the parameters that size a structure; the others keep their defaults."""

TALLEST = {
    "height": 3,
    "max_depth": 5,
    "cells": 9,
    "log_cells": 3,
    "log_grid": 4,
    "order": 6,
    "workload": 20,
}
"""Upper ends for random settings, so that a structure stays small."""


def dims_of(name):
    return METHODS[names("points")[name][0]].dims


CASES = [
    (name, dims)
    for name in names("points")
    for dims in dims_of(name)
    if name in METHODS or dims == 2
]
IDS = [f"{name}-{dims}d" for name, dims in CASES]


def unit_domain(dims):
    return Domain((0.0,) * dims, (1.0,) * dims)


def skewed_points(n, dims, seed=0):
    random = np.random.default_rng(seed)
    points = np.concatenate(
        [random.beta(2, 5, (n // 2, dims)), random.normal(0.6, 0.01, (n - n // 2, dims))]
    )
    points[: n // 10] = points[0]  # duplicates
    return np.clip(points, 0, 1)


def handle(points, dims, *, public=True, **options):
    domain = unit_domain(dims)
    return DataHandle(
        "test", domain, PointIndex.from_points(domain, points), public=public, **options
    )


def quick(name, dims):
    """Parameters of a small structure for this name."""
    parameters = METHODS[names("points")[name][0]].parameter_fields()
    chosen = {parameter: value for parameter, value in QUICK.items() if parameter in parameters}
    if dims > 2 and "log_grid" in chosen:
        chosen["log_grid"] = 2
    if dims > 2 and "cells" in chosen:
        chosen["cells"] = 3
    return chosen


@cache  # a strategy that is created again for every example is also validated again
def any_setting(name, dims):
    """Any setting of a method's parameters from their metadata, structures kept small."""
    tallest = {**TALLEST, "axes": dims}
    if dims > 2:
        tallest |= dict.fromkeys(("cells", "log_cells", "log_grid", "height", "max_depth"), 2)
    return st.fixed_dictionaries(
        {
            key: any_value(field, tallest, 0.0 if key == "threshold" else -100.0)
            for key, field in METHODS[name].parameter_fields().items()
        }
    )


def any_tree(name, most=1e4, **fixed):
    """Given any records: a method with any setting, but for what is fixed, a price and a seed."""

    def chosen(parameters, cap):
        return METHODS[name](**{**parameters, "max_depth": cap, **fixed})

    return given(
        index=indexes(),
        epsilon=st.floats(0.01, most),
        chosen=st.builds(chosen, any_setting(name, 2), st.integers(1, 12)),
        seed=st.integers(0, 2**32),
    )


def any_value(field, tallest, low, high=math.inf):
    """Any value of a parameter by its metadata; whole numbers up to ``tallest`` if given."""
    parameter = field.metadata["parameter"]
    kind = str(field.type)
    if parameter.choices:
        values = st.sampled_from(parameter.choices)
    elif kind.startswith("bool"):
        values = st.booleans()
    elif kind.startswith("int"):
        most = min(parameter.high, tallest.get(field.name, parameter.high))
        values = st.integers(int(parameter.low), int(max(parameter.low, most)))
    else:
        low = max(parameter.low, low)
        usual = field.default if isinstance(field.default, float) else low
        values = st.just(usual) | st.floats(low, min(parameter.high, high))
    return st.none() | values if parameter.optional and field.name not in tallest else values


def is_paid(budget, epsilon, private, rel=1e-9):
    """Assert that exactly epsilon was spent, in fractions; without a guarantee at most that."""
    spent = sum((Fraction(row.epsilon) for row in budget.rows), Fraction(0))
    assert spent <= Fraction(epsilon)
    assert math.fsum(row.delta for row in budget.rows) <= budget.delta * (1 + 1e-12)
    assert all(row.mechanism or row.theorem for row in budget.rows)
    if private:
        assert float(spent) == pytest.approx(epsilon, rel=rel)
        assert math.fsum(row.delta for row in budget.rows) == pytest.approx(budget.delta)


def same_columns(one, other):
    for name, values in other.columns.items():
        np.testing.assert_array_equal(getattr(one, name), values)


def children_add_up(nodes, atol=1e-6):
    """Every count that has children is theirs together."""
    below, inner = nodes.parent >= 0, ~nodes.leaf
    sums = np.bincount(nodes.parent[below], nodes.count[below], minlength=len(nodes))
    np.testing.assert_allclose(sums[inner], nodes.count[inner], rtol=1e-9, atol=atol)


def path_totals(parent, amounts):
    """Exact sums from the root to each leaf, a fraction for every leaf."""
    totals = []
    for amount, above in zip(amounts, parent.tolist(), strict=True):
        totals.append(Fraction(amount) + (totals[above] if above >= 0 else 0))
    leaves = np.setdiff1d(np.arange(len(parent)), parent)
    return [totals[leaf] for leaf in leaves]


def two_sided(rate, at):
    """P(k) of discrete Laplace noise of a rate, at each k."""
    return np.tanh(rate / 2) * np.exp(-rate * np.abs(at))


def refinement(rate, finer, reach):
    """P(k) of what turns noise of a finer rate into coarser, for |k| ≤ reach."""
    changes = float(change_probability(rate, finer))
    size = np.abs(np.arange(-reach, reach + 1))
    law = 0.5 * changes * -np.expm1(-rate) * np.exp(-rate * (size - 1))
    law[reach] = 1 - changes
    return law


@contextmanager
def priced(module, cls):
    """Record builds of a ladder: price, counts, sensitivity of each draw; prices of trees and
    paths.
    """
    drawn, paths, grow = [], [], cls.grow

    def logged(noise, share, counts, sensitivity=1):
        drawn.append((Fraction(share.epsilon), len(counts), sensitivity))
        return geometric(noise, share, counts, sensitivity)

    def logged_grow(self, index, share, noise, level):
        tree, noisy, paid, limit = grow(self, index, share, noise, level)
        paths.append((Fraction(share.epsilon), max(path_totals(tree.parent, paid))))
        assert (paid[tree.depth < min(level, self.max_depth, tree.max_depth)] == 0).all()
        return tree, noisy, paid, limit

    with patch.object(module, "geometric", logged), patch.object(cls, "grow", logged_grow):
        yield drawn, paths
