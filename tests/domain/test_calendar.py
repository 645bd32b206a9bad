"""Zones and cycles: both edges of daylight saving, what is read back, and what is refused."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.domain import Domain
from dpviz.domain.calendar import Calendar, duration_text, fixed_step, moment, step_text
from dpviz.domain.zones import OF_ZONES, offsets
from dpviz.errors import DomainError
from dpviz.private.load.values import times

BERLIN = Calendar("Europe/Berlin")
ZONES = (
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Pyongyang",
)
LAST_SPRING, LAST_AUTUMN = moment("2024-03-31T01:00"), moment("2024-10-27T01:00")


@pytest.mark.slow
@given(st.sampled_from(ZONES), st.integers(*map(int, OF_ZONES)).filter(lambda each: each))
@example("Europe/Berlin", int(LAST_SPRING))
@example("Europe/Berlin", int(LAST_AUTUMN))
@example("Europe/Berlin", int(LAST_AUTUMN) - 1)
def test_clocks_are_those_of_zoneinfo(zone, seconds):
    """Clock times are read back, or an hour later where a time occurs twice."""
    there = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    shown = there.astimezone(ZoneInfo(zone))
    clocks = (shown.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    known = offsets(zone)
    assert known.to_clocks([seconds]).tolist() == [clocks]
    (again,) = known.to_moments([clocks]).tolist()
    twice = shown.replace(fold=0).utcoffset() != shown.replace(fold=1).utcoffset()
    assert again == seconds or (twice and 0 < again - seconds <= 3 * 3_600)


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2024-03-31T01:59:59", "2024-03-31T00:59:59"),
        ("2024-03-31T02:30:00", "2024-03-31T01:30:00"),  # skipped by the clock: read as 03:30
        ("2024-03-31T03:30:00", "2024-03-31T01:30:00"),
        ("2024-10-27T01:59:59", "2024-10-26T23:59:59"),
        ("2024-10-27T02:00:00", "2024-10-27T01:00:00"),  # occurs twice: the second one
        ("2024-10-27T02:59:59", "2024-10-27T01:59:59"),
        ("2024-10-27T02:30:00+02:00", "2024-10-27T00:30:00"),  # the first, by its UTC offset
        ("2024-07-01", "2024-06-30T22:00:00"),
    ],
)
def test_every_way_of_reading_has_one_rule_for_the_edges_of_summer(local, utc):
    wanted = moment(utc)
    assert moment(local, "Europe/Berlin") == wanted
    assert BERLIN.moment(BERLIN.text(wanted)) == wanted
    columns = [[local], [datetime.fromisoformat(local)], pa.array([local])]
    columns += [pa.array([local, "soon"]), pa.array([local.encode()])]
    if "+" not in local:
        columns.append(pa.array([np.datetime64(local, "s")], pa.timestamp("s")))
    for column in columns:
        assert times(column, "when", "Europe/Berlin")[0] == wanted


@pytest.mark.parametrize("digits", [20240101, 1704067200000, 2024])
def test_numbers_are_seconds_and_digits_in_text_are_not(digits):
    """Eight digits of text are a date of ISO 8601, alone or beside others."""
    assert times(pa.array([digits]), "when", "Europe/Berlin")[0] == digits
    for column in ([str(digits)], [str(digits), "2024-01-01"]):
        date = [moment("2024-01-01", "Europe/Berlin")] if digits == 20240101 else [np.nan]
        assert np.array_equal(times(column, "when", "Europe/Berlin")[:1], date, equal_nan=True)


def test_days_of_a_zone_have_23_and_25_hours():
    for day, hours in (("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-01", 24)):
        start, end = BERLIN.period(f"{day},{np.datetime64(day) + np.timedelta64(1, 'D')}")
        assert (end - start) / 3_600 == hours
        assert BERLIN.edges(start, end, "1d").tolist() == [start, end]
        assert len(BERLIN.edges(start, end, "1h")) - 1 == hours
    months = BERLIN.edges(*BERLIN.period("2024-01-01,2025-01-01"), "1mo")
    assert [BERLIN.text(each) for each in months[:4]] == [
        f"2024-{month:02}-01" for month in (1, 2, 3, 4)
    ]


@given(st.sampled_from(("day", "week")), st.integers(0, 604_800))
def test_a_time_of_a_cycle_is_written_as_it_is_read(cycle, seconds):
    calendar = Calendar(cycle=cycle)
    seconds = min(seconds, calendar.length)
    assert calendar.moment(calendar.text(seconds)) == seconds
    assert calendar.from_clocks(calendar.clocks(seconds)) == seconds


def test_a_cycle_follows_the_clocks_of_the_zone():
    """Half past eight on Mondays, in winter and in summer, by what a clock there shows."""
    mondays = [
        moment(f"{day}T08:30:00.25", "Europe/Berlin") for day in ("2024-01-08", "2024-07-08")
    ]
    assert mondays[0] % 86_400 != mondays[1] % 86_400
    for cycle, words in (("week", "Mon 08:30"), ("day", "08:30")):
        calendar = Calendar("Europe/Berlin", cycle)
        assert {calendar.text(each) for each in calendar.on_axis(np.array(mondays))} == {words}
    sunday = np.array([moment("2024-01-07T23:59:59.999")])
    assert Calendar(cycle="week").on_axis(sunday).tolist() == [604_799.0]
    assert np.isnan(Calendar(cycle="week").on_axis(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    "zone", ["Mars/Base", "../../etc/passwd", "/etc/passwd", "", "a\0b", "Europe", "\ud800"]
)
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(DomainError, match="is unknown: give one such as Europe/Berlin"):
        Calendar(zone)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cycle": "moon"}, "choose one of day, week"),
        ({"cycle": "week", "every": "5h", "period": None}, "not a whole number of steps"),
        ({"zone": "Europe/Berlin", "period": None}, "zone='Europe/Berlin' without a period"),
        ({"zone": "Europe/Berlin", "period": "1800-01-01,1801-01-01"}, "1900-01-01 to 2100-01-01"),
        ({"cycle": "day", "period": "1800-01-01,1801-01-01"}, "1900-01-01 to 2100-01-01"),
    ],
)
def test_invalid_zones_and_cycles_of_a_domain_are_refused(wrong, words):
    with pytest.raises(DomainError, match=words):
        Domain.from_bounds([0, 0, 1, 1], **{"period": "2024-01-01,2025-01-01"} | wrong)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("Fri 22:00,Mon 06:00", "wraps around into two"),
        ("08:00,18:00", "'08:00' is not a time of a week: use one such as Tue 08:30"),
        ("Mon 08:60,Tue 00:00", "is not a time of a week"),
        ("Mon 25:00,Tue 00:00", "is not a time of a week"),
        ("Mon 08:00", "such as Mon 08:00,Fri 18:00"),
        ((0, 604_801), "604801 is not a time of a week"),
    ],
)
def test_invalid_parts_of_a_week_are_refused(asked, words):
    with pytest.raises(DomainError, match=words):
        Calendar(cycle="week").period(asked)


@pytest.mark.parametrize("text", ["0001-01-01T00:00+14:00", "9999-12-31T23:00-12:00"])
def test_a_moment_beyond_the_years_1_to_9999_is_refused(text):
    """Neither Python nor a header's reader could write it or read it back."""
    with pytest.raises(DomainError, match="is not a time: use ISO 8601"):
        moment(text)


@given(st.integers(1, 999_999), st.sampled_from(["s", "min", "h", "d", "w"]))
@example(2, "w")
def test_a_step_in_its_largest_unit_is_read_back(count, unit):
    seconds = fixed_step(f"{count}{unit}")
    assert fixed_step(step_text(seconds)) == seconds


@pytest.mark.parametrize("seconds", [0.5, 0.0, 1_000_001.0])
def test_a_length_without_a_whole_unit_has_no_step_text(seconds):
    with pytest.raises(DomainError, match="give a number and a unit"):
        step_text(seconds)
    assert duration_text(seconds) == f"{seconds:g} seconds"


@pytest.mark.parametrize("step", ["1h", "1mo"])
def test_a_timeline_has_at_most_so_many_steps_whatever_their_unit(step):
    with pytest.raises(DomainError, match=rf"step '{step}': .* steps in the period: give a longer"):
        Calendar().edges(*Calendar().period("0001-01-01,9999-01-01"), step)
