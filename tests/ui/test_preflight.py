"""The check of an upload before it is paid for: on page Publish, without a browser."""

import json

import pytest

import dpviz
from dpviz.render.numbers import NO_BREAK
from dpviz.ui.shared.preflight import OVER, OWNER_ONLY
from tests.ui.files import bounded, exact_facts, uploaded
from tests.ui.opening import named, opened_page, texts

GOOD = "-87.62,41.88\n" * 94
VALUE = "03/05/2024"
US = "t,lon,lat\n" + f"{VALUE} 10:00:00 AM,-87.62,41.88\n" * 100
UNUSABLE = (
    "No record can be used, so nothing can be published: follow the remedies of the check, or "
    "choose another file."
)
SAME = "This looks like the file of “visits” (ε = 0.5 spent). Same people?"
BEFORE = "Have you published these people before, as “visits” (ε = 0.5 spent)?"
DISTRICT = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
DISTRICTS = {
    "type": "FeatureCollection",
    "features": [{"type": "Feature", "properties": {"name": "a"}, "geometry": DISTRICT}],
}


def published(name, content):
    """Page Publish with a file."""
    return uploaded(opened_page("publish", data="Your own file"), "publish.file", name, content)


def likely_account(app):
    """The button that takes the account of a similar file."""
    return next((each for each in app.button if each.label == "Use that account"), None)


def footer(app):
    """Captions, of which one is beside the button that leads on."""
    return " ".join(each.value for each in app.caption).replace("\\", "")


def goes_on(app):
    return not app.button(key="publish.next.0").disabled


def test_times_in_another_format_stop_the_way_on_until_it_is_taken_by_a_press():
    app = published("us.csv", US)
    named(app.selectbox, "Column of the time").set_value("t").run()
    line = "100 of 100 times cannot be read. The first has the form `99/99/9999 99:99:99 AM` "
    assert f"{line}(9: any digit)." in texts(app)  # D was read as the day
    assert "100 records read, 0 kept" in exact_facts(app)  # none is reported as kept
    assert "- 100 without a readable time: the first has the form 99/99/9999" in exact_facts(app)
    assert not goes_on(app)
    assert app.button(key="publish.way.1").disabled
    proposals = [each for each in app.button if each.label.startswith("Read as ")]
    assert [each.label.split(":")[0] for each in proposals] == [
        "Read as month first",
        "Read as day first",
    ]
    proposals[0].click().run()
    assert named(app.selectbox, "Times are written as").value == "us"
    assert f"{OWNER_ONLY}: all times can be read" in texts(app)
    app.text_input(key="publish.from").set_value("03/01/2024")  # as the file writes it
    app.text_input(key="publish.to").set_value("2024-04-01").run()
    assert "100 kept" in exact_facts(app)
    assert goes_on(app)
    assert VALUE not in texts(app)


def test_a_date_that_cannot_be_read_is_refused_at_once_beside_its_field():
    """Regression: one date was ignored until the other end of the period was given too."""
    app = published("iso.csv", "t,lon,lat\n" + "2024-03-05,-87.62,41.88\n" * 100)
    named(app.selectbox, "Column of the time").set_value("t").run()
    app.text_input(key="publish.from").set_value("03/01/2024").run()
    (error,) = app.error
    assert error.value.replace("\\", "") == (
        "“03/01/2024” cannot be read: write the year first, such as 2024-01-31."
    )
    assert not goes_on(app)
    app.text_input(key="publish.from").set_value("2024-03-01").run()
    assert not app.error
    assert "Give the period: fill in From and To." in footer(app)
    app.text_input(key="publish.to").set_value("2024-02-01").run()
    (error,) = app.error
    assert "The period from 2024-03-01 to 2024-02-01 is empty" in error.value.replace("\\", "")
    app.text_input(key="publish.to").set_value("2024-03-02").run()
    assert "No record lies in the period: check From and To" in footer(app)
    assert not goes_on(app)


def test_a_zone_that_is_none_is_refused_beside_its_field():
    """It was told two steps later, at the area."""
    app = published("iso.csv", "t,lon,lat\n" + "2024-03-05,-87.62,41.88\n" * 100)
    named(app.selectbox, "Column of the time").set_value("t").run()
    app.text_input(key="publish.from").set_value("2024-03-01")
    app.text_input(key="publish.to").set_value("2024-04-01")
    app.text_input(key="publish.zone").set_value("Chicago").run()
    (error,) = app.error
    assert "“Chicago” cannot be read: give a zone" in error.value.replace("\\", "")
    assert not goes_on(app)


