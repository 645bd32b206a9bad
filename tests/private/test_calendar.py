"""A calendar of charges: no unit of time is overspent, and periods are rounded outward."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.domain.calendar import Calendar
from dpviz.domain.units import ChargedPeriod, TimeUnits
from dpviz.errors import BudgetError, DomainError, LedgerError
from dpviz.private.ledger.balance import Balance
from dpviz.private.ledger.entries import Entry
from dpviz.private.ledger.profile import MAX_PIECES
from tests.private.load.stability import often

DAY = "one person's records of one day"
BERLIN = TimeUnits("day", "Europe/Berlin")


def period(start, end, units=BERLIN, column="time"):
    return ChargedPeriod(units, column, *Calendar(units.zone).period((start, end)))


def spend(ledger, epsilon, start="2024-03-01", end="2024-03-02", **words):
    given = {"what": "areas", "unit": DAY, "period": period(start, end)}
    return ledger.spend("visits", epsilon, **{**given, **words})


@pytest.fixture
def visits(ledger):
    """A calendar by day in Berlin with a total of 1."""
    ledger.begin_calendar("visits", "day", "Europe/Berlin")
    ledger.set_total("visits", 1)
    return ledger


# Charges

spans = st.tuples(st.integers(0, 400), st.integers(1, 80)).map(lambda at: (at[0], sum(at)))
charges = st.tuples(st.one_of(spans, st.none()), st.sampled_from(["0.1", "0.25", "1", "1e-9"]))


@given(
    st.lists(charges, min_size=1, max_size=15),
    spans,
    st.sampled_from(["month", "week"]),
    st.sampled_from(["0.5", "2"]),
)
@often(100)
def test_charges_are_those_of_every_day_by_itself(spent, asked, longer, total):
    """T10: a spend passes exactly when it fits on each of its days; sums are exact."""
    balance = Balance("visits", frame=BERLIN, total=Fraction(total), total_delta=Fraction(0))
    days = dict.fromkeys(range(-40, 520), Fraction(0))
    for units, epsilon in spent:
        entry = Entry(kind="spend", at="", epsilon=epsilon, units=units, frame=str(BERLIN))
        inside = [day for day in days if units is None or units[0] <= day < units[1]]
        if max(days[day] for day in inside) + Fraction(epsilon) <= Fraction(total):
            balance.require_room(entry)
            balance.add(entry)
            for day in inside:
                days[day] += Fraction(epsilon)
        else:
            with pytest.raises(BudgetError, match="is left"):
                balance.require_room(entry)
    account = balance.account({}, asked)
    assert account.spent == float(max(days[day] for day in range(*asked)))
    of_days = {day: balance.profile.largest((day, day + 1))[0] for day in days}
    assert of_days == days
    sums = {}
    number = dict(zip(days, TimeUnits(longer, "UTC").of_days([*days]).tolist(), strict=True))
    for day, charge in days.items():
        sums[number[day]] = sums.get(number[day], Fraction(0)) + charge
    prices = account.longer
    assert (prices["day"], prices[longer]) == (float(max(days.values())), float(max(sums.values())))
    assert prices["for ever"] == (None if days[-40] else float(sum(days.values())))
    stretches = [charge for _, _, charge in balance.profile.stretches()]
    assert all(one != other for one, other in pairwise(stretches))


def test_equal_daily_releases_cost_one_day_once_and_longer_times_their_sum(visits):
    for day in range(1, 10):
        spend(visits, 0.5, f"2024-03-{day:02}", f"2024-03-{day + 1:02}")
    spend(visits, 0.5, "2024-03-04", "2024-03-06")
    account = visits.account("visits")
    assert (account.spent, account.left) == (1, 0)
    assert account.longer == {"day": 1, "week": 4, "month": 5.5, "for ever": 5.5}
    assert visits.account("visits", "2024-03-07,2024-03-20").left == 0.5
    assert len(visits.account("visits", "2024-03-04,2024-03-05").spends) == 2
    pieces = [(each.start, each.end, each.epsilon) for each in visits.calendar("visits")]
    assert pieces == [
        ("", "2024-03-01", 0),
        ("2024-03-01", "2024-03-04", 0.5),
        ("2024-03-04", "2024-03-06", 1),
        ("2024-03-06", "2024-03-10", 0.5),
        ("2024-03-10", "", 0),
    ]
    with pytest.raises(BudgetError, match=r"cannot spend epsilon=0\.6 .*: 0\.5 of 1 is left"):
        spend(visits, 0.6, "2024-03-09", "2024-03-20")


def test_no_number_is_stated_for_longer_times_once_delta_is_spent(ledger):
    ledger.begin_calendar("visits", "week", "UTC")
    week = period("2024-03-04", "2024-03-05", TimeUnits("week", "UTC"))
    unit = "one person's records of one week"
    spend(ledger, 1, period=week, unit=unit)
    # A month is not a whole number of weeks.
    assert ledger.account("visits").longer == {"week": 1, "for ever": 1}
    spend(ledger, 1, period=week, unit=unit, delta=1e-6)
    assert ledger.account("visits").longer == {}
    assert ledger.account("visits").spent_delta == 1e-6


def test_several_data_sets_pay_together_or_not_at_all(visits):
    visits.begin_calendar("taxis", "day", "Europe/Berlin")
    spend(visits, 0.8, beside=("taxis",))
    for start, end in (("2024-03-01", "2024-03-02"), ("2024-03-02", "2024-03-03")):
        with pytest.raises(BudgetError, match=r"'others' has no calendar|'visits': 0\.2 of 1"):
            spend(visits, 0.8, start, end, beside=("taxis", "others"))
    assert [each.spent for each in visits.accounts()] == [0.8, 0.8]


def test_too_many_different_charges_are_refused(ledger):
    balance = Balance("visits", frame=BERLIN)

    def entry(day):
        return Entry(
            kind="spend", at="", epsilon=f"{day + 1}e-6", units=(day, day + 1), frame=str(BERLIN)
        )

    for day in range(MAX_PIECES - 2):
        balance.require_room(entry(day))
        balance.add(entry(day))
    with pytest.raises(BudgetError, match=r"4,097 different charges .*: use equal prices"):
        balance.require_room(entry(MAX_PIECES - 2))


# Units of time


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", "2024-03-31"),
        ("Europe/Berlin", "2024-10-27"),
        ("Pacific/Kiritimati", "2024-03-01"),
        ("Pacific/Pago_Pago", "2024-03-01"),
        ("America/St_Johns", "2006-10-29"),  # at 00:01 clocks went back to 23:01
        ("America/Sao_Paulo", "2017-10-15"),  # midnight was skipped
    ],
)
@pytest.mark.parametrize("each", ["day", "week", "month"])
def test_a_period_touches_the_units_of_all_its_moments(zone, day, each):
    """T14: every half hour around a change of clocks, against every half minute in between."""
    units, noon = TimeUnits(each, zone), Calendar(zone).moment(f"{day}T12:00")
    moments = np.arange(noon - 30 * 3_600, noon + 30 * 3_600, 30.0)
    number = units.of_moments(moments)
    for start in range(0, len(moments), 240):
        for end in range(start + 60, len(moments) + 1, 300):
            inside = number[start:end]
            touched = units.touched(moments[start], moments[end - 1] + 30.0)
            assert touched == (inside.min(), inside.max() + 1)


def test_half_an_hour_on_each_side_of_midnight_charges_two_days(visits):
    spend(visits, 1, "2024-03-01T23:30", "2024-03-02T00:30")
    (row,) = visits.account("visits").spends
    assert row.period == "2024-03-01 to before 2024-03-03"
    spend(visits, 1, "2024-03-03", "2024-03-04T00:00")  # until midnight, so not the next day
    assert visits.account("visits", "2024-03-04,2024-03-05").spent == 0


def test_the_last_moment_of_a_day_is_never_rounded_into_the_next():
    """Clock times there are beyond 2^30 s and moments are not: a sum would round up to midnight."""
    midnight = Calendar("Pacific/Kiritimati").moment("2004-01-11")
    before, after = TimeUnits("day", "Pacific/Kiritimati").of_moments(
        [np.nextafter(midnight, 0), midnight]
    )
    assert after == before + 1


# Frames


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"period": None}, "calendar by day in Europe/Berlin, and these records are not bounded"),
        ({"period": period("2024-03-01", "2024-03-02", TimeUnits("day", "UTC"))}, "by day in UTC"),
        ({"period": period("2024-03-01", "2024-03-02", column="left")}, "'time', not in 'left'"),
        ({"unit": "one household's records of one day"}, "accounted for one person's records of"),
    ],
)
def test_prices_of_another_frame_are_refused(visits, words, line):
    spend(visits, 0.1, "2024-03-01", "2024-03-02")
    with pytest.raises(BudgetError, match=line):
        spend(visits, 0.1, "2024-03-03", "2024-03-04", **words)
    assert visits.account("visits").spent == 0.1


def test_a_calendar_begins_once_and_never_for_single_records(visits):
    for unit, zone in (("day", "Europe/Berlin"), ("week", "UTC")):
        with pytest.raises(BudgetError, match=r"by day in Europe/Berlin already.*no way back"):
            visits.begin_calendar("visits", unit, zone)
    visits.spend("rows", 0.1, what="x")
    with pytest.raises(BudgetError, match="one record, and a day of a person may hold any number"):
        visits.begin_calendar("rows", "day", "UTC")
    for unit, zone in (("hour", "UTC"), ("day", "Mars/Base")):
        with pytest.raises(DomainError, match=r"hour|Mars"):
            visits.begin_calendar("others", unit, zone)
    with pytest.raises(BudgetError, match="'others' has no calendar"):
        visits.account("others", "2024-03-01,2024-03-02")


# Prices paid before the calendar


@pytest.mark.parametrize(
    ("neighbours", "epsilon", "base"), [("add-remove", 0.4, 0.8), ("replace", 0.5, 0.5)]
)
def test_what_a_whole_person_paid_counts_twice_on_every_day(ledger, neighbours, epsilon, base):
    ledger.set_total("visits", 2)
    ledger.spend("visits", epsilon, what="x", unit="one person", neighbours=neighbours)
    account = ledger.begin_calendar("visits", "day", "Europe/Berlin")
    assert (account.spent, account.left) == (base, 2 - base)
    assert account.longer == pytest.approx(
        {"day": base, "week": 7 * base, "month": 31 * base, "for ever": None}
    )
    spend(ledger, 2 - base, "2024-03-01", "2024-03-02")
    assert ledger.account("visits", "2030-01-01,2031-01-01").spent == base


def test_a_base_charge_above_the_total_is_refused(ledger):
    ledger.set_total("visits", 2)
    ledger.spend("visits", 1.1, what="x", unit="one person")
    with pytest.raises(BudgetError, match=r"would have spent epsilon=2\.2 of 2: .* counts twice"):
        ledger.begin_calendar("visits", "day", "UTC")
    assert ledger.account("visits").frame == ""


def test_the_base_charge_of_delta_covers_two_steps(ledger):
    ledger.spend("visits", 1, 1e-6, what="x", unit="one person")
    spent = ledger.begin_calendar("visits", "day", "UTC").spent_delta
    assert 1e-6 * (1 + np.e) <= spent < 1e-6 * (1 + np.e) * (1 + 1e-9)


def test_an_edited_entry_is_noticed_also_by_a_process_that_has_read_it(visits):
    """States are kept between openings: what stands in the file is still compared byte by byte."""
    spend(visits, 0.5, "2024-03-01", "2024-03-02")
    assert visits.account("visits").spent == 0.5
    with closing(sqlite3.connect(visits.path)) as db, db:
        db.execute("DROP TRIGGER entry_fixed")
        db.execute("UPDATE entry SET body = replace(body, '0.5', '0.1') WHERE id = 3")
    with pytest.raises(LedgerError, match="entry 3 is missing or was changed"):
        visits.account("visits")


# Processes and kills

CHILDREN = """
import os, random, signal, sys
sys.path.insert(0, sys.argv[2])
from dpviz import Ledger
from dpviz.errors import BudgetError
from dpviz.private.ledger import book
from tests.private.test_calendar import spend

