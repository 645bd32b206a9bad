"""A public prior of the ladder tree: its privacy, and what it is worth or does not cost."""

import dataclasses
import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.domain.attributes import Kinds
from dpviz.errors import DataError, ParameterError
from dpviz.methods import method
from dpviz.methods.points import cell_tree, ladder_tree
from dpviz.methods.points.ladder_tree import LadderTree
from dpviz.planning.calls import code_of
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees import prior as priors
from dpviz.trees.prior import Fit
from tests.commands import as_json, fails
from tests.methods.test_ladder_tree import REACH, chain
from tests.strategies import share

from .cases import handle, path_totals, same_columns, skewed_points, two_sided, unit_domain

SQUARE = unit_domain(2)
ALWAYS = {"MIN_EVIDENCE_SDS": 1e-9, "MAX_MISFIT": math.inf, "MIN_GAIN": 0.0}
"""Constants with which every prior that fits at all decides what is measured."""


def towns(seed, n=20_000):
    """Places in forty towns of different size, the same ones for every seed."""
    where = np.random.default_rng(7)
    middle, size = where.random((40, 2)), where.dirichlet(np.full(40, 0.5))
    random = np.random.default_rng(seed)
    points = middle[random.choice(40, n, p=size)] + random.normal(0, 0.01, (n, 2))
    return np.clip(points, 0, 1)


@pytest.fixture
def ready(monkeypatch):
    for name, number in ALWAYS.items():
        monkeypatch.setattr(priors, name, number)


