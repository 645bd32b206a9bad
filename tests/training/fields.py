"""Random scenes of made-up places: what post-processing is trained on, and nobody's locations.

    uv run python -m tests.training.fields SEED FILE.png

A scene is a mixture of parts that records are drawn from: rasters of densities with a cascade below
their pixels, streets, and places with many records at exactly one point. Each scene has a seed, and
is the same on every machine with the same NumPy. What kinds there are is meant to bracket real sets
in how unevenly records lie in the quarters of a cell, how many quarters are empty, and how far
halves follow their neighbours, from one level to the next; no real set was fitted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

import dpviz
from dpviz.datasets.city import drawn
from dpviz.private.handle import DataHandle
from dpviz.trees.lattice import Float, Int, morton

UNIT = dpviz.Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
BITS = 9
"""A raster has 2^9 pixels per side; below it goes on as a cascade, down to :data:`FINEST`."""

FINEST = 17

LEAST_LAND = 0.1
"""A scene with less of its records ashore has no shore."""

Random = np.random.Generator


class Part(Protocol):
    """What records of one kind are drawn from."""

    def points(self, n: int, random: Random) -> Float:
        """Points around the unit square, (n, 2)."""


@dataclass(frozen=True)
class Raster:
    """Densities of pixels (side, side), and a log-normal cascade of a spread inside each."""

    density: Float
    spread: float
    key: int

    def points(self, n: int, random: Random) -> Float:
        """See :class:`Part`."""
        side = len(self.density)
        pixel = drawn(self.density.ravel() / self.density.sum(), n, random)
        cell = np.stack(np.divmod(pixel, side), axis=1)
        for _ in range(FINEST - BITS):
            # The weights of a cell's quarters are a function of where it is.
            code = morton(cell) * np.uint64(4) + np.uint64(self.key)
            weight = np.stack([normal(code + np.uint64(each)) for each in range(4)], axis=1)
            weight = np.cumsum(np.exp(self.spread * weight), axis=1)
            chosen = random.random((n, 1)) * weight[:, 3:] >= weight[:, :3]
            quarter = chosen.sum(axis=1)
            cell = 2 * cell + np.stack([quarter >> 1, quarter & 1], axis=1)
            side *= 2
        return (cell + random.random((n, 2))) / side


@dataclass(frozen=True)
class Streets:
    """Lines from ``start`` to ``end``, (m, 2), with weights (m,); points stand a little aside."""

    start: Float
    end: Float
    weight: Float
    aside: float

    def points(self, n: int, random: Random) -> Float:
        """See :class:`Part`."""
        line = drawn(self.weight / self.weight.sum(), n, random)
        along = self.start[line] + random.random((n, 1)) * (self.end - self.start)[line]
        return along + self.aside * random.standard_normal((n, 2))


@dataclass(frozen=True)
class Places:
    """Points (k, 2) with weights (k,) and how far records scatter around each: 0 is not at all."""

    at: Float
    weight: Float
    spread: Float

    def points(self, n: int, random: Random) -> Float:
        """See :class:`Part`."""
        place = drawn(self.weight / self.weight.sum(), n, random)
        return self.at[place] + self.spread[place, None] * random.standard_normal((n, 2))


@dataclass(frozen=True)
class Field:
    """A scene.

    Attributes:
        components: what records are drawn from.
        share: of the records in each, summing to 1.
        land: pixels that may hold records, or None for all.
        corner, size: the scene's rectangle in the unit square, (2,) each.
        bend: how streets and all else are bent, (waves, 5): two frequencies, a phase, two reaches.
        places: records per place of a scene whose records are at a few places; 0 if anywhere.
        tail: of how many times each of these is visited, the exponent of a Pareto law.
        decimals: steps per side that coordinates are rounded to; 0 if they are not.
    """

    components: tuple[Part, ...]
    share: Float
    land: Float | None
    corner: Float
    size: Float
    bend: Float
    places: float
    tail: float
    decimals: int

    def points(self, n: int, random: Random) -> Float:
        """Records in the unit square, (n, 2)."""
        if not self.places:
            return self._anywhere(n, random)
        at = self._anywhere(max(round(n / self.places), 20), random)
        visits = random.pareto(self.tail, len(at)) + 0.05
        return at[drawn(visits / visits.sum(), n, random)]

    def ashore(self, land: Float, random: Random) -> float:
        """The share of records that a coast would leave where they are."""
        points = (replace(self, corner=np.zeros(2), size=np.ones(2)))._anywhere(1000, random)
        pixel = np.minimum((points * len(land)).astype(np.int64), len(land) - 1)
        return float(land[pixel[:, 0], pixel[:, 1]].mean())

    def _anywhere(self, n: int, random: Random) -> Float:
        inside = np.empty((0, 2))
        while len(inside) < n:
            many = random.multinomial(round(1.2 * (n - len(inside))) + 20, self.share)
            drawn = zip(self.components, many, strict=True)
            points = np.concatenate([part.points(each, random) for part, each in drawn])
            first, second, phase, *reach = self.bend.T
            wave = np.sin(points @ np.stack([first, second]) + phase)
            points = points + wave @ np.stack(reach, axis=1)
            points = points[np.all((points >= 0) & (points < 1), axis=1)]
            if self.land is not None:
                pixel = (points * len(self.land)).astype(np.int64)
                points = points[self.land[pixel[:, 0], pixel[:, 1]] > 0]
            inside = np.concatenate([inside, points])
        inside = random.permutation(inside)[:n]
        inside = self.corner + self.size * inside
        if self.decimals:
            inside = np.floor(inside * self.decimals) / self.decimals
        return np.asarray(inside)


def normal(code: Int) -> Float:
    """A number for each code as from a standard normal law, roughly: a hash (splitmix64)."""
    value = code.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ (value >> np.uint64(shift))) * np.uint64(factor)
    value ^= value >> np.uint64(31)
    halves = [(value >> np.uint64(each)) & np.uint64(0xFFFF) for each in (0, 16, 32, 48)]
    total = np.sum(halves, axis=0, dtype=np.float64) / 0x10000 - 2.0
    return np.asarray(total * np.sqrt(3.0))  # four uniform ones have the variance 1/3


def waves(random: Random, power: float, aspect: float = 1.0) -> Float:
    """A Gaussian random field of unit variance whose spectrum falls with a power, a raster."""
    side = 1 << BITS
    across = np.fft.fftfreq(side)[:, None] * side * aspect
    along = np.fft.rfftfreq(side) * side
    length = np.hypot(across, along)
    length[0, 0] = np.inf
    white = np.fft.rfft2(random.standard_normal((side, side)))
    field = np.fft.irfft2(white * length ** (-power / 2.0), s=(side, side))
    return np.asarray(field / field.std())


def gaussian(random: Random) -> Float:
    """An exponentiated Gaussian random field, in part of the scenes with holes."""
    field = waves(random, random.uniform(1.4, 3.6), random.choice([1.0, 1.0, random.uniform(1, 4)]))
    density = np.exp(random.uniform(0.8, 3.2) * field)
    if random.random() < 0.4:
        density[field < np.quantile(field, random.uniform(0.1, 0.7))] = 0.0
    return density


def cascade(random: Random) -> Float:
    """A log-normal cascade with holes; shifted round, so that it does not know the tree's cells."""
    density = np.ones((1, 1))
    spread, holes = random.uniform(0.3, 1.3), random.choice([0.0, random.uniform(0.0, 0.25)])
    later = random.uniform(0.8, 1.1)
    for level in range(BITS):
        density = np.repeat(np.repeat(density, 2, axis=0), 2, axis=1)
        density = np.roll(density, random.integers(len(density), size=2), axis=(0, 1))
        density *= np.exp(spread * later**level * random.standard_normal(density.shape))
        if level > 1:
            density[random.random(density.shape) < holes] *= random.choice([0.0, 0.02])
    return density


