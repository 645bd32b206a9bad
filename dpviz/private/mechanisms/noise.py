"""Every noise draw of the project: sources of randomness, and the mechanisms built on them.

The rooms behind this door: :mod:`~dpviz.private.mechanisms.sources`,
:mod:`~dpviz.private.mechanisms.samplers` on :mod:`~dpviz.private.mechanisms.comparison` and
:mod:`~dpviz.private.mechanisms.bounds`; then :mod:`~dpviz.private.mechanisms.counts`,
:mod:`~dpviz.private.mechanisms.decisions`, :mod:`~dpviz.private.mechanisms.selection`,
:mod:`~dpviz.private.mechanisms.samples` and :mod:`~dpviz.private.mechanisms.published`.
"""

from dpviz.private.mechanisms.comparison import Float, Words
from dpviz.private.mechanisms.counts import (
    change_probability,
    geometric,
    geometric_by_rate,
    geometric_each,
    geometric_variance,
    laplace_rate,
    nested_counts,
    slot_counts,
)
from dpviz.private.mechanisms.decisions import NO_SPLIT_FLOOR, bernoulli, biased_laplace
from dpviz.private.mechanisms.published import exponential_draws, laplace, published_laplace
from dpviz.private.mechanisms.samplers import Int
from dpviz.private.mechanisms.samples import poisson_sample, random_ranks, uniform_below
from dpviz.private.mechanisms.selection import exponential
from dpviz.private.mechanisms.sources import Noise, SecureNoise, SimulatedNoise

__all__ = [
    "NO_SPLIT_FLOOR",
    "Float",
    "Int",
    "Noise",
    "SecureNoise",
    "SimulatedNoise",
    "Words",
    "bernoulli",
    "biased_laplace",
    "change_probability",
    "exponential",
    "exponential_draws",
    "geometric",
    "geometric_by_rate",
    "geometric_each",
    "geometric_variance",
    "laplace",
    "laplace_rate",
    "nested_counts",
    "poisson_sample",
    "published_laplace",
    "random_ranks",
    "slot_counts",
    "uniform_below",
]
