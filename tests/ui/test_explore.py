"""Explore without a browser: forms made from the registry, permalinks, bad input, modes."""

import io

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.files import limits
from dpviz.methods import METHODS, names
from dpviz.render import rounded, with_noise
from dpviz.render.numbers import NO_BREAK
from dpviz.ui.points import regions
from dpviz.ui.points.answers import error_texts
from dpviz.ui.shared import releases, upload_form, uploads
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.downloads import MAX_ROWS
from tests.ui.files import BOUNDS, bounded, exact_facts, uploaded
from tests.ui.opening import metrics, named, open_tab, opened_page, run_of_first_part, table, texts
from tests.ui.paying import confirm, price

RECT = (14.5, -24.0, 14.7, -23.8)
ALIASES = {alias: of for alias, of in names("points").items() if 2 in METHODS[of[0]].dims}
COARSE = {"data": "year", "method": "quadtree", "set": "height:5"}
"""Windows in time of few cells."""


def opened(**address):
    return opened_page(**{"data": "city-50k", **address})


def healthy(app):
    """The page, which says of nothing that it is wrong."""
    assert [error.value for error in app.error] == []
    return app


def look(app):
    """Current view of the period."""
    (control,) = [each for each in app.segmented_control if each.key.endswith(".look")]
    return control


@pytest.mark.slow
def test_the_first_run_asks_nothing_and_shows_a_map():
    app = healthy(opened_page())
    assert app.get("bidi_component")
    assert "Demo · synthetic people · noise as at ε" in texts(app)
    assert metrics(app)["Exact total (public data)"] == "250,000"
    assert not app.code  # the notebook code is loaded only on request
    command, python = (each.value for each in open_tab(app, "Code").code[-2:])
    assert command.startswith("dpviz build city-250k")
    assert python.startswith("import dpviz")
    assert "seed=" not in python  # no release contains a seed


def test_the_address_restores_everything():
    app = healthy(opened(method="ugrid", epsilon="0.5", seed="7", rect=RECT, tab="History"))
    release = dpviz.build(dpviz.load("city-50k"), "ugrid", 0.5, seed=7)
    answer = release.count(RECT)
    assert metrics(app)["Noisy count"] == with_noise(answer.count[0], answer.total_error[0])
    assert app.query_params["method"] == "ugrid"
    assert app.query_params["epsilon"] == "0.5"
    history = table(app, "cells")
    assert list(history["method"]) == ["Uniform grid (UG)"]
    assert history["noisy count"][0] == metrics(app)["Noisy count"]
    assert not [name for name in history.columns if "_" in name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({owner for owner, _ in ALIASES.values()} | {"kd-hybrid"}))
def test_every_method_has_a_form_and_a_picture(name):
    fine = "log_cells" in METHODS[ALIASES[name][0]].parameter_fields()
    app = healthy(opened(method=name, epsilon="1", **({"set": "log_cells:6"} if fine else {})))
    assert app.selectbox(key="explore.method").value == name
    assert app.get("bidi_component")


@pytest.mark.slow
def test_the_methods_list_has_each_choice_once_and_an_address_may_use_its_other_name():
    app = healthy(opened(method="AG", epsilon="1", set="alpha:0.4"))
    selector = app.selectbox(key="explore.method")
    assert selector.value == "agrid"
    assert sum("Adaptive grid (AG)" in each for each in selector.options) == 1
    assert app.query_params["set"] == "alpha:0.4"
    assert not app.warning


FORMS = """
import streamlit as st
from dpviz.methods import METHODS, names
from dpviz.ui.shared.method_form import parameters_form
st.session_state["changed"] = {
    name: parameters_form(name, METHODS[owner], preset, {})
    for name, (owner, preset) in names("points").items()
}
"""


def test_the_form_of_every_method_and_preset_has_all_parameters_and_gives_the_preset_back():
    app = healthy(AppTest.from_string(FORMS, default_timeout=60).run())
    assert app.session_state["changed"] == {name: {} for name in names("points")}
    shown = {
        widget.key: widget.label
        for kind in ("number_input", "selectbox", "checkbox")
        for widget in app.get(kind)
    }
    assert shown == {
        f"{name}.{field.name}": field.metadata["parameter"].help
        for name, (owner, _) in names("points").items()
        for field in METHODS[owner].parameter_fields().values()
    }