def ridges(random: Random) -> Float:
    """Lines along the zeros of a Gaussian field: shores, rivers, roads that bend."""
    field = waves(random, random.uniform(2.6, 4.0))
    width = 10 ** random.uniform(-2.3, -0.8)
    along = np.exp(random.uniform(0.5, 2.0) * waves(random, random.uniform(1.5, 3.0)))
    return np.asarray(np.exp(-np.abs(field - random.normal(0, 0.5)) / width) * along + 1e-6)


@dataclass(frozen=True)
class Towns:
    """Towns: centres (k, 2), records' weights (k,), radii (k,)."""

    at: Float
    weight: Float
    radius: Float

    @classmethod
    def drawn(cls, random: Random) -> Towns:
        """Pareto sizes; where they stand follows a Gaussian field, radii the sizes."""
        many = int(10 ** random.uniform(0.0, 2.7))
        density = np.exp(random.uniform(0.0, 2.5) * waves(random, random.uniform(2, 3.5)))
        at = Raster(density, 0.0, 0).points(many, random)
        weight = random.pareto(random.uniform(0.7, 1.6), many) + 1.0
        radius = weight ** random.uniform(0.25, 0.55)
        largest = 10 ** random.uniform(-1.5, -0.35)
        return cls(at, weight / weight.sum(), largest * radius / radius.max())

    def raster(self, random: Random) -> Raster:
        """Their densities: each falls from its centre, and is rough within."""
        axis = (np.arange(1 << BITS) + 0.5) / (1 << BITS)
        density = np.zeros((len(axis), len(axis)))
        shape, ratio = random.uniform(0.7, 2.0), np.exp(random.uniform(-0.5, 0.5))
        for (x, y), weight, radius in zip(self.at, self.weight, self.radius, strict=True):
            reach = max(radius, 1.0 / len(axis))
            rows, columns = (np.abs(axis - each) < 5 * reach for each in (x, y))
            away = np.hypot(
                (axis[rows, None] - x) / (reach * ratio), (axis[columns] - y) * ratio / reach
            )
            density[np.ix_(rows, columns)] += weight / reach**2 * np.exp(-(away**shape))
        density += 10 ** random.uniform(-7, -2) * density.mean()
        rough = random.uniform(0.0, 1.6)
        density = density * np.exp(rough * waves(random, random.uniform(1.0, 2.6)))
        return Raster(density, random.uniform(0.0, 1.1), int(random.integers(1 << 40)))

    def streets(self, random: Random) -> Streets:
        """A grid of streets in each of the larger towns, and roads between neighbours."""
        lines: list[tuple[Float, Float, Float]] = []
        largest = np.argsort(-self.weight)[:40]
        turned, spacing = random.random() < 0.6, 10 ** random.uniform(-2.6, -1.6)
        rough, missing = random.uniform(0.3, 1.5), random.uniform(0.0, 0.4)
        for town in largest:
            reach = self.radius[town]
            half = int(np.clip(2.0 * reach / spacing, 2, 22))
            step = np.arange(-half, half + 1) * 2.0 * reach / half
            step = step + random.normal(0.0, random.uniform(0, 0.3), len(step)) * (
                step[1] - step[0]
            )
            grid = np.stack(np.meshgrid(step, step, indexing="ij"), axis=2)
            angle = random.uniform(0, np.pi / 2) * turned
            turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            grid = grid @ turn
            main = np.where(np.arange(2 * half + 1) % random.integers(3, 7) == 0, 3.0, 1.0)
            for low, high, side in (
                (grid[:-1], grid[1:], main[None, :]),
                (grid[:, :-1], grid[:, 1:], main[:, None]),
            ):
                middle = np.linalg.norm(low + high, axis=2) / 2.0
                weight = np.exp(
                    -((middle / reach) ** 1.5) + rough * random.normal(size=middle.shape)
                )
                weight = weight * side * (random.random(middle.shape) >= missing)
                weight = self.weight[town] * weight / max(weight.sum(), 1e-300)
                centre = self.at[town]
                low, high = (centre + each.reshape(-1, 2) for each in (low, high))
                lines.append((low, high, weight.ravel()))
        lines += self._roads(random, largest)
        start, end, weights = (np.concatenate(each) for each in zip(*lines, strict=True))
        return Streets(start, end, weights, 10 ** random.uniform(-4.5, -3.0))

    def _roads(self, random: Random, largest: Int) -> list[tuple[Float, Float, Float]]:
        """Between each of these towns and the nearest two that are larger."""
        roads, traffic = [], 10 ** random.uniform(-2, 0)
        for rank, town in enumerate(largest[1:], 1):
            larger = largest[:rank]
            away = np.linalg.norm(self.at[larger] - self.at[town], axis=1)
            for other in larger[np.argsort(away)[:2]]:
                path = np.stack([self.at[town], self.at[other]])
                for _ in range(5):  # a path's middles move by a part of their distance
                    aside = np.linalg.norm(path[1:] - path[:-1], axis=1, keepdims=True)
                    middle = (path[1:] + path[:-1]) / 2.0
                    middle = middle + 0.12 * aside * random.normal(size=middle.shape)
                    longer = np.empty((2 * len(path) - 1, 2))
                    longer[::2], longer[1::2] = path, middle
                    path = longer
                ends = np.abs(np.linspace(-1, 1, len(path) - 1)) ** random.uniform(1, 5)
                weight = (ends + 0.05) * np.exp(random.normal(size=len(ends)))
                weight *= traffic * self.weight[town] / weight.sum()
                roads.append((path[:-1], path[1:], weight))
        return roads


