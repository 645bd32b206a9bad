"""Sums and means of clipped values: noise, intervals, files, reading, commands."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.domain.attributes import Values
from dpviz.errors import DataError, DomainError, ParameterError
from dpviz.methods import method as find_method
from dpviz.private.budget import Budget
from dpviz.private.index import Layers, PointIndex
from dpviz.private.layers import measure_points
from dpviz.private.mechanisms.sources import SimulatedNoise
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.quotient import quotients
from tests.commands import as_json, fails
from tests.commands import run as cli

WHOLE, QUARTER = [0, 0, 8, 8], [0, 0, 4, 4]
CLIP = (-5.0, 40.0)
BOX = dpviz.Domain.from_bounds(WHOLE, ("x", "y"), value="fare", clip=CLIP)
BOTH = dpviz.Domain.from_bounds(WHOLE, ("x", "y"), value="fare", clip=CLIP, kind="mode",
                                kinds=["bike", "walk"])  # fmt: skip


def frame(n=900, seed=0):
    """Fares, some beyond the clip, some missing, of three modes."""
    random = np.random.default_rng(seed)
    fares = np.round(random.normal(12, 15, n), 2)
    fares[::30] = np.nan
    return pd.DataFrame(
        {
            "x": 8 * random.beta(2, 4, n),
            "y": 8 * random.beta(3, 2, n),
            "fare": fares,
            "mode": random.choice(["bike", "walk", "tram"], n),
        }
    )


RECORDS = frame()
READ = RECORDS[RECORDS["fare"].notna()]
CLIPPED = READ["fare"].clip(*CLIP)


def build(method="quadtree", epsilon=1.0, domain=BOX, share=None, **parameters):
    data = dpviz.load(RECORDS, domain, public=True)
    return dpviz.build(data, method, epsilon=epsilon, seed=1, sum_share=share, **parameters)


METHODS = {"quadtree": {"height": 3}, "agrid": {}, "privelet": {"log_cells": 3}}


@pytest.mark.parametrize(
    ("method", "domain"), [*((name, BOX) for name in METHODS), ("quadtree", BOTH), ("agrid", BOTH)]
)
def test_every_method_has_sums_beside_counts(method, domain):
    release = build(method, domain=domain, share=0.3, **METHODS[method])
    rows = release.header.budget
    assert sum(row["epsilon"] for row in rows) == pytest.approx(1.0)
    (sums,) = [row for row in rows if row["purpose"] == "sums of values"]
    assert sums["epsilon"] == pytest.approx(0.3)
    assert "sensitivity 40000 steps of 0.001" in sums["theorem"]
    one = release.sum([WHOLE, QUARTER, [1.3, 0.2, 6.1, 7.7]])
    assert (one.low < one.sum).all()
    trees = release.parts
    leaves = [part.sums.sum[part.nodes.leaf].sum() for part in trees]
    assert one.sum[0] == pytest.approx(sum(leaves))
    assert all(
        part.sums.sum[0] == pytest.approx(leaf) for part, leaf in zip(trees, leaves, strict=True)
    )
    # Sums are whole steps of the public grid.
    steps = trees[0].sums.sum[trees[0].nodes.leaf] / 0.001
    assert steps == pytest.approx(np.rint(steps), abs=1e-4)


def test_nearly_without_noise_sums_and_means_are_exact():
    release = build("ugrid", epsilon=1e6, cells=2)
    inside = (READ["x"] < 4) & (READ["y"] < 4)
    wanted = [CLIPPED.sum(), CLIPPED[inside].sum()]
    assert release.sum([WHOLE, QUARTER]).sum == pytest.approx(wanted, abs=0.5)
    means = release.mean([WHOLE, QUARTER])
    assert means.value == pytest.approx([CLIPPED.mean(), CLIPPED[inside].mean()], rel=1e-3)
    assert release.count(WHOLE).count[0].round(1) == len(READ)
    by_kind = build("ugrid", 1e6, BOTH, cells=2)
    bike = READ["mode"] == "bike"
    assert by_kind.sum(WHOLE, kind="bike").sum[0] == pytest.approx(CLIPPED[bike].sum(), abs=0.5)
    assert by_kind.mean(WHOLE, kind="bike").value[0] == pytest.approx(
        CLIPPED[bike].mean(), rel=1e-3
    )
    both = CLIPPED[READ["mode"] != "tram"]
    assert by_kind.mean(WHOLE).value[0] == pytest.approx(both.mean(), rel=1e-3)


def test_the_noise_of_a_sum_is_two_sided_geometric_at_the_rate_of_the_clip():
    """P(k) ∝ e^(−rate·abs(k)): neighbours' sums differ by ≤ `reach` steps, ratios ≤ e^(ε·share)."""
    rates = []

    class Watched(SimulatedNoise):
        def two_sided(self, n, rates_given):
            rates.append((n, np.asarray(rates_given)))
            return super().two_sided(n, rates_given)

    domain = dpviz.Domain.from_bounds(WHOLE, ("x", "y"), value="fare", clip=(-3, 2), grid=1)
    index = PointIndex.from_points(domain.counts_only, [[1, 1], [5, 5]])
    sums = PointIndex.of_sums(domain.counts_only, index.codes.copy(), np.array([2, -3]))
    chosen = find_method("ugrid", "points", cells=2)
    make, _ = measure_points(
        domain, Layers((index,), (sums,)), chosen, Budget(1.0), Watched(0), 0.25
    )
    release = make(dpviz.Header("ugrid", {}, False, "NOT PRIVATE", 1.0))
    assert sum(n == 4 for n, _ in rates) == 2  # four leaves: their counts, and their sums
    rate = Fraction(float(rates[-1][1]))
    worst = max(abs(a - b) for a in (0, *range(-3, 3)) for b in (0,))  # one record more or less
    assert worst == domain.values.reach == 3
    # The largest ratio is at the mode: log(P(k | s) / P(k | s')) ≤ rate·|s − s'|, exactly.
    assert rate * worst <= Fraction(1, 4)
    assert rate * worst > Fraction(1, 4) * (1 - Fraction(1, 2**50))
    variance = 2 * math.exp(-float(rate)) / math.expm1(-float(rate)) ** 2
    leaf = release.nodes.leaf
    assert release.sums.variance[leaf] == pytest.approx(variance)
    assert release.sums.sum[leaf] == pytest.approx(np.rint(release.sums.sum[leaf]))


