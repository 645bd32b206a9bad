"""Speeds; run on demand: ``uv run pytest tests/benchmarks/bench_speed.py``.

The points are synthetic and as skewed as real ones: clusters of all sizes, rounded to a street's
width, 1.6 million of them.
"""

import numpy as np
import pytest
import shapely

import dpviz
from dpviz import Domain
from dpviz.evaluation.truth import exact_counts
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex

N = 1_600_000
DOMAIN = Domain((-8.7, 49.8), (1.8, 60.9))


def clustered(n):
    random = np.random.default_rng(0)
    centres = random.uniform([-8.0, 50.2], [1.2, 60.0], size=(4000, 2))
    weight = random.pareto(1.1, len(centres)) + 0.05
    chosen = random.choice(len(centres), n, p=weight / weight.sum())
    spread = 0.002 * (1 + np.sqrt(weight))[chosen, None]
    return np.round(centres[chosen] + random.normal(size=(n, 2)) * spread, 5)


@pytest.fixture(scope="module")
def points():
    return clustered(N)


@pytest.fixture(scope="module")
def handle(points):
    return DataHandle("bench", DOMAIN, PointIndex.from_points(DOMAIN, points), public=True)


@pytest.fixture(scope="module")
def rects():
    random = np.random.default_rng(1)
    share = np.exp(random.uniform(np.log(0.01), np.log(0.1), 10_000))
    aspect = np.exp(random.uniform(np.log(0.25), np.log(4), 10_000))
    size = np.stack([np.sqrt(share * aspect), np.sqrt(share / aspect)], axis=1)
    corner = random.random((10_000, 2)) * (1 - size)
    low, span = np.array(DOMAIN.lower), np.subtract(DOMAIN.upper, DOMAIN.lower)
    return np.hstack([low + corner * span, low + (corner + size) * span])


def test_index_of_points(benchmark, points):
    index = benchmark(PointIndex.from_points, DOMAIN, points)
    assert index.total == N


@pytest.mark.parametrize("epsilon", [0.4, 0.8, 1.0])
def test_ladder_tree_on_an_index(benchmark, handle, epsilon):
    """With shares inside families, as by default."""
    release = benchmark.pedantic(
        dpviz.build, (handle, "ladder_tree", epsilon), {"seed": 1}, rounds=9
    )
    assert release.header.parameters["sharing"]


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.4, 1.6])
def test_privtree_on_an_index(benchmark, handle, epsilon):
    release = benchmark(dpviz.build, handle, "privtree", epsilon, seed=1)
    assert release.nodes.depth > 5


@pytest.mark.parametrize("n", [N, 10 * N], ids=["1.6M", "16M"])
def test_points_to_privtree(benchmark, n):
    points = clustered(n)

    def everything():
        index = PointIndex.from_points(DOMAIN, points)
        whole = DataHandle("bench", DOMAIN, index, public=True)
        return dpviz.build(whole, "privtree", 0.4, seed=1)

    release = benchmark.pedantic(everything, rounds=3, warmup_rounds=1)
    assert len(release.nodes) > 1000


def test_ten_thousand_large_queries(benchmark, handle, rects):
    release = dpviz.build(handle, "privtree", 0.8, seed=1)
    release.count(rects)  # compile once
    assert len(benchmark(release.count, rects)) == 10_000


def test_queries_of_a_thousand_districts(benchmark, handle):
    """Voronoi districts with borders of forty points on 100,000 leaves and more."""
    release = dpviz.build(handle, "privtree", 1.0, seed=1)
    assert release.nodes.leaf.sum() >= 100_000
    low, span = np.array(DOMAIN.lower), np.subtract(DOMAIN.upper, DOMAIN.lower)
    places = shapely.MultiPoint(low + np.random.default_rng(2).random((1000, 2)) * span)
    frame = shapely.box(*DOMAIN.bounds)
    cells = shapely.get_parts(shapely.voronoi_polygons(places, extend_to=frame))
    districts = shapely.segmentize(shapely.intersection(cells, frame), 0.03)
    answers = benchmark.pedantic(release.count_regions, (list(districts),), rounds=3)
    assert len(answers) == 1000


def test_ten_thousand_exact_answers(benchmark, handle, rects):
    exact_counts(handle, rects[:1])
    assert len(benchmark(exact_counts, handle, rects)) == 10_000


PLANE = sorted(name for name, cls in dpviz.METHODS.items() if 2 in cls.dims and name != "areas")
"""The methods that need nothing but points."""


@pytest.mark.parametrize("name", PLANE)
def test_every_method_on_an_index(benchmark, handle, name):
    release = benchmark.pedantic(dpviz.build, (handle, name, 0.4), {"seed": 1}, rounds=2)
    assert release.header.method == name
