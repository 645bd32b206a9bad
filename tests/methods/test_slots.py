"""Counts of persons per slot at (ε, δ): sensitivity, payment and refusals.

Audits draw a fixed seed; each fails a correct mechanism with probability at most :data:`ALARM`.
"""

import csv
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpviz
from dpviz.errors import BudgetError, ParameterError, ReleaseError
from dpviz.evaluation.area_audit import square
from dpviz.evaluation.replicates import replicated
from dpviz.exports.facts import statement
from dpviz.methods import method
from dpviz.planning.calls import code_of
from dpviz.private.budget import Budget
from dpviz.private.load.persons import Persons
from dpviz.private.mechanisms.accounting import delta_upper, gaussian_delta, largest_rate
from dpviz.private.mechanisms.gaussian import discrete_gaussian
from dpviz.private.mechanisms.noise import SimulatedNoise, geometric, slot_counts
from dpviz.private.slots import SlotNoise
from dpviz.releases.points.matching import match
from tests.commands import as_json, fails, refused, run
from tests.wards import voronoi

ALARM = 1e-6
BOX = dpviz.Domain((0.0, 0.0), (4.0, 4.0), ("x", "y"))
QUARTERS = "rect=0,0,2,2;rect=2,0,4,2;rect=0,2,2,4;rect=2,2,4,4"
MANY = SlotNoise(1.0, 1e-6, 30, 30)


