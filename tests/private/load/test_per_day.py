"""Records of one person and day change the counts of that day alone, by at most the bound."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import BudgetError, DpvizError
from dpviz.private.load import bounding
from tests.roads.conftest import grid
from tests.vault import layers_of

BOX = dpviz.Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
K, PERSON = 2, 12
"""The bound, and a person of whom a bound over two days keeps others at the fixed key."""

DAYS = {
    "spring": ("Europe/Berlin", "2024-03-31"),  # 23 hours
    "autumn": ("Europe/Berlin", "2024-10-27"),  # 25 hours
    "far east": ("Pacific/Kiritimati", "2024-03-05"),
    "far west": ("Pacific/Pago_Pago", "2024-03-05"),
    "put back after midnight": ("America/St_Johns", "2006-10-29"),
}


def visits(day, zone):
    """Records of 30 persons from two days before a day to two days after it, in any order.

    Each day has records at midnight and in its last second, and rows stand where they arrived.
    """
    random = np.random.default_rng(7)
    start = pd.Timestamp(day) - pd.Timedelta(2, "D")
    seconds = random.integers(0, 5 * 86_400, 900)
    edges = np.repeat(np.arange(1, 6) * 86_400, 60) - random.integers(0, 2, 300)
    time = start + pd.to_timedelta(np.r_[seconds, edges], "s")
    rows = len(time)
    return pd.DataFrame(
        {
            "x": random.random(rows),
            "y": random.random(rows),
            "person": random.integers(0, 30, rows),
            # Ambiguous and missing hours are read as standard time, like all others.
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
        }
    ).sample(frac=1, random_state=3)


def load(source, start, end, zone, domain=None, **how):
    timed = dpviz.Domain.from_bounds(
        BOX.bounds, BOX.columns, period=(start, end), time="time", zone=zone
    )
    how = {"unit": "person", "max_per_unit": K, "per": "day", "name": "visits", **how}
    with patch.object(bounding, "fresh_key", lambda: b"k" * 16):
        return dpviz.load(source, domain or timed, **how)


def moved(one, other):
    """Records by which two handles differ."""
    (one,), (other,) = layers_of(one).counts, layers_of(other).counts
    codes = np.union1d(one.codes, other.codes)
    counts = np.zeros((2, len(codes)), dtype=np.int64)
    for row, index in enumerate((one, other)):
        np.add.at(counts[row], np.searchsorted(codes, index.codes), index.weights)
    return int(np.abs(counts[0] - counts[1]).sum())


@pytest.mark.parametrize("case", DAYS)
def test_another_day_is_the_same_whatever_a_person_did_on_this_one(case):
    """T12: the counts before noise, at a fixed key; the rows of one day arrive in any order."""
    zone, day = DAYS[case]
    frame = visits(day, zone)
    start = pd.Timestamp(day)
    date = frame.time.str[:10]
    before, after, later = ((start + pd.Timedelta(n, "D")).strftime("%Y-%m-%d") for n in (-1, 1, 2))
    changed = 0
    for person in range(5):
        less = frame[(frame.person != person) | (date != day)]
        late = pd.concat([less, frame[(frame.person == person) & (date == day)]])
        for ends in ((before, day), (after, later)):
            assert moved(load(frame, *ends, zone), load(less, *ends, zone)) == 0
        distance = moved(load(frame, day, after, zone), load(less, day, after, zone))
        assert distance <= K
        assert moved(load(frame, day, after, zone), load(late, day, after, zone)) == 0
        changed += distance
        # Records of this day only: its bound is not shared with the other day.
        assert moved(load(frame, before, later, zone), load(less, before, later, zone)) <= K
    assert changed == 5 * K  # everyone exceeds the bound on each day


@pytest.mark.parametrize("per", ["day", "week", "month"])
@pytest.mark.parametrize("case", DAYS)
def test_an_engine_bounds_each_day_as_a_file_is_bounded(case, per, tmp_path):
    """A folder of daily files: by local clocks, and the same records of each cell if all stay."""
    zone, day = DAYS[case]
    frame = visits(day, zone)
    frame["person"] = frame.person % 4 if per == "month" else frame.person
    typed = frame.assign(time=pd.to_datetime(frame.time))
    for date, rows in typed.groupby(typed.time.dt.date):
        rows.to_parquet(tmp_path / f"{date}.parquet")
    ends = [(pd.Timestamp(day) + pd.Timedelta(n, "D")).strftime("%Y-%m-%d") for n in (-1, 2)]
    how = {"domain": None, "per": per, "bits": 12}
    assert (
        moved(*(load(each, *ends, zone, max_per_unit=999, **how) for each in (frame, tmp_path)))
        == 0
    )
    totals = [
        layers_of(load(each, *ends, zone, max_per_unit=25, **how)).counts[0].total
        for each in (frame, tmp_path)
    ]
    assert totals[0] == totals[1] < len(frame)


def test_a_bound_over_both_days_is_refused_by_a_calendar(ledger):
    """T13: by a person's records of both days, one day more changes what is kept of the other."""
    frame = visits("2024-03-05", "UTC")
    both = "2024-03-05", "2024-03-07", "UTC"
    less = frame[(frame.person != PERSON) | (frame.time.str[:10] != "2024-03-06")]
    assert moved(load(frame, *both, per=None), load(less, *both, per=None)) > K
    ledger.begin_calendar("visits", "day", "UTC")
    with pytest.raises(BudgetError, match="not bounded by it: load them with --per day --zone UTC"):
        dpviz.build(load(frame, *both, per=None), "ugrid", 1, ledger=ledger)
    dpviz.build(load(frame, *both), "ugrid", 1, ledger=ledger)
    prices = ledger.account("visits").longer
    assert prices == {"day": 1, "week": 2, "month": 2, "for ever": 2}


def test_a_late_record_counts_on_its_own_day_which_pays_again(ledger):
    """T13: a record of the 5th that arrives on the 6th is in no count of the 6th."""
    frame = visits("2024-03-05", "UTC")
    late = pd.DataFrame({"x": [0.5], "y": [0.5], "person": [99], "time": ["2024-03-05T23:59:59"]})
    grown = pd.concat([frame, late])
    next_day = "2024-03-06", "2024-03-07", "UTC"
    assert moved(load(frame, *next_day), load(grown, *next_day)) == 0
    ledger.begin_calendar("visits", "day", "UTC")
    for _ in range(2):
        dpviz.build(load(grown, "2024-03-05", "2024-03-06", "UTC"), "ugrid", 1, ledger=ledger)
    dpviz.build(load(grown, *next_day), "ugrid", 1, ledger=ledger)
    assert ledger.account("visits", ("2024-03-05", "2024-03-06")).spent == 2
    assert ledger.account("visits", ("2024-03-06", "2024-03-07")).spent == 1


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ({"unit": None, "max_per_unit": 1}, "name the column of persons too"),
        ({"per": "hour"}, "unit of time 'hour': choose one of day, week, month"),
        ({"domain": BOX}, "name the column of times and the public period too"),
        # Trips may last several days.
        ({"domain": grid(3)}, "per goes with points, the data are trips"),
    ],
)
def test_a_bound_that_no_calendar_has_is_refused(how, line):
    with pytest.raises(DpvizError, match=line):
        load(visits("2024-03-05", "UTC"), "2024-03-05", "2024-03-06", "UTC", **how)
