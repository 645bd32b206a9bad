"""Hypothesis strategies, and watched sources of noise, that several rooms share."""

import sys
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from dpviz import Domain
from dpviz.private.budget import Budget, Share
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int


def share(epsilon: float = 1.0) -> Share:
    """A budget that pays for any number of draws."""
    return Budget(epsilon).spend(epsilon, "test", theorem="test")


UNIT_SQUARE = Domain((0.0, 0.0), (1.0, 1.0), columns=("x", "y"))


@st.composite
def cells(draw, dims: int = 2, bits: int = 26, most: int = 60) -> Int:
    """Lattice cells with many coincidences: whole corners, single steps, duplicates.

    One seed draws them all: sixty rows of numbers, one by one, take longer than what is tested.
    """
    n, seed = draw(st.integers(0, most)), draw(st.integers(0, 2**32 - 1))
    random, side = np.random.default_rng(seed), 2**bits
    near = random.choice([0, 1, side // 2 - 1, side // 2, side - 2, side - 1], (n, dims))
    return np.where(random.random((n, dims)) < 0.5, near, random.integers(0, side, (n, dims)))


@st.composite
def indexes(draw, dims: int = 2) -> PointIndex:
    domain = Domain((0.0,) * dims, (1.0,) * dims)
    return PointIndex.from_cells(domain, draw(cells(dims, domain.bits)))


@st.composite
def boxes(draw, side: int, dims: int = 2) -> tuple[Int, Int]:
    """A few lattice boxes [lo, hi), some of them thin or of the whole side."""
    near = st.sampled_from([0, 1, side // 2, side // 2 + 1, side - 1, side])
    line = st.one_of(near, st.integers(0, side))
    pair = st.tuples(line, line).filter(lambda two: two[0] != two[1]).map(sorted)
    rows = draw(st.lists(st.tuples(*[pair] * dims), min_size=1, max_size=8))
    both = np.array(rows, dtype=np.int64)
    return both[:, :, 0].copy(), both[:, :, 1].copy()


@st.composite
def trees(draw, dims: int = 2, side: int = 64) -> Decomposition:
    """Random trees of unequal boxes with random estimates, up to four levels deep."""
    lows, highs = [np.zeros((1, dims), np.int64)], [np.full((1, dims), side, np.int64)]
    parents = [np.array([-1])]
    start = 0
    for _ in range(draw(st.integers(0, 4))):
        low, high = lows[-1], highs[-1]
        new_low, new_high, new_parent = [], [], []
        for row in range(len(low)):
            axis = draw(st.integers(0, dims - 1))
            if high[row, axis] - low[row, axis] < 2 or not draw(st.booleans()):
                continue
            cut = draw(st.integers(int(low[row, axis]) + 1, int(high[row, axis]) - 1))
            first_high, second_low = high[row].copy(), low[row].copy()
            first_high[axis] = second_low[axis] = cut
            new_low += [low[row], second_low]
            new_high += [first_high, high[row]]
            new_parent += [start + row] * 2
        if not new_parent:
            break
        start += len(low)
        lows.append(np.array(new_low))
        highs.append(np.array(new_high))
        parents.append(np.array(new_parent))
    parent = np.concatenate(parents)
    number = st.floats(-50, 500, allow_subnormal=False)
    count = draw(st.lists(number, min_size=len(parent), max_size=len(parent)))
    variance = draw(st.lists(st.floats(0, 100), min_size=len(parent), max_size=len(parent)))
    return Decomposition(
        np.concatenate(lows), np.concatenate(highs), parent, np.array(count), np.array(variance)
    )


def watched(noise: type, look: Callable[[], object]) -> type:
    """A kind of noise that looks before each draw."""

    def drawn(name):
        def draw(self, *given):
            look()
            return getattr(noise, name)(self, *given)

        return draw

    draws = ("two_sided", "one_sided", "words")
    return type("Watched", (noise,), {name: drawn(name) for name in draws})


def watched_noise() -> tuple[SimulatedNoise, set[str]]:
    """Simulated noise, and the modules that drew from it."""
    callers: set[str] = set()

    def look() -> None:
        callers.add(sys._getframe(2).f_globals["__name__"])

    return watched(SimulatedNoise, look)(0), callers
