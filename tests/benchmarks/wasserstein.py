"""Distance of synthetic points from the real ones, beside a mechanism of optimal order.

    uv run python -m tests.benchmarks.wasserstein [--n 1000] [--repeats 4] [--authors FOLDER]

PMM (the private measure mechanism of Y. He, R. Vershynin, Y. Zhu: Algorithmically Effective
Differentially Private Synthetic Data, COLT 2023) is optimal in order for the 1-Wasserstein distance
of points in a cube; this is our own writing of its idea, for squares. The code of its authors runs
beside it from a checkout (github.com/kasanhyy/PMM): FOLDER. Distances are exact: of equally many
points, by an optimal assignment.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.build import build
from dpviz.domain import Domain
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.trees.lattice import Float

EPSILONS = (0.2, 1.0, 5.0)
METHODS = ("privtree", "ladder_tree", "quadtree")


def distance(one: Float, other: Float) -> float:
    """W1 of two sets of equally many points, (n, d) each."""
    cost = cdist(one, other)
    return float(cost[linear_sum_assignment(cost)].mean())


def private_measure(points: Float, epsilon: float, random: np.random.Generator) -> Float:
    """As many points as there are, drawn from PMM's measure on the unit square.

    Cells are halved along the axes in turn, r = log2(εn) times; the halves of level j get discrete
    Laplace noise of scale σ_j ∝ 2^((r − j)/4), whose rates add up to ε, and a count that lacks
    consistency is mended inside its parent's.
    """
    levels = max(1, math.ceil(math.log2(max(epsilon * len(points), 2))))
    scale = 2.0 ** ((levels - np.arange(levels + 1)) / 4)
    scale *= (1 / scale).sum() / epsilon
    codes = np.zeros(len(points), dtype=np.int64)
    low, side = np.zeros((1, 2)), np.ones(2)
    rest = points.copy()

    def noisy(level: int) -> Float:
        p = -math.expm1(-1 / scale[level])
        exact = np.bincount(codes, minlength=1 << level)
        return exact + random.geometric(p, 1 << level) - random.geometric(p, 1 << level)

    mass = np.maximum(noisy(0), 0.0).astype(np.float64)
    for level in range(1, levels + 1):
        axis = (level - 1) % 2
        half = rest[:, axis] >= 0.5
        rest[:, axis] = rest[:, axis] * 2 - half
        codes = codes * 2 + half
        side[axis] /= 2
        low = np.repeat(low, 2, axis=0)
        low[1::2, axis] += side[axis]
        pair = np.maximum(noisy(level).reshape(-1, 2), 0.0)
        shift = (mass - pair.sum(axis=1)) / 2
        pair = np.maximum(pair + shift[:, None], 0.0)
        whole = pair.sum(axis=1, keepdims=True)
        share = np.where(whole > 0, pair / np.where(whole > 0, whole, 1.0), 0.5)
        mass = (mass[:, None] * share).ravel()
    chance = mass / mass.sum() if mass.sum() > 0 else np.full(len(mass), 1 / len(mass))
    rows = np.searchsorted(
        np.cumsum(chance), (np.arange(len(points)) + random.random()) / len(points)
    ).clip(0, len(mass) - 1)
    return np.asarray(low[rows] + random.random((len(points), 2)) * side)


def authors_measure(code: ModuleType, points: Float, epsilon: float) -> Float:
    """As many points as there are, from those that the authors' code makes; NumPy's global noise.

    Its level j, of 0 to r, gets noise of rate ε·2^((j − r)/4) in the plane: these add up to more
    than ε, and r itself follows from the ε it is given. It gets the one whose rates add up to ε.
    """

    def spent(given: float) -> float:
        levels = math.ceil(math.log2(given * len(points)))
        return float(given * (2.0 ** ((np.arange(levels + 1) - levels) / 4)).sum())

    low, high = 2 / len(points), epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) <= epsilon else (low, middle)
    random = np.random.default_rng(0)
    drawn = random.permutation(code.pmm_data(points, low))
    more = random.permutation(drawn)[: max(len(points) - len(drawn), 0)]
    return np.concatenate([drawn, more])[: len(points)]


def authors_code(folder: Path) -> ModuleType:
    """Their module, without the plots that it imports and does not use."""
    for name in ("bokeh", "bokeh.colors", "bokeh.colors.color"):
        sys.modules.setdefault(name, ModuleType(name))
    spec = importlib.util.spec_from_file_location("pmm", folder / "pmm.py")
    assert spec is not None, folder
    assert spec.loader is not None, folder
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def towns(n: int, random: np.random.Generator) -> Float:
    """Points of 40 towns of uneven size in the unit square, a tenth of them anywhere."""
    centre, weight = random.uniform(0.1, 0.9, (40, 2)), random.pareto(1.1, 40) + 0.05
    town = random.choice(40, n, p=weight / weight.sum())
    points = centre[town] + random.normal(size=(n, 2)) * 0.01
    away = random.random(n) < 0.1
    points[away] = random.random((int(away.sum()), 2))
    return np.asarray(points.clip(0.0, 1.0 - 1e-9))


def main() -> None:
    """Print the table, 1000 times the distances: means and their standard errors."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--n", type=int, default=1_000, help="points, 10,000 at most")
    arguments.add_argument("--repeats", type=int, default=4)
    arguments.add_argument("--authors", type=Path, help="a checkout of the authors' code of PMM")
    given = arguments.parse_args()
    random = np.random.default_rng(0)
    points = towns(given.n, random)
    square = Domain((0.0, 0.0), (1.0, 1.0))
    data = DataHandle("towns", square, PointIndex.from_points(square, points), public=True)
    rows = {f"`{name}`": tree(data, name, given.n) for name in METHODS}
    rows["PMM, our writing"] = lambda epsilon, _: private_measure(points, epsilon, random)
    if given.authors:
        code = authors_code(given.authors)
        np.random.seed(0)  # noqa: NPY002  their code draws from it
        rows["PMM, its authors' code"] = lambda epsilon, _: authors_measure(code, points, epsilon)
    print(f"| | {' | '.join(f'{epsilon:g}' for epsilon in EPSILONS)} |")
    print("|---" * (len(EPSILONS) + 1) + "|")
    for title, draw in rows.items():
        cells = []
        for epsilon in EPSILONS:
            far = [distance(points, draw(epsilon, seed)) for seed in range(given.repeats)]
            error = float(np.std(far, ddof=1)) / math.sqrt(given.repeats)
            cells.append(f"{1000 * float(np.mean(far)):.1f} ± {1000 * error:.1f}")
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


def tree(data: DataHandle, name: str, n: int) -> Callable[[float, int], Float]:
    """What draws n synthetic points from a method's release at an ε with a seed."""

    def draw(epsilon: float, seed: int) -> Float:
        return build(data, name, epsilon, seed=seed).sample(n, seed=seed)

    return draw


if __name__ == "__main__":
    main()
