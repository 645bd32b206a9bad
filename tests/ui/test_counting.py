"""Kinds, values and areas chosen on a page: paid for, and rebuilt."""

import io
import re
import shlex

import geopandas
import numpy as np
import pytest
import shapely
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.exports import Presentation, release_page
from dpviz.planning.calls import code_of
from dpviz.planning.code import NO_DELTA
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.header import REPEATED
from dpviz.ui.points.wishes import TITLE
from dpviz.ui.shared.preflight import OWNER_ONLY
from dpviz.ui.shared.shelf import receipt_of
from tests.commands import run
from tests.geojson import collection, feature
from tests.private.load.stability import workbook
from tests.ui.files import bounded, uploaded
from tests.ui.opening import app_of, metrics, named, open_tab, opened_page, table, tables, texts
from tests.ui.paying import pay, price

pytestmark = pytest.mark.slow


def rides():
    random = np.random.default_rng(3)
    places = random.uniform(0, 4, (400, 2))
    modes = random.choice(["bike", "walk", "sled"], 400)
    rows = [
        f"{x:.6f},{y:.6f},{mode},{at % 9},2024-03-{1 + at % 28:02d}T12:00,r{at % 9}"
        for at, ((x, y), mode) in enumerate(zip(places, modes, strict=True))
    ]
    return "\n".join(["lon,lat,mode,fare,start,rider", *rows]).encode()


def wards(*, overlap=0.0, sides=(0, 2)):
    def square(x, y):
        right = x + 2 + (0 if x else overlap)
        shape = shapely.box(x, y, right, y + 2)
        return feature(shape, ward=f"w{x}{y}", side="east" if x else "west")

    return collection(square(x, y) for x in sides for y in (0, 2)).encode()


def opened(page, name="rides.csv", content=None, sheet=None):
    app = app_of(page)
    app.query_params["data"] = "Your own file"
    app.session_state["publish.guess"] = 500
    app.run()
    uploaded(app, f"{page}.file", name, content or rides())
    if sheet is not None:
        box = chosen(app, "selectbox", f"{page}.table.")
        assert (box.label, box.value, list(box.options)) == ("Sheet", "a", ["a", sheet])
        box.set_value(sheet).run()
    return bounded(app, page, (0.0, 0.0, 4.0, 4.0))


def chosen(app, kind, part):
    (widget,) = [each for each in app.get(kind) if part in (each.key or "")]
    return widget


def counted_by_districts(app, page):
    app.selectbox(key=f"{page}.method").set_value("areas").run()
    app.segmented_control(key=f"{page}.counted").set_value("Districts of a file").run()


def at_budget(app):
    """Expected errors stand on the step Budget alone."""
    app.session_state["publish.step"] = 2
    app.run()


def errors(app):
    return [each.value for each in app.error]


def published(app):
    """Pay for a release without an error, and return it."""
    pay(app)
    assert errors(app) == []
    return app.session_state["publish.made"]


def made_again(made, tmp_path, records="rides.csv", content=None, **files):
    """The release that the command on the page builds."""
    (tmp_path / records).write_bytes(content or rides())
    words = shlex.split(made.note.command())[1:]
    words[words.index("FILE")] = str(tmp_path / records)
    for name, other in files.items():
        (tmp_path / name).write_bytes(other)
        (at,) = [at for at, word in enumerate(words) if word.split("|")[0] == name]
        words[at] = str(tmp_path / words[at])
    words[-1] = str(tmp_path / "again.parquet")
    assert run(*words)[0] == 0
    return dpviz.read(words[-1])


def test_a_time_is_declared_paid_for_and_made_again_by_the_command(tmp_path):
    app = opened("publish")
    chosen(app, "selectbox", "publish.time").set_value("start").run()
    assert "Give the period" in texts(app)
    app.text_input(key="publish.from").set_value("2024-03-01")
    app.text_input(key="publish.to").set_value("2024-04-01").run()
    shown = texts(app).replace("\\", "")
    assert "west 0, south 0, east 4, north 4" in shown
    assert "**Time** (column “start”): 2024-03-01 to 2024-04-01 UTC" in shown
    at_budget(app)
    assert TITLE not in texts(app)  # no plan with time, and no word on it
    assert "890 km² over 2.1 days" in list(table(app, "such as")["such as"])
    made = published(app)
    assert made.release.domain.time == "start"
    app.session_state["publish.step"] = 3
    app.run()
    assert errors(app) == []
    assert "Window (UTC)" in [each.label for each in app.slider]
    assert made_again(made, tmp_path).domain == made.release.domain