def kept(owners, slots, k):
    names = np.unique(owners)
    ids = pa.array([b"person %d" % name for name in names], pa.large_binary())
    unit = np.searchsorted(names, owners)
    records = Persons(unit, ids, np.zeros(len(unit), dtype=np.uint64), public=True)
    return records.counts(np.asarray(slots, dtype=np.int64), (1, 12), k)[0]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 11)), max_size=40),
    st.lists(st.integers(-1, 11), max_size=30),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_one_person_moves_each_slot_by_one_and_at_most_k_of_them(others, one, k, random):
    rows = [*others, *((9, slot) for slot in one)]
    shuffled = [*rows, *rows[: len(rows) // 2]]
    random.shuffle(shuffled)
    before = kept(*np.array(others, dtype=np.int64).reshape(-1, 2).T, k)
    after = kept(*np.array(rows, dtype=np.int64).reshape(-1, 2).T, k)
    moved = after - before
    assert moved.min() >= 0
    assert moved.max() <= 1
    assert moved.sum() == min(k, len({slot for slot in one if slot >= 0}))
    again = kept(*np.array(shuffled, dtype=np.int64).reshape(-1, 2).T, k)
    assert np.array_equal(again, after), "order and duplicates of rows change nothing"


def bounds(true, n):
    """Clopper–Pearson bounds of a probability, each wrong in at most ALARM / 4."""
    low = stats.beta.ppf(ALARM / 4, true, n - true + 1) if true else 0.0
    return low, stats.beta.ppf(1 - ALARM / 4, true + 1, n - true)


def measured_delta(epsilon, event, other, n):
    """Bounds of P(event) − e^ε·P(event in the other world)."""
    (low, high), (below, above) = bounds(event.sum(), n), bounds(other.sum(), n)
    return low - math.exp(epsilon) * above, high - math.exp(epsilon) * below


@pytest.mark.slow
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_worst_person_is_told_apart_as_far_as_delta_says_and_no_further(law):
    epsilon, k, n, rate, variance = 0.6, 10, 300_000, 0.15, 25.0
    noise = SimulatedNoise(4)
    worlds = []
    for person in (1, 0):
        if law == "laplace":
            z = noise.two_sided(n * k, rate).reshape(n, k) + person
            bits = (z >= 1).sum(axis=1)  # one bit per coordinate: is it on the upper side?
            loss = (2 * bits - k) * rate
        else:
            z = discrete_gaussian(noise.words, n * k, variance).reshape(n, k) + person
            loss = (2.0 * z.sum(axis=1) - k) / (2.0 * variance)
        worlds.append(loss > epsilon)
    low, high = measured_delta(epsilon, *worlds, n)
    exact = delta_upper(epsilon, k, rate)
    if law == "gaussian":
        exact = gaussian_delta(epsilon, k, variance)
    assert low <= exact <= high
    assert high - low < exact


def test_one_leaf_with_all_copies_of_a_person_breaks_the_rate():
    """A tree's leaf may move by K: at the rate for K slots its delta is far above 1e-6."""
    k, n = 30, 40_000
    rate = largest_rate(1.0, 1e-6, k)
    noise = SimulatedNoise(8)
    share = Budget(rate).spend(rate, "leaf", theorem="test")
    leaf, empty = (geometric(noise, share, np.full(n, many))[0] for many in (k, 0))
    low, _ = measured_delta(1.0, leaf >= k, empty >= k, n)
    assert low > 0.05


def test_pure_noise_is_drawn_up_to_the_bound_where_gaussian_noise_is_smaller():
    choices = [SlotNoise(1.0, 1e-6, k, k).variance is None for k in range(1, 31)]
    assert choices == [True] * 8 + [False] * 22
    assert SlotNoise(0.5, 1e-9, 14, 14).variance is None
    assert SlotNoise(2.0, 1e-12, 23, 23).variance is not None


def test_gaussian_budget_pays_for_one_draw_and_for_gaussian_noise_alone():
    budget = MANY.budget()
    with pytest.raises(BudgetError, match="one draw takes all"):
        budget.spend(0.5, "half")
    share = budget.spend(budget.left, "counts")
    with pytest.raises(BudgetError, match="Gaussian noise only"):
        geometric(SimulatedNoise(0), share, [1, 2])
    slot_counts(SimulatedNoise(0), share, [1, 2])
    with pytest.raises(BudgetError, match="used up"):
        slot_counts(SimulatedNoise(0), share, [1, 2])
    with pytest.raises(BudgetError, match=r"0 of 1 is left"):
        budget.spend(1.0, "again")


def frame(extra=False):
    """Visits of forty persons over a month; with ``extra`` one more, everywhere and often."""
    random = np.random.default_rng(3)
    rows = [
        [*random.uniform(0, 4, 2).round(3), f"p{person}", f"2024-01-{day:02d}", "ab"[day % 2]]
        for person in range(40)
        for day in random.integers(1, 29, 20)
    ]
    if extra:
        rows += [
            [*random.uniform(0, 4, 2).round(3), "x", f"2024-01-{1 + i % 28:02d}", "a"]
            for i in range(60)
        ]
        rows += [[1.0, 1.0, "x", "2024-01-02", "b"]] * 5
    return rows


def write(path, extra):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y", "who", "time", "kind"], *frame(extra)])
    return path


TABLE = (
    *("--areas", QUARTERS, "--time", "time", "--period", "2024-01-01,2024-01-29", "--every", "1w"),
    *("--kind", "kind", "--kinds", "a,b"),
)
GRID = ("--method", "ugrid", "--set", "cells=4", "--columns", "x,y")
LEVELS = ("--set", "height=4", "--set", "top=2", "--set", "budget=uniform")


@pytest.mark.parametrize("frame_options", [TABLE, GRID])
@pytest.mark.parametrize("k", [3, 12])
def test_one_person_more_in_a_file_moves_the_release_by_a_few_ones(tmp_path, frame_options, k):
    """With the same noise, by the command line; below K* and above it."""
    counts = []
    for extra in (False, True):
        source = write(tmp_path / f"visits{extra:d}.csv", extra)
        output = tmp_path / f"{extra:d}.parquet"
        options = ("--bounds=0,0,4,4", "--unit", "who", "--max-per-unit", k, "--delta", "1e-6")
        code, out, err = run(
            "build", source, *options, *frame_options, "--public", "--seed", 7, "-o", output
        )
        assert code == 0, err
        release = dpviz.read(output)
        assert ("δ = 1e-06" in out) == (k > 8)
        counts.append(np.concatenate([part.nodes.count[part.nodes.leaf] for part in release.parts]))
    moved = counts[1] - counts[0]
    assert set(np.rint(moved * 2**10) / 2**10) == {0.0, 1.0}
    assert moved.sum() == pytest.approx(k)


@pytest.fixture
def persons(tmp_path):
    """A function from a bound to a sensitive handle on the visits."""
    source = write(tmp_path / "visits.csv", extra=True)
    return lambda k, **how: dpviz.load(
        source, BOX, columns=("x", "y"), unit="who", max_per_unit=k, name="visits", **how
    )


def test_release_and_ledger_say_what_is_counted_and_what_holds(persons, tmp_path):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    release = dpviz.build(persons(30), areas=QUARTERS, delta=1e-6, ledger=ledger)
    header = release.header
    assert (header.epsilon, header.delta) == (1.0, 1e-6)
    assert header.unit == "one who with at most 30 slots"
    assert header.extra["counts"] == "persons"
    assert header.extra["mechanism"] == header.budget[0]["mechanism"] == "discrete Gaussian"
    assert header.extra["rho"] == pytest.approx(30 / (2 * MANY.variance))
    assert "counts of persons" in header.guarantee
    assert "-zCDP" in header.guarantee
    assert any("counts once per" in each for each in statement(header))
    spend = ledger.account("visits").spends[0]
    assert (spend.epsilon, spend.delta, spend.unit) == (1.0, 1e-6, "one who")
    assert "discrete Gaussian noise" in spend.what
    answers = release.answers
    assert (answers.high - answers.low <= 2 * 1.96 * answers.noise_sd + 2).all()
    release.save(tmp_path / "r.parquet")
    assert dpviz.read(tmp_path / "r.parquet").header == header
    assert "--delta 1e-06" in code_of(release).command()


def test_below_the_bound_the_release_is_pure_and_costs_no_delta(persons, tmp_path):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    release = dpviz.build(persons(8), "ugrid", delta=1e-6, cells=4, ledger=ledger)
    assert release.header.delta == ledger.account("visits").spent_delta == 0.0
    assert release.header.extra["counts"] == "persons"
    assert release.header.budget[0]["mechanism"] == "geometric"


def test_replacing_a_person_moves_twice_as_many_slots(persons):
    one, two = (
        dpviz.build(persons(k), "ugrid", delta=1e-6, cells=4, neighbours=how, ledger=None).header
        for k, how in ((60, "add-remove"), (30, "replace"))
    )
    assert one.extra["scale_squared"] == two.extra["scale_squared"]


def test_larger_areas_are_sums_of_the_finest():
    exact, noise = np.array([5, 6, 7, 8]), SimulatedNoise(0)
    counts, variance = method("areas").build(square(), exact, MANY.budget(), noise)
    assert counts[0] == counts[3:].sum() == counts[1:3].sum()
    assert variance == pytest.approx(MANY.variance * np.array([4, 2, 2, 1, 1, 1, 1]))


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda data: dpviz.build(data(30), delta=1e-6), "leave delta out, or count persons by"),
        (lambda data: dpviz.build(data(30), "ugrid", delta=1e-6), "ugrid with its cells"),
        (lambda data: dpviz.build(data(30), "ugrid", delta=1.0, cells=4), "from 1e-200 to below 1"),
        (lambda data: dpviz.build(data(30), "ugrid", delta=1e-201, cells=4), "from 1e-200"),
        (
            lambda data: dpviz.build(data(50), "ugrid", 1e-4, delta=1e-6, cells=4),
            "choose a larger epsilon",
        ),
        (lambda data: dpviz.build(data(100_001), "ugrid", delta=1e-6, cells=4), "slots per unit"),
    ],
)
def test_wishes_that_cannot_be_promised_are_refused_before_payment(persons, build, match):
    with pytest.raises(ParameterError, match=match) as caught:
        build(persons)
    assert "\n" not in str(caught.value)
    assert dpviz.Ledger().account("visits").spends == ()


