"""One city published in five ways at equal error, and attacks that test for one person.

PUBLIC data only. The attacker knows everybody else, the method and its parameter: the adversary
that differential privacy is defined against. All noise is simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.evaluation.lesson import noisy_counts, records
from dpviz.private.handle import DataHandle
from dpviz.trees.lattice import Float, Int

BLOCKS, DISTRICTS = 64, 16
"""Blocks and districts per side: counts are published for blocks, errors measured on districts."""

EDITIONS = 4
"""Editions over which the error of a random publication is averaged."""

Random = np.random.Generator
Area = NDArray[np.bool_]
"""Blocks of an area, bool (BLOCKS, BLOCKS)."""


@dataclass(frozen=True, eq=False)
class People:
    """Where people live, in blocks.

    Attributes:
        places: x and y from 0 to BLOCKS, float64 (n, 2).
        counts: exact people of each block, float64 (BLOCKS, BLOCKS), rows by y.
    """

    places: Float
    counts: Float

    @classmethod
    def at(cls, places: Float) -> People:
        """People at places, counted by block."""
        return cls(places, _counted(places))

    def without(self, person: int) -> People:
        """All but one of them."""
        return People.at(np.delete(self.places, person, axis=0))

    def block(self, person: int) -> Area:
        """Block in which a person lives."""
        return _counted(self.places[[person]]) > 0


def people(handle: DataHandle) -> People:
    """People of a public data set."""
    low, high = np.array(handle.domain.lower), np.array(handle.domain.upper)
    return People.at((records(handle) - low) / (high - low) * BLOCKS)


@dataclass(frozen=True)
class Publication:
    """A way to publish counts: an answer is a protected sum over a published table.

    Attributes:
        unit: format of the parameter in words.
        table: numbers by block that one edition holds, from people, parameter and random numbers.
        expected: mean of that table, as an attacker computes it.
        random: whether the table is random; the expected one is then a sum over people.
        protect: applied to the sum over any area that is asked for.
        target: area at which the attack made for this publication looks.
        parameters: candidates, from little protection to much; none where ε is the parameter.
    """

    name: str
    unit: str
    table: Callable[[People, float, Random], Float]
    expected: Callable[[People, float], Float]
    protect: Callable[[Float, float], Float]
    target: Callable[[Publication, People, Area, float], Area]
    parameters: tuple[float, ...] = ()
    random: bool = False

    def answers(self, table: Float, areas: NDArray[np.bool_], parameter: float) -> Float:
        """Published counts of areas, bool (k, BLOCKS, BLOCKS): float64 (k,)."""
        return self.protect((table * areas).sum(axis=(1, 2)), parameter)

    def error(self, town: People, parameter: float, random: Random) -> float:
        """Mean absolute error of the districts' published counts."""
        exact = _districts(town.counts)
        editions = (self.table(town, parameter, random) for _ in range(EDITIONS))
        published = [self.protect(_districts(table), parameter) for table in editions]
        return float(np.abs(np.array(published) - exact).mean())


def _counted(places: Float) -> Float:
    x, y = np.clip(places, 0, BLOCKS - 1e-9).astype(np.int64).T
    counts = np.bincount(y * BLOCKS + x, minlength=BLOCKS**2)
    return counts.reshape(BLOCKS, BLOCKS).astype(np.float64)


def _districts(table: Float) -> Float:
    side = BLOCKS // DISTRICTS
    sums: Float = table.reshape(DISTRICTS, side, DISTRICTS, side).sum(axis=(1, 3))
    return sums


def _exact(town: People, _parameter: float, _random: Random | None = None) -> Float:
    return town.counts


def _unchanged(answers: Float, _parameter: float) -> Float:
    return answers


def _suppressed(answers: Float, least: float) -> Float:
    return np.where(answers >= least, answers, 0.0)


def _rounded(answers: Float, base: float) -> Float:
    return np.floor(answers / base + 0.5) * base


def _jittered(town: People, reach: float, random: Random) -> Float:
    return _counted(town.places + random.uniform(-reach, reach, town.places.shape))


def _mean_jittered(town: People, reach: float) -> Float:
    """Expected dots by block: a dot lies anywhere in a square of side 2·reach around its person."""
    home = np.floor(town.places)
    steps = range(-int(np.ceil(reach)), int(np.ceil(reach)) + 1)
    inside = [
        np.clip(
            np.minimum(town.places + reach, home + step + 1)
            - np.maximum(town.places - reach, home + step),
            0,
            None,
        )
        / (2 * reach)
        for step in steps
    ]
    mean = np.zeros(BLOCKS**2)
    at = [np.clip(home + step, 0, BLOCKS - 1).astype(np.int64) for step in steps]
    for x, across in zip(at, inside, strict=True):
        for y, up in zip(at, inside, strict=True):
            where, share = y[:, 1] * BLOCKS + x[:, 0], across[:, 0] * up[:, 1]
            mean += np.bincount(where, share, minlength=BLOCKS**2)
    return mean.reshape(BLOCKS, BLOCKS)


def _z_curve() -> Int:
    """Numbers of the blocks in the order of a Z-shaped curve, which visits neighbours together."""
    y, x = np.divmod(np.arange(BLOCKS**2), BLOCKS)
    place = np.zeros(BLOCKS**2, dtype=np.int64)
    for bit in range(BLOCKS.bit_length() - 1):
        place |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return np.argsort(place)