def test_kinds_and_values_are_declared_paid_for_and_made_again_by_the_command(tmp_path):
    app = opened("publish")
    boxes = [chosen(app, "selectbox", f"{each}.column") for each in ("kinds", "values")]
    assert [each.proto.placeholder for each in boxes] == ["None: one category", "None: counts only"]
    boxes[0].set_value("mode").run()
    assert "Give the public list of categories" in texts(app)
    app.text_area(key="publish.kinds.names").set_value('bike, "walk').run()
    assert "unmatched quotation mark" in texts(app)
    app.text_area(key="publish.kinds.names").set_value("bike, bike").run()
    assert errors(app) == ["Kind 'bike' is listed twice\\: list it once\\."]
    app.text_area(key="publish.kinds.names").set_value("bike\nwalk")
    app.segmented_control(key="publish.kinds.others").set_value("Counted as “other”")
    chosen(app, "selectbox", "values.column").set_value("fare").run()
    assert "Give both limits" in texts(app)
    app.number_input(key="publish.values.low").set_value(0.0)
    app.number_input(key="publish.values.high").set_value(5.0).run()
    app.slider(key="publish.sum_share").set_value(0.25).run()
    assert "**Categories** (column “mode”): “bike”, “walk”, “other”" in texts(app)
    made = published(app)
    (spend,) = dpviz.Ledger().account("rides").spends
    assert (spend.epsilon, spend.unit, spend.outcome) == (1.0, "one record", "released")
    release, again = made.release, made_again(made, tmp_path)
    assert release.kinds == ("bike", "walk", "other")
    (row,) = [row for row in release.header.budget if row["purpose"] == "sums of values"]
    assert row["epsilon"] == pytest.approx(0.25)
    assert again.domain == release.domain
    assert (again.header.unit, again.header.epsilon) == (release.header.unit, 1.0)
    assert again.header.budget == release.header.budget
    app.session_state["publish.step"] = 3
    app.run()
    assert errors(app) == []
    assert "Categories" in [each.label for each in app.selectbox]


def test_of_several_sheets_one_is_chosen_and_named_in_the_command(tmp_path):
    rows = [line.split(",") for line in rides().decode().splitlines()]
    content = workbook([("about",), ("these rides",)], rides_of_2030=rows)
    app = opened("publish", "rides.xlsx", content, sheet="rides_of_2030")
    assert errors(app) == []
    made = published(app)
    assert "--table rides_of_2030" in made.note.command()
    again = made_again(made, tmp_path, "rides.xlsx", content)
    assert made.release.header.budget == again.header.budget
    assert again.count(again.domain.bounds).count[0] > 300


def test_areas_of_a_file_are_checked_paid_for_and_made_again_by_the_command(tmp_path):
    app = opened("publish")
    counted_by_districts(app, "publish")
    assert "Choose a public file of polygons" in texts(app)
    uploaded(app, "publish.areas.file", "wards.geojson", wards(overlap=0.5))
    (line,) = {*errors(app)}  # one line, shown in the menu and beside the button
    assert "overlap\\: a record may be in one area only" in line
    uploaded(app, "publish.areas.file", "wards.geojson", wards())
    levels = chosen(app, "multiselect", "areas.levels")
    assert levels.value == ["ward"]
    assert "areas (4)" in texts(app).replace("\\", "")
    at_budget(app)  # a column's name is no title of areas
    assert "in one of the 4 areas: with fewer than" in texts(app)
    assert "areas (4); records in none of them are left out" in texts(app).replace("\\", "")
    assert f"{OWNER_ONLY}:" not in " ".join(each.value for each in app.warning)  # they fill the box
    assert list(tables(app, "noise ± (95 %)")[0]["level"]) == ["areas"]
    levels.set_value(["side", "ward"]).run()
    assert errors(app) == []
    at_budget(app)
    assert tables(app, "noise ± (95 %)")
    assert dpviz.Ledger().account("rides").spends == ()
    made = published(app)
    again = made_again(made, tmp_path, **{"wards.geojson": wards()})
    assert made.release.frame.levels == again.frame.levels == ("side", "ward")
    assert made.release.frame.names == again.frame.names
    assert made.release.header.budget == again.header.budget


def test_records_in_no_area_are_left_out_and_every_page_says_so():
    app = opened("publish")
    counted_by_districts(app, "publish")
    uploaded(app, "publish.areas.file", "west.geojson", wards(sides=(0,)))
    outside = sum(float(row.partition(",")[0]) >= 2 for row in rides().decode().split()[1:])
    (owner,) = [each.value for each in app.warning if OWNER_ONLY in each.value]
    assert owner == f"{OWNER_ONLY}: {outside} records are in none of the areas, and left out."
    assert "areas (2); records in none of them are left out" in texts(app)
    release = published(app).release
    app.session_state["publish.step"] = 3
    app.run()
    assert {"All areas (noisy)"} <= {*metrics(app)}
    assert "<li>Records outside all areas are not counted.</li>" in release_page(release)


