"""Sums of values per area, step and kind: exact sums, price, exact loss, coverage, files."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import dpviz
from dpviz.domain.attributes import Values
from dpviz.errors import DomainError, ParameterError
from dpviz.methods.areas.hierarchy import AreaCounts
from dpviz.planning.calls import code_of
from dpviz.private.areas import AreaData
from dpviz.private.budget import Budget
from dpviz.private.load import bounding
from dpviz.releases.areas.table import area_sums
from dpviz.releases.areas.table_steps import record_domain
from tests.methods.test_areas import SQUARE, Scripted, halves
from tests.releases.test_tables import AREAS, BOX, KINDS, MONTHS, visits
from tests.vault import counts_of, sums_of

FARES = Values("fare", -5.0, 40.0)


def fares(n=600):
    """Visits with a fare: some beyond the clip, one in twenty missing."""
    table, random = visits(n), np.random.default_rng(1)
    values = random.gamma(2, 10, n) - 8
    return table.append_column("fare", pa.array(values, mask=random.random(n) < 0.05))


def read(table, steps=MONTHS, kinds=KINDS, values=FARES, **how):
    points = dpviz.load(table, record_domain(BOX, steps, kinds, values), name="fares", **how)
    return AreaData(points, AREAS, None if steps is None else steps.every)


@pytest.fixture(scope="module")
def data():
    return read(fares(), public=True)


@pytest.mark.parametrize("steps", [MONTHS, None], ids=["months", "no time"])
@pytest.mark.parametrize("kinds", [KINDS, None], ids=["kinds", "no kinds"])
def test_every_value_is_added_in_its_step_kind_and_area(steps, kinds):
    """By pandas, record by record; a record without a value is in no count either."""
    rows = fares().to_pandas()
    step = np.zeros(len(rows), int) if steps is None else steps.of_moments(rows.when.to_numpy())
    kind = np.zeros(len(rows), int)
    if kinds is not None:
        kind = rows["mode"].map({name: at for at, name in enumerate(kinds.names)}).fillna(-1)
    area = AREAS.located(rows[["x", "y"]].to_numpy())
    inside = (step >= 0) & (kind >= 0) & (area >= 0) & rows.fare.notna()
    at = np.asarray(kind[inside], int), step[inside], area[inside]
    shape = (1 if kinds is None else 2, 1 if steps is None else len(steps), AREAS.leaves)
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, at, np.rint(rows.fare[inside].clip(-5, 40) / FARES.grid))
    np.add.at(counts, at, 1)
    loaded = read(fares(), steps, kinds, public=True)
    assert sums_of(loaded).reshape(shape).tolist() == sums.tolist()
    assert counts_of(loaded).reshape(shape).tolist() == counts.tolist()
    assert np.abs(sums).sum() > 1e6


def test_sums_are_paid_from_the_same_price(data):
    release = dpviz.build(data, "areas", 0.8, seed=0, sum_share=0.25)
    assert release.header.epsilon == 0.8
    prices = {row["purpose"]: row["epsilon"] for row in release.header.budget}
    for_sums = [price for purpose, price in prices.items() if purpose.startswith("sums of values,")]
    assert sum(for_sums) == pytest.approx(0.2)
    assert sum(prices.values()) == pytest.approx(0.8)
    assert len(prices) == 2 * len(AREAS.levels)
    assert "--sum-share 0.25" in (command := code_of(release).command())
    assert "--sum fare --clip=-5.0,40.0 --grid 0.001" in command
    alone = dpviz.build(read(fares(), values=None, public=True), "areas", 0.8, seed=0)
    assert [row["purpose"] for row in alone.header.budget] == list(prices)[-len(AREAS.levels) :]


def test_a_person_with_k_records_pays_for_k_values():
    release = dpviz.build(read(fares(), unit="who", max_per_unit=3, public=True), seed=0)
    row = release.header.budget[0]
    assert "sensitivity 40000 (120,000 for 3 records) steps of 0.001" in row["theorem"]
    one = dpviz.build(read(fares(), public=True), epsilon=1 / 3, seed=0)
    assert release.parts[0].sums.variance == pytest.approx(one.parts[0].sums.variance)


def test_sums_of_every_part_add_up_over_the_hierarchy(data):
    release = dpviz.build(data, "areas", 0.5, seed=1)
    for part in release.parts:
        parent, sums = part.nodes.parent, part.sums.sum
        for row in np.unique(parent[1:]):
            assert sums[parent == row].sum() == pytest.approx(sums[row], rel=1e-12, abs=1e-9)
    table = release.table()
    leaves = table[(table.margin == "") & (table.level == "ward")]["sum"].sum()
    for margin in ("kinds", "steps", "kinds and steps"):
        for level in AREAS.levels:
            rows = table[(table.margin == margin) & (table.level == level)]
            assert rows["sum"].sum() == pytest.approx(leaves)


def test_intervals_of_sums_cover(data):
    """95 % intervals of 300 releases hold 94 to 98.5 %; false alarm below 1e-6.

    2,400 independent parts hold .956 of their areas' sums, with a standard deviation of .002; sums
    over all parts are closer to normal and hold .966, with one of .004 of 300 releases.
    """
    exact = AREAS.totals(sums_of(data)) * FARES.grid
    parts, margins = [], []
    for seed in range(300):
        release = dpviz.build(data, "areas", 0.5, seed=seed)
        for part, truth in zip(release.parts, exact, strict=True):
            parts.append(covered(area_sums(part), truth))
        margins.append(covered(area_sums(release), exact.sum(axis=0)))
    assert 0.94 <= np.mean(parts) <= 0.985
    assert 0.94 <= np.mean(margins) <= 0.985


def covered(sums, truth):
    return (sums.low <= truth) & (truth <= sums.high)


@pytest.mark.parametrize("most", [1, 3, 10])
def test_one_person_more_moves_the_exact_sums_by_at_most_k_clips(most, monkeypatch):
    """The ends of the clip, values far beyond it, and odd values; and one row by two of them."""
    monkeypatch.setattr(bounding, "fresh_key", lambda: b"k" * 16)
    table, how = fares(), {"unit": "who", "max_per_unit": most}
    values = [np.nan, np.inf, 1e301, None, *[1e9, -1e9, 40.0, 1e-300] * 5]
    n = len(values)
    odd = pa.table(
        {
            "x": [0.5] * n,
            "y": [0.5] * n,
            "when": [1.71e9] * n,
            "mode": ["bike"] * n,
            "who": ["zed"] * n,
            "fare": pa.array(values, pa.float64()),
        }
    )
    before = sums_of(read(table, **how))
    unread = pa.concat_tables([table, odd.slice(0, 4)])
    assert (sums_of(read(unread, **how)) == before).all()
    moved = np.abs(sums_of(read(pa.concat_tables([odd, table]), **how)) - before)
    assert np.count_nonzero(moved) <= 1
    assert moved.sum() <= most * FARES.reach
    assert np.abs(sums_of(read(table.slice(1), **how)) - before).sum() <= 2 * FARES.reach


def test_the_exact_loss_of_counts_and_sums_by_enumeration_is_epsilon():
    """A square and its halves, one record more of each value in either: noise that hides it.

    Every outcome with the record comes from other draws without it, whose probability differs by
    the rates of the counts and sums that it moves: that is the whole loss. It is at most ε, and
    it is ε for a value at the farther end of the clip.
    """
    values, method = Values("v", -1.0, 2.0, 1.0), AreaCounts()
    areas = dpviz.Areas(SQUARE, ("whole", "half"), ("0", "1", "2"), np.array([-1, 0, 0]), halves())

    def built(counts, sums, draws):
        noise, budget = Scripted(draws), Budget(0.7)
        each = [
            method.build_sums(areas, np.array(sums), values, budget, noise, 0.3)[0],
            method.build(areas, np.array(counts), budget, noise)[0],
        ]
        assert budget.left < 1e-15
        return np.concatenate(each).tolist(), np.array(noise.rates)

    largest = {}
    for half, value in product((0, 1), (-1, 0, 1, 2)):
        one = np.eye(2, dtype=int)[half]
        moved = np.array([value, *value * one, 1, *one])
        losses = []
        for draws in product((0, 2), repeat=6):
            outcome, rates = built(one + 1, value * one + [2, -1], draws)
            hidden = (np.array(draws) + moved).tolist()
            assert built([1, 1], [2, -1], hidden)[0] == outcome
            losses.append(float(rates @ (np.abs(hidden) - np.abs(draws))))
        largest[half, value] = max(map(abs, losses))
    assert max(largest.values()) <= 0.7
    assert {key[1] for key, loss in largest.items() if loss > 0.7 - 1e-12} == {2}
    assert largest[0, 0] == pytest.approx(0.7 * 0.7)  # the counts alone


def test_files_hold_the_sums(data, tmp_path):
    release = dpviz.build(data, "areas", 2.0, seed=0)
    back = dpviz.read(release.save(tmp_path / "t.parquet"))
    pd.testing.assert_frame_equal(back.table(), release.table())
    assert back.header == release.header
    assert back.domain.values == FARES
    table = release.table("ward")
    for ending, reader in ((".csv", pd.read_csv), (".geo.parquet", pd.read_parquet)):
        rows = reader(dpviz.export(release, tmp_path / f"x{ending}"))
        for name in ("sum", "sum_sd", "sum_low", "sum_high"):
            assert rows[name].tolist() == pytest.approx(table[name].tolist())
    bikes = back.of("bike").during("2024-02-01,2024-03-01")
    assert bikes.sums.sum.tolist() == release.parts[1].sums.sum.tolist()


def test_sums_and_means_of_rectangles_and_areas(data):
    release = dpviz.build(data, "areas", 1e6, seed=0)
    exact, counts = sums_of(data) * FARES.grid, counts_of(data)
    everywhere, west = [0, 0, 1, 1], [0, 0, 0.5, 1]
    assert release.sum(everywhere).sum[0] == pytest.approx(exact.sum(), abs=0.1)
    assert release.sum(everywhere).uniformity_sd[0] == 0
    mean = exact.sum() / counts.sum()
    assert release.mean(everywhere).value[0] == pytest.approx(mean, abs=0.01)
    bikes = release.sum(everywhere, "2024-02-01,2024-03-01", "bike")
    assert bikes.sum[0] == pytest.approx(exact[1].sum(), abs=0.1)
    share = shapely.area(shapely.intersection(AREAS.shapes, shapely.box(*west)))
    shared = exact.sum(axis=0) @ (share / shapely.area(AREAS.shapes))
    assert release.sum(west).sum[0] == pytest.approx(shared, rel=1e-4)
    assert release.sum(west).uniformity_sd[0] > 0


def test_sums_that_cannot_be_are_refused_before_they_are_paid(tmp_path):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    tiny = Values("fare", 0.0, 1.0, 1e-6)
    for loaded, options, message in (
        (
            read(fares(), unit="who", max_per_unit=30),
            {"delta": 1e-6},
            "for counts, not for sums of values",
        ),
        (read(fares()), {"sum_share": 0.999}, "give a number from 0.01"),
        (read(fares(), values=tiny), {"epsilon": 1e-6, "sum_share": 0.01}, "would be all noise"),
        (read(fares(), values=None), {"sum_share": 0.5}, "without values: leave it out"),
    ):
        with pytest.raises(ParameterError, match=message):
            dpviz.build(loaded, ledger=ledger, **options)
    with pytest.raises(DomainError, match="this release has no sums"):
        dpviz.build(read(fares(), values=None, public=True), seed=0).sum([0, 0, 1, 1])
    assert ledger.account("fares").spent == 0
