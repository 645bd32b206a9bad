"""The frame of every page: first visit, data behind a button, bar, tabs."""

import pytest

from dpviz.ui.shared.frame import TABS
from dpviz.ui.shared.welcome import DOORS, SENTENCE
from tests.ui.opening import metrics, named, open_tab, opened_page, texts


@pytest.mark.slow
def test_a_newcomer_reads_a_sentence_and_has_three_doors():
    app = opened_page("explore")
    assert SENTENCE in texts(app)
    assert {*DOORS} <= {each.label for each in app.button}
    assert app.get("bidi_component")  # a map below the text
    named(app.button, "Ask this map").click().run()
    assert SENTENCE not in texts(app)
    assert "Noisy count" in metrics(app)  # of an example, drawn on the map


def test_a_visitor_with_a_shared_address_is_not_greeted():
    assert SENTENCE not in texts(opened_page("explore", data="city-50k"))


@pytest.mark.parametrize("page", ["explore", "compare", "roads", "sequences", "trips"])
def test_no_page_has_a_sidebar(page):
    app = opened_page(page)
    assert not app.sidebar.children
    assert app.main.children


def test_the_chips_name_the_data_and_the_bar_the_error_to_expect():
    app = opened_page("explore", data="city-50k", method="ugrid")
    assert "**Synthetic city, 50,000 people**  :blue-badge[" in texts(app)
    few, many = (
        next(each.value for each in opened.markdown if "in a small area" in each.value)
        for opened in (app, opened_page("explore", data="city-50k", method="ugrid", epsilon="0.1"))
    )
    assert few.startswith("Typical error **± ")
    few, many = (float(words.split()[3].replace(",", "")) for words in (few, many))
    assert many > 2 * few


@pytest.mark.parametrize("page", ["roads", "sequences", "trips"])
def test_the_chips_of_a_page_in_a_menu_begin_with_its_name(page):
    chips = f"{page.capitalize()} · **Synthetic "
    assert any(each.value.startswith(chips) for each in opened_page(page).markdown)


def test_only_the_open_tab_is_drawn_and_input_in_others_is_kept():
    app = opened_page("explore", data="city-50k", method="ugrid")
    assert "Noisy total" in metrics(app)
    assert not app.dataframe
    app.text_input(key="explore.share.title").set_value("A title")
    open_tab(app, "How the budget was spent")
    assert "Noisy total" not in metrics(app)
    assert len(app.dataframe) == 1
    assert app.text_input(key="explore.share.title").value == "A title"
    shown = [each.label for each in app.tabs]
    assert shown == [title for title in TABS if title in shown]


def test_a_publication_s_step_method_and_epsilon_are_in_its_address():
    app = opened_page("publish", data="city-50k", step="2", method="ugrid", epsilon="0.5")
    assert app.session_state["publish.step"] == 2
    assert app.selectbox(key="publish.method").value == "ugrid"
    assert app.select_slider(key="publish.epsilon").value == 0.5
    app.select_slider(key="publish.epsilon").set_value(2.0).run()
    assert app.query_params["epsilon"] == "2"
    assert app.query_params["step"] == "2"


@pytest.mark.parametrize("page", ["explore", "roads", "sequences", "trips"])
def test_each_map_has_a_table_that_names_places(page):
    app = opened_page(page, tab="Table", **({"data": "city-50k"} if page == "explore" else {}))
    tables = [each.value for each in (*app.table, *app.dataframe)]
    assert any("Port Meridian" in each.to_string() for each in tables)
