"""A release of areas in the app: its map level by level, a rectangle, its table."""

import json

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.areas.table import rank_limits
from dpviz.render import half_width_words, with_noise
from dpviz.render.areas import areas_scene
from dpviz.render.nearby import area_choices, area_labels
from dpviz.ui.server import OPENED
from tests.ui.opening import metrics, open_tab, opened_page, table, texts


@pytest.fixture(scope="module")
def release():
    domain = dpviz.Domain.from_bounds([14.4, -24.1, 14.6, -23.9])
    points = np.random.default_rng(0).uniform([14.4, -24.1], [14.5, -24.0], (5_000, 2))
    data = dpviz.from_points(points, domain, public=True, name="hexagons")
    return dpviz.build(data, "areas", 1.0, areas=dpviz.hexagons(6, domain), seed=0)


def test_the_map_has_a_polygon_for_every_area_of_a_level(release):
    assert release.frame.levels == ("h3:5", "h3:6")
    for level in release.frame.levels:
        scene = areas_scene(release, level)
        part = release.frame.rows_of(level)
        drawn = scene.tables["districts"]
        labels = area_labels(release.frame, "")[part]
        assert set(drawn["name"].to_pylist()) == set(labels)
        counts = dict(zip(drawn["name"].to_pylist(), drawn["count"].to_pylist(), strict=True))
        assert counts == dict(zip(labels, release.nodes.count[part].tolist(), strict=True))
        assert scene.legend.title == "Records per km² by area"


@pytest.mark.slow
def test_a_release_of_areas_opens_in_the_app(release, tmp_path, monkeypatch):
    path = release.save(tmp_path / "hexagons.parquet")
    monkeypatch.setenv(OPENED, str(path))
    app = opened_page()
    assert "**Draw a rectangle**" in texts(app)
    assert app.get("bidi_component")
    assert metrics(app)["Areas"] == f"{release.frame.leaves:,}"
    finest = release.answers.rows(release.frame.rows_of(None))
    half = half_width_words(np.median(finest.high - finest.low) / 2)
    headed = f"± {half} records** in one of the {release.frame.leaves} hexagons"
    assert headed in texts(app)  # it was the error of a rectangle that cuts areas
    app.session_state["explore.rect"] = (14.4, -24.1, 14.5, -24.0)
    app.session_state["explore.level.h3:5|h3:6"] = "h3:5"
    app.run()
    assert "Where it cuts areas" in texts(app)
    assert "Built from" in texts(app)
    assert "cell" not in texts(app).split("Built from")[1].split("**")[0]  # beside a fact "Areas"
    answer = release.count((14.4, -24.1, 14.5, -24.0))
    assert answer.uniformity_sd[0] > 2 * answer.noise_sd[0]
    shown = with_noise(answer.count[0], answer.total_error[0])  # not the ± of the noise alone
    assert metrics(app)["Noisy count"] == shown
    open_tab(app, "Table")
    assert "first." in texts(app)
    assert area_labels(release.frame, "")[0] in table(app, "area")["area"].to_list()


@pytest.mark.slow
def test_a_release_with_sums_of_values_opens_in_the_app(tmp_path, monkeypatch):
    box = [14.4, -24.1, 14.6, -23.9]
    domain = dpviz.Domain.from_bounds(box, value="fare", clip=(0, 50))
    rng = np.random.default_rng(0)
    records = pd.DataFrame(rng.uniform(box[:2], box[2:], (500, 2)), columns=["lon", "lat"])
    data = dpviz.load(records.assign(fare=rng.gamma(2, 6, 500)), domain, public=True, name="fares")
    release = dpviz.build(data, epsilon=1.0, areas="h3:6", seed=0)
    monkeypatch.setenv(OPENED, str(release.save(tmp_path / "fares.parquet")))
    app = opened_page()
    assert metrics(app)["Areas"] == f"{release.frame.leaves:,}"
    open_tab(app, "Table")
    assert set(table(app, "area")["area"]) <= set(area_labels(release.frame, ""))


@pytest.fixture(scope="module")
def counted():
    """A table of hexagons by month and category, of public records."""
    domain = dpviz.Domain.from_bounds(
        [14.4, -24.1, 14.6, -23.9],
        time="time",
        period=("2024-01-01", "2024-07-01"),
        every="1d",
        kind="mode",
        kinds=("bike", "bus"),
    )
    rng = np.random.default_rng(0)
    x, y = rng.uniform([14.4, -24.1], [14.5, -24.0], (6_000, 2)).T
    days = 1704067200 + 86400 * rng.integers(0, 182, 6_000)
    modes = rng.choice(["bike", "bus"], 6_000, p=[0.7, 0.3])
    records = pd.DataFrame({"lon": x, "lat": y, "time": days, "mode": modes})
    data = dpviz.load(records, domain, time_format="seconds", public=True, name="table")
    return dpviz.build(data, epsilon=1.0, areas="h3:6", every="1mo", seed=0)


