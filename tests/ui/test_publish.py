"""Publish without a browser: prices first, one payment, a receipt, nothing exact."""

import json
import re

import pytest

import dpviz
from dpviz.planning import search
from dpviz.planning.trial import Candidate
from dpviz.ui.points.choice_form import ANYWHERE, BY_AREA
from dpviz.ui.shared.preflight import OWNER_ONLY
from dpviz.ui.shared.shelf import receipt_of
from tests.ui.files import bounded, uploaded
from tests.ui.opening import (
    app_to_leave,
    named,
    open_tab,
    opened_page,
    table,
    texts,
    there_and_back,
)
from tests.ui.paying import pay

RECORDS = 7_919
"""A number that must not be seen anywhere."""


def opened(data="city-50k", **address):
    return opened_page("publish", data=data, **address)


def test_built_in_data_are_published_once_and_the_page_says_why():
    app = opened(step="3", method="ugrid")
    assert "publish.often" not in {each.key for each in app.segmented_control}
    assert "Every day needs your own file" in texts(app)


def test_the_price_and_what_to_expect_stand_before_the_payment():
    """Opens the step Budget only: computing the expected errors takes seconds."""
    assert not opened().dataframe
    app = opened(step="2")
    assert "has spent ε = 0 in all" in texts(app)
    assert list(table(app, "mean error")["rectangles"]) == [
        "0.01–0.1 % of the area",
        "0.1–1 %",
        "1–10 %",
    ]
    assert list(table(app, "mean error")["such as"]) == ["1 km²", "10 km²", "100 km²"]
    for count in table(app, "mean error")["count"]:
        assert f"about {count} records" not in texts(app)  # one line only
    (look,) = (each.value for each in app.info if each.value.startswith("**At ε = 1:**"))
    row = table(app, "mean error").iloc[1]
    shown, noise = re.search(rf"± ([0-9,]+) records in {row['such as']}", look)[1], row["noise ±"]
    assert float(shown.replace(",", "")) > float(noise.replace(",", ""))  # cut cells too
    assert "This release: **ε = 1**." in texts(app)
    assert dpviz.Ledger().account("city-50k").spends == ()
    assert "publish.made" not in app.session_state


def test_an_error_of_half_a_count_is_warned_of():
    app = opened(step="2")
    assert not any("half the count" in each.value for each in app.warning)
    app.number_input(key="publish.guess").set_value(1_000).run()
    (warning,) = (each.value for each in app.warning if "half the count" in each.value)
    expected = table(app, "mean error")
    noisy = expected["mean error"].astype(float) >= expected["count"].astype(float) / 2
    assert 0 < noisy.sum() < len(noisy)
    assert [each in warning for each in expected["rectangles"]] == list(noisy)
    assert f"a count of {expected['such as'][noisy.sum() - 1]} tells little" in warning
    assert warning.endswith("Most of the error comes from noise. Choose a larger ε.")


@pytest.mark.slow
def test_the_remedy_is_for_the_largest_part_of_the_error_and_the_guess_begins_at_the_limit():
    """At every ε the advice was a larger ε, although nearly all of the error was left out."""
    app = opened("persons", step="2")
    app.selectbox(key="publish.unit").set_value("person").run()
    app.number_input(key="publish.bound").set_value(2).run()
    assert app.number_input(key="publish.mean").value == 2
    app.number_input(key="publish.bound").set_value(1).run()
    assert app.number_input(key="publish.mean").value == 1
    assert not table(app, "left out")["left out"].astype(float).any()
    app.number_input(key="publish.mean").set_value(5).run()
    app.number_input(key="publish.bound").set_value(2).run()
    assert app.number_input(key="publish.mean").value == 5  # changed by hand, so it stays
    (warning,) = (each.value for each in app.warning if "half the count" in each.value)
    assert "error comes from records left out. Allow more records of each person" in warning
    assert "correct the guess of 5 records of one person." in warning
    assert "larger ε" not in warning


def test_a_total_is_set_once_and_knowingly():
    app = opened()
    app.number_input(key="publish.total.value").set_value(1.5)
    named(app.button, "Set the budget").click().run()
    assert "Tick the box" in texts(app)
    assert dpviz.Ledger().account("city-50k").total is None
    app.checkbox(key="publish.total.sure").check()
    named(app.button, "Set the budget").click().run()
    assert dpviz.Ledger().account("city-50k").total == 1.5
    assert not [each for each in app.button if each.label == "Set the budget"]


def test_an_account_without_a_total_may_have_spent_more_than_any_total_on_offer():
    dpviz.Ledger().spend("city-50k", 150, what="privtree")
    app = opened()
    chosen = app.session_state["publish.epsilon"]  # more than a total of 150 allows
    assert app.number_input(key="publish.total.value").value == 150 + chosen