@pytest.mark.slow
def test_a_scale_of_the_address_is_of_its_data_only_and_of_all_frames():
    def bounds(place):
        return {tuple(mark.layer.bounds) for mark in app.session_state[place][1].marks[:3]
                if mark.layer.type == "CellLayer"}  # fmt: skip

    scale = (30.0, 60.0, 90.0, 200.0, 500.0)
    app = opened_page("explore", data="year", scale="30,60,90,200,500", epsilon="1")
    assert bounds("explore.scene") == {scale}
    app.segmented_control(key="explore.look").set_value("film").run()
    assert bounds("explore.film") == {scale}
    assert app.session_state["explore.film"][1].lock
    app.selectbox(key="explore.data").set_value("city-50k").run()
    assert bounds("explore.scene") != {scale}
    assert "scale" not in app.query_params


def test_less_epsilon_is_more_noise_on_the_screen():
    app = healthy(opened(epsilon="10", rect=RECT))
    margin = float(metrics(app)["Noisy count"].split("±")[1].replace(",", ""))
    app.select_slider(key="explore.epsilon").set_value(0.1).run()
    healthy(app)
    assert float(metrics(app)["Noisy count"].split("±")[1].replace(",", "")) > 10 * margin
    assert app.query_params["epsilon"] == "0.1"


@pytest.mark.slow
def test_resampling_the_noise_changes_the_answer_but_not_the_truth():
    app = healthy(opened(rect=RECT))
    first = metrics(app)
    app.button(key="explore.resample").click().run()
    second = metrics(healthy(app))
    assert first["Noisy count"] != second["Noisy count"]
    assert first["Exact count (public data)"] == second["Exact count (public data)"]
    assert app.query_params["seed"] == "1"


@pytest.mark.parametrize("view", ["window", "film"])
def test_a_rectangle_outside_is_one_clear_line_however_time_is_looked_at(view):
    app = healthy(opened(**COARSE, view=view, rect="20,-20,21,-19"))
    (line,) = (each.value for each in app.warning)
    assert "outside the domain" in line
    assert "of the whole area in each step" in texts(app)


def test_a_rectangle_is_asked_before_a_polygon_that_the_address_has_beside_it():
    """Regression: the map showed one shape, and the answer belonged to the other."""
    both = metrics(healthy(opened(rect=RECT, ring=RING)))["Noisy count"]
    assert both == metrics(opened(rect=RECT))["Noisy count"]
    assert both != metrics(opened(ring=RING))["Noisy count"]


def test_four_sides_that_are_typed_are_the_question_in_place_of_a_polygon():
    """A press comes with a run of the whole page, too, which is no run of a part."""
    app = healthy(opened(ring=RING))
    healthy(named(app.button, "Query").click().run())
    assert "ring" not in app.query_params
    typed = [each.value for each in app.number_input if each.label in SIDES[:2]]
    assert app.query_params["rect"].split(",")[:2] == [f"{each:.6f}" for each in typed]


@pytest.mark.parametrize(
    ("count", "error", "exact", "said"),
    [
        (9.4, 0.9, 10, ("−0.6", "6.0 %")),  # shown with the same digits as its percentage
        (0.1, 0.7, 0, ("+0.1", "")),
        (6.2, 4.0, 6, ("0", "")),
        (1_237.4, 58.8, 1_200, ("+40", "3.3 %")),
    ],
)
def test_an_error_is_that_of_the_count_as_it_is_shown(count, error, exact, said):
    row = {"count": count, "low": count - error, "high": count + error, "uniformity_sd": 0.0}
    off, share = error_texts(row | {"exact": exact})
    assert (off, share.replace("\N{NO-BREAK SPACE}", " ")) == said