@pytest.mark.slow
def test_a_table_shows_one_category_in_a_window_and_compares_two_counts(
    counted, tmp_path, monkeypatch
):
    monkeypatch.setenv(OPENED, str(counted.save(tmp_path / "table.parquet")))
    app = opened_page()
    app.selectbox(key="explore.kind.bike|bus").set_value(1).run()
    (window,) = (each for each in app.select_slider if ".window." in each.key)
    window.set_range(1, 3).run()
    bikes = counted.of("bike").during(("2024-02-01", "2024-04-01"))
    total = float(bikes.nodes.count[bikes.frame.slices[0]].sum())
    half = INTERVAL_SDS * float(np.sqrt(bikes.nodes.variance[bikes.frame.slices[0]].sum()))
    open_tab(app, "Summary")
    assert metrics(app)["Noisy total"] == with_noise(total, half)
    open_tab(app, "Table")
    assert len(table(app, "rank")["step by step"][0]) == 2
    open_tab(app, "Compare counts")
    names = [app.selectbox(key=f"explore.compare.{side}.place").value for side in "ab"]
    app.selectbox(key="explore.compare.b.kind").set_value("bus").run()
    choices = area_choices(counted.frame, "")
    first, second = (counted.frame.names[choices.index(each)] for each in names)
    asked = [dpviz.Subset(first), dpviz.Subset(second, kind="bus")]
    difference = counted.compare(*asked)
    assert metrics(app)["A − B"] == with_noise(difference.value, difference.half_width)
    assert "the noise of both counts" in texts(app)
    open_tab(app, "Timeline")
    assert "Noisy count of all areas in each step" in texts(app)


def test_ranks_are_all_that_the_intervals_leave_possible():
    rng = np.random.default_rng(0)
    count, half = rng.normal(0.0, 3.0, 40), rng.uniform(0.1, 2.0, 40)
    first, last = rank_limits(count, half)
    low, high = count - half, count + half
    for row in range(40):
        assert first[row] == 1 + (low > high[row]).sum()
        assert last[row] == 40 - (high < low[row]).sum()


def timed_form(every):
    import streamlit as st

    import dpviz
    from dpviz.ui.areas.areas_form import areas_choice

    domain = dpviz.Domain.from_bounds(
        [14.4, -24.1, 14.6, -23.9], time="time", period=("2024-01-01", "2024-07-01"), every=every
    )
    choice = areas_choice("form", domain, 1.0, {})
    st.text("none" if choice is None else choice.areas.every)


def test_a_table_is_offered_in_the_steps_of_time_that_fit_its_records():
    app = AppTest.from_function(timed_form, args=("1d",), default_timeout=60).run()
    steps = app.selectbox(key="form.areas.every")
    assert steps.options == ["1 day", "1 week", "1 month"]
    assert app.text[-1].value == "1w"
    app = AppTest.from_function(timed_form, args=(None,), default_timeout=60).run()
    assert app.text[-1].value == "none"
    assert "No step fits these times" in texts(app)  # no form offers this domain


def expectation():
    import streamlit as st

    import dpviz
    from dpviz.releases.areas.source import ChosenAreas
    from dpviz.ui.areas.expectation import areas_expectation
    from dpviz.ui.shared.method_form import Choice

    for bounds in ([10, -30, 20, -20], [14.4, -24.1, 15, -23.6]):
        areas = dpviz.hexagons(4, dpviz.Domain.from_bounds(bounds))
        st.subheader(str(len(areas.levels)))
        chosen = ChosenAreas("h3:4", areas=areas)
        areas_expectation(Choice("areas", {}, 1.0, areas=chosen), 1, areas.domain)


def test_the_noise_of_areas_follows_the_area_that_is_chosen():
    """Regression: the noise of the former area was shown, or the page failed."""
    app = AppTest.from_function(expectation, default_timeout=60).run()
    assert [len(each.value) for each in app.dataframe] == [
        int(each.value) for each in app.subheader
    ]


def cells_table(path):
    import dpviz
    from dpviz.ui.points.cells_table import tables_of_map

    tables_of_map(dpviz.read(path))


@pytest.mark.slow
def test_the_map_as_a_table_begins_with_what_stands_out_of_the_noise(tmp_path):
    """Regression: a count of 4 ± 6 in a square metre came first."""
    release = dpviz.build(dpviz.load("city-50k"), "privtree", 1.0, seed=0)
    path = release.save(tmp_path / "r.parquet")
    app = AppTest.from_function(cells_table, args=(str(path),), default_timeout=60).run()
    (table,) = (each.value for each in app.dataframe)
    assert len(table) == 500
    assert (table["noisy count"] >= table["95 % interval ±"]).all()


def test_the_map_as_a_table_rounds_to_the_noise_and_says_whether_all_is_there(tmp_path):
    """Regression: −0.0044 per km² stood beside a count of 0, and 4 cells were "the 4 densest"."""
    domain = dpviz.Domain.from_bounds([-10, 50, -9, 51])
    data = dpviz.from_points([[-9.9, 50.1]] * 900, domain, public=True)
    release = dpviz.build(data, "ugrid", 1.0, cells=2, seed=0)
    path = release.save(tmp_path / "r.parquet")
    app = AppTest.from_function(cells_table, args=(str(path),), default_timeout=60).run()
    (table,) = (each.value for each in app.dataframe)
    assert [each.value for each in app.caption] == ["All cells (4), most clearly dense first."]
    assert table["noisy count"][0] == pytest.approx(900, abs=20)
    assert set(table["west"]) == {-10.0, -9.5}
    for count, density in zip(table["noisy count"], table["per 1,000 km²"], strict=True):
        assert (count == 0) == (density == 0)
    looks = json.loads(app.dataframe[0].proto.columns)  # numbers, so that a reader can sort them
    forms = {name: looks[name]["type_config"]["format"] for name in table.columns}
    assert forms["west"] == forms["north"] == "%.5f"
    assert forms["noisy count"] == forms["95 % interval ±"] == forms["per 1,000 km²"] == "%,f"