def test_more_than_five_percent_of_lost_lines_are_a_warning_with_the_remedy():
    app = published("a.csv", "lon,lat\n" + GOOD + "-87.62,41.88,9\n" * 6)
    (warning,) = app.warning
    assert warning.value.startswith(
        f"{OWNER_ONLY}: 100 records read, 94 kept (6.0{NO_BREAK}% left out for the reasons below)."
    )
    assert "- 6 lines with another number of fields than the header" in warning.value
    assert "header: look for a separator too many or too few." in warning.value
    assert goes_on(app)
    app = published("a.csv", "lon,lat\n" + GOOD + "-87.62,41.88,9\n" * 4)
    assert "4 lines" in exact_facts(app)
    assert not app.warning


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("text.csv", "lon,lat\nhere,there\n", UNUSABLE),
        ("text.csv", "lon,lat\nhere,2\n", "the first has no number in 'lon'; check"),
        ("empty.csv", "lon,lat\n", "the file has a header at most, and no records."),
        ("notes.csv", "name,comment\nann,fine\n", "(“name”, “comment”) is named like a coordinate"),
        (
            "districts.geojson",
            json.dumps(DISTRICTS),
            "place: give points; polygons are areas to count by",
        ),
    ],
)
def test_a_file_without_a_place_goes_no_further(name, content, line):
    app = published(name, content)
    assert line in texts(app).replace("\\", "")
    assert not goes_on(app)


def test_the_check_of_the_data_counts_with_the_period_the_categories_and_the_persons():
    """It promised all records, and the check of the area alone told of the lost ones."""
    rows = "2023-05-01,-87.62,41.88,Vandalism,a\n" * 8 + "2023-05-01,-87.62,41.88,theft,a\n" * 3
    rows += "2024-05-01,-87.62,41.88,theft,b\n" * 2 + "2023-05-01,-87.62,41.88,secret,c\n"
    app = published("crimes.csv", "t,lon,lat,c,who\n" + rows)
    assert exact_facts(app) == "14 records read, 14 kept."
    named(app.selectbox, "Column of the time").set_value("t").run()
    app.text_input(key="publish.from").set_value("2023-01-01")
    app.text_input(key="publish.to").set_value("2024-01-01").run()
    named(app.selectbox, "Column of the category").set_value("c").run()
    app.text_area(key="publish.kinds.names").set_value("vandalism, theft").run()
    app.selectbox(key="publish.unit").set_value("who").run()
    app.number_input(key="publish.bound").set_value(2).run()
    for words in ("- 2 outside the period", "- 9 of no listed category", "2 kept", f"1 {OVER}"):
        assert words in exact_facts(app)
    assert goes_on(app)
    beside = [each.value for each in app.warning if " kept" not in each.value]
    for words in ("2 outside the period", "9 of no listed category"):  # beside their remedies
        assert any(each.startswith(f"{OWNER_ONLY}: {words}: check the ") for each in beside)
    words = "a value differs from “vandalism” only in capitals or spaces: list it as in the file."
    assert f"{OWNER_ONLY}: {words}" in texts(app)
    seen = texts(app)
    assert "Vandalism" not in seen
    assert "secret" not in seen
    before = exact_facts(app)
    bounded(app, "publish", (-88, 41, -87, 42))
    assert exact_facts(app) == before  # of the area too


def test_places_at_0_0_are_said_and_do_not_widen_the_small_map():
    app = published("a.csv", "lon,lat\n" + GOOD)
    map_without = app.get("image")[0].proto
    app = published("a.csv", "lon,lat\n" + GOOD + "0,0\n" * 6)
    assert "- 6 records at 0, 0: usually a missing place." in exact_facts(app)
    assert app.get("image")[0].proto.imgs[0].url == map_without.imgs[0].url
    bounded(app, "publish", (-88, 41, -87, 42))
    lines = "6 outside the area, 6 of them at 0, 0: usually a missing place; check the area"
    assert any(lines in each.value for each in app.warning)


def test_places_beyond_the_earth_are_a_warning_and_others_are_on_a_small_map():
    app = published("a.csv", "lon,lat\n" + GOOD)
    (picture,) = app.get("image")
    assert picture.proto.imgs[0].caption == f"{OWNER_ONLY}: where your records lie."
    assert "41.88" not in str(picture.proto)
    assert ">Chicago<" in app.session_state["publish.extent.figure"][1]
    app.text_input(key="publish.crs").set_value("EPSG:2278").run()
    assert "look like degrees, not like places in EPSG:2278" in texts(app).replace("\\", "")


