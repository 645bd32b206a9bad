"""Two owners' releases: no match is lost, padding is enough, and what it says is so."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz import Domain
from dpviz.errors import ParameterError, PrivacyError
from dpviz.evaluation.matching import match_truth
from dpviz.evaluation.truth import public_index
from dpviz.releases.points.matching import fresh_leaves, lattice_steps
from dpviz.trees.boxpairs import near_pairs
from dpviz.trees.lattice import unmorton
from tests.commands import as_json, refused


def random_boxes(random, n, dims, side=24):
    lo = random.integers(0, side - 1, (n, dims))
    return lo, lo + random.integers(1, 6, (n, dims))


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("metric", ["max", "euclidean"])
def test_pairs_of_boxes_are_those_of_brute_force(dims, metric):
    """Records of two half-open boxes are at most 2·t − 1 half steps apart."""
    random = np.random.default_rng(dims)
    a, b = random_boxes(random, 40, dims), random_boxes(random, 30, dims)
    steps = np.array([3, 0, 2, 5])[:dims] if metric == "max" else np.array([3, 4, 2, 5])[:dims]
    pairs = {
        (int(i), int(j))
        for first, second in near_pairs(*a, *b, steps, metric)
        for i, j in zip(first, second, strict=True)
    }
    expected = set()
    for i in range(40):
        for j in range(30):
            gap = np.maximum(b[0][j] - a[1][i], a[0][i] - b[1][j])
            if metric == "max":
                near = bool((np.where(steps > 0, gap < steps, gap < 0)).all())
            else:
                near = (np.maximum(gap, 0) / steps).dot(np.maximum(gap, 0) / steps) < 1
            if near:
                expected.add((i, j))
    assert pairs == expected


def owners(n=2_000, dims=2, seed=0):
    """Two overlapping public data sets with small errors, and their handles."""
    random = np.random.default_rng(seed)
    people = random.beta(2, 4, (n, dims))
    seen = people[: n // 2] + random.uniform(-0.004, 0.004, (n // 2, dims))
    domain = Domain((0.0,) * dims, (1.0,) * dims, columns=tuple("xyzw"[:dims]))
    other = np.clip(np.vstack([seen, random.beta(4, 2, (n // 2, dims))]), 0, 1)
    return [
        dpviz.from_points(points, domain, public=True, name=name)
        for name, points in (("a", people), ("b", other))
    ]


def points_of(handle):
    records = public_index(handle)
    return np.repeat(unmorton(records.codes, handle.domain.dims), records.weights, axis=0)


@pytest.mark.parametrize("padding", ["upward", "noisy"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_recall_and_ratios_are_those_of_brute_force(padding, dims):
    a, b = owners(400, dims)
    releases = [dpviz.build(each, "privtree", 1.0, seed=at) for at, each in enumerate((a, b))]
    matching = dpviz.match(*releases, 0.01, padding=padding)
    truth = match_truth(matching, *releases, a, b)
    with pytest.raises(PrivacyError):
        match_truth(matching, *releases, a, dpviz.from_points(np.full((3, dims), 0.5), a.domain))
    cells = [points_of(each) for each in (a, b)]
    steps = lattice_steps(a.domain, 0.01)
    leaf = []
    for release, places, rows in zip(
        releases, cells, (matching.leaves_a, matching.leaves_b), strict=True
    ):
        lo, hi = release.nodes.lo[rows], release.nodes.hi[rows]
        leaf.append(((places[:, None] >= lo) & (places[:, None] < hi)).all(axis=2).argmax(axis=1))
    near = (np.abs(cells[0][:, None] - cells[1][None]) <= steps).all(axis=2)
    left = np.zeros((len(matching.leaves_a), len(matching.leaves_b)), dtype=bool)
    left[matching.first, matching.second] = True
    assert left[np.ix_(*leaf)][near].all()  # geometry alone loses no pair
    exact = [np.bincount(each, minlength=k) for each, k in zip(leaf, left.shape, strict=True)]
    stay = [
        np.minimum(1, padded / np.maximum(size, 1))
        for padded, size in zip((matching.padded_a, matching.padded_b), exact, strict=True)
    ]
    weight = np.outer(stay[0][leaf[0]], stay[1][leaf[1]])
    assert truth.matches == near.sum() > 100
    assert truth.recall == pytest.approx(weight[near].mean())
    assert truth.reduction_ratio == pytest.approx(1 - exact[0] @ left @ exact[1] / near.size)
    assert matching.compared == pytest.approx(matching.padded_a @ left @ matching.padded_b)
    assert truth.recall == 1 if padding == "upward" else 0 < truth.recall < 1


def test_margins_are_enough_and_no_more_than_needed():
    """The tail of the geometric by its sum: the margin's is under the failure, one less is not."""
    a, b = owners()
    releases = [dpviz.build(each, "privtree", 0.5, seed=3) for each in (a, b)]
    matching = dpviz.match(*releases, 0.01, failure=1e-3)
    assert matching.failure == 1e-3
    rate = 0.25  # half of ε on the leaves
    margin = (matching.padded_a - releases[0].nodes.count[matching.leaves_a])[
        matching.padded_a > 0
    ].min()
    noise = np.arange(1, 2_000)
    mass = np.exp(-rate * noise) * (1 - np.exp(-rate)) / (1 + np.exp(-rate))
    assert len(matching.leaves_a) * mass[noise > margin].sum() <= 5e-4
    assert len(matching.leaves_a) * mass[noise >= margin].sum() > 5e-4


