"""Differences, ratios and trends of counts that share noise: exact covariances and coverage.

Seeds are fixed. Where a test is statistical, its docstring states the probability that it would
fail by chance for another seed.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError, DomainError, ReleaseError
from dpviz.evaluation.truth import exact_counts
from dpviz.methods import method
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.axis import Axis
from dpviz.releases.joint import Joint, covariances, joint, measured_variances, ratio_of
from dpviz.releases.subset import Subset
from dpviz.roads.steps import Steps
from dpviz.trees.consistency import geometric_variance, least_squares
from dpviz.trees.haar import HaarNoise
from tests.commands import as_json, fails
from tests.commands import run as cli
from tests.strategies import trees
from tests.trees.test_consistency import leaf_matrix
from tests.wards import voronoi

BOX = dpviz.Domain.from_bounds([0, 0, 8, 8], ("x", "y"))
POINTS = 8 * np.random.default_rng(0).beta(2, 4, (20_000, 2))
DATA = dpviz.from_points(POINTS, BOX, public=True)
WARDS = voronoi(BOX, 40, seed=1)
WEEKS = Steps.of("t", "2024-01-01,2024-03-25", "1w")
A, B = "district 0", "district 1"
FIRST, SECOND = np.flatnonzero(WARDS.parent == 1)[:2]


def build(seed=1, **options):
    return dpviz.build(DATA, areas=WARDS, epsilon=0.5, seed=seed, **options)


def by_week():
    """Twelve releases of the same records as steps of one."""
    each = [build(seed) for seed in range(len(WEEKS))]
    trees = [(release.frame, release.nodes, None) for release in each]
    return dpviz.SplitRelease(Axis(steps=WEEKS), trees, each[0].header)


@pytest.mark.slow
@given(trees(), st.data())
def test_one_run_of_least_squares_equals_the_dense_inverse(nodes, data):
    """Inner nodes may be unmeasured."""
    check_against_inverse(nodes, np.random.default_rng(data.draw(st.integers(0, 2**32))))


@pytest.mark.parametrize("fanouts", [[1, 1], [40], [3, 40], [40, 1], [7, 5]])
def test_one_run_equals_the_dense_inverse_for_large_and_single_families(fanouts):
    parents, above = [np.array([-1])], np.array([0])
    for fanout in fanouts:
        parents.append(np.repeat(above, fanout))
        above = parents[-1].size + above[-1] + 1 - parents[-1].size + np.arange(parents[-1].size)
    parent = np.concatenate(parents)
    leaves = np.flatnonzero(~np.isin(np.arange(len(parent)), parent))
    lo, hi = np.zeros((2, len(parent), 1), dtype=np.int64)
    for place, leaf in enumerate(leaves):
        lo[leaf], hi[leaf] = place, place + 1
    for row in range(len(parent) - 1, 0, -1):
        over = parent[row]
        lo[over] = lo[row] if hi[over] == 0 else min(lo[over], lo[row])
        hi[over] = max(hi[over], hi[row])
    zero = np.zeros(len(parent))
    nodes = dpviz.Decomposition(lo, hi, parent, zero, zero + 1)
    check_against_inverse(nodes, np.random.default_rng(sum(fanouts)))


def check_against_inverse(nodes, random):
    measured = random.uniform(0.1, 50, len(nodes))
    measured[(random.random(len(nodes)) < 0.3) & ~nodes.leaf] = np.inf
    matrix = leaf_matrix(nodes)
    weights = random.normal(size=(3, matrix.shape[1]))
    inverse = np.linalg.inv(matrix.T @ (matrix / measured[:, None]))
    columns = np.zeros((3, len(nodes)))
    columns[:, nodes.leaf] = weights
    after = least_squares(nodes.parent, nodes.count, measured)[1]
    given = covariances(nodes.replace(variance=after), measured, list(columns))
    assert given == pytest.approx(weights @ inverse @ weights.T, rel=1e-8, abs=1e-8)


def test_variances_of_measurements_follow_from_the_header(tmp_path):
    """Also for units of several records, and in a file."""
    columns = {"x": POINTS[:, 0], "y": POINTS[:, 1], "who": np.arange(len(POINTS)) // 5}
    data = dpviz.load(pd.DataFrame(columns), BOX, public=True, unit="who", max_per_unit=1_500)
    release = dpviz.build(data, areas=WARDS, epsilon=900.0, seed=1)
    assert release.header.steps == 1_500
    again = dpviz.read(release.save(tmp_path / "r.parquet"))
    (variance,) = measured_variances(again)
    ward, shares = WARDS.first_leaf, [row["epsilon"] for row in release.header.budget]
    assert variance[ward] == pytest.approx(float(geometric_variance(1_500 / shares[2])))
    assert again.compare(A, B) == release.compare(A, B)
    assert release.compare(A, B).basis == "exact"


def test_a_header_that_does_not_give_the_variances_is_not_believed():
    release = build()
    nodes = release.nodes.replace(variance=release.nodes.variance * 1.01)
    other = dpviz.CountRelease(release.frame, nodes, release.header)
    assert other.compare(A, B).basis == "added sds"
    with pytest.raises(ReleaseError, match="covariance of these counts is not known"):
        other.covariance(A, B)


def test_whole_numbers_from_zero_are_not_called_exact():
    release = build(whole=True)
    assert release.compare(A, B).basis == "noise only"
    assert release.compare(A, B).half_width == pytest.approx(build().compare(A, B).half_width)
    with pytest.raises(ReleaseError, match="covariance of these counts is not known"):
        release.covariance(A, B)


def test_a_difference_of_independent_areas_is_three_quarters_of_added_sds():
    release = build()
    name = [WARDS.names[FIRST], WARDS.names[SECOND]]
    sds = np.sqrt(release.nodes.variance[[FIRST, SECOND]])
    apart = release.compare(*name)
    assert apart.value == release.nodes.count[FIRST] - release.nodes.count[SECOND]
    assert apart.half_width <= 0.75 * INTERVAL_SDS * sds.sum()
    # Never positively correlated.
    assert apart.half_width >= INTERVAL_SDS * np.hypot(*sds) * (1 - 1e-12)


def test_an_area_less_itself_and_less_its_members_is_exact():
    release = build()
    assert release.compare(A, A).half_width == 0
    assert release.ratio(A, A).low == pytest.approx(1.0)
    whole = release.covariance(None, None)
    assert whole == pytest.approx(release.nodes.variance[0])
    each = [release.covariance(None, WARDS.names[row]) for row in np.flatnonzero(WARDS.parent == 0)]
    assert sum(each) == pytest.approx(whole)  # the districts add up to the whole


def test_cut_areas_count_by_their_share_and_widen_the_interval():
    release = build()
    boxes = [1, 1, 5, 5], [4, 2, 7, 7]
    one, other = (release.count(box) for box in boxes)
    apart = release.compare(*boxes)
    assert apart.value == pytest.approx(one.count[0] - other.count[0])
    cut = INTERVAL_SDS * (one.uniformity_sd[0] + other.uniformity_sd[0])
    noise = INTERVAL_SDS * (one.noise_sd[0] + other.noise_sd[0])
    assert cut < apart.half_width < np.hypot(cut, noise)


@pytest.mark.slow
def test_variances_of_differences_are_those_of_600_releases():
    """Districts and hexagons; each of 12 pairs within 4 standard errors, for kurtosis up to 6.

    By chance: below 12 · 6e-5 for normal sums.
    """
    random = np.random.default_rng(2)
    for areas in (WARDS, dpviz.hexagons(2, dpviz.Domain.from_bounds([0, 0, 8, 8]))):
        data = dpviz.from_points(POINTS, areas.domain, public=True)
        release = dpviz.build(data, areas=areas, epsilon=0.5, seed=0)
        exact = np.zeros(areas.leaves, dtype=np.int64)
        counts = np.stack(
            [
                method("areas").build(areas, exact, Budget(0.5), SimulatedNoise(seed))[0]
                for seed in range(600)
            ]
        )
        for one, other in random.integers(0, len(areas), (6, 2)).tolist():
            boxes = [Subset(_name(areas, row)) for row in (one, other)]
            stated = release.compare(*boxes).noise_sd ** 2
            seen = np.var(counts[:, one] - counts[:, other])
            assert abs(seen - stated) <= 4 * stated * np.sqrt(5 / len(counts))


def _name(areas, row):
    above = areas.parent_names[row]
    return areas.names[row] if above is None else f"{above}/{areas.names[row]}"


@pytest.mark.slow
def test_intervals_of_1000_releases_cover_the_exact_differences_ratios_and_slopes():
    """Shares of all pairs or slopes covered in .94 to .985.

    Sums of several draws are covered in about .966 at 2.12 standard deviations, so that a share of
    1,000 independent releases has a standard error of .006: by chance, below 1 in 1,000 each.
    """
    random = np.random.default_rng(3)
    release, split = build(), by_week()
    (measured,) = measured_variances(release)
    operator = np.stack(
        [least_squares(WARDS.parent, each, measured)[0] for each in np.eye(len(WARDS))], axis=1
    )
    levels = np.zeros(len(WARDS))
    shares = [row["epsilon"] for row in release.header.budget]
    for part, share in zip(WARDS.slices, shares, strict=True):
        levels[part] = 1 - np.exp(-share)
    draws = [random.geometric(levels, (12_000, len(WARDS))) for _ in range(2)]
    noise = (draws[0] - draws[1]) @ operator.T
    exact = WARDS.totals(np.bincount(WARDS.located(POINTS), minlength=WARDS.leaves))

    chosen = [(1, 2), (FIRST, SECOND), (FIRST, WARDS.first_leaf + 30), (0, 1), (1, FIRST)]
    within = {"difference": [], "ratio": []}
    for one, other in chosen:
        both = joint(release, [_name(WARDS, one), _name(WARDS, other)])
        error = noise[:1_000, [one, other]]
        half = both.combined([1, -1]).half_width
        within["difference"].append(np.abs(error[:, 0] - error[:, 1]) <= half)
        for counts in exact[[one, other]] + error:
            answer = ratio_of(Joint(counts, np.zeros(2), both.known, both.bound, both.basis))
            within["ratio"].append(answer.low <= exact[one] / exact[other] <= answer.high)
    for each in within.values():
        assert 0.94 <= np.mean(each) <= 0.985

    weeks = noise.reshape(1_000, 12, -1)
    time = np.arange(12) - 5.5
    for row in (0, 1, FIRST):
        slopes = np.tensordot(time / (time @ time), weeks[:, :, row], (0, 1))
        half = split.trend(_name(WARDS, row)).half_width
        assert 0.94 <= np.mean(np.abs(slopes) <= half) <= 0.985


def test_a_trend_is_the_slope_of_steps_with_independent_noise():
    release = by_week()
    slope = release.trend(A)
    counts = [part.compare(A, A).value + part.nodes.count[1] for part in release.parts]
    assert slope.value == pytest.approx(np.polyfit(np.arange(12), counts, 1)[0])
    sd = release.parts[0].covariance(A, A) ** 0.5
    assert slope.noise_sd == pytest.approx(sd / np.sqrt(143))  # Σ(t − 5.5)² = 143
    mean = release.trend(A, weights=np.full(12, 1 / 12))
    assert mean.noise_sd == pytest.approx(sd / np.sqrt(12))
    with pytest.raises(DomainError, match="at least two steps"):
        release.trend(Subset(A, "2024-01-01,2024-01-08"))
    with pytest.raises(DomainError, match="needs steps of time"):
        build().trend(A)


def test_steps_that_two_periods_share_cancel():
    release = by_week()
    first, both = "2024-01-01,2024-01-15", "2024-01-08,2024-01-22"
    apart = release.compare(Subset(A, first), Subset(A, both))
    assert apart.noise_sd == pytest.approx(np.sqrt(2 * release.parts[0].covariance(A, A)))
    rows = release.difference([[0, 0, 8, 8]], first, both)
    assert rows.noise_sd[0] == pytest.approx(np.sqrt(2 * release.parts[0].nodes.variance[0]))
    assert rows.count[0] == pytest.approx(
        release.parts[0].nodes.count[0] - release.parts[2].nodes.count[0]
    )


def test_a_tree_of_points_adds_standard_deviations_unless_quadrature_is_asked():
    release = dpviz.build(DATA, epsilon=1.0, seed=1)
    boxes = [0, 0, 2, 2], [4, 4, 6, 6]
    sds = [release.count(box).noise_sd[0] for box in boxes]
    assert release.compare(*boxes).noise_sd == pytest.approx(sum(sds))
    assert release.compare(*boxes).basis == "added sds"
    guess = release.compare(*boxes, quadrature=True)
    assert (guess.noise_sd, guess.basis) == (pytest.approx(np.hypot(*sds)), "quadrature")
    with pytest.raises(DomainError, match="share cells"):
        release.compare(boxes[0], [1, 1, 3, 3], quadrature=True)


def test_covariances_of_wavelets_follow_from_variances_of_unions():
    """Cov(a, b) = (Var(a ∪ b) − Var(a) − Var(b)) / 2 where the union is a box."""
    noise = HaarNoise(3.0, 8, 64)
    low, middle, high = np.array([[3, 8]]), np.array([[20, 8]]), np.array([[50, 41]])
    left, right = (low, np.array([[20, 41]])), (middle, high)
    union = noise.of_boxes(low, high) - noise.of_boxes(*left) - noise.of_boxes(*right)
    assert noise.of_two_boxes(*left, *right) == pytest.approx(union / 2)
    assert noise.of_two_boxes(low, high, low, high) == pytest.approx(noise.of_boxes(low, high))


def test_unknown_and_repeated_names_are_refused():
    release = build()
    with pytest.raises(DataError, match="area 'nowhere': not in this release"):
        release.compare("nowhere", A)
    twice = dpviz.Areas(
        WARDS.domain, WARDS.levels, (*WARDS.names[:-1], WARDS.names[-2]), WARDS.parent, WARDS.shapes
    )
    other = dpviz.CountRelease(twice, release.nodes, release.header)
    with pytest.raises(DataError, match="give PARENT/NAME"):
        other.compare(WARDS.names[-2], A)


@pytest.mark.slow
def test_replicates_need_the_release_only_and_repeat():
    """Half-widths of a point tree that shrinks its counts lie between nothing and the bound."""
    release = dpviz.build(DATA, epsilon=1.0, seed=1)
    boxes = [0, 0, 2, 2], [3, 3, 6, 6]
    one, again = (
        release.compare(*boxes, replicates=dpviz.replicated(release, 5)) for _ in range(2)
    )
    assert one == again
    assert one.basis == "replicates"
    assert 0 < one.half_width < 2 * release.compare(*boxes).half_width
    with pytest.raises(ReleaseError, match="a release of areas needs no replicates"):
        dpviz.replicated(build())


def test_replicates_never_state_less_than_the_release():
    """With errors of nothing a count has its own interval, and with large ones a wider one."""
    release, places = dpviz.build(DATA, epsilon=1.0, seed=1), ([0, 0, 2, 2], [3, 3, 6, 6])
    own = release.count(places).noise_sd ** 2

    class Simulated:
        def __init__(self, size):
            self.size = size

        def errors(self, subset):
            return self.size * np.array([1.0, -1.0, 1.0, -1.0])

    for size in (1e-3, 1e6):
        both = joint(release, places, replicates=Simulated(size))
        assert np.diag(both.known) == pytest.approx(np.maximum(own, size**2))
        assert both.known[0, 1] == pytest.approx(np.sqrt(np.prod(np.diag(both.known))))


@pytest.mark.slow
@pytest.mark.parametrize("size", [3_000, 20_000])
def test_replicates_cover_differences_of_a_ladder_tree(size):
    """6 releases and 10 pairs of cells: at least .93 of the exact differences, on fixed seeds."""
    data = dpviz.from_points(POINTS[:size], BOX, public=True)
    random = np.random.default_rng(4)
    corners = random.integers(0, 7, (20, 2)).astype(float)
    boxes = np.column_stack([corners, corners + 1])
    exact = exact_counts(data, boxes)
    within = []
    for seed in range(6):
        release = dpviz.build(data, epsilon=0.5, seed=seed)
        replicates = dpviz.replicated(release, 12)
        for at in range(0, 20, 2):
            answer = release.compare(boxes[at], boxes[at + 1], replicates=replicates)
            within.append(answer.low <= exact[at] - exact[at + 1] <= answer.high)
    assert np.mean(within) >= 0.93


def test_the_command_prints_the_same_numbers(tmp_path):
    release = build()
    path = release.save(tmp_path / "r.parquet")
    code, out, _ = cli("compare", path, "--area", A, "--area", B)
    expected = release.compare(A, B)
    assert code == 0
    assert f"A − B = {expected.value:,.0f} ± {expected.half_width:,.0f} (95 %)" in out
    row = as_json("compare", path, "--area", A, "--area", B, "--ratio")
    assert row["basis"] == "exact"
    assert row["low"] == pytest.approx(release.ratio(A, B).low)
    weekly = by_week().save(tmp_path / "weekly.parquet")
    row = as_json("compare", weekly, "--area", A, "--trend")
    assert row["half_width"] == pytest.approx(by_week().trend(A).half_width)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--area", A], "nothing to compare: give an option such as --area twice"),
        (["--area", A, "--area", B, "--area", A], "--area: given 3 times"),
        (["--area", A, "--rect=0,0,1,1", "--rect=1,1,2,2"], "exclude each other"),
        (["--path", "1,2", "--path", "3"], "--path is for roads, not for areas"),
        (["--kind", "bike", "--kind", "bus"], "release without kinds"),
        (["--area", A, "--trend"], "needs steps of time"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused_in_one_line(options, line, tmp_path):
    path = build().save(tmp_path / "r.parquet")
    assert line in fails("compare", path, *options)