@pytest.mark.slow
def test_intervals_of_sums_and_means_hold_their_promise():
    """Intervals cover 92 % of 600 clipped sums and means; at 95 % less has odds of 1e-3."""
    data = dpviz.load(RECORDS.head(200), BOX, public=True)
    read = RECORDS.head(200).dropna()
    clipped = read["fare"].clip(*CLIP)
    inside = (read["x"] < 4) & (read["y"] < 4)
    wanted = np.array([clipped.sum(), clipped[inside].sum()])
    means = wanted / np.array([len(read), inside.sum()])
    hits = np.zeros((2, 2))
    for seed in range(600):
        release = dpviz.build(data, "ugrid", epsilon=1.0, seed=seed, cells=2)
        sums, mean = release.sum([WHOLE, QUARTER]), release.mean([WHOLE, QUARTER])
        hits[0] += (sums.low <= wanted) & (wanted <= sums.high)
        hits[1] += (mean.low <= means) & (means <= mean.high)
    assert (hits / 600 >= 0.92).all(), hits


@pytest.mark.slow
def test_intervals_of_sums_means_and_shares_are_for_cut_cells_too():
    """Values in patches; 40 rectangles of 6 releases at fixed seeds: 95 % are asked for."""
    random = np.random.default_rng(1)
    place = 8 * random.beta(2, 4, (30_000, 2))
    fare = np.where(np.floor(5 * place).sum(axis=1) % 2, 30.0, 5.0)
    bike = random.integers(0, 2, 30_000)
    mode = np.where(bike, "bike", "walk")
    records = pd.DataFrame({"x": place[:, 0], "y": place[:, 1], "fare": fare, "mode": mode})
    corner, size = random.uniform(0, 4, (40, 2)), random.uniform(0.4, 3, (40, 2))
    rects = np.hstack([corner, corner + size])
    inside = ((place >= rects[:, None, :2]) & (place < rects[:, None, 2:])).all(axis=2)
    true_sum = inside @ fare
    true_mean, true_share = (inside @ each / inside.sum(axis=1) for each in (fare, bike))
    data = dpviz.load(records, BOTH, public=True)
    of_sums, of_means, of_shares, wider = [], [], [], []
    for seed in range(6):
        release = dpviz.build(data, "ugrid", 1.0, seed=seed)
        means, sums, counts = release.mean(rects), release.sum(rects), release.count(rects)
        variances = sums.noise_sd**2, counts.noise_sd**2, np.zeros(len(rects))
        alone = quotients(sums.sum, counts.count, variances, CLIP)
        shares = release.share(rects, "bike")
        half = INTERVAL_SDS * np.hypot(sums.noise_sd, sums.uniformity_sd)
        of_sums.append(np.abs(sums.sum - true_sum) <= half)
        of_means.append((means.low <= true_mean) & (true_mean <= means.high))
        of_shares.append((shares.low <= true_share) & (true_share <= shares.high))
        wider.append((means.high - means.low) / (alone.high - alone.low))
    assert np.mean(of_sums) >= 0.94
    assert np.mean(of_means) >= 0.95
    assert np.mean(of_shares) >= 0.95
    assert np.median(wider) > 1.1