def test_a_probability_is_stated_only_where_it_is_known():
    data = owners(500)[0]
    for method, parameters, known in [
        ("privtree", {}, True),
        ("quadtree", {"height": 3, "budget": "leaf", "prune": 0}, True),
        ("quadtree", {"height": 3, "budget": "leaf"}, False),
        ("quadtree", {"height": 3}, False),
        ("kdtree", {"height": 3, "budget": "leaf", "prune": 0}, True),
        ("ugrid", {}, False),
    ]:
        release = dpviz.build(data, method, 1.0, seed=1, **parameters)
        assert fresh_leaves(release) is known, (method, parameters)
        matching = dpviz.match(release, release, 0.01)
        assert (matching.failure is not None) is known
        assert dpviz.match(release, release, 0.01, padding="noisy").failure is None


def test_releases_that_cannot_be_matched_are_refused():
    a, b = (dpviz.build(each, "ugrid", 1.0, seed=1) for each in owners(200))
    line = dpviz.build(owners(200, 1)[0], "ugrid", 1.0, seed=1)
    for change, message in [
        ({"release_b": line}, "one public domain"),
        ({"within": -1}, "not negative"),
        ({"within": [1, 2, 3]}, "has 3 distances: give one, or 2"),
        ({"within": float("nan")}, "not negative"),
        ({"metric": "cosine"}, "choose one of max, euclidean"),
        ({"padding": "none"}, "choose one of upward, noisy"),
        ({"failure": 0.0}, "between 0 and 1"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dpviz.match(**({"release_a": a, "release_b": b, "within": 0.01} | change))


def test_both_owners_move_times_to_the_same_steps():
    """A step of a day moves a time by up to twelve hours, further than a match may be."""

    def release(**how):
        period = ("2024-01-01T00:00Z", "2024-01-08T00:00Z")
        domain = Domain.from_bounds([0, 0, 1, 1], period=period, **how)
        empty = dpviz.from_points(np.zeros((0, 3)), domain, public=True)
        return dpviz.build(empty, "ugrid", 1.0, seed=1)

    berlin, week = {"every": "1h", "zone": "Europe/Berlin"}, {"every": "1h", "cycle": "week"}
    hours = release(every="1h")
    assert dpviz.match(hours, release(**berlin), 0.1).pairs  # zones matter only with a cycle
    for one, other in ((hours, release(every="1d")), (release(**week), release(**week | berlin))):
        with pytest.raises(ParameterError, match="have different steps, cycles or zones"):
            dpviz.match(one, other, 0.1)


def test_the_command_writes_pairs_and_says_what_is_covered(tmp_path):
    data = owners(500)
    paths = [tmp_path / f"{name}.parquet" for name in "ab"]
    records = [tmp_path / f"{name}.csv" for name in "ab"]
    for at, handle in enumerate(data):
        dpviz.build(handle, "privtree", 1.0, seed=at).save(paths[at])
        places = handle.domain.to_coordinates(points_of(handle) + 0.5)
        np.savetxt(records[at], places, "%.12f", delimiter=",", header="x,y", comments="")
    pairs = tmp_path / "pairs.parquet"
    words = ["match", *paths, "--within", "0.01,0.02", "-o", pairs]
    truth = ["--public", "--records-a", records[0], "--records-b", records[1]]
    facts = as_json(*words, *truth)
    assert facts["recall"] == 1
    assert facts["matches"] > 100
    assert "CCS 2017" in facts["guarantee"]
    assert "suppressed, are outside" in facts["guarantee"]
    table = pq.read_table(pairs)
    assert len(table) == facts["pairs"] > 0
    assert facts["compared"] == sum(
        x * y for x, y in zip(*(table[f"records_{s}"].to_pylist() for s in "ab"), strict=True)
    )
    for wrong, message in [
        ([*words[:5], "-o", paths[0]], "is one of the inputs"),
        ([*words[:5], "--public"], "give all three, or none"),
        ([*words[:4], "near"], "is not a number"),
    ]:
        refused(tmp_path, wrong, message)