def dying(works, calls, late):
    def work(*words, **options):
        calls.pop()
        if late or calls: made = works(*words, **options)
        if not calls: os.kill(os.getpid(), signal.SIGKILL)
        return made
    return work

for child in range(20):
    if os.fork() == 0:
        draw, ledger = random.Random(child), Ledger(sys.argv[1])
        if child % 3 == 1:  # dies before or after a write or its seal
            place = draw.choice([(book.chain, "append"), (book, "write_seal")])
            setattr(*place, dying(getattr(*place), [0] * draw.randrange(1, 4), draw.random() < 0.5))
        elif child % 3 == 2:  # dies anywhere, also within a commit
            signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.01, 1))
        for day in draw.sample(range(1, 21), 20):
            try:
                spend(ledger, 0.3, f"2024-03-{day:02}", f"2024-03-{day + 1:02}")
            except BudgetError:
                pass
        os._exit(0)
print(sum(os.WIFSIGNALED(os.wait()[1]) for _ in range(20)))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_processes_that_are_killed_never_exceed_the_total_of_a_day(visits):
    """T11: 20 processes spend on 20 days; a kill loses no spend and frees none."""
    root = str(Path(__file__).parents[2])
    child = [sys.executable, "-c", CHILDREN, str(visits.path), root]
    done = subprocess.run(child, check=True, capture_output=True, text=True, timeout=500)
    assert int(done.stdout) > 2, "too few processes were killed"
    visits.verify()
    for day in range(1, 21):
        ends = f"2024-03-{day:02}", f"2024-03-{day + 1:02}"
        account = visits.account("visits", ends)
        assert account.spent == pytest.approx(0.3 * len(account.spends))
        assert account.spent == 0.9  # surviving processes spent all that was left
        with pytest.raises(BudgetError, match=r"0\.1 of 1 is left"):
            spend(visits, 0.3, *ends)