def test_sums_of_areas_are_expected_paid_for_and_shown_on_map_and_table(tmp_path):
    app = opened("publish")
    chosen(app, "selectbox", "values.column").set_value("fare").run()
    app.number_input(key="publish.values.low").set_value(0.0)
    app.number_input(key="publish.values.high").set_value(9.0).run()
    app.selectbox(key="publish.method").set_value("areas").run()
    app.slider(key="publish.sum_share").set_value(0.25).run()
    at_budget(app)
    expected = table(app, "sum of fare ± (95 %)")
    made = published(app)
    shown = made.release.to_geopandas(None)["sum_sd"].median() * INTERVAL_SDS
    assert float(expected["sum of fare ± (95 %)"].iloc[-1]) == pytest.approx(shown, rel=0.05)
    assert made_again(made, tmp_path).header.budget == made.release.header.budget
    app.session_state["publish.step"] = 3
    open_tab(app, "Table", "publish")
    assert {"sum of fare", "± of the sum"} <= {*table(app, "rank").columns}
    chosen(app, "toggle", "publish.sums").set_value(True).run()
    assert app.session_state["publish.areas"][1].legend.title == "Sum of fare per km² by area"


def test_a_delta_for_persons_of_many_records_is_recommended_paid_for_and_made_again(tmp_path):
    app = opened("publish")
    app.selectbox(key="publish.unit").set_value("rider").run()
    app.number_input(key="publish.bound").set_value(30).run()
    assert "publish.delta" not in {each.key for each in app.selectbox}
    assert "Only Pure ε here" in texts(app)
    app.selectbox(key="publish.method").set_value("areas").run()
    assert "Recommended with 30 records of each person: ε and δ, for 1.8 times less" in texts(app)
    at_budget(app)
    assert tables(app, "pure ε ± (95 %)", "ε and δ ± (95 %)")
    app.number_input(key="publish.bound").set_value(5).run()
    assert "publish.delta" not in {each.key for each in app.selectbox}
    assert "Pure ε has the least noise with 5 records of each person" in texts(app)
    app.number_input(key="publish.bound").set_value(30).run()
    app.button(key="publish.delta.take").click().run()
    assert app.selectbox(key="publish.delta").value == "1e-06"
    assert "publish.delta.take" not in {each.key for each in app.button}
    app.number_input(key="publish.total.value").set_value(3.0)
    app.checkbox(key="publish.total.sure").check()
    named(app.button, "Set the budget").click().run()
    assert "Hides:** one person (column rider). " in texts(app).replace("\\", "")
    assert "slot" not in texts(app)
    assert price(app).label == "Publish: spend ε = 1, δ = 1e-06"
    release = (made := published(app)).release
    account = dpviz.Ledger().account("rides")
    assert (account.total_delta, account.spent_delta) == (1e-5, 1e-6)
    assert release.header.persons.startswith("Each person counts once per")
    assert receipt_of(release)["delta"] == 1e-6
    assert made_again(made, tmp_path).header.guarantee == release.header.guarantee


def test_persons_of_few_categories_are_counted_without_a_delta_and_every_total_says_how(tmp_path):
    """A release of 5,000 persons read "5,860 people", and offered "ε and δ" that it did not use."""
    app = opened("publish")
    app.selectbox(key="publish.unit").set_value("rider").run()
    app.number_input(key="publish.bound").set_value(30).run()
    chosen(app, "selectbox", "kinds.column").set_value("mode").run()
    app.text_area(key="publish.kinds.names").set_value("bike, walk").run()
    assert "count persons, for 15 times less noise. With these choices pure ε" in texts(app)
    assert "ε and δ" not in texts(app)
    app.button(key="publish.delta.take").click().run()
    assert "ε and δ" not in " ".join(app.selectbox(key="publish.delta").options)
    noun = app.text_input(key="publish.noun")
    assert (noun.placeholder, price(app).label) == ("visits", "Publish: spend ε = 1")
    assert texts(app).replace("\\", "").count(REPEATED) == 3  # guarantee, decisions, noun
    assert "slot" not in texts(app)
    noun.set_value("people").run()
    release = (made := published(app)).release
    assert release.header.delta == 0.0
    assert made.note.note == code_of(release).note == NO_DELTA
    app.session_state["publish.step"] = 3
    app.run()
    assert "All people (noisy)" in metrics(app)
    assert REPEATED in [each.value for each in app.caption]
    page = release_page(release, Presentation(noun="people"))
    total = page.partition('id="total"')[2]
    assert re.match(rf"[^\n]*</strong> people</p><p class=\"soft\">{REPEATED}</p>", total)
    assert "slot" not in page.partition('id="map"')[0]
    assert page.count(NO_DELTA) == 1


