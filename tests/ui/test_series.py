"""A series on page Publish without a browser: its prices, and what refuses it unpaid."""

import pytest

from dpviz import Ledger
from dpviz.ui.shared.upload_form import UPLOAD
from tests.ui.files import uploaded
from tests.ui.opening import named, opened_page, table, texts

VISITS = "lon,lat,person,time\n14.5,-23.9,a,2024-03-04T12:00\n14.6,-23.8,b,2024-03-05T09:00\n"
CHOICES = {
    "data": UPLOAD,
    "unit": "person",
    "bounds": "14.4,-24.1,15,-23.6",
    "method": "areas",
    "areas": "h3:5",
    "time_column": "time",
    "start": "2024-03-04",
    "end": "2030-01-01",
    "time_step": "1d",
    "zone": "UTC",
    "often": "Every day",
}


def every_day(**changed):
    """Page Publish with a file and these choices, every day."""
    app = opened_page("publish", **{**CHOICES, **changed})
    return uploaded(app, "publish.file", "visits.csv", VISITS)


def test_a_series_states_the_price_of_a_day_a_week_a_month_and_for_ever_before_it_is_paid():
    app = every_day(epsilon="0.5")
    (planned,) = table(app, "week", "for ever").to_dict("records")
    assert [*planned.values()] == ["planned", "0.5", "3.5", "15.5", "+ 0.5 a day"]
    assert named(app.button, "Publish: spend ε = 0.5 on each day")
    assert "From then on its calendar is by day in UTC, for good." in texts(app)
    assert not Ledger().accounts()
    Ledger().begin_calendar("visits", "day", "UTC")
    app.run()
    _, spent = table(app, "week", "for ever").to_dict("records")
    assert [*spent.values()] == ["spent so far", "0", "0", "0", "0"]


def test_a_series_ends_with_its_period_and_says_before_it_is_paid_what_is_due():
    """The end of the period was asked for, and 1,613 days up to today were due."""
    app = every_day(end="2024-03-09")
    assert "5 releases are due, 2024-03-04 to 2024-03-08." in texts(app)
    assert "Each day from 2024-03-04 to 2024-03-08" in texts(app)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"unit": ""}, "choose the column that names the person"),
        ({"time_column": ""}, "choose the column of the time"),
        ({"set": "budget:uniform"}, "choose the method's own parameters"),
        ({"zone": "UTC"}, "calendar is by day in Europe/Berlin, not by day in UTC"),
        ({"zone": "Europe/Berlin", "time_step": "1h"}, "choose a smaller ε"),
    ],
    ids=[
        "no persons",
        "no time",
        "parameters",
        "another zone",
        "a smaller total",
    ],
)
def test_what_refuses_a_series_is_one_line_and_nothing_is_paid(changed, line):
    Ledger().begin_calendar("visits", "day", "Europe/Berlin")
    Ledger().set_total("visits", 0.75)
    app = every_day(**changed)
    lines = [each.value for each in (*app.error, *app.warning, *app.info)]
    (refusal,) = [each for each in lines if line in each]
    assert "\n" not in refusal
    assert all(each.disabled for each in app.button if each.label.startswith("Publish: spend"))
    assert Ledger().account("visits").spends == ()


def test_every_day_offers_counts_of_areas_and_days_alone():
    """It offered any place on the map, which its last step refused."""
    app = every_day(
        often="", method="ladder_tree", areas="", time_step="", delta="1e-06", bound="30"
    )
    app.segmented_control(key="publish.often").set_value("Every day").run()
    keys = {each.key for each in (*app.selectbox, *app.button_group)}
    assert "publish.counted" in keys
    assert keys.isdisjoint(
        {"publish.use", "publish.method", "publish.delta", "publish.areas.every"}
    )
    assert not app.button(key="publish.next.2").disabled
    assert app.segmented_control(key="publish.every").value == "1d"
    assert named(app.button, "Publish: spend ε = 1 on each day")


def test_what_a_series_still_needs_leads_to_its_step():
    """It was a dead end: a red line on an empty page."""
    app = every_day(set="budget:uniform", step="3")
    assert not app.error
    assert app.button(key="publish.next.2").disabled
    named(app.button, "Choose the method's own parameters").click().run()
    assert app.session_state["publish.step"] == 2


def test_a_step_that_no_period_holds_is_refused_before_the_last_step():
    app = opened_page("publish", **CHOICES | {"zone": "Europe/Berlin", "end": "2024-03-05T07:30"})
    app = uploaded(app, "publish.file", "visits.csv", VISITS)
    assert "not a whole number of steps" in texts(app)