class Scripted:
    """Noisy counts that are read from a script, whatever the exact counts are."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def __call__(self, noise, share, exact, rates):
        size = self.random.choice([3, 40, 4000])
        finest = self.random.integers(-5, size, rates.shape[1])
        steps = self.random.integers(-9, 10, rates.shape)
        steps[-1] = finest
        return np.cumsum(steps[::-1], axis=0)[::-1]


@given(st.integers(0, 2**32), st.floats(0.05, 20), st.integers(2, 6), st.integers(60, 4000))
@settings(max_examples=60, deadline=None)
def test_what_is_measured_follows_from_noisy_counts_and_the_prior_alone(seed, epsilon, cap, room):
    """The same transcript gives neighbours the same tree and prices of at most ε.

    Exactly, in fractions; no leaf is unmeasured, wherever the cap on nodes is met.
    """
    chosen = LadderTree(prior=dpviz.prior(towns(1, 500), SQUARE), max_depth=cap)
    points = np.random.default_rng(seed).random((30, 2))
    grown = []
    with (
        patch.multiple(priors, **ALWAYS),
        patch.object(cell_tree, "MAX_NODES", room),
        patch.object(ladder_tree, "nested_counts", Scripted(seed)) as script,
    ):
        for records in (points, points[1:]):
            script.random = np.random.default_rng(seed)
            index = PointIndex.from_points(SQUARE, records)
            grown.append(chosen.grow(index, share(epsilon), SimulatedNoise(1)))
    (tree, noisy, paid, _), (other, again, price, _) = grown
    for one, two in ((tree.parent, other.parent), (noisy, again), (paid, price)):
        np.testing.assert_array_equal(one, two)
    assert max(path_totals(tree.parent, paid)) <= Fraction(epsilon)
    assert len(tree.parent) <= room
    leaves = np.setdiff1d(np.arange(len(tree.parent)), tree.parent)
    assert (paid[leaves] > 0).all()


def test_fewer_leaves_are_measured_where_a_prior_is_trusted():
    """The branches above are reached: leaves hold more where the prior says what is in them."""
    index = PointIndex.from_points(SQUARE, towns(2))
    chosen = LadderTree(prior=dpviz.prior(towns(1), SQUARE))
    leaves = [
        int((each.grow(index, share(2.0), SimulatedNoise(1))[2] > 0).sum())
        for each in (chosen, LadderTree())
    ]
    assert leaves[0] < 0.7 * leaves[1]


@pytest.mark.slow
def test_looks_with_a_prior_lose_at_most_their_price(ready):
    """Transcripts of a family: its four first looks decide the thresholds of every node in it.

    One record more in the first node moves the log probability of any transcript by at most the
    rate of that node's last look, or by B where it stops, though its own first look moves the fit.
    """
    chosen = LadderTree(first=0.3, looks=1, kappa=0.5)
    left = np.array([1.5])
    rates = chosen.look_rates(chosen.first * left, left)
    at = np.arange(-REACH, REACH + 1)
    first, second = chain(rates[:, 0])
    finest = two_sided(rates[-1, 0], at)
    joint = first[:, :, None] * (second * finest)[None]
    masses = np.array([[30.0, 5.0, 1.0, 0.0]])
    window = np.arange(-12, 13) + REACH
    worst, times, outcomes = {}, set(), set()
    for others in itertools.product([-2, 1, 9], repeat=3):
        for own in window.tolist():
            looks = np.array([[at[own], *others]], dtype=np.float64)
            fit = priors.Fitting().add(looks, np.full((1, 4), 0.5), masses)
            times.add(round(chosen.thresholds(fit).most, 3))
            counts = np.stack([np.full(len(window), at[own]), at[window], at[window]])
            columns = np.repeat(rates, len(window), axis=1)
            step, weight, limit = chosen.thresholds(fit).look(counts, columns)
            for seen, stop in itertools.product((0, 1), (False, True)):
                rows = window[(step == seen) & ((weight <= limit) == stop)]
                if not len(rows):
                    continue
                outcomes.add((seen, stop))
                # Unseen finer counts are summed out.
                law = joint if stop else joint.sum(axis=2, keepdims=True)
                law = law if seen else law.sum(axis=1, keepdims=True)
                lines = rows if seen else np.zeros(1, dtype=np.int64)
                ends = window if stop else np.zeros(1, dtype=np.int64)
                p = law[own][np.ix_(lines, ends)]
                # With one record more, the same noisy counts are one less above the exact count.
                q = law[own - 1][np.ix_(lines - bool(seen), ends - bool(stop))]
                price = rates[-1, 0] if stop else rates[seen, 0]
                loss = np.abs(np.log(p / q)).max() - price
                worst[seen, stop] = max(worst.get((seen, stop), -math.inf), loss)
    assert len(times) > 3
    assert outcomes == {(0, False), (0, True), (1, False), (1, True)}
    assert all(each < 1e-9 for each in worst.values())


def mean_error(data, **how):
    """Mean absolute error of cells of a 16 × 16 grid, over seeds."""
    corner = np.indices((16, 16)).reshape(2, -1).T / 16
    rects = np.hstack([corner, corner + 1 / 16])
    exact = dpviz.evaluation.truth.exact_counts(data, rects)
    errors = [
        np.abs(dpviz.build(data, epsilon=0.05, seed=seed, **how).count(rects).count - exact).mean()
        for seed in range(3)
    ]
    return float(np.mean(errors))


def test_a_good_prior_lowers_errors_by_a_fifth():
    data = handle(towns(2), 2)
    public = dpviz.prior(towns(1), SQUARE)
    assert mean_error(data, prior=public) < 0.8 * mean_error(data)


def test_the_hot_grid_follows_a_good_prior_inside_leaves_and_measures_the_same():
    """Squares of 1/64 at records, of which leaves hold several; the same noise in both builds.

    At ε = 0.02, errors of twenty seeds have 0.25 to 1.0 of those without, three seeds 0.3 to 0.6.
    """
    data, places = handle(towns(2), 2), towns(2, 400)
    rects = np.clip(np.hstack([places - 1 / 128, places + 1 / 128]), 0, 1)
    exact = dpviz.evaluation.truth.exact_counts(data, rects)
    public = dpviz.prior(towns(1), SQUARE)
    releases = [
        [dpviz.build(data, "hot_grid", epsilon=0.02, seed=seed, prior=prior) for seed in range(3)]
        for prior in (public, None)
    ]
    errors = [
        [np.abs(release.count(rects).count - exact).mean() for release in each] for each in releases
    ]
    assert np.mean(errors[0]) < 0.8 * np.mean(errors[1])
    corner = np.indices((4, 4)).reshape(2, -1).T / 4
    coarse = np.hstack([corner, corner + 1 / 4])
    sums = [each[0].count(coarse).count for each in releases]
    np.testing.assert_allclose(*sums, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("useless", ["uniform", "mirrored"])
@pytest.mark.parametrize("name", ["ladder_tree", "hot_grid"])
def test_a_useless_prior_changes_nothing(useless, name):
    data = handle(towns(2), 2)
    even = np.random.default_rng(3).random((20_000, 2))
    public = dpviz.prior(even if useless == "uniform" else 1 - towns(1), SQUARE)
    release = dpviz.build(data, name, epsilon=0.5, prior=public, seed=1)
    same_columns(release.nodes, dpviz.build(data, name, epsilon=0.5, seed=1).nodes)
    assert release.header.extra["prior"]["fits"] == [[]]


def test_a_saved_release_answers_alike_and_names_its_prior(tmp_path):
    data, public = handle(towns(2), 2), dpviz.prior(towns(1), SQUARE)
    release = dpviz.build(data, epsilon=0.5, prior=public, seed=1)
    assert release.nodes.is_partition()
    release.save(tmp_path / "map.parquet")
    again = dpviz.read(tmp_path / "map.parquet")
    same_columns(release.nodes, again.nodes)
    entry = again.header.extra["prior"]
    assert entry["sha256"] == public.facts["sha256"]
    assert max(Fit(*fit).gain for fit in entry["fits"][0]) > 1.5
    assert "prior='PRIOR'" in code_of(again).python()
    with pytest.raises(ParameterError, match=entry["sha256"]):
        dpviz.replicated(again)
    with pytest.raises(ParameterError, match="no prior"):
        dpviz.replicated(dpviz.build(data, epsilon=0.5, seed=1), prior=public)


def test_the_header_states_the_fits_of_each_category():
    kinds = Kinds("kind", ("follows", "does not"))
    domain = dataclasses.replace(SQUARE, kinds=kinds)
    points = np.vstack([towns(2), 1 - towns(2)])
    names = np.repeat(kinds.names, 20_000)
    frame = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "kind": names})
    data = dpviz.load(frame, domain, public=True)
    release = dpviz.build(data, epsilon=0.5, prior=dpviz.prior(towns(1), domain), seed=1)
    first, second = release.header.extra["prior"]["fits"]
    assert max(Fit(*fit).gain for fit in first) > 1.5
    assert second == []


def test_the_code_of_a_release_names_the_column_of_weights(tmp_path):
    frame = pd.DataFrame(towns(1, 500), columns=["x", "y"]).assign(people=2.0)
    frame.to_csv(tmp_path / "homes.csv", index=False)
    public = dpviz.prior(tmp_path / "homes.csv", SQUARE, "people")
    release = dpviz.build(handle(towns(2), 2), epsilon=0.5, prior=public, seed=1)
    code = code_of(release)
    assert "prior=dpviz.prior('PRIOR', data.domain, 'people')" in code.python()
    assert "--prior PRIOR --prior-weight people" in code.command()


@pytest.mark.slow
def test_replicates_follow_the_prior_of_their_release(tmp_path):
    places = towns(1)
    pd.DataFrame(places, columns=["x", "y"]).to_csv(tmp_path / "public.csv", index=False)
    public = dpviz.prior(tmp_path / "public.csv", SQUARE)
    release = dpviz.build(handle(towns(2), 2), epsilon=0.5, prior=public, seed=1)
    boxes = [0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]
    answer = release.compare(*boxes, replicates=dpviz.replicated(release, 3, prior=public))
    assert answer.basis == "replicates"
    path = release.save(tmp_path / "map.parquet")
    words = ["compare", path, "--rect=0,0,0.5,0.5", "--rect=0.5,0.5,1,1"]
    again = as_json(*words, "--replicates=3", "--prior", tmp_path / "public.csv")
    assert again["half_width"] == pytest.approx(answer.half_width)
    assert "--prior" in fails(*words, "--replicates=3")
    assert "requires --replicates" in fails(*words, "--prior", tmp_path / "public.csv")


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("ugrid", {}, "takes no prior"),
        ("hot_grid", {"upper": 2.0}, "other bounds"),
        ("ladder_tree", {"dims": 3}, "two dimensions"),
        ("ladder_tree", {"upper": 2.0}, "other bounds"),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(name, how, message):
    public = dpviz.prior(towns(1, 50), dpviz.Domain((0, 0), (1, how.get("upper", 1.0))))
    dims = how.get("dims", 2)
    data = handle(skewed_points(50, dims), dims)
    with pytest.raises(ParameterError, match=message):
        dpviz.build(data, name, prior=public, seed=1)
    if name != "ugrid":
        with pytest.raises(ParameterError, match=message):
            dpviz.build(data, type(method(name))(prior=public), seed=1)


def test_arrays_and_missing_files_are_no_priors():
    with pytest.raises(ParameterError, match="prior"):
        dpviz.build(handle(towns(2, 50), 2), prior=towns(1, 50), seed=1)
    with pytest.raises(DataError, match=r"no\.csv"):
        dpviz.build(handle(towns(2, 50), 2), prior="no.csv", seed=1)
    with pytest.raises(DataError, match="two coordinates"):
        dpviz.prior(towns(1, 50), unit_domain(3))
    assert method("ladder_tree").prior is None
