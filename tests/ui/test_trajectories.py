"""The page Trajectories without a browser: what it shows, asks, pays and refuses."""

import pytest
from streamlit.testing.v1 import AppTest

SCRIPT = "from dpviz.ui.pages.trajectories import page\npage()\n"


def opened(**parameters: str) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=120)
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def test_it_works_out_of_the_box() -> None:
    app = opened()
    assert not app.exception
    assert any("NOT PRIVATE" in each.value for each in app.markdown)
    assert any("Choose a place" in each.value for each in app.markdown)


@pytest.mark.parametrize("cell", ["3-6", "2-5"])
def test_a_permalink_chooses_a_cell_and_tells_where_it_goes(cell: str) -> None:
    app = opened(cell=cell, epsilon="1")
    assert not app.exception
    shown = next(each.value for each in app.dataframe if "next" in each.value)
    chances = shown["chance"].tolist()
    assert chances == sorted(chances, reverse=True)
    assert 0.5 < sum(chances) <= 1.0 + 1e-9
    assert app.query_params["cell"] == cell


def test_a_cell_that_is_not_there_is_left_out() -> None:
    app = opened(cell="nowhere")
    assert not app.exception
    assert "cell" not in app.query_params