CURVE = _z_curve()


def _generalised(town: People, least: float, _random: Random | None = None) -> Float:
    """Exact counts of generalised cells: blocks joined until each has enough people.

    Blocks are joined along a Z-shaped curve; an empty one may stay alone. A cell's count is spread
    evenly over its blocks, as a reader of the map would.
    """
    counts = town.counts.ravel()[CURVE]
    cell, full, inside, cells = 0, 0, 0.0, []
    for count in counts.tolist():
        cells.append(cell)
        inside += count
        if inside >= least:
            full = cell
        if inside >= least or inside == 0:  # an empty block holds no person
            cell, inside = cell + 1, 0.0
    joined = np.minimum(cells, full) if inside else np.array(cells)  # join the last few to a block
    spread = np.empty(BLOCKS**2)
    spread[CURVE] = (np.bincount(joined, counts) / np.bincount(joined))[joined]
    return spread.reshape(BLOCKS, BLOCKS)


def _noisy(town: People, epsilon: float, random: Random) -> Float:
    noise = noisy_counts(0, epsilon, BLOCKS**2, int(random.integers(2**31)))
    return town.counts + noise.reshape(BLOCKS, BLOCKS)


def _block(_way: Publication, _others: People, block: Area, _parameter: float) -> Area:
    return block


def _everything(_way: Publication, _others: People, block: Area, _parameter: float) -> Area:
    return np.ones_like(block)


def _edge(way: Publication, others: People, block: Area, parameter: float) -> Area:
    """Grow an area from the block until one person more would change its published count."""
    order = np.argsort(~block.ravel(), kind="stable")
    sums = others.counts.ravel()[order].cumsum()
    jumps = way.protect(sums, parameter) != way.protect(sums + 1, parameter)
    area = np.zeros(block.size, dtype=bool)
    area[order[: int(np.argmax(jumps)) + 1]] = True
    return area.reshape(block.shape)


WHOLE = tuple(np.unique(np.geomspace(1, 20_000, 150).round()).tolist())
REACHES = tuple(np.geomspace(0.01, BLOCKS / 2, 60).tolist())

PUBLICATIONS = (
    Publication("Suppression", "hidden below {:,.0f}", _exact, _exact, _suppressed, _edge, WHOLE),
    Publication("Rounding", "to multiples of {:,.0f}", _exact, _exact, _rounded, _edge, WHOLE),
    Publication(
        "Jitter",
        "by up to {:.2g} blocks",
        _jittered,
        _mean_jittered,
        _unchanged,
        _everything,
        REACHES,
        random=True,
    ),
    Publication(
        "k-anonymity",
        "cells of {:,.0f} or more",
        _generalised,
        _generalised,
        _unchanged,
        _block,
        WHOLE,
    ),
    Publication("Noise", "ε = {:g}", _noisy, _exact, _unchanged, _block, random=True),
)
NOISE = PUBLICATIONS[-1]
LOOK, SUBTRACT, BEST = ATTACKS = (
    "look at their block",
    "subtract two areas",
    "the attack made for it",
)
TIE = 1e-9
"""Differences of evidence below it are floating-point rounding."""


def equal_error(town: People, epsilon: float, seed: int) -> dict[str, tuple[float, float]]:
    """Parameter of each publication that errs as much as noise does, and its measured error.

    Returns by the publication's name: parameter, and mean absolute error of a district's count.
    """
    wanted = NOISE.error(town, epsilon, np.random.default_rng(seed))
    chosen = {}
    for way in PUBLICATIONS[:-1]:
        errors = {
            parameter: way.error(town, parameter, np.random.default_rng(seed))
            for parameter in way.parameters
        }
        nearest = min(errors, key=lambda each: abs(errors[each] - wanted))
        chosen[way.name] = nearest, errors[nearest]
    return {**chosen, NOISE.name: (epsilon, wanted)}


def successes(
    way: Publication, town: People, parameter: float, attack: str, tries: int, seed: int
) -> int:
    """Count how often an attacker tells whether a person is in the published data.

    In each try a person is drawn at random and a coin decides whether they are in; chance alone is
    right in half of the tries. The seed decides the same persons, coins and editions for every
    attack.
    """
    random = np.random.default_rng(seed)
    mean = way.expected(town, parameter)
    return sum(_try(way, town, mean, parameter, attack, random) for _ in range(tries))


def _try(
    way: Publication, town: People, mean: Float, parameter: float, attack: str, random: Random
) -> bool:
    """Return whether one attacker is right."""
    person, present = int(random.integers(len(town.places))), bool(random.integers(2))
    block, others = town.block(person), town.without(person)
    if attack == SUBTRACT:
        everything = np.ones_like(block)
        areas, signs = np.stack([everything, everything & ~block]), np.array([1.0, -1.0])
    else:
        target = way.target if attack == BEST else _block
        areas, signs = target(way, others, block, parameter)[None], np.ones(1)
    edition = way.table(town if present else others, parameter, random)
    if way.random:
        mean_without = mean - way.expected(People.at(town.places[[person]]), parameter)
    else:
        mean_without = way.expected(others, parameter)
    seen, without, with_one = (
        float((way.answers(table, areas, parameter) * signs).sum())
        for table in (edition, mean_without, mean)
    )
    evidence = (seen - (without + with_one) / 2) * (with_one - without)
    guess = evidence > 0 if abs(evidence) > TIE else bool(random.integers(2))
    return guess == present
