"""Two registers of the invented city that share some of their people, with typing errors.

A person has an address (lon, lat), a time of birth (a year with its fraction) and a yearly income
in thousands. Half of each register stands in the other too: there every attribute is off, now and
then, by up to its public ``ERRORS``. Synthetic: no real data.
"""

from __future__ import annotations

import numpy as np

from dpviz.datasets.city import city_points
from dpviz.datasets.geography import BOUNDS, Array

_SEED = 20_145
SIZE = 20_000
SHARED_SIZE = 10_000
"""People in one register, and in both."""

COLUMNS = ("lon", "lat", "born", "income")
LIMITS = (*BOUNDS[:2], 1920.0, 0.0), (*BOUNDS[2:], 2020.0, 250.0)
"""Public lower and upper limits of the attributes."""

ERRORS = (0.002, 0.002, 0.5, 2.0)
"""Largest error of each attribute in the second register."""

_WRONG = 0.15


def register(register_name: str) -> Array:
    """The people of register "a" or "b": (SIZE, 4), in the order of ``COLUMNS``."""
    random = np.random.default_rng(_SEED)
    everybody = 2 * SIZE - SHARED_SIZE
    age = 95 * random.beta(1.5, 2.2, everybody)
    income = np.exp(random.normal(3.5, 0.6, everybody) - ((age - 48) / 45) ** 2)
    people = np.column_stack([city_points(everybody, _SEED), 2020 - age, income.clip(0, 240)])
    typed = people[:SHARED_SIZE].copy()
    wrong = random.random(typed.shape) < _WRONG
    typed += np.where(wrong, random.uniform(-1, 1, typed.shape) * ERRORS, 0.0)
    chosen = people[:SIZE] if register_name == "a" else np.vstack([typed, people[SIZE:]])
    low, high = np.array(LIMITS)
    return np.asarray(random.permutation(np.clip(chosen, low, high)))
