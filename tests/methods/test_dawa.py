"""DAWA: the partition against brute force and exact odds, GreedyH against dense algebra."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.methods.points.dawa import Dawa, bucket_tree
from dpviz.methods.points.greedyh import GRID, level_rates
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.private.mechanisms.partitions import (
    LONG_SHIFT,
    cheapest_partition,
    deviations,
    private_partition,
)


def partitions(n, start=0):
    """All partitions of an aligned line of n cells into dyadic buckets (start, length)."""
    yield [(start, n)]
    if n > 1:
        half = n // 2
        for left in partitions(half, start):
            for right in partitions(half, start + half):
                yield left + right


def buckets(flags):
    """The buckets of a partition, from its flags."""
    n, pieces = len(flags[-1]), []
    for level, flag in enumerate(flags):
        length = n >> level
        above = np.repeat(flags[level - 1], 2) if level else np.zeros(1, dtype=bool)
        pieces += [(i * length, length) for i in np.flatnonzero(flag & ~above)]
    return sorted(pieces)


@given(st.lists(st.integers(0, 50), min_size=8, max_size=8))
def test_deviations_are_those_of_the_definition(counts):
    for level, costs in enumerate(deviations(np.array(counts))):
        for row, part in zip(costs, np.array(counts).reshape(1 << level, -1), strict=True):
            assert row == pytest.approx(np.abs(part - part.mean()).sum(), abs=1e-9)


@given(st.lists(st.integers(-20, 40), min_size=15, max_size=15))
def test_the_partition_is_the_brute_force_minimum(values):
    costs = [np.array(values[(1 << k) - 1 : (2 << k) - 1], dtype=float) for k in range(4)]

    def cost(partition):
        return sum(costs[3 - int(math.log2(size))][start // size] for start, size in partition)

    chosen = buckets(cheapest_partition(costs))
    assert chosen in [sorted(each) for each in partitions(8)]
    assert cost(chosen) == min(map(cost, partitions(8)))


def odds_of_partitions(counts, epsilon, scales, penalty, reach):
    """Exact odds of each partition of 4 cells: sums over every value of the seven noises.

    Independent of the code under test: both halves are enumerated as (cost, shape) tables.
    """
    counts = np.array(counts)

    def deviation(part):
        return np.abs(part - part.mean()).sum()

    def table(part, scale):
        k = np.arange(-reach, reach + 1)
        weight = np.exp(-np.abs(k) * epsilon / scale)
        return deviation(part) + penalty + k, weight / weight.sum()

    def half(part):
        whole, whole_odds = table(part, scales[2])
        first, first_odds = table(part[:1], scales[1])
        second, second_odds = table(part[1:], scales[1])
        singles = np.add.outer(first, second)
        singles_odds = np.outer(first_odds, second_odds)
        masses = {"whole": {}, "split": {}}
        for value, p in zip(whole, whole_odds, strict=True):
            mass = singles_odds[singles >= value].sum() * p
            masses["whole"][round(value * 4)] = masses["whole"].get(round(value * 4), 0) + mass
        for value, p in zip(singles.ravel(), singles_odds.ravel(), strict=True):
            mass = whole_odds[whole > value].sum() * p
            masses["split"][round(value * 4)] = masses["split"].get(round(value * 4), 0) + mass
        return masses

    left, right = half(counts[:2]), half(counts[2:])
    root, root_odds = table(counts, scales[4])
    result, apart = {}, 0.0
    for a, b in itertools.product(left, right):
        mass = 0.0
        for x, p in left[a].items():
            for y, q in right[b].items():
                mass += p * q * root_odds[np.round(root * 4) > x + y].sum()
        result[a, b] = mass
        apart += mass
    result["root"] = 1.0 - apart
    return result


SCALES = {1: 2, 2: 3, 4: 4}


@pytest.mark.parametrize("counts", [[0, 0, 0, 0], [3, 0, 0, 0], [2, 2, 0, 1], [0, 4, 4, 0]])
def test_the_partition_keeps_its_epsilon_by_exact_enumeration(counts):
    """Loss over every partition of 4 cells and every neighbour that has one record more."""
    epsilon, penalty = 2.0, 0.5
    before = odds_of_partitions(counts, epsilon, SCALES, penalty, 14)
    for cell in range(4):
        more = list(counts)
        more[cell] += 1
        after = odds_of_partitions(more, epsilon, SCALES, penalty, 14)
        for outcome, mass in before.items():
            # The noises are cut at ±14 steps: what is cut off is below 1e-5 of the least odds.
            assert abs(math.log(mass / after[outcome])) <= epsilon * 1.001


def test_the_code_draws_partitions_with_those_odds():
    """Five outcomes, 4,000 runs; each within 5.5 standard deviations (false alarm 2e-7)."""
    counts, epsilon = np.array([3, 0, 1, 1]), 1.0
    exact = odds_of_partitions(counts, epsilon, SCALES, 0.5, 40)
    source, runs = SimulatedNoise(5), 4000
    seen = dict.fromkeys(exact, 0)
    for _ in range(runs):
        share = Budget(epsilon).spend(epsilon, "partition", theorem="test")
        flags = private_partition(source, share, counts, 0.5)
        halves = tuple("whole" if part else "split" for part in flags[1])
        seen["root" if flags[0][0] else halves] += 1
    for outcome, odds in exact.items():
        spread = math.sqrt(runs * odds * (1 - odds)) + 1
        assert abs(seen[outcome] - runs * odds) < 5.5 * spread


def random_tree(seed, power=3, dims=2):
    random = np.random.default_rng(seed)
    costs = [random.random(1 << level) * 3 ** (dims * power - level) for level in range(7)]
    return bucket_tree(cheapest_partition(costs), power, dims)


@pytest.mark.parametrize("seed", range(6))
def test_greedyh_predicts_the_error_of_dense_least_squares(seed):
    tree = random_tree(seed)
    random = np.random.default_rng(seed)
    low = random.integers(0, 6, (12, 2))
    high = low + random.integers(1, 3, (12, 2))
    rates = level_rates(tree, low, high)
    level = np.concatenate([np.full(len(flags), at) for at, flags in enumerate(tree.leaf)])
    leaf = np.concatenate(tree.leaf)
    rate = np.where(leaf, rates.leaf[level], rates.inner[level])
    # Rows: nodes over leaves; along every path the rates add up to 1.
    above = np.zeros((leaf.sum(), len(leaf)))
    for row, node in enumerate(np.flatnonzero(leaf)):
        while node >= 0:
            above[row, node] = 1.0
            node = tree.parent[node]
    np.testing.assert_allclose(above @ rate, 1.0)
    strategy = (above * rate).T
    covariance = np.linalg.inv(strategy.T @ strategy)
    lo, hi = tree.lo[leaf], tree.hi[leaf]
    error = 0.0
    for a, b in zip(low, high, strict=True):
        common = np.maximum(np.minimum(hi, b) - np.maximum(lo, a), 0).prod(axis=1)
        query = common / (hi - lo).prod(axis=1)
        error += query @ covariance @ query
    assert rates.error == pytest.approx(error, rel=1e-9)
    # Better than leaves alone, which is among the choices of every level.
    alone = sum(
        ((np.maximum(np.minimum(hi, b) - np.maximum(lo, a), 0).prod(axis=1)
          / (hi - lo).prod(axis=1)) ** 2).sum()
        for a, b in zip(low, high, strict=True)
    )  # fmt: skip
    assert rates.error <= alone + 1e-9
    assert GRID[0] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_bucket_trees_partition_the_grid(seed):
    tree = random_tree(seed)
    seen = np.zeros((8, 8), dtype=int)
    leaf = np.concatenate(tree.leaf)
    for lo, hi in zip(tree.lo[leaf], tree.hi[leaf], strict=True):
        seen[lo[0] : hi[0], lo[1] : hi[1]] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_an_empty_line_does_not_fall_apart(epsilon):
    """The cheapest of many noisy partitions has tiny lucky buckets: the penalty forbids it."""
    counts = np.zeros(1 << 16, dtype=np.int64)
    sizes = {}
    for penalty in (0.0, Dawa().penalty):
        price = penalty * LONG_SHIFT / epsilon
        share = Budget(epsilon).spend(epsilon, "partition", theorem="test")
        flags = private_partition(SimulatedNoise(7), share, counts, price)
        sizes[penalty] = len(buckets(flags))
    assert sizes[0.0] > 2000
    assert sizes[Dawa().penalty] < 40