@pytest.mark.slow
def test_sensitive_data_wait_for_the_button_and_show_nothing_exact():
    app = healthy(opened(sensitive="1", rect=RECT))
    assert not app.metric
    offered = app.selectbox(key="explore.method").options
    assert offered
    assert not any("NOT PRIVATE" in option for option in offered)
    # Offered for uploads only.
    assert not any(each.key == "explore.preflight" for each in app.toggle)
    assert "ε = 1" in price(app).label
    price(app).click().run()
    assert "it cannot be undone" in texts(app)
    assert not app.metric
    confirm(app)
    healthy(app)
    assert "Noisy count" in metrics(app)
    assert not any("Exact" in label for label in metrics(app))
    assert "**Error:**" not in texts(app)
    assert "NOT PRIVATE" not in texts(app)
    assert "has spent ε = 1 in all" in texts(app)
    before = metrics(app)
    app.select_slider(key="explore.epsilon").set_value(0.1).run()
    assert metrics(healthy(app)) == before  # nothing is rebuilt without a click
    assert "was published at ε = 1, before you changed the controls" in texts(app)
    assert "seed" not in app.query_params
    # Declared sensitive, the exact counts are refused by the vault itself as well.
    from dpviz.errors import PrivacyError
    from dpviz.evaluation.truth import exact_counts

    with pytest.raises(PrivacyError):
        exact_counts(dpviz.load("city-50k", public=False), RECT)


def opened_upload(name, content, public=False, bounds=BOUNDS, app=None):
    """Explore with a file of one's own, as far as its errors let it come; or with another one."""
    app = app or opened(data="Your own file")
    if public:
        app.segmented_control(key="explore.public.upload").set_value("public")
    return bounded(uploaded(app, "explore.file", name, content), "explore", bounds)


POINTS = b"lon,lat\n" + b"".join(b"%f,%f\n" % (14.6 + i / 1e3, -23.9 + i / 1e3) for i in range(50))


@pytest.mark.slow
def test_an_upload_may_have_a_time_in_a_public_period():
    rows = (b"%f,-23.5,2024-0%d-01\n" % (14.1 + i / 1e3, 1 + i % 5) for i in range(50))
    app = healthy(opened_upload("a.csv", b"lon,lat,when\n" + b"".join(rows), public=True))
    named(app.selectbox, "Column of the time").set_value("when").run()
    assert "Give the period" in texts(app)
    for end, value in (("from", "2024-02-01"), ("to", "2024-04-01")):
        app.text_input(key=f"explore.{end}").set_value(value)
    app = healthy(app.run())
    assert "Noisy count of the whole area in each step" in texts(app)
    shown = metrics(open_tab(app, "Summary"))
    assert shown["Exact total (public data)"] == "20"  # February and March of five months
    app.text_input(key="explore.zone").set_value("Europe/Berlin")
    app.segmented_control(key="explore.cycle").set_value("week")
    app = healthy(app.run())
    assert metrics(app)["Exact total (public data)"] == "20"
    assert any(each.label == "Window (hour of the week, Europe/Berlin)" for each in app.slider)
    app.text_input(key="explore.to").set_value("2023-01-01").run()
    assert "To must be after From" in app.error[0].value.replace("\\", "")


@pytest.mark.slow
def test_an_upload_is_read_once_whatever_moves_after_it(monkeypatch):
    reads = []

    def counted(name, read):
        def counting(*args, **kwargs):
            reads.append(name)
            return read(*args, **kwargs)

        return counting

    for room, name in ((upload_form, "load"), (uploads, "source_columns"), (releases, "kind_in")):
        monkeypatch.setattr(room, name, counted(name, getattr(room, name)))
    app = healthy(opened_upload("a.csv", POINTS, public=True))
    for epsilon in (0.1, 1.0):
        healthy(app.select_slider(key="explore.epsilon").set_value(epsilon).run())
    healthy(app.button(key="explore.resample").click().run())
    assert sorted(reads) == ["kind_in", "load", "source_columns"]


def test_a_slip_in_the_area_is_one_warning():
    """Latitude before longitude, where both are possible; the page goes on."""
    app = healthy(opened_upload("a.csv", POINTS + b"51.5,0\n", bounds=(51.3, -0.5, 51.7, 0.3)))
    assert any("latitude and longitude swapped" in box.value for box in app.warning)