def test_what_the_budget_does_not_hold_is_said_where_epsilon_is_chosen():
    dpviz.Ledger().set_total("city-50k", 0.5)
    app = opened()
    line = "ε = 1 is more than the 0.5 that is left."
    assert [each.value for each in app.warning].count(line) == 2  # above, and beside the payment
    app.session_state["publish.step"] = 2
    app.run()
    assert app.button(key="publish.next.2").disabled  # no way to the next step
    assert app.button(key="publish.way.3").disabled
    app.select_slider(key="publish.epsilon").set_value(0.5).run()
    assert line not in texts(app)
    assert not app.button(key="publish.next.2").disabled
    dpviz.Ledger().spend("city-50k", 0.5, what="privtree")
    app.run()
    assert app.button(key="publish.next.2").disabled
    assert "Nothing more can be published from “city\\-50k”" in texts(app)
    assert "See “What was spent” below." in texts(app)


@pytest.mark.slow
def test_paying_gives_a_release_and_its_receipt_and_the_next_one_is_priced_anew():
    app = opened()
    app.text_input(key="publish.purpose").set_value("bicycle plan").run()
    pay(app)
    (row,) = dpviz.Ledger().account("city-50k").spends
    assert (row.epsilon, row.purpose, row.outcome) == (1.0, "bicycle plan", "released")
    made = app.session_state["publish.made"]
    assert made.release.header.private
    assert made.release.header.extra["release_id"] == row.release
    script = made.note
    assert script.command().startswith("dpviz build city-50k ")
    assert "dpviz.load('city-50k'" in script.python()
    receipt = json.loads(json.dumps(receipt_of(made.release)))
    assert receipt["release_id"] == row.release
    assert receipt["epsilon"] == 1.0
    assert sum(each["epsilon"] for each in receipt["prices"]) <= 1.0 + 1e-12
    assert "Published" in texts(app)
    app.button(key="publish.again").click().run()
    assert "What to expect" in texts(app)
    assert dpviz.Ledger().account("city-50k").spent == 1.0


@pytest.mark.slow
def test_what_must_hold_gives_the_price_at_once_and_becomes_a_promise(monkeypatch):
    grid = Candidate("ugrid", {"cells": 64})
    monkeypatch.setattr(search, "candidates_for", lambda domain, wishes: (grid,))
    app = opened()
    app.checkbox(key="publish.wish.whole").check().run()
    before = app.session_state["publish.plan"][1].epsilon
    app.number_input(key="publish.wish.total").set_value(1).run()
    assert "possible would be" in texts(app)
    app.number_input(key="publish.wish.total").set_value(150).run()
    planned = app.session_state["publish.plan"][1]
    assert planned.epsilon > before
    assert f"**ε = {planned.epsilon:g}**" in texts(app)
    app.button(key="publish.plan.take").click().run()
    pay(app)
    header = app.session_state["publish.made"].release.header
    assert (header.epsilon, header.private) == (planned.epsilon, True)
    assert header.extra["promises"][0].endswith("±150 at 95%")
    app.session_state["publish.step"] = 3
    open_tab(app, "Code", "publish")
    (command,) = (code.value for code in app.code if code.value.startswith("dpviz build"))
    assert "--want" in command


@pytest.mark.slow
def test_coming_back_to_the_page_finds_what_was_published_or_begins_with_the_data():
    app = app_to_leave("publish")
    app.query_params["data"] = "city-50k"
    app.session_state["publish.step"] = 3
    pay(app.run())
    assert "Published, and kept" in texts(app)

    there_and_back(app)
    assert app.session_state["publish.step"] == 3
    assert "Published, and kept" in texts(app)
    app.selectbox(key="publish.data").set_value("Your own file").run()
    there_and_back(app)
    assert app.session_state["publish.step"] == 0


@pytest.mark.slow
def test_a_unit_and_its_bound_are_in_the_guarantee_and_the_bound_is_compared():
    app = opened("persons", step="2")
    app.selectbox(key="publish.unit").set_value("person").run()
    app.number_input(key="publish.bound").set_value(5).run()
    assert "at most 5 records" in texts(app)
    assert "For 100,000 records, 5 of one person, by your guess, not from your file." in texts(app)
    compared = table(app, "of all records")
    bounds = list(compared.iloc[:, 0])
    assert bounds[0] == 1
    assert bounds == sorted(bounds)
    app.number_input(key="publish.bound").set_value(10).run()
    expected, compared = table(app, "left out"), table(app, "of all records")
    assert compared.iloc[bounds.index(10), 2] == expected["mean error"][1]  # not the noise alone
    assert set(expected["left out"]) != {"0"}
    app.number_input(key="publish.guess").set_value(1).run()  # the field accepts numbers below 100
    app.number_input(key="publish.guess").set_value(100_000)
    app.number_input(key="publish.bound").set_value(5).run()
    pay(app)
    (row,) = dpviz.Ledger().account("persons").spends
    assert row.unit == "one person"
    release = app.session_state["publish.made"].release
    assert "at most 5 records" in release.header.guarantee
    for price in receipt_of(release)["prices"]:
        assert price["theorem"].endswith("; 5 records: 5 times ε (group privacy)")