@pytest.mark.slow
@given(st.lists(st.floats(-1e12, 1e12), max_size=20), st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
def test_no_value_moves_a_sum_further_than_the_clip_allows(values, low, width):
    clip = Values("v", low, low + width)
    steps = clip.steps(values)
    assert (np.abs(steps) <= clip.reach).all()
    least, most = clip.limits
    assert ((steps * clip.grid >= least) & (steps * clip.grid <= most)).all()
    inside = np.clip(values, low, low + width)
    assert np.abs(steps * clip.grid - inside) == pytest.approx(0, abs=0.5001 * clip.grid)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"value": "v"}, "require each other"),
        ({"clip": (0, 1)}, "require each other"),
        ({"grid": 1.0}, "without values"),
        ({"value": "v", "clip": (1, 1)}, "give finite limits, the lower one first"),
        ({"value": "v", "clip": (0, float("inf"))}, "give finite limits"),
        ({"value": "v", "clip": (0, float("nan"))}, "give finite limits"),
        ({"value": "v", "clip": (0, 1e300)}, "between 1e-100 and 1e100"),
        ({"value": "v", "clip": (0, 1e-320)}, "between 1e-100 and 1e100"),
        ({"value": "v", "clip": ("a", "b")}, "give two numbers, as in 0,50"),
        ({"value": "v", "clip": (0, 1, 2)}, "clip of 3 numbers"),
        ({"value": "v", "clip": (0, 1), "grid": 2}, "give a step from"),
        ({"value": "v", "clip": (0, 1), "grid": 1e-9}, "give a step from"),
        ({"value": "v", "clip": (0, 1), "grid": 0}, "grid 0: give a step above 0"),
        ({"value": "v", "clip": (0, 1), "grid": -1}, "give a step from"),
    ],
)
def test_an_invalid_clip_is_refused(wrong, words):
    with pytest.raises(DomainError, match=words):
        dpviz.Domain.from_bounds([0, 0, 1, 1], **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"share": 0.0}, "give a number from 0.01 to 0.99"),
        ({"share": 1.0}, "give a number from 0.01 to 0.99"),
        ({"share": float("nan")}, "give a number from 0.01 to 0.99"),
        ({"share": 0.5, "domain": BOX.counts_only}, "without values: leave it out"),
        ({"method": "hilbert_rtree"}, "cells that overlap"),
        ({"epsilon": 1e-6, "share": 0.01}, "would be all noise"),
    ],
)
def test_sums_that_cannot_be_are_refused_before_they_are_paid(wrong, words, tmp_path):
    domain = wrong.pop("domain", BOX)
    if "epsilon" in wrong:
        domain = dpviz.Domain.from_bounds(WHOLE, ("x", "y"), value="fare", clip=(0, 1), grid=1e-6)
    data = dpviz.load(RECORDS, domain, name="fares")
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    share, chosen = wrong.pop("share", None), wrong.pop("method", "quadtree")
    with pytest.raises(ParameterError, match=words):
        dpviz.build(data, chosen, ledger=ledger, sum_share=share, **wrong)
    assert ledger.account("fares").spent == 0


def test_counts_by_cell_hold_no_sums():
    with pytest.raises(DataError, match="hold no sums"):
        dpviz.cell_counts(RECORDS, BOX)
    with pytest.raises(DataError, match="does not say the value of a record"):
        dpviz.from_points([[1, 1]], BOX)
    with pytest.raises(DomainError, match="this release has no sums"):
        build(domain=BOX.counts_only).mean(WHOLE)


PLACES = ("--bounds=0,0,8,8", "--columns", "x,y", "--sum", "fare", "--clip=-5,40")


@pytest.mark.slow
def test_the_commands_know_sums(tmp_path):
    source, output = tmp_path / "t.csv", tmp_path / "r.parquet"
    RECORDS.to_csv(source, index=False)
    words = ("--public", "--seed", 1, "--epsilon", 5, "--sum-share", 0.4)
    assert cli("build", source, "-o", output, *PLACES, *words)[0] == 0
    (answer,) = as_json("query", output, "--rect=0,0,8,8")["answers"]
    assert answer["sum"]["low"] <= CLIPPED.sum() <= answer["sum"]["high"]
    assert answer["mean"]["low"] <= CLIPPED.mean() <= answer["mean"]["high"]
    assert answer["sum"]["uniformity_sd"] == 0
    _, out, _ = cli("query", output, "--rect=0,0,7.7,8")
    assert "with cut cells" in out
    assert "  sum " in out
    assert "  mean " in out
    _, out, _ = cli("info", output)
    assert "sums of fare, each value clipped to -5 to 40 and rounded to 0.001" in out
    table = pd.read_csv(dpviz.export(dpviz.read(output), tmp_path / "r.csv"))
    assert table["sum"].sum() == pytest.approx(answer["sum"]["value"])
    assert (table["sum_sd"] > 0).all()
    assert {"sum", "sum_sd"} <= set(dpviz.read(output).to_geopandas().columns)
    missing = int(RECORDS["fare"].isna().sum())
    facts = as_json("check", source, *PLACES)["facts"]
    assert facts["without a readable value: dropped"] == missing
    bad = ("build", source, "-o", tmp_path / "s.parquet", *PLACES[:-1])
    assert "value and clip require each other" in fails(*bad)