@pytest.mark.slow
def test_the_owner_s_exact_facts_stand_before_the_payment_unless_switched_off():
    """Confidential uploads only, in one element that is marked as the owner's."""
    app = healthy(opened_upload("a.csv", POINTS + b"secret,0\n0,0\n"))
    assert app.selectbox(key="explore.unit").label == "What is one person in your file?"
    facts = exact_facts(app)
    assert facts.startswith(
        f"52 records read, 50 kept (3.8{NO_BREAK}% left out for the reasons below).\n"
    )
    assert "- 1 without a readable place: the first has no number in 'lon'; check" in facts
    assert "- 1 outside the area, 1 of them at 0, 0: usually a missing place; check" in facts
    app.toggle(key="explore.preflight").set_value(False).run()
    assert "52" not in texts(app)


BAD = {
    "one column": ("a.csv", b"name\nAda\n", ""),
    "no numbers": ("a.csv", b"lon,lat\nx,y\n", "no record has a readable place"),
    "not what it says": ("a.parquet", POINTS, "not"),
    "cut off": ("a.geojson", b"{", ""),
    "no archive": ("a.zip", b"PK\x03\x04 no zip", ""),
}


@pytest.mark.slow
def test_a_bad_file_is_one_clear_line_without_a_path_or_a_value():
    app = opened(data="Your own file")
    for case, (name, content, message) in BAD.items():
        opened_upload(name, content, public=True, app=app)
        lines = [box.value for box in (*app.error, *app.warning)]
        assert len(lines) == 2, (case, lines)  # beside its cause, and again where no form hides it
        assert lines[0] == lines[1]
        assert message in lines[0], case
        for private in ("/tmp", "Ada", "Traceback"):
            assert private not in lines[0], case


def test_a_rectangle_inside_out_is_one_clear_line_and_one_of_nobody_a_release_of_noise():
    app = opened_upload("a.csv", POINTS, public=True, bounds=(15, -24, 14, -23))
    for bounds in ((15, -24, 14, -23), (14, -23, 15, -23)):
        bounded(app, "explore", bounds)
        line, again = [error.value.replace("\\", "") for error in app.error]
        assert "No area from" in line
        assert again == line
    nobody = healthy(bounded(app, "explore", (0, 0, 1, 1)))
    assert metrics(nobody)["Exact total (public data)"] == "0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crs", "bounds", "line"),
    [
        (
            "EPSG:3035",
            (-1e7, -1e7, 2e7, 2e7),
            "EPSG:3035 has no place on the Earth for some of these coordinates",
        ),
        # Around the pole: refuse before the payment, instead of showing a blank map after it.
        ("EPSG:3413", (-1e6, -1e6, 1e6, 1e6), "This area cannot be drawn with north up"),
    ],
)
def test_an_area_of_no_map_is_refused_before_anything_is_paid(tmp_path, crs, bounds, line):
    app = opened(data="Your own file")
    uploaded(app, "explore.file", "a.csv", "x,y\n500000,400000\n")
    app.text_input(key="explore.crs").set_value(crs).run()
    bounded(app, "explore", bounds)
    assert line in app.main.error[0].value.replace("\\", "")
    assert not [each for each in app.button if "spend" in each.label]
    # A release of this area that was built elsewhere opens with the same line instead of its map.
    plane = dpviz.Domain(bounds[:2], bounds[2:], columns=("x", "y"), crs=crs)
    data = dpviz.from_points([[5e5, 4e5]], plane, public=True)
    path = dpviz.save(dpviz.build(data, epsilon=1.0, seed=1), tmp_path / "r.parquet")
    app = opened()
    uploaded(app, "explore.open.file", "r.parquet", path.read_bytes())
    app.button(key="explore.open").click().run()
    assert any(line in each.value.replace("\\", "") for each in app.error)


RING = ((14.45, -24.05), (14.7, -24.0), (14.65, -23.85), (14.5, -23.9))


def test_a_polygon_of_the_address_is_answered_by_the_engine_and_exactly_on_public_data():
    app = healthy(opened(ring=RING))
    release = dpviz.build(dpviz.load("city-50k"), "ladder_tree", seed=0)
    from dpviz.datasets import DATASETS

    shape = shapely.Polygon(RING)
    answer = release.count_regions([shape])
    half = (answer.high[0] - answer.low[0]) / 2
    assert metrics(app)["Noisy count"] == with_noise(answer.count[0], half)
    x, y = DATASETS["city-50k"].points().T
    shown = int(metrics(app)["Exact count (public data)"].replace(",", ""))
    # Records are moved to the middle of their lattice cell here: a border may pass between.
    assert abs(shown - int(shapely.contains_xy(shape, x, y).sum())) <= 2
    assert app.query_params["ring"].startswith("14.45")


