"""The form of the public area: by name, as pasted text, by its sides."""

from streamlit.testing.v1 import AppTest

SCRIPT = """
import streamlit as st
from dpviz.ui.points.area_form import bounds_form
st.json(bounds_form("here") or [])
"""


def sides(app):
    assert not app.exception
    return [each.value for each in app.number_input]


def test_a_name_or_pasted_text_fills_the_sides_and_either_can_follow_the_other():
    app = AppTest.from_string(SCRIPT, default_timeout=120).run()
    assert sides(app) == [None] * 4
    app.selectbox[0].select("London, United Kingdom").run()
    west, south, east, north = sides(app)
    assert west < -0.2 < 0.0 < east
    assert south < 51.4 < 51.6 < north
    app.text_input[0].input("14.5 -24 14.9 -23.7").run()
    assert sides(app) == [14.5, -24.0, 14.9, -23.7]
    app.selectbox[0].select("Senegal").run()
    assert sides(app)[0] < -17 < -12 < sides(app)[2]
    app.text_input[0].input("51.4N 0.1W").run()
    assert "plain numbers" in app.error[0].value
    assert sides(app)[0] < -17


def test_sides_are_in_the_units_of_the_crs_and_the_map_in_degrees():
    script = SCRIPT.replace('("here")', '("here", "EPSG:27700")')
    app = AppTest.from_string(script, default_timeout=120).run()
    assert "EPSG:27700, metre" in app.markdown[0].value.replace("\\", "")
    app.selectbox[0].select("London, United Kingdom").run()
    assert sides(app)[0] < 530_000 < sides(app)[2]
    assert sides(app)[1] < 180_000 < sides(app)[3]
    west, _, east, _ = app.session_state["here.bounds.seen"]
    assert west < -0.2 < 0.0 < east
    app.number_input[0].set_value(500_000.0).run()  # typed: the map goes there, too
    assert app.session_state["here.bounds.seen"][0] != west
    assert abs(app.session_state["here.bounds.seen"][0] + 0.55) < 0.1
    app.selectbox[0].select("New Zealand").run()
    assert "outside" in app.error[0].value
    assert sides(app)[0] == 500_000