@pytest.mark.parametrize("delta", ["0", "1"])
def test_a_delta_that_is_none_is_left_out_and_said(delta):
    app = opened_page("publish", data="Your own file", delta=delta)
    assert f"asks for delta '{delta}', which is not available" in texts(app).replace("\\", "")


def test_of_several_layers_one_is_chosen_and_named_in_the_command(tmp_path):
    fine = geopandas.read_file(io.BytesIO(wards()))
    fine.dissolve("side").reset_index()[["side", "geometry"]].to_file(
        tmp_path / "all.gpkg", layer="sides"
    )
    fine.to_file(tmp_path / "all.gpkg", layer="wards")
    content = (tmp_path / "all.gpkg").read_bytes()
    app = opened("publish")
    counted_by_districts(app, "publish")
    uploaded(app, "publish.areas.file", "all.gpkg", content)
    layer = chosen(app, "selectbox", "areas.layer")
    assert (layer.value, list(layer.options)) == ("sides", ["sides", "wards"])
    layer.set_value("wards").run()
    assert errors(app) == []
    assert chosen(app, "multiselect", "areas.levels").value == ["ward"]
    made = published(app)
    again = made_again(made, tmp_path, **{"all.gpkg": content})
    assert made.release.frame.names == again.frame.names
    assert len(again.frame) == len(fine)


def test_areas_beyond_the_box_are_refused_and_hexagons_are_in_the_address():
    app = opened("explore")
    app.text_input(key="explore.bounds").set_value("0 0 3 4")
    app.segmented_control(key="explore.public.upload").set_value("public").run()
    counted_by_districts(app, "explore")
    uploaded(app, "explore.areas.file", "wards.geojson", wards())
    for line in errors(app):  # in the form, and on the page
        assert "reaches out of the bounds" in line
    app.text_input(key="explore.bounds").set_value("0 0 4 4").run()
    assert errors(app) == []
    assert metrics(app)["Exact total (public data)"] == "400"
    assert "Areas that it cuts count by the share of their surface inside." in texts(app)
    assert "exact sums" not in texts(app)  # there is one level
    app.segmented_control(key="explore.counted").set_value("Hexagons").run()
    assert app.query_params["areas"] == "h3:5"
    app.number_input(key="explore.resolution").set_value(15).run()
    for line in errors(app):
        assert "00,000 areas, and a page shows up to 20,000" in line


def test_kinds_one_a_line_may_hold_commas_and_are_shown_as_they_were_read():
    """Regression: lines were cut there; half of a file's records were lost, and no page said so."""
    script = """
from dpviz.ui.points.attributes_form import attributes_form
import streamlit as st
st.session_state["given"] = attributes_form("here", ["mode"], "a")
"""
    app = AppTest.from_string(script, default_timeout=60).run()
    chosen(app, "selectbox", "kinds.column").set_value("mode").run()
    box = app.text_area(key="here.kinds.names")
    for text, kinds, echo in (
        (
            "café, open late\\n bus \\n",
            ["café, open late", "bus"],
            "2 categories: “café, open late”, “bus”",
        ),
        ('bike, "bus, tram"', ["bike", "bus, tram"], "2 categories: “bike”, “bus, tram”"),
        ("bike", ["bike"], "1 category: “bike”"),
    ):
        box.set_value(text.replace("\\n", "\n")).run()
        assert app.session_state["given"]["kinds"] == kinds
        assert echo in texts(app).splitlines()


def test_columns_whose_names_say_nothing_are_chosen_before_it_goes_on():
    """Regression: columns of a name and an age became longitude and latitude."""
    app = opened_page("publish", data="Your own file")
    rows = b"name,age,n,e\nAda,36,14.5,-23.9\n"
    uploaded(app, "publish.file", "people.csv", rows)
    boxes = [chosen(app, "selectbox", f"publish.{axis}.") for axis in (0, 1)]
    assert [each.value for each in boxes] == [None, None]
    assert boxes[0].proto.placeholder == "Choose a column"
    assert "Choose the columns of the coordinates" in texts(app)
    assert app.button(key="publish.next.0").disabled
    boxes[0].set_value("n")
    boxes[1].set_value("e").run()
    assert errors(app) == []
    assert not app.button(key="publish.next.0").disabled