@pytest.mark.parametrize(
    "ring", ["1,2,3", "14,-24,15,x,1,2", "14,-24,14,-24,14,-24", "50,50,51,50,51,51"]
)
def test_a_polygon_that_is_none_is_left_out_or_said_in_one_line(ring):
    app = opened(ring=ring)
    assert len(app.error) == 0
    assert len(app.warning) <= 1
    assert "Noisy count" not in metrics(app)  # outside the area there is no count, not 0


@pytest.mark.slow
def test_a_polygon_of_as_many_corners_as_are_drawn_is_kept_in_the_address():
    """Those of more than 200 were drawn, answered, and lost with the address."""
    most = limits.CORNERS.most
    x, y = np.cos(turns := np.arange(most + 1) / most * 6), np.sin(turns)
    places = zip(14.6 + x / 9, y / 9 - 24, strict=True)
    corners = np.round(list(places), 4)
    app = healthy(opened(ring=corners[:most]))
    assert app.query_params["ring"].count(",") == 2 * most - 1
    assert "Noisy count" in metrics(app)
    refused = opened(ring=corners).warning
    assert "ring '" in refused[0].value


@pytest.mark.slow
def test_districts_of_a_file_are_counted_without_cost():
    shapes = [shapely.box(14.3, -24.2, 14.6, -23.7), shapely.box(14.6, -24.2, 15.0, -23.7)]
    frame = geopandas.GeoDataFrame({"name": ["West", "<b>East"]}, geometry=shapes, crs=4326)
    app = opened(tab="Districts")
    healthy(uploaded(app, "explore.districts", "d.geojson", frame.to_json()))
    counted = table(app, "district")
    assert list(counted["district"]) == ["West", "<b>East"]
    assert list(counted["inside the area"]) == [53, 80]  # 2×4 of 3×5, 4×4 of 4×5
    release = dpviz.build(dpviz.load("city-50k"), "ladder_tree", seed=0)
    wanted = release.count_regions(shapes)
    assert [f"{count:,.0f}" for count in counted["noisy count"]] == [
        rounded(*each) for each in zip(wanted.count, wanted.total_error, strict=True)
    ]
    uploaded(app, "explore.districts", "d.geojson", frame.translate(20.0).to_json())
    (line,) = [each.value for each in app.warning if "districts" in each.value]
    assert "lie outside the area of this map" in line
    (error,) = uploaded(app, "explore.districts", "d.geojson", "{}").error
    assert "/tmp" not in error.value


@pytest.mark.slow
def test_districts_of_a_release_with_time_are_counted_step_by_step_in_a_file(monkeypatch):
    """The file of a year by month had one line a district, for the whole year."""
    shape = shapely.box(14.3, -24.2, 14.6, -23.7)
    frame = geopandas.GeoDataFrame({"name": ["West"]}, geometry=[shape], crs=4326)
    files = {}
    monkeypatch.setattr(regions, "file_button", lambda label, make, *_: files.update({label: make}))
    app = opened(**COARSE, tab="Districts", period="2030-06-01,2030-07-01")
    healthy(uploaded(app, "explore.districts", "d.geojson", frame.to_json()))
    rows = pd.read_csv(io.StringIO(files["Counts by district and time (CSV)"]()))
    assert (len(rows), rows["from"][0], rows["to"][11]) == (12, "2030-01-01", "2031-01-01")
    june = rows[rows["from"] == "2030-06-01"].iloc[0]
    release = dpviz.build(dpviz.load("year"), "quadtree", 1.0, seed=0, height=5)
    answer = release.during((june["from"], june["to"])).count_regions([shape])
    for name in ("count", "low", "high", "uniformity_sd"):
        assert june[name] == pytest.approx(getattr(answer, name)[0])


