"""Tables of areas by time step and kind: exact parts, one price, margins, files, neighbours."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.domain.attributes import Kinds
from dpviz.errors import DpvizError
from dpviz.private.areas import AreaData, exact_areas
from dpviz.private.load import bounding
from dpviz.releases.areas.table_steps import record_domain, table_steps
from dpviz.roads.steps import Steps
from tests.refusals import in_one_line
from tests.vault import counts_of
from tests.wards import voronoi

BOX = dpviz.Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
AREAS = voronoi(BOX, 12, 3)
KINDS = Kinds("mode", ("bike", "walk"))
MONTHS = Steps.of("when", "2024-01-15,2024-05-01", "1mo", "Europe/Berlin")
WEEK = Steps.of("when", "2024-01-15,2024-05-01", "6h", "Europe/Berlin", "week")


def visits(n=600, seed=0):
    random = np.random.default_rng(seed)
    start = pd.Timestamp("2024-01-10").value // 10**9
    seconds = random.integers(start, start + 120 * 86_400, n).astype(float)
    seconds[:50] -= seconds[:50] % 86_400  # midnight, where a step begins
    return pa.table(
        {
            "x": random.random(n),
            "y": random.random(n),
            "when": seconds,
            "mode": random.choice(["bike", "walk", "bus"], n),
            "who": random.integers(0, n // 12, n).astype(str),
        }
    )


def loaded(table, steps=MONTHS, kinds=KINDS, **how):
    return dpviz.load(table, record_domain(BOX, steps, kinds), name="visits", **how)


@pytest.mark.parametrize("steps", [MONTHS, WEEK, None], ids=["months", "cycle", "no time"])
@pytest.mark.parametrize("kinds", [KINDS, None], ids=["kinds", "no kinds"])
def test_every_record_is_in_its_step_kind_and_area(steps, kinds):
    """By pandas, record by record, at the moments that the file states."""
    table = visits()
    data = AreaData(
        loaded(table, steps, kinds, public=True), AREAS, None if steps is None else steps.every
    )
    rows = table.to_pandas()
    step = np.zeros(len(rows), int) if steps is None else steps.of_moments(rows.when.to_numpy())
    kind = np.zeros(len(rows), int) if kinds is None else rows["mode"].map(
        {name: at for at, name in enumerate(kinds.names)}
    ).fillna(-1)  # fmt: skip
    area = AREAS.located(rows[["x", "y"]].to_numpy())
    shape = (1 if kinds is None else 2, 1 if steps is None else len(steps), AREAS.leaves)
    expected = np.zeros(shape, dtype=int)
    inside = (step >= 0) & (kind >= 0) & (area >= 0)
    np.add.at(expected, (kind[inside].astype(int), step[inside], area[inside]), 1)
    exact = exact_areas(data)
    assert exact[..., AREAS.first_leaf :].reshape(shape).tolist() == expected.tolist()
    assert exact[..., 0].sum() == expected.sum() > 100


def test_a_table_costs_what_one_part_costs_and_adds_up():
    data = AreaData(loaded(visits(), public=True), AREAS, "1mo")
    release = dpviz.build(data, "areas", 0.8, seed=1)
    assert release.header.epsilon == 0.8
    alone = dpviz.build(AreaData(loaded(visits(), None, None, public=True), AREAS), epsilon=0.8)
    prices = [[row["epsilon"] for row in each.header.budget] for each in (release, alone)]
    assert prices[0] == prices[1]
    assert "area, step, category" in release.header.budget[0]["theorem"]
    assert len(release.parts) == 2 * len(MONTHS)
    for part in release.parts:
        nodes = part.nodes
        for row in np.unique(nodes.parent[1:]):
            assert nodes.count[nodes.parent == row].sum() == nodes.count[row]
    assert (release.parts[0].nodes.variance == alone.nodes.variance).all()


@pytest.mark.parametrize("whole", [True, False])
def test_without_noise_the_table_is_exact(whole):
    data = AreaData(loaded(visits(), public=True), AREAS, "1mo")
    release = dpviz.build(data, "areas", 1e6, seed=0, whole=whole)
    counts = np.array([part.nodes.count for part in release.parts])
    assert counts.tolist() == exact_areas(data).tolist()
    table = release.table()
    exact = table[table.margin == ""]
    ward = exact[exact.level == "ward"]["count"].sum()
    for margin in ("kinds", "steps", "kinds and steps"):
        rows = table[(table.margin == margin) & (table.level == "ward")]
        assert rows["count"].sum() == ward
    assert ((table.low <= table["count"]) & (table["count"] <= table.high)).all()
    assert set(table[table.margin == "kinds and steps"].kind) == {"all"}


def test_margins_have_the_noise_of_all_their_parts():
    release = dpviz.build(AreaData(loaded(visits(), public=True), AREAS, "1mo"), seed=0)
    table = release.table("district")
    alone = table[table.margin == ""].noise_sd.iloc[0]
    for margin, parts in (("kinds", 2), ("steps", len(MONTHS)), ("kinds and steps", None)):
        added = 2 * len(MONTHS) if parts is None else parts
        assert table[table.margin == margin].noise_sd.iloc[0] == pytest.approx(alone * added**0.5)
    with pytest.raises(DpvizError, match="no level 'street'"):
        release.table("street")


def test_a_file_holds_the_polygons_once_and_reads_back(tmp_path):
    release = dpviz.build(AreaData(loaded(visits(), public=True), AREAS, "1mo"), seed=0)
    stored = release.to_arrow()
    assert stored["geometry"].null_count == len(stored) - AREAS.leaves
    back = dpviz.read(release.save(tmp_path / "t.parquet"))
    pd.testing.assert_frame_equal(back.table(), release.table())
    assert back.to_arrow().equals(stored)
    assert back.kinds == KINDS.names
    assert back.steps == MONTHS
    february = back.during("2024-02-01,2024-03-01").of("bike")
    assert february.answers.count.tolist() == back.parts[1].nodes.count.tolist()
    district = back.frame.names[1]
    line = back.timeline_of(district)
    months = back.table("district")
    rows = months[(months.margin == "kinds") & (months.name == district)]
    assert line.count.tolist() == rows["count"].tolist()
    assert line.low.tolist() == rows.low.tolist()
    assert len(back.timeline_of(district, "2024-02-01,2024-03-01")) == 1


@pytest.mark.parametrize("most", [1, 3, 10])
def test_one_person_more_moves_the_exact_table_by_at_most_k(most, monkeypatch):
    """And odd records of that person drop by themselves; one row moves at most 2."""
    monkeypatch.setattr(bounding, "fresh_key", lambda: b"k" * 16)
    table = visits()
    odd = pa.table(
        {
            "x": [0.5, np.nan, 0.5, 7.0, 0.5, *[0.25] * 20],
            "y": [0.5] * 25,
            "when": [np.nan, 1.71e9, 1e300, 1.71e9, 1.71e9, *[1.71e9] * 20],
            "mode": [*["bike"] * 4, "horse", *["walk"] * 20],
            "who": ["zed"] * 25,
        }
    )
    how = {"unit": "who", "max_per_unit": most}

    def exact(rows):
        return counts_of(AreaData(loaded(rows, **how), AREAS, "1mo"))

    before = exact(table)
    assert (exact(pa.concat_tables([table, odd.slice(0, 5)])) == before).all()
    assert np.abs(exact(pa.concat_tables([odd, table])) - before).sum() == most
    assert np.abs(exact(table.slice(1)) - before).sum() <= 2
    assert (exact(table.take(np.arange(len(table))[::-1])) == before).all()


def test_refusals_come_before_payment():
    daily = dpviz.Domain.from_bounds(
        BOX.bounds, ("x", "y"), period="2024-01-01,2024-03-01", time="when", every="1d"
    )
    kept = replace(daily, step=0.0)
    assert len(table_steps(daily, "1mo")) == 2
    assert len(table_steps(daily)) == 60
    for domain, every, message in (
        (daily, "7h", "and some lie in two of them"),
        (kept, "1mo", "and some lie in two of them"),
        (kept, None, "give the step of the table too"),
        (BOX, "1d", "these records have no time"),
        (replace(daily, zone="Asia/Tokyo"), "1mo", "and some lie in two of them"),
    ):
        with in_one_line(DpvizError, message):
            table_steps(domain, every)
    odd = Steps.of("when", (1704067200.5, 1706745600), "1d")
    with pytest.raises(DpvizError, match="begin the period on a whole second"):
        record_domain(BOX, odd)
    fine = Steps.of("when", (1704067201, 1712745600), "1d")
    with pytest.raises(DpvizError, match="begin the period on a whole day"):
        record_domain(BOX, fine)
    points = dpviz.load(visits(), BOX, columns=("x", "y"), public=True)
    with pytest.raises(DpvizError, match="every='1d' is the step of a table: give areas too"):
        dpviz.build(points, every="1d")
    release = dpviz.build(points, seed=0)
    with pytest.raises(DpvizError, match="a release of points has no table"):
        release.table()
    named = dpviz.build(AreaData(loaded(visits(), public=True), AREAS, "1mo"), seed=0)
    with pytest.raises(DpvizError, match="no area 'moon'"):
        named.timeline_of("moon")


def test_too_large_a_table_is_refused(monkeypatch):
    monkeypatch.setattr("dpviz.private.areas.MAX_COUNTS", 100)
    with pytest.raises(DpvizError, match="a table holds up to 100 counts"):
        AreaData(loaded(visits(), public=True), AREAS, "1mo")
