"""The page Sequences without a browser: what it shows, asks, pays and refuses."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.build import build
from dpviz.methods import of_kind
from dpviz.private.load.sequences import city_sequences
from dpviz.render.flows import chance_words, path_words
from dpviz.render.nearby import cell_names
from dpviz.sequences.moves import following_sd
from dpviz.ui.sequences.source import COLUMN
from tests.ui.files import bounded, exact_facts, uploaded
from tests.ui.opening import named, opened_page, table, tables, texts
from tests.ui.paying import pay

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-2"
opened = partial(opened_page, "sequences")


@pytest.fixture(scope="module")
def release():
    return build(city_sequences(12), "markov", 1.0, seed=0)


def test_the_page_shows_the_built_in_sequences_at_once(release):
    app = opened()
    names = cell_names(release)
    pairs = [s for s, _ in release.model.top(400, 2) if len(s) == 2]
    wanted = [path_words(pair, names) for pair in pairs[:12]]
    shown = tables(app, "move")[0]
    assert sorted(shown["move"]) == sorted(wanted)
    assert "Demo · synthetic people" in texts(app)
    assert "Port Meridian: centre → 4 km S" in wanted
    assert len({*names}) == len(names) == 144
    assert "Only the first 20 places of each sequence are counted" in texts(app)
    assert "l_top" not in texts(app)  # the parameter's name in files


def test_a_permalink_chooses_a_cell_and_tells_where_it_goes(release):
    app = opened(cell="3-6")
    shown = tables(app, "next")[0]
    names = [*cell_names(release), "(the end)"]
    chance = release.model.following([release.alphabet.names.index("3-6")])
    order = np.argsort(-chance)[: len(shown)]
    assert shown["next"].tolist() == [names[row] for row in order]
    words = chance_words(chance, following_sd(release.model, [names.index("Port Meridian")]))
    assert shown["chance"].tolist() == [words[row] for row in order]
    assert app.query_params["cell"] == "3-6"
    assert app.selectbox(key="sequences.cell.name").value == "3-6"


def test_a_context_of_the_tree_changes_what_comes_next():
    app = opened(cell="2-4", epsilon="8", side="8")
    tree = tables(app, "came")[0]
    assert len(tree) > 3
    assert all(label.lstrip("\u2003").startswith("from") for label in tree["came"])


def test_frequent_paths_have_the_wanted_places_and_no_returns():
    app = opened(view="Frequent paths")
    places = [row.split(" → ") for row in tables(app, "path")[0]["path"]]
    assert len(places) == 10
    assert all(len(row) >= 3 and len(set(row)) == len(row) for row in places)
    app.toggle(key="sequences.returns").set_value(True).run()
    again = [row.split(" → ") for row in tables(app, "path")[0]["path"]]
    assert any(len(set(row)) < len(row) for row in again)


@pytest.mark.slow
def test_a_context_that_is_chosen_belongs_to_its_release():
    """Streamlit keeps the chosen row of a table of the same key, whatever rows it then has."""
    app = opened(cell="2-4", epsilon="8", side="8")
    (before,) = [each.proto.id for each in app.dataframe if "came" in each.value.columns]
    app.select_slider(key="sequences.epsilon").set_value(6.3).run()
    (after,) = [each.proto.id for each in app.dataframe if "came" in each.value.columns]
    assert before
    assert before != after


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(of_kind("sequences")))
def test_every_method_is_shown_or_says_why_not(method):
    app = opened(method=method, cell="3-5", side="6", tab="Table")
    model = app.session_state["sequences.view"][1].release.model
    for view in (None, "Frequent paths", "Synthetic trips"):  # moves first
        if view is not None:
            app.segmented_control(key="sequences.show").set_value(view).run()
        assert not app.error
        refusal = "ranks strings and holds no counts" in texts(app)
        assert refusal == (not hasattr(model, "counts"))


@pytest.mark.slow
def test_a_hopeless_epsilon_is_said_plainly():
    assert "within their noise" in texts(opened(epsilon="0.02"))
    assert "within their noise" not in texts(opened(epsilon="2"))


@pytest.mark.slow
def test_sensitive_sequences_are_paid_for_and_nothing_exact_is_shown():
    app = opened(sensitive="1", epsilon="0.5", cap="3", view="Synthetic trips")
    assert "nothing is shown yet" in texts(app)
    assert not app.dataframe
    pay(app)
    (spend,) = dpviz.Ledger().account("city").spends
    assert (spend.epsilon, spend.what, spend.purpose) == (0.5, "markov", "page Sequences")
    view = app.session_state["sequences.view"][1]
    assert view.release.header.private
    assert view.release.header.unit == "one person with at most 3 sequences"
    assert "exact" not in texts(app.main).lower()


@pytest.mark.slow
def test_a_permalink_restores_what_was_chosen():
    app = opened(side="6", gap="6", epsilon="2", seed="4", method="ngram", set="n_max:3")
    wanted = build(city_sequences(6, 6), "ngram", 2.0, seed=4, n_max=3)
    again = opened(**{name: app.query_params[name] for name in app.query_params})
    for page in (app, again):
        view = page.session_state["sequences.view"][1]
        assert view.release.model.top(30) == wanted.model.top(30)


def of_symbols(content, alphabet, name="visits.txt", public=True):
    """The page with a file of symbols, which are among these."""
    app = opened(data="symbols")
    assert "Choose a file to begin" in texts(app)
    if public:
        app.segmented_control(key="sequences.public.upload").set_value("public")
    uploaded(app, "sequences.symbols", name, content)
    # A text file has no columns.
    assert ("Name the public symbols" in texts(app)) == name.endswith(".txt")
    return app.text_area(key="sequences.alphabet").set_value(alphabet).run()


def test_own_symbols_have_tables_but_no_map():
    app = of_symbols("a b c\n" * 300 + "b c\n" * 200, "a, b, c")
    assert tables(app, "move")[0]["move"][0] == "b → c"
    assert list(table(app, "(the end)").columns) == ["after", "b", "c", "a", "(the end)"]


@pytest.mark.slow
def test_a_table_of_symbols_asks_for_their_column():
    lines = "who,visits\n" + "1,a b c\n" * 300 + "2,b c\n" * 200
    app = of_symbols(lines, "a, b, c", "visits.csv")
    assert "Choose the column that holds the symbols" in texts(app)
    column = named(app.selectbox, COLUMN)
    assert column.options == ["who", "visits"]
    column.set_value("visits").run()
    assert tables(app, "move")[0]["move"][0] == "b → c"


def test_a_table_of_the_most_frequent_symbols_says_that_there_are_more():
    app = of_symbols("1 2 3\n" * 50, "1..17")
    assert "What follows what** (noisy)" in texts(app)
    app.text_area(key="sequences.alphabet").set_value("1..300").run()
    assert "(noisy, the 30 most frequent of 300 symbols)" in texts(app)
    assert "Only the first 20 symbols of each sequence are counted" in texts(app)
    assert "choose a smaller alphabet, or lower the bound on the events" in app.warning[0].value


@pytest.mark.parametrize("alphabet", ["a", __file__], ids=["a letter", "a file of the server"])
def test_a_public_symbol_outside_the_alphabet_is_one_clear_line(alphabet):
    """No alphabet is read from a file of the server: its path itself is the one symbol."""
    assert "outside the alphabet" in of_symbols("a b c\n", alphabet).error[0].value


def test_confidential_sequences_without_a_public_symbol_cannot_be_paid_for():
    app = of_symbols("a b c\n", "a", public=False)
    facts = exact_facts(app)
    assert facts.startswith("1 records read, 0 kept")
    assert "- 1 with a street or symbol" in facts
    assert "nothing can be published" in app.error[-1].value
    assert not any(each.label.startswith("Publish") for each in app.button)


def places_file(people=60):
    rows = ["person,time,lon,lat"]
    for person in range(people):
        for hour, (lon, lat) in enumerate([(14.05, -23.95), (14.55, -23.45), (14.95, -23.05)]):
            rows.append(f"p{person},{3600 * hour},{lon},{lat}")
    return "\n".join(rows)


@pytest.mark.slow
def test_own_places_become_sequences_of_cells():
    app = opened(data="places")
    assert "Choose a file first" in texts(app)
    app.segmented_control(key="sequences.public.upload").set_value("public")
    uploaded(app, "sequences.file", "places.csv", places_file())
    app.number_input(key="sequences.side").set_value(2)
    named(app.selectbox, "Times are written as").set_value("seconds")
    bounded(app, "sequences")
    assert not app.error
    view = app.session_state["sequences.view"][1]
    assert view.names == ("0-0", "0-1", "1-0", "1-1")
    assert view.visits[0] == pytest.approx(60, abs=60)
    assert re.search("per person|one person", view.release.header.unit)
    app.segmented_control(key="sequences.public.upload").set_value("sensitive").run()
    assert exact_facts(app) == "180 records read, 60 sequences made of them, 60 kept."


@pytest.mark.slow
def test_a_place_of_other_cells_is_not_chosen():
    """Cell 3-5 of eight a side stayed chosen among sixteen, where it is another place."""
    app = opened(cell="3-5", epsilon="8", side="8")
    assert "Next from" in texts(app)
    app.number_input(key="sequences.gap").set_value(6.0).run()
    assert app.query_params["cell"] == "3-5"
    app.number_input(key="sequences.side").set_value(16).run()
    assert "cell" not in app.query_params
    assert "Busiest moves" in texts(app)


@pytest.mark.parametrize(
    ("names", "person", "time"),
    [
        ("who,when", "who", "when"),
        ("started_at,rider_id", "rider_id", "started_at"),
        ("a,b", None, None),
    ],
)
def test_only_columns_that_can_be_a_person_or_a_time_are_offered(names, person, time):
    app = opened(data="places")
    uploaded(app, "sequences.file", "places.csv", f"lat,lon,{names}\n-23.5,14.5,1,2\n")
    times, people = named(app.selectbox, "Time"), named(app.selectbox, "Person")
    assert (people.value, times.value) == (person, time)
    assert times.options == names.split(",")
    assert people.options == [name for name in names.split(",") if name != time]
    asked = "Choose the columns of the time and of the person" in texts(app)
    assert asked == (person is None)
