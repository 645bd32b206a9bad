"""Trips without a browser: two rectangles are one 4-D question; sensitive data show no exact."""

from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render import with_noise
from tests.ui.paying import pay

PAGE = "from dpviz.ui.pages.trips import page\npage()\n"
START, END = (14.5, -24.0, 14.6, -23.8), (14.6, -24.0, 14.75, -23.85)


def opened(**address):
    app = AppTest.from_string(PAGE, default_timeout=90)
    app.query_params.update(address)
    app.run()
    assert not app.exception
    return app


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def joined(rect):
    return ",".join(map(str, rect))


def test_two_rectangles_are_one_question_in_four_dimensions():
    app = opened(**{"data": "trips-50k", "from": joined(START), "to": joined(END)})
    release = dpviz.build(dpviz.load("trips-50k"), "privtree", 1.0, seed=0)
    answer = release.count([*START[:2], *END[:2], *START[2:], *END[2:]])
    shown = metrics(app)
    half = INTERVAL_SDS * answer.noise_sd[0]
    assert shown["Trips from here to there"] == with_noise(answer.count[0], half)
    assert len(app.get("bidi_component")) == 4  # two maps, and an overlay on each


def test_without_rectangles_the_page_says_what_to_do():
    app = opened(data="trips-50k")
    assert metrics(app) == {}
    assert any("Draw a rectangle on Pickups" in each.value for each in app.caption)


def test_sensitive_trips_wait_for_the_button_and_show_no_exact_number():
    app = opened(**{"data": "trips-50k", "sensitive": "1", "from": joined(START)})
    assert metrics(app) == {}
    assert len(app.get("bidi_component")) == 1  # the area on the base map
    pay(app)
    assert not app.exception
    assert "Trips from here to there" in metrics(app)
    assert "Exact (public data)" not in metrics(app)
    assert any("differentially private" in each.value for each in app.markdown)