def test_nothing_exact_of_an_upload_is_on_the_page_but_for_its_owner_s_eyes():
    rows = b"lon,lat,name\n" + b"14.61234567,-23.98765432,Ada Lovelace\n" * RECORDS
    app = opened("Your own file")
    bounded(uploaded(app, "publish.file", "v.csv", rows), "publish")
    boxes = [each.value for each in app.info if each.value.startswith(OWNER_ONLY)]
    assert boxes == 2 * [
        f"{OWNER_ONLY}: 7,919 records read, 7,919 kept."
    ]  # for the file, and for the area
    seen = texts(app) + str([each.value for each in app.dataframe])
    seen = seen.replace(boxes[0], "")
    for secret in ("7919", "7,919", "61234567", "98765432", "Ada"):
        assert secret not in seen


def test_a_file_of_more_columns_than_a_form_can_offer_is_one_clear_line():
    """Seven choices among 100,000 columns each held a phone for half a minute."""
    rows = ",".join(["lon", "lat", *(f"c{number}" for number in range(5_000))])
    app = opened("Your own file")
    (error,) = uploaded(app, "publish.file", "wide.csv", rows).error
    assert "more than 4,096 columns" in error.value


def timed_upload():
    """The page with a file of times that are read in no steps, in its area."""
    rows = "t,lon,lat\n" + "2024-03-05,14.6,-23.9\n" * 100
    app = uploaded(opened("Your own file"), "publish.file", "v.csv", rows)
    named(app.selectbox, "Column of the time").set_value("t").run()
    app.text_input(key="publish.from").set_value("2024-01-01")
    app.text_input(key="publish.to").set_value("2025-01-01")
    return bounded(app, "publish")


def test_areas_offer_the_step_of_time_that_the_data_have_not():
    """The way on was off; the reason stood in a closed menu, the remedy two steps back."""
    app = timed_upload()
    app.selectbox(key="publish.method").set_value("areas").run()
    line = "Choose a step of time: under “Areas”, “Count in steps of”."
    assert texts(app).replace("\\", "").count(line) == 2  # in the menu and beside the button
    assert not app.error  # nothing was done wrong
    assert app.button(key="publish.next.2").disabled
    app.selectbox(key="publish.areas.every").set_value("1mo").run()
    assert not app.error
    assert not app.button(key="publish.next.2").disabled
    assert app.selectbox(key="publish.areas.every").value == "1mo"
    assert app.query_params["every"] == "1mo"
    (step,) = [each for each in app.button_group if each.key == "publish.every"]
    assert step.value == "1h"


def test_the_field_for_a_file_of_districts_waits_for_no_step_of_time():
    app = timed_upload()
    app.selectbox(key="publish.method").set_value("areas").run()
    app.segmented_control(key="publish.counted").set_value("Districts of a file").run()
    assert app.selectbox(key="publish.areas.every").value is None
    assert "publish.areas.file" in {each.key for each in app.file_uploader}


def test_what_readers_look_up_chooses_the_method_and_follows_it():
    """Counts by district of a tree had errors a hundred times those of districts."""
    app = opened(step="2")
    method, use = app.selectbox(key="publish.method"), app.segmented_control(key="publish.use")
    assert (method.value, use.value) == ("ladder_tree", ANYWHERE)
    use.set_value(BY_AREA).run()
    assert app.selectbox(key="publish.method").value == "areas"
    assert app.query_params["areas"].startswith("h3:")
    app.selectbox(key="publish.method").set_value("privtree").run()
    assert app.segmented_control(key="publish.use").value == ANYWHERE
    app.selectbox(key="publish.method").set_value("areas").run()
    app.segmented_control(key="publish.use").set_value(ANYWHERE).run()
    assert app.selectbox(key="publish.method").value == "ladder_tree"


