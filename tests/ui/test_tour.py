"""The guided first run on page Explore."""

import pytest

from dpviz.ui.shared.tour import LEARN, STEPS, TITLE
from tests.ui.opening import opened_page, texts


@pytest.mark.slow
def test_a_newcomer_is_told_what_this_is_and_three_things_to_try():
    app = opened_page("explore")
    text = texts(app)
    assert TITLE in text
    assert len(STEPS) == 2
    assert all(what in text for _, what in STEPS)
    assert app.button(key="explore.tour.learn").label == LEARN
    assert app.get("bidi_component")  # with a map beside it
    app.button(key="explore.tour.close").click().run()
    assert TITLE not in texts(app)
    app.button(key="explore.tour.again").click().run()
    assert TITLE in texts(app)


def test_who_opens_a_shared_address_is_not_welcomed_but_may_ask():
    app = opened_page("explore", data="city-50k")
    assert TITLE not in texts(app)
    app.button(key="explore.tour.again").click().run()
    assert TITLE in texts(app)
