"""The numbers of the lessons: what they show is what the engine does."""

import math

import numpy as np
import pytest

import dpviz
from dpviz.errors import PrivacyError
from dpviz.evaluation import lesson
from dpviz.evaluation.privtree_trace import steps, trace
from dpviz.evaluation.truth import exact_counts
from dpviz.queries.workloads import workload
from dpviz.ui.points.source_form import built_in

PLACES = ((14.66, -23.85), (14.5, -24.0), (14.9, -23.65))


@pytest.fixture(scope="module")
def city():
    return built_in("city-50k")


def test_the_rectangle_meets_exactly_one_record(city):
    isolated = lesson.isolated_record(city)
    exact = [
        int(exact_counts(city, isolated.moved(step))[0]) for step in range(len(isolated.counts))
    ]
    assert exact == list(isolated.counts)
    assert np.diff(exact).tolist() == [int(at == isolated.metres) for at in range(1, len(exact))]
    before, after = isolated.moved(isolated.metres - 1), isolated.moved(isolated.metres)
    assert before[2] < isolated.person[0] < after[2]
    strip = (before[2], after[1], after[2], after[3])
    assert lesson.records(city, strip) == pytest.approx(np.array([isolated.person]))
    assert (after[2] - before[2]) * lesson.METRES_PER_DEGREE * math.cos(
        math.radians(isolated.person[1])
    ) == (pytest.approx(1.0, rel=0.01))


def test_somebody_is_alone_even_where_a_crowd_of_thousands_is_nearest():
    """Records half a metre apart fill the middle; who no isolated record is behind all of them."""
    metre = 1 / lesson.METRES_PER_DEGREE
    crowd = np.column_stack([np.arange(20_000) * 0.5 * metre, np.zeros(20_000)])
    suburb = np.column_stack([np.arange(40) * 30 * metre, np.full(40, 0.2)])
    domain = dpviz.Domain((-0.5, -0.5), (0.5, 0.5), crs="EPSG:4326")
    people = dpviz.from_points(np.concatenate([crowd, suburb]), domain, public=True)
    isolated = lesson.isolated_record(people)
    assert isolated.person[1] == pytest.approx(0.2, abs=1e-6)
    assert isolated.counts[isolated.metres] - isolated.counts[isolated.metres - 1] == 1
    with pytest.raises(PrivacyError, match="no isolated record"):
        lesson.isolated_record(dpviz.from_points(crowd, domain, public=True))


def test_lessons_refuse_sensitive_data():
    sensitive = dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)))
    for call in (
        lambda: lesson.records(sensitive),
        lambda: lesson.isolated_record(sensitive),
        lambda: lesson.error_parts(sensitive, [[0, 0, 1, 1]], "ugrid", 1.0, 0, cells=2),
        lambda: trace(sensitive, (0.5, 0.5), 1.0, 0),
    ):
        with pytest.raises(PrivacyError, match="public"):
            call()


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
def test_two_worlds_follow_the_formula_and_their_ratio_is_bounded(epsilon):
    worlds = lesson.two_worlds(1000, epsilon, 200_000, seed=3)
    limit = math.exp(epsilon * (1 + 1e-9))
    ratio = worlds.likely[1] / worlds.likely[0]
    assert ratio.max() <= limit
    assert ratio.min() >= 1 / limit
    assert ratio.max() == pytest.approx(math.exp(epsilon))  # the bound is reached
    # 5 standard errors for each bin; in all bins together a false alarm has odds of 1e-4 at most.
    for drawn, likely in zip((worlds.without, worlds.with_one), worlds.likely, strict=True):
        spread = np.sqrt(200_000 * likely * (1 - likely))
        assert (np.abs(drawn - 200_000 * likely) <= 5 * spread + 5).all()


@pytest.mark.slow
@pytest.mark.parametrize("releases", [1, 3, 8])
def test_releases_of_one_count_add_up(releases):
    n, epsilon = 400_000, 0.4
    without, with_one = (
        lesson.suspicion(50, epsilon, releases, n, 1, record=record) for record in (False, True)
    )
    assert without.sum() == with_one.sum() == n
    seen = np.minimum(without, with_one) >= 500
    above = np.arange(releases + 1)[seen]
    odds = np.log(with_one[seen] / without[seen])
    error = np.sqrt(1 / with_one[seen] + 1 / without[seen])
    assert (np.abs(odds - (2 * above - releases) * epsilon) < 5 * error).all()
    assert np.abs(odds).max() <= releases * epsilon + 5 * error.max()


@pytest.mark.slow
@pytest.mark.parametrize("cells", [8, 32, 128])
def test_predicted_error_of_a_grid_is_the_measured_one(city, cells):
    rects = workload(city.domain, "medium", 300).rects
    errors = [
        lesson.error_parts(city, rects, "ugrid", 0.2, seed, cells=cells) for seed in range(12)
    ]
    measured = lesson.rms([part.measured for part in errors])
    assert errors[0].predicted == pytest.approx(measured, rel=0.15)
    assert errors[0].noise == errors[1].noise


@pytest.mark.slow
def test_a_coarser_grid_is_best_at_a_smaller_epsilon(city):
    rects = workload(city.domain, "medium", 300).rects
    best = {
        epsilon: min(
            (8, 16, 32, 64, 128, 256),
            key=lambda m: lesson.error_parts(city, rects, "ugrid", epsilon, 0, cells=m).predicted,
        )
        for epsilon in (0.01, 1.0)
    }
    assert best[0.01] < best[1.0]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_trace_is_the_method_at_work(city, place, epsilon, seed):
    path, _ = trace(city, place, epsilon, seed)
    listed = steps(path, epsilon)
    nodes = dpviz.build(city, "privtree", epsilon, seed=seed).nodes
    target = city.domain.to_lattice([place])[0][0]
    rows = np.flatnonzero(((nodes.lo <= target) & (target < nodes.hi)).all(axis=1))
    assert (path.lo[: len(rows)] == nodes.lo[rows]).all()
    assert (path.hi[: len(rows)] == nodes.hi[rows]).all()
    assert [step.split for step in listed] == (nodes.n_children[rows] > 0).tolist()
    for step in listed:
        assert step.split == (step.biased + step.noise > step.threshold)
    assert sum(step.loss for step in listed) <= 0.5 * epsilon


def test_the_same_bits_at_a_larger_epsilon_are_smaller_noise(city):
    path, _ = trace(city, PLACES[0], 0.2, 3)
    coarse, fine = steps(path, 0.2), steps(path, 2.0)
    for one, other in zip(coarse, fine, strict=False):
        assert one.exact == other.exact
        assert one.noise == pytest.approx(10 * other.noise)
        assert one.bias == pytest.approx(10 * other.bias)


def test_an_aligned_rectangle_has_no_uniformity_error(city):
    release = dpviz.build(city, "quadtree", 1.0, seed=0, height=5, prune=0.0)
    rect = (14.633, -23.91, 14.77, -23.77)
    inside = lesson.align(release, rect, 32)
    assert release.count(rect).uniformity_sd[0] > 0
    assert release.count(inside).uniformity_sd[0] == 0
    for edge, near in zip(inside, rect, strict=True):
        assert abs(edge - near) <= 0.6 / 32 / 2 + 1e-9