@pytest.mark.slow
def test_a_year_has_a_window_an_answer_in_it_and_a_timeline():
    """The address restores the window; moving it on moves the answer, and nothing is rebuilt."""
    app = healthy(opened(**COARSE, rect=RECT, period="2030-06-01,2030-07-01"))
    release = dpviz.build(dpviz.load("year"), "quadtree", 1.0, seed=0, height=5)
    for period in (("2030-06-01", "2030-07-01"), ("2030-07-01", "2030-07-31")):
        answer = release.count(RECT, period)
        words = with_noise(answer.count[0], answer.total_error[0])  # not of the noise alone
        assert metrics(app)["Noisy count"] == words
        assert app.query_params["period"] == ",".join(period)
        assert "the rectangle in each step" in texts(app)
        named(app.button, "Later").click().run()
    (every,) = [each for each in app.segmented_control if ".every." in each.key]
    assert every.options == ["6 hours", "1 day", "1 week", "1 month"]
    (history,) = app.session_state["explore.history"].values()
    row = history[0]
    assert [row["from"], row["to"]] == ["2030-07-31", "2030-08-30"]
    steps, line = table(app, "to", "noisy count"), release.timeline(RECT, every.value)
    assert list(steps["noisy count"]) == list(map(with_noise, line.count, line.total_error))
    healthy(look(app).set_value("film").run())
    assert "**Every window**" in texts(app)
    (every,) = [each.value for each in app.dataframe if {"time", "noisy count"} == {*each.value}]
    june = release.count(RECT, ("2030-06-01", "2030-07-01"))
    counts = dict(zip(every["time"], every["noisy count"], strict=True))
    assert counts["June 2030"] == with_noise(june.count[0], june.total_error[0])
    healthy(opened(**COARSE, period="soon,never"))


def test_the_table_of_the_map_is_of_the_window_that_a_touch_moved_on(monkeypatch):
    """Regression: after a click on the map, the table below still showed the old window."""
    app = healthy(opened(**COARSE, period="2030-06-01,2030-07-01", tab="Table"))
    before = table(app, "per km²")
    named(app.button, "Later").click()
    moved = table(healthy(run_of_first_part(app, monkeypatch)), "per km²")
    assert app.query_params["period"] == "2030-07-01,2030-07-31"
    assert not moved.equals(before)
    july = healthy(opened(**COARSE, period="2030-07-01,2030-07-31", tab="Table"))
    assert moved.equals(table(july, "per km²"))
    release = dpviz.build(dpviz.load("year"), "quadtree", 1.0, seed=0, height=5)
    cells = release.during(("2030-07-01", "2030-07-31")).nodes
    assert len(moved) == min(MAX_ROWS, int(cells.leaf.sum()))


def page_of_three_dimensions(path):
    import dpviz
    from dpviz.ui.pages import explore
    from dpviz.ui.points.source_form import PointSource
    from dpviz.ui.shared.sources import NoRecords

    explore.show_release(dpviz.read(path), PointSource(data=NoRecords(), title="a", key="a"), None)


def test_a_release_without_a_map_has_its_totals_and_files(tmp_path):
    """The page ended in a traceback at a table of the map that it does not have."""
    places = np.random.default_rng(0).uniform(0, 1, (99, 3))
    domain = dpviz.Domain((0, 0, 0), (1, 1, 1), ("x", "y", "z"))
    data = dpviz.from_points(places, domain, public=True)
    release = dpviz.build(data, "quadtree", 2.0, seed=1, height=2)
    path = release.save(tmp_path / "r.parquet")
    app = AppTest.from_function(page_of_three_dimensions, args=(str(path),), default_timeout=60)
    assert "Noisy total" in metrics(healthy(app.run()))
    assert "This release has 3 dimensions" in app.info[0].value
    assert open_tab(app, "Share").get("download_button")


@pytest.mark.slow
def test_the_address_restores_how_a_period_is_looked_at():
    app = healthy(opened(**COARSE, view="film"))
    assert "**Every window" in texts(app)
    healthy(look(app).set_value("window").run())
    assert "view" not in app.query_params
    app = healthy(opened(**COARSE, view="upwards"))
    assert "view 'upwards', which is not available" in texts(app)
    assert look(app).value == "window"
    app = healthy(opened(data="city-50k", view="film").run())  # data without a period
    assert "view" not in app.query_params