def test_places_that_are_not_on_the_earth_are_dropped_with_their_number():
    """Regression: they were reported as kept, below a warning without a number."""
    app = published("a.csv", "lon,lat\n" + GOOD + "-87.62,999\n" * 6)
    assert "100 records read, 94 kept" in exact_facts(app)
    assert "- 6 not on the Earth: usually a missing place or a slip" in exact_facts(app)
    assert len(app.get("image")) == 1
    app = published("a.csv", "lon,lat\n530000,180000\n")
    assert "- 1 not on the Earth" in exact_facts(app)
    assert not goes_on(app)


@pytest.mark.parametrize(
    ("name", "content", "step", "question"),
    [
        ("visits (1).csv", "lon,lat,x\n" + "-87.62,41.88,1\n", "data", BEFORE),
        ("others.csv", "lon,lat\n" + "-87.6,41.88\n" * 9, "budget", BEFORE),
        ("others.csv", "lon,lat\n" + GOOD, "publish", SAME),
    ],
)
def test_every_step_asks_whether_a_file_is_that_of_an_account(name, content, step, question):
    """Regression: identical bytes under another name had a fresh account, asked below the fold."""
    dpviz.Ledger().spend("visits", 0.5, what="privtree")
    app = published("visits.csv", "lon,lat\n" + GOOD)
    assert "“visits” has spent ε = 0.5 in all" in texts(app)
    bounded(uploaded(app, "publish.file", name, content), "publish", (-88, 41, -87, 42))
    assert question in texts(app)
    app.button(key=f"publish.dataset.likely.{step}").click().run()
    assert app.text_input(key="publish.dataset").value == "visits"
    assert question not in texts(app)


def test_a_choice_that_breaks_an_earlier_step_is_told_at_the_visible_one_with_the_way_there():
    """Regression: the third step was empty, and its way on closed without a reason."""
    dpviz.Ledger().spend("visits", 0.5, what="privtree", unit="one person_id")
    rows = "person_id,lon,lat\n" + "a,-87.62,41.88\n" * 9
    published("visits.csv", rows)
    app = bounded(published("others.csv", rows), "publish", (-88, 41, -87, 42))
    for step in (0, 1):
        app.button(key=f"publish.next.{step}").click().run()
    app.button(key="publish.dataset.likely.budget").click().run()
    assert app.selectbox(key="publish.unit").value == "person_id"  # as the account counts
    assert not app.button(key="publish.next.2").disabled
    assert not any(each.label.startswith("Go to step") for each in app.button)
    for kind, field, value, words, step in (
        ("text_input", "bounds", "", "Choose the area: type it", 1),
        ("selectbox", "unit", "one record", "is accounted for one person_id, not one record", 0),
    ):
        app.session_state["publish.step"] = 2
        getattr(app, kind)(key=f"publish.{field}").set_value(value).run()
        assert any(words in each.value.replace("\\", "") for each in app.warning)
        app.button(key="publish.back").click().run()
        assert app.session_state["publish.step"] == step
        assert "publish.back" not in {each.key for each in app.button}


def test_a_file_is_proposed_the_account_of_an_earlier_visit():
    """Its name, size and columns are kept for the owner alone; none of its values is."""
    dpviz.Ledger().spend("clinic", 0.5, what="privtree")
    app = published("visits.csv", "lon,lat\n" + GOOD)
    assert likely_account(app) is None
    app.text_input(key="publish.dataset").set_value("clinic").run()
    app = published("visits.csv", "lon,lat\n" + GOOD)
    assert SAME.replace("visits", "clinic") in texts(app)
    ledger = dpviz.Ledger().path
    beside = ledger.with_name(f"{ledger.stem}-files.json")
    assert beside.stat().st_mode & 0o077 == 0
    assert json.loads(beside.read_text()) == {
        "clinic": [["visits", len("lon,lat\n" + GOOD), ["lon", "lat"]]]
    }
    beside.write_text("[damaged")
    assert likely_account(published("visits.csv", "lon,lat\n" + GOOD)) is None


def test_accounts_are_offered_for_other_names_and_none_is_proposed_without_a_reason():
    dpviz.Ledger().spend("visits", 0.5, what="privtree")
    app = published("clinic.csv", "lon,lat\n" + GOOD)
    assert likely_account(app) is None
    choice = app.selectbox(key="publish.dataset.same")
    assert choice.options == ["visits"]
    choice.set_value("visits").run()
    assert app.text_input(key="publish.dataset").value == "visits"
