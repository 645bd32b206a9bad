"""Weighted counts of persons of many slots: what one moves, the noise, and what releases say."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import ParameterError
from dpviz.exports.facts import statement
from dpviz.planning.calls import code_of
from dpviz.private.curve import privacy_curve
from dpviz.private.load.persons import WEIGHT, Persons, weights
from dpviz.private.mechanisms.accounting import gaussian_delta, zcdp_variance
from tests.commands import fails, run
from tests.methods.test_blocks import handle
from tests.methods.test_slots import QUARTERS, write


@given(st.integers(1, 10**9), st.integers(1, 10**5))
def test_squares_of_weights_sum_to_at_most_k(slots, k):
    weight = int(weights(np.array([slots]), k)[0])
    exact = math.isqrt(WEIGHT**2 * k // max(k, slots))
    assert weight == exact
    assert slots * weight**2 <= WEIGHT**2 * k
    assert slots > k or weight == WEIGHT


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 11)), max_size=40),
    st.lists(st.integers(-1, 11), max_size=30),
    st.integers(1, 6),
)
def test_one_person_moves_sums_by_at_most_the_root_of_k(others, one, k):
    def sums(rows):
        owners, slots = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        names, unit = np.unique(owners, return_inverse=True)
        ids = pa.array([b"person %d" % name for name in names], pa.large_binary())
        records = Persons(unit.astype(np.uint8), ids, np.zeros(len(unit), dtype=np.uint64))
        return records.counts(slots, (1, 12), k, weighted=True)[0]

    moved = sums([*others, *((9, slot) for slot in one)]) - sums(others)
    slots = {slot for slot in one if slot >= 0}
    assert set(np.flatnonzero(moved).tolist()) == slots, "no slot is dropped"
    assert (moved**2).sum() <= WEIGHT**2 * k
    assert len(set(moved[list(slots)].tolist())) <= 1


@pytest.mark.parametrize("k", [1, 10, 100])
def test_noise_is_that_of_zcdp_and_keeps_the_delta_of_k_slots(k):
    rho = k / (2 * zcdp_variance(1.0, 1e-6, k))
    orders = 1 + np.geomspace(1e-3, 1e4, 100_000)
    deltas = (orders - 1) * (orders * rho - 1.0) - np.log(orders - 1)
    assert math.exp(min(deltas + orders * np.log1p(-1 / orders))) == pytest.approx(1e-6, rel=5e-3)
    assert gaussian_delta(1.0, k, k / (2 * rho)) < 1e-6


def test_release_says_what_weights_mean(tmp_path):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    release = dpviz.build(
        handle(tmp_path, 10), areas=QUARTERS, delta=1e-6, weighted=True, ledger=ledger
    )
    header, variance = release.header, zcdp_variance(1.0, 1e-6, 10)
    assert header.extra["weighted"] is True
    assert header.extra["scale_squared"] == pytest.approx(variance)
    assert "weighted counts of persons" in header.guarantee
    assert "weighted counts of persons" in ledger.account("visits").spends[0].what
    curve = privacy_curve(header)
    assert 9.9e-7 < dict(curve.points)[1.0] <= 1e-6
    assert curve.mu is None, "no theorem states it for weights"
    assert any("weight √(10/n) instead of 1" in each for each in statement(header))
    assert release.nodes.variance[release.nodes.leaf] == pytest.approx(variance)
    sd = pytest.approx(math.sqrt(2 * variance))
    difference = release.compare(*release.frame.names[:2])
    assert (difference.basis, difference.noise_sd) == ("exact", sd)
    release.save(tmp_path / "r.parquet")
    assert dpviz.read(tmp_path / "r.parquet").header == header
    assert code_of(release).command().count("--weighted") == 1


def test_counts_are_sums_of_weights(tmp_path):
    data = handle(tmp_path, 2, public=True)
    release = dpviz.build(data, areas=QUARTERS, epsilon=1e5, delta=1e-6, weighted=True, seed=1)
    weight = math.isqrt(WEIGHT**2 * 2 // 4) / WEIGHT
    share = release.nodes.count[release.nodes.leaf] / weight
    assert share == pytest.approx(np.rint(share), abs=0.2), "all persons were everywhere"
    assert share.max() < 41.5


def test_weights_without_a_delta_or_areas_are_refused(tmp_path, monkeypatch):
    data = handle(tmp_path, 10)
    with pytest.raises(ParameterError, match=r"give a delta \(--delta\)"):
        dpviz.build(data, areas=QUARTERS, weighted=True)
    with pytest.raises(ParameterError, match="is for tables of areas, not for points"):
        dpviz.build(data, "ugrid", cells=4, delta=1e-6, weighted=True)
    assert dpviz.Ledger().account("visits").spends == ()
    monkeypatch.chdir(tmp_path)
    assert "--weighted is for" in fails(
        "build", "city", "--side", 8, "-o", "c.parquet", "--weighted"
    )


def test_command_line_builds_weighted_tables(tmp_path):
    source, output = write(tmp_path / "visits.csv", extra=True), tmp_path / "r.parquet"
    options = ("--bounds=0,0,4,4", "--unit", "who", "--max-per-unit", 10, "--delta", "1e-6")
    code, _, err = run(
        "build",
        source,
        *options,
        "--areas",
        QUARTERS,
        "--weighted",
        "--public",
        "--seed",
        7,
        "-o",
        output,
    )
    assert code == 0, err
    assert dpviz.read(output).header.extra["weighted"] is True