def _towns(random: Random) -> list[Part]:
    towns = Towns.drawn(random)
    return [towns.raster(random), towns.streets(random)][:: random.choice([1, -1])]


def _raster(density: Callable[[Random], Float]) -> Callable[[Random], list[Part]]:
    def mixture(random: Random) -> list[Part]:
        key = int(random.integers(1 << 40))
        return [Raster(density(random), random.uniform(0.0, 1.2), key)]

    return mixture


def venues(random: Random, around: Part) -> Places:
    """Places with very many records each, Pareto by size; they follow another part."""
    many = int(10 ** random.uniform(0.5, 3.5))
    weight = random.pareto(random.uniform(0.8, 1.8), many) + 0.2
    spread = 10 ** random.uniform(-4.5, -2.2, many) * (random.random(many) < random.random())
    return Places(around.points(many, random), weight, spread)


KINDS: dict[str, tuple[float, Callable[[Random], list[Part]]]] = {
    "towns": (0.6, _towns),
    "gaussian": (0.15, _raster(gaussian)),
    "cascade": (0.15, _raster(cascade)),
    "ridges": (0.1, _raster(ridges)),
}
"""Kind → how often it is drawn, and its parts."""


def field(seed: int) -> Field:
    """The scene of a seed: one to three kinds, venues, a shore, a margin, as chance has it."""
    random = np.random.default_rng([20_261, seed])
    mixture: list[Part] = []
    frequency = [often for often, _ in KINDS.values()]
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        kind = random.choice(list(KINDS), p=frequency)
        mixture += KINDS[kind][1](random)
    if random.random() < 0.5:
        mixture.append(venues(random, mixture[0]))
    share = random.dirichlet(np.full(len(mixture), 0.7))
    land = None
    if random.random() < 0.5:
        height = waves(random, random.uniform(2.4, 3.8))
        land = (height > np.quantile(height, random.uniform(0.1, 0.7))).astype(np.float64)
    size = 2.0 ** -random.exponential(1.0, 2) if random.random() < 0.6 else np.ones(2)
    bend = np.zeros((5, 5))
    bend[:, :2] = random.normal(0.0, 5.0, (5, 2))
    bend[:, 2] = random.uniform(0.0, 2 * np.pi, 5)
    bend[:, 3:] = random.normal(0.0, 0.02, (5, 2)) * (random.random() < 0.7)
    places = 10 ** random.uniform(0.3, 1.6) if random.random() < 0.25 else 0.0
    decimals = int(10 ** random.uniform(3.3, 5.5)) if random.random() < 0.25 else 0
    corner = random.random(2) * (1.0 - size)
    tail = random.uniform(0.9, 2.0)
    scene = Field(tuple(mixture), share, None, corner, size, bend, places, tail, decimals)
    if land is None or scene.ashore(land, random) < LEAST_LAND:
        return scene
    return replace(scene, land=land)


def scene(seed: int, n: int, draw: int = 0) -> DataHandle:
    """Records of a seed's scene: public data, for simulated noise.

    Args:
        seed: of the scene.
        n: how many.
        draw: another number draws other records of the same scene.
    """
    points = field(seed).points(n, np.random.default_rng([20_262, seed, draw]))
    return dpviz.from_points(points, UNIT, name=f"scene {seed}", public=True)


def main() -> None:
    """Draw a scene."""
    import matplotlib.pyplot as plt

    points = field(int(sys.argv[1])).points(200_000, np.random.default_rng(0))
    counts = np.histogram2d(*points.T, bins=512, range=[(0, 1), (0, 1)])[0]
    plt.imsave(Path(sys.argv[2]), np.log1p(counts).T[::-1], cmap="magma")


if __name__ == "__main__":
    main()
