"""InfTDA on many areas, and beside its package on few.

    uv run --with inf-tda==0.1 python -m tests.benchmarks.inftda

F. Boninsegna, F. Silvestri: Differential Privacy Releasing of Hierarchical Origin/Destination Data
with a TopDown Approach. PETS 2025; package ``inf-tda`` 0.1. Its function needs all pairs in memory.
Here its mechanism and its optimisation run over the parts of pairs above 0 only, since those of a
pair of 0 are 0. The command prints the L1 error of both on few areas. The noise has no seed.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from unittest import mock

import numpy as np
import pandas as pd

from dpviz.private.flows import FlowData, exact_flows
from dpviz.trees.lattice import Float, Int, positions_within

INSTALLED = find_spec("InfTDA") is not None
DELTA = 1e-6

Published = tuple[Int, Float, Float]
"""Pairs as origin · areas + destination, their estimates, and the sums of origins and destinations:
(k,), (k,) and (2 · areas,)."""


def with_sums(areas: int, origin: Int, destination: Int, counts: Float) -> Published:
    """Pairs with the sums that follow from them alone."""
    sums = [np.bincount(end, counts, areas) for end in (origin, destination)]
    return origin * areas + destination, counts, np.concatenate(sums)


def divided(parent: Int, areas: Int, divide: bool) -> tuple[Int, Int]:
    """First part of each area (−1: all areas), and how many there are; or the area itself."""
    if not divide:
        return areas, np.ones_like(areas)
    first = np.searchsorted(parent, areas)
    return first, np.searchsorted(parent, areas, side="right") - first


def inftda(data: FlowData, epsilon: float, in_turn: bool, sensitivity: float = 1.0) -> Published:
    """Estimates of pairs by InfTDA; the exact total is free, as in the package.

    Args:
        data: public data.
        epsilon: at ``DELTA``.
        in_turn: divide one end of a pair at a time, in twice as many levels.
        sensitivity: L2 sensitivity of one level.
    """
    from InfTDA.differential_privacy import get_rho_from_budget, make_gaussian_noise
    from InfTDA.optimization import int_opt

    areas = data.flows.origins
    cells, counts = exact_flows(data)
    steps = [(True, False), (False, True)] if in_turn else [(True, True)]
    steps *= len(areas.levels)
    noise = make_gaussian_noise(sensitivity, get_rho_from_budget((epsilon, DELTA)) / len(steps))
    ancestors = [np.full(areas.leaves, -1), *map(areas.ancestors, range(len(areas.levels)))]
    origin = destination = np.array([-1])
    depths, totals = np.zeros(2, dtype=int), np.array([counts.sum()])
    for step in steps:
        depths += step
        one, many = divided(areas.parent, origin, step[0])
        two, others = divided(areas.parent, destination, step[1])
        above = np.repeat(np.arange(len(one)), many * others)
        place, across = positions_within(many * others), others[above]
        origin, destination = one[above] + place // across, two[above] + place % across
        ends = [ancestors[at][cells[:, end]] for end, at in enumerate(depths, start=1)]
        pairs, at = np.unique(ends[0] * len(areas) + ends[1], return_inverse=True)
        asked = origin * len(areas) + destination
        row = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
        exact = np.where(pairs[row] == asked, np.bincount(at, counts).astype(int)[row], 0)
        noisy = np.split(np.array(noise(exact.tolist())), np.flatnonzero(np.diff(above)) + 1)
        parts = [int_opt(part, int(total)) for part, total in zip(noisy, totals, strict=True)]
        totals = np.concatenate(parts).astype(int)
        positive = totals > 0
        origin, destination, totals = origin[positive], destination[positive], totals[positive]
    first = areas.first_leaf
    return with_sums(areas.leaves, origin - first, destination - first, totals)


def by_package(data: FlowData, epsilon: float) -> Published:
    """Estimates of pairs by the package's own function: a record is changed, not added."""
    from InfTDA import inf_tda, mechanism

    areas = data.flows.origins
    cells, counts = exact_flows(data)
    exact = np.zeros((areas.leaves, areas.leaves), dtype=int)
    exact[cells[:, 1], cells[:, 2]] = counts
    origin, destination = np.indices(exact.shape).reshape(2, -1)
    levels = [areas.ancestors(depth) for depth in range(len(areas.levels))]
    codes = [rows[origin] * len(areas) + rows[destination] for rows in levels]
    series = pd.Series(exact.ravel(), pd.MultiIndex.from_arrays(codes))
    gaussian = mechanism.make_gaussian_noise

    def of_arrays(**parameters):
        """The mechanism, which takes lists only in newer versions of OpenDP."""
        noise = gaussian(**parameters)
        return lambda counts: noise(counts.tolist())

    with mock.patch.object(mechanism, "make_gaussian_noise", of_arrays):
        result = inf_tda(series, (epsilon, DELTA), 1, "bounded", True)
    pairs = result.index.get_level_values(-1).to_numpy()
    ends = (each - areas.first_leaf for each in divmod(pairs, len(areas)))
    return with_sums(areas.leaves, *ends, result.to_numpy())


def main() -> None:
    from .flows import errors_of, exact_pairs, flows_of

    data, repeats, epsilon = flows_of("nyc", 5), 20, 1.0
    exact = exact_pairs(data)
    print(f"{data.flows}, ε = {epsilon:g}: mean L1 error ± standard deviation of {repeats} runs")
    for name, estimate in (
        ("package", lambda: by_package(data, epsilon)),
        ("here", lambda: inftda(data, epsilon, in_turn=False, sensitivity=math.sqrt(2))),
    ):
        errors = [errors_of(exact, estimate())[0] for _ in range(repeats)]
        print(f"{name}: {np.mean(errors):.0f} ± {np.std(errors, ddof=1):.0f}", flush=True)


if __name__ == "__main__":
    main()