def test_records_without_persons_are_refused(persons):
    records = dpviz.from_points(np.ones((5, 2)), BOX)
    with pytest.raises(ParameterError, match="needs persons"):
        dpviz.build(records, "ugrid", delta=1e-6, cells=4)


def test_command_line_refuses_a_delta_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "visits.csv", extra=False)
    words = ("build", "visits.csv", "--bounds=0,0,4,4", "--unit", "who", *GRID, "-o", "r.parquet")
    refused(tmp_path, (*words, "--delta", "0"), "leave it out")
    assert "--delta is for points and areas" in fails(
        "build", "city", "--side", 8, "-o", "c.parquet", "--delta", "1e-6"
    )


def test_difference_of_larger_areas_has_the_noise_of_their_finest_ones(persons):
    wards = voronoi(BOX, 40, seed=1)
    release = dpviz.build(persons(30), areas=wards, delta=1e-6, ledger=None)
    names = np.array(wards.names)
    districts = [np.flatnonzero(names == f"district {at}")[0] for at in (0, 1)]
    finest = sum(int((wards.parent == row).sum()) for row in districts)
    difference = release.compare("district 0", "district 1")
    assert difference.basis == "exact"
    assert difference.noise_sd == pytest.approx(math.sqrt(MANY.variance * finest))


def test_options_for_counts_of_records_are_refused_for_persons(persons):
    release = dpviz.build(persons(30), "ugrid", delta=1e-6, cells=4, ledger=None)
    with pytest.raises(ReleaseError, match="counts persons"):
        replicated(release, 2)
    with pytest.raises(ParameterError, match="a release of persons"):
        match(release, release, 1.0)


@pytest.mark.parametrize(
    ("words", "levels", "share"),
    [
        ((), 1, 1.0),
        (("--method", "ugrid", "--set", "cells=8"), 1, 1.0),
        (("--method", "quadtree", "--set", "height=4", "--set", "top=4"), 1, 1.0),
        (("--method", "quadtree", *LEVELS), 3, 1 / 3),
    ],
    ids=["tables", "ugrid", "one level", "three levels"],
)
def test_expect_shows_the_noise_of_several_bounds(words, levels, share):
    options = ("--records", 2_000, "--max-per-unit", 12, "--delta", "1e-6")
    rows = as_json("expect", "--bounds=0,0,4,4", *options, *words)["persons"]
    assert [row["max_per_unit"] for row in rows] == [1, 3, 10, 12, 30, 100, 365]
    for row in rows:
        noise = SlotNoise(1.0, 1e-6, row["max_per_unit"], 1, levels, share)
        assert (row["sd"], row["mechanism"]) == (pytest.approx(noise.sd), noise.mechanism)
