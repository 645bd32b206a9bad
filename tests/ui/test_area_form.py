"""The form of the public area: by name, as pasted text, by its sides."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.ui.shared.area_form import box_of
from tests.ui.files import bounded, uploaded
from tests.ui.opening import opened_page, texts

SCRIPT = """
import streamlit as st
from dpviz.ui.shared.area_form import bounds_form
st.json(bounds_form("here") or [])
"""


def sides(app):
    return list(box_of(app.text_input[0].value))


def test_a_name_or_typed_text_fills_the_sides_and_either_can_follow_the_other():
    app = AppTest.from_string(SCRIPT, default_timeout=120).run()
    assert json.loads(app.json[0].value) == []
    app.selectbox[0].select("London, United Kingdom").run()
    west, south, east, north = sides(app)
    assert west < -0.2 < 0.0 < east
    assert south < 51.4 < 51.6 < north
    app.text_input[0].input("14.5 -24 14.9 -23.7").run()
    assert json.loads(app.json[0].value) == [14.5, -24.0, 14.9, -23.7]
    app.selectbox[0].select("Senegal").run()
    assert sides(app)[0] < -17 < -12 < sides(app)[2]
    app.text_input[0].input("51.4N 0.1W").run()
    assert "plain numbers" in app.error[0].value
    assert json.loads(app.json[0].value) == []


def test_a_small_place_of_the_map_is_found_by_its_name_and_an_unknown_one_refused():
    """Only towns of 60,000 people and more are in the list; the map names those of 500."""
    app = AppTest.from_string(SCRIPT, default_timeout=120).run()
    app.text_input[0].input("hebden bridge").run()
    west, south, east, north = sides(app)
    assert west < -2.01 < east
    assert south < 53.74 < north
    assert east - west < 0.2
    (error,) = app.text_input[0].input("Nowhere-on-Sea").run().error
    assert "No place named Nowhere-on-Sea" in error.value.replace("\\", "")


def test_the_search_lists_places_alone():
    """An entry of what was typed, "Add: Houston", stood above the place itself."""
    app = AppTest.from_string(SCRIPT, default_timeout=120).run()
    assert not app.selectbox[0].proto.accept_new_options


@pytest.mark.slow
def test_sides_are_in_the_units_of_the_crs_and_the_map_in_degrees():
    script = SCRIPT.replace('("here")', '("here", "EPSG:27700")')
    app = AppTest.from_string(script, default_timeout=120).run()
    assert "EPSG:27700, metre" in app.markdown[0].value.replace("\\", "")
    app.selectbox[0].select("London, United Kingdom").run()
    assert sides(app)[0] < 530_000 < sides(app)[2]
    assert sides(app)[1] < 180_000 < sides(app)[3]
    west, _, east, _ = app.session_state["here.bounds.seen"]
    assert west < -0.2 < 0.0 < east
    app.text_input[0].input("500000 155000 560000 200000").run()  # the map moves there, too
    assert abs(app.session_state["here.bounds.seen"][0] + 0.55) < 0.1
    app.selectbox[0].select("New Zealand").run()
    assert "outside" in app.error[0].value
    assert sides(app)[0] == 500_000


CASES = {
    "compare": ("already public", b"lon,lat\n14.5,-23.9\n14.6,-23.8\n"),
    "trips": ("confidential", b"lon,lat,lon2,lat2\n14.5,-23.9,14.6,-23.8\n"),
}


@pytest.mark.parametrize("page", CASES)
def test_the_area_of_a_file_is_chosen_on_a_map(page):
    """The world to draw on; then what is wrong with the sides, where it is seen."""
    kind, rows = CASES[page]
    app = opened_page(page, data="Your own file")
    assert len(app.get("bidi_component")) == 1
    if kind == "already public":
        app.segmented_control(key=f"{page}.public.upload").set_value("public")
    uploaded(app, f"{page}.file", "rides.csv", rows)
    if page == "trips":  # only the first two of four coordinates have usual names
        assert [each.value for each in app.info] == ["Choose the columns of the coordinates."]
        for axis, name in enumerate(("lon", "lat", "lon2", "lat2")):
            (box,) = [each for each in app.selectbox if f"{page}.{axis}." in (each.key or "")]
            assert box.value is None
            box.set_value(name)
        app.run()
    assert "Draw the area" in texts(app)
    bounded(app, page, (15, -24, 14, -23))
    assert "No area from 15 to 14" in app.main.error[0].value
    bounded(app, page, (14, -24, 15, -23))
    assert not app.error
    assert "Draw the area" not in texts(app)  # the map of these data


def test_an_area_of_the_records_is_forgotten_once_they_are_confidential():
    """Regression: a release carried the records' exact extent, without payment."""
    rows = "lon,lat\n" + "".join(f"{14.6 + k / 1e3:.3f},{-23.9 + k / 2e3:.4f}\n" for k in range(99))
    app = opened_page(data="Your own file")
    app.segmented_control(key="explore.public.upload").set_value("public")
    uploaded(app, "explore.file", "here.csv", rows)
    app.button(key="explore.extent").click().run()
    _, *others = app.text_input(key="explore.bounds").value.split(", ")
    # The owner types one public side; the others are data extents.
    bounded(app, "explore", (14.0, *others))
    app.segmented_control(key="explore.public.upload").set_value("sensitive").run()
    assert app.text_input(key="explore.bounds").value == ""
    assert any("taken from the records" in each.value for each in app.warning)
    assert not [each for each in app.button if each.label.startswith("Publish: spend")]