def test_public_choices_about_a_file_are_in_the_address_and_wait_there_for_the_file():
    """F5 kept the area, ε and the method alone, and said that all choices are as it says."""
    choices = {
        "time_column": "t",
        "time_format": "us",
        "start": "2024-01-01",
        "end": "2025-01-01",
        "time_step": "1d",
        "category_column": "c",
        "categories": "bike\nwalk",
        "unit": "who",
        "bound": "3",
        "title": "Trips",
    }
    app = opened("Your own file", bounds="14, -24, 15, -23", **choices)
    rows = "t,lon,lat,c,who\n" + "03/05/2024 10:00 AM,14.6,-23.9,bike,a\n" * 100
    uploaded(app, "publish.file", "v.csv", rows)
    assert not app.button(key="publish.next.1").disabled
    app.run()
    assert {name: app.query_params[name] for name in choices} == choices
    assert named(app.selectbox, "Column of the time").value == "t"
    assert named(app.selectbox, "Times are written as").value == "us"
    bars = [each.label for each in app.expander]
    assert {"Time: t, 2024\\-01\\-01 to 2025\\-01\\-01", "Categories: c, 2"} <= {*bars}
    assert app.text_input(key="publish.to").value == "2025-01-01"
    assert app.text_area(key="publish.kinds.names").value == "bike\nwalk"
    assert app.selectbox(key="publish.unit").value == "who"
    assert app.number_input(key="publish.bound").value == 3
    assert app.text_input(key="publish.title").value == "Trips"


def place_of(block, label, way=()):
    """Path of indices to the expander in the page that begins so; None if it is not there."""
    if block.type == "expander" and block.label.startswith(label):
        return way
    children = getattr(block, "children", {}).items()
    places = (place_of(child, label, (*way, at)) for at, child in children)
    return next(filter(None, places), None)


def test_open_panels_keep_their_place_while_no_time_can_be_read():
    """Streamlit closes an expander whose index changes."""
    app = opened("Your own file")
    uploaded(app, "publish.file", "v.csv", "t,lon,lat\n" + "03/25/2024,14.6,-23.9\n" * 100)
    labels = ("Time", "Categories", "Values")
    before = [place_of(app.main, label) for label in labels]
    assert None not in before
    named(app.selectbox, "Column of the time").set_value("t").run()
    assert any("100 of 100 times cannot be read" in each.value for each in app.error)
    assert [place_of(app.main, label) for label in labels] == before
    named(app.button, "Read as month first: 03/31/2024 10:00 PM, or 22:00").click().run()
    assert [place_of(app.main, label) for label in labels] == before


def test_a_unit_is_no_chosen_place_or_time_and_a_person_is_recognised_by_name():
    app = opened("Your own file")
    row = "2024-03-25,14.6,-23.9,a,b,c\n"
    uploaded(app, "publish.file", "v.csv", "t,lon,lat,colour,rider_id,width\n" + row * 100)
    unit = app.selectbox(key="publish.unit")
    assert unit.options == ["Each record is another person", "t", "colour", "rider_id", "width"]
    (hint,) = (each.value for each in app.info if "may name a person" in each.value)
    assert hint.replace("\\", "").startswith("“rider_id” may name a person: choose it")
    unit.set_value("rider_id").run()
    assert not any("may name a person" in each.value for each in app.info)
    named(app.selectbox, "Column of the time").set_value("t").run()
    unit = app.selectbox(key="publish.unit")
    assert (unit.value, unit.options) == (
        "rider_id",
        ["Each record is another person", "colour", "rider_id", "width"],
    )
    named(app.selectbox, "Column of the time").set_value(None).run()
    app.selectbox(key="publish.unit").set_value("t").run()
    named(app.selectbox, "Column of the time").set_value("t").run()
    assert app.selectbox(key="publish.unit").value == "one record"
    assert not app.exception


def test_a_table_says_before_it_is_paid_what_one_of_its_counts_is_and_that_of_all():
    """The map had ± 25 where ± 2.9 was expected: of what, no line said."""
    rows = "t,lon,lat,kind\n" + "2024-03-05,14.6,-23.9,a\n" * 100
    address = {"time_column": "t", "start": "2024-01-01", "end": "2025-01-01", "time_step": "1h"}
    address |= {"category_column": "kind", "categories": "a, b, c", "bounds": "14.4,-24.1,15,-23.6"}
    app = opened("Your own file", method="areas", areas="h3:5", every="1mo", **address)
    uploaded(app, "publish.file", "v.csv", rows)
    app.session_state["publish.step"] = 2
    app.run()
    (look,) = (each.value for each in app.info if each.value.startswith("**At ε = 1:**"))
    pattern = r".*:\*\* ± (\S+) (.*), in .*; ± (\S+) for (.*)"
    one, each, whole, sums = re.fullmatch(pattern, look).groups()
    assert (each, sums) == (
        "of one category in each month",
        "all categories and the whole period together.",
    )
    assert float(whole) == pytest.approx(6 * float(one), rel=0.1)  # of 3 × 12 counts
    app.session_state["publish.step"] = 3
    text = texts(app.run()).replace("\\", "")
    assert "(column “t”): 2024-01-01 to 2025-01-01 UTC, in steps of 1 month\n" in text
    assert text.count("1 month") == 1
