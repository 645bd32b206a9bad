"""A release of kinds and values on its page: the kind on the map, and rows of the answer."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.exports import release_page
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render.numbers import percent_interval, with_noise
from dpviz.ui.pages import explore
from dpviz.ui.shared.text import on_screen
from tests.ui.files import uploaded
from tests.ui.opening import metrics, named, open_tab, opened_page, run_of_first_part, table, tables

pytestmark = pytest.mark.slow

RECT = (0.1, 0.1, 0.9, 0.9)


def page(path):
    import streamlit as st

    import dpviz
    from dpviz.ui.pages import explore
    from dpviz.ui.points.source_form import PointSource
    from dpviz.ui.shared import permalink
    from dpviz.ui.shared.sources import NoRecords

    release = st.session_state.setdefault("opened", dpviz.read(path))
    st.session_state["explore.rect"] = permalink.number_list("rect", 4)
    explore.show_release(release, PointSource(data=NoRecords(), title="rides", key="rides"), None)


def published_page(path):
    import dpviz
    from dpviz.ui.points.publication import published
    from dpviz.ui.points.source_form import PointSource
    from dpviz.ui.shared.account import Paid
    from dpviz.ui.shared.sources import NoRecords

    source = PointSource(data=NoRecords(), title="rides", key="rides")
    published("publish", Paid("rides", dpviz.read(path), "", ""), source, shown=True)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": random.uniform(0, 1, 900),
            "y": random.uniform(0, 1, 900),
            "mode": random.choice(["bike", "walk"], 900),
            "fare": random.uniform(0, 20, 900),
        }
    )
    domain = dpviz.Domain.from_bounds(
        [0, 0, 1, 1], ("x", "y"), kind="mode", kinds=["bike", "walk", "sled*"], value="fare",
        clip=(0, 20),
    )  # fmt: skip
    data = dpviz.load(table, domain, public=True)
    release = dpviz.build(data, "quadtree", epsilon=2.0, seed=1, height=2)
    return release.save(tmp_path_factory.mktemp("kinds") / "r.parquet")


def opened(path, **address):
    app = AppTest.from_function(page, args=(str(path),), default_timeout=60)
    app.query_params.update({"rect": ",".join(map(str, RECT)), **address})
    return app.run()


rides_opened = partial(opened_page, data="rides", method="ugrid")


def share_words(share):
    return percent_interval(share.value[0], share.low[0], share.high[0])


def test_the_page_tells_kinds_apart_and_adds_up_values(path):
    release = dpviz.read(path)
    app = opened(path)
    shown = metrics(app)
    mean = release.mean(RECT)
    low, high = shown["Mean of fare"].split("(")[1].rstrip(")").split(" to ")
    assert float(low) == pytest.approx(mean.low[0], rel=0.1)
    assert float(high) == pytest.approx(mean.high[0], rel=0.1)
    assert "±" in shown["Sum of fare"]
    (about,) = {each.help for each in app.metric if each.label.endswith("of fare")}
    assert "a bias that no interval shows" in about
    kinds = table(app, "category", "share")
    assert kinds["category"].tolist() == ["bike", "walk", "sled*"]
    assert " to " in kinds["share"][0]
    bikes, fares = release.count(RECT, kind="bike"), release.sum(RECT)
    assert kinds["noisy count"][0] == with_noise(bikes.count[0], bikes.total_error[0])
    assert shown["Sum of fare"] == with_noise(fares.sum[0], fares.total_error[0])
    assert shown["Noisy count"] != opened(path, kind="walk").metric[0].value


def test_one_kind_is_chosen_on_the_page_or_by_the_address(path):
    app = opened(path, kind="bike")
    choice = named(app.selectbox, "Categories")
    assert choice.value == 1
    release = dpviz.read(path).of("bike")
    total = metrics(app)["Noisy total of bike"].replace(",", "")
    assert app.session_state["explore.scene"][1].legend.title.startswith("Records of bike per")
    assert "Records of bike (noisy)" in metrics(opened(path, kind="bike", rect=""))
    assert total.startswith(str(round(release.count([0, 0, 1, 1]).count[0]))[:2])
    choice.set_value(2)
    open_tab(app, "History")
    assert app.query_params["kind"] == "walk"
    assert not tables(app, "category", "share")
    assert table(app, "cells")["category"].tolist() == [
        "walk",
        "bike",
    ]  # one row per category
    opened(path, kind="nothing")


def test_a_kind_that_is_chosen_on_the_map_is_that_of_the_totals_below_it(path, monkeypatch):
    """Regression: totals and table stayed those of all kinds when the map fragment ran alone."""
    downloads = []

    def panels(_prefix, release):
        return {"Share": lambda: downloads.append(release)}

    monkeypatch.setattr(explore, "release_panels", panels)
    app = opened(path)
    named(app.selectbox, "Categories").set_value(2)
    run_of_first_part(app, monkeypatch)
    assert "Noisy total of walk" in metrics(app)
    assert "Noisy total" not in metrics(app)
    assert [each.kind for each in downloads] == ["points"] * len(downloads)
    assert all(each.domain.kinds is not None for each in downloads)


def test_the_table_of_a_published_map_is_of_the_kind_that_it_shows(path):
    """Regression: the table counted all kinds, below a map of one."""
    app = AppTest.from_function(published_page, args=(str(path),), default_timeout=60)
    app.query_params["kind"] = "walk"
    open_tab(app, "Table", "publish")
    shown = table(app, "noisy count")
    cells = dpviz.read(path).of("walk").nodes
    assert len(shown) == int(cells.leaf.sum())
    half = INTERVAL_SDS * np.sqrt(cells.variance)
    finest = zip(cells.count[cells.leaf], half[cells.leaf], strict=True)
    assert sorted(shown["noisy count"]) == sorted(on_screen(*pair) for pair in finest)


@pytest.mark.parametrize(
    ("kind", "period", "shown"),
    [
        (None, None, "wholeLegend"),
        ("THEFT", None, "wholeLegend"),
        (None, "2024-03-01,2024-04-01", "legend"),
    ],
    ids=["all", "one category", "one step"],
)
def test_the_published_map_and_the_page_to_share_have_one_scale(tmp_path, kind, period, shown):
    """Regression: the same cells had other classes and another threshold on the page to share."""
    table = crimes(5_000)
    domain = dpviz.Domain.from_bounds(
        [0, 0, 1, 1], ("x", "y"), time="t", period=("2024-01-01", "2025-01-01"), kind="kind",
        kinds=["THEFT", "ASSAULT"],
    )  # fmt: skip
    data = dpviz.load(table, domain, public=True)
    release = dpviz.build(data, "ladder_tree", epsilon=2.0, seed=1)
    path = release.save(tmp_path / "r.parquet")
    app = AppTest.from_function(published_page, args=(str(path),), default_timeout=60)
    app.query_params.update({"kind": kind} if kind else {})
    app.session_state["publish.period"] = period
    legend = app.run().session_state["publish.scene"][1].legend
    page = re.search(r'<script id="scene"[^>]*>(.*?)</script>', release_page(release), re.DOTALL)
    shared = json.loads(page[1])[shown]
    assert [each["label"] for each in shared["classes"]] == list(legend.labels)
    assert legend.blank.startswith(shared["blank"])


def crimes(rows):
    """Times and places of two categories."""
    random = np.random.default_rng(0)
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.uniform(0, 365, rows), "D")
    kinds = random.choice(["THEFT", "ASSAULT"], rows)
    places = random.normal(0.5, 0.1, (2, rows))
    return pd.DataFrame({"x": places[0], "y": places[1], "t": times.astype(str), "kind": kinds})


def test_a_kind_in_a_district_has_the_error_of_its_own(path):
    """Regression: digits followed the noise of all kinds, and cut cells were ignored."""
    import geopandas
    import shapely

    shapes = [shapely.box(0.1, 0.1, 0.6, 0.9), shapely.box(0.6, 0.1, 0.9, 0.9)]
    content = geopandas.GeoDataFrame({"name": ["W", "E"]}, geometry=shapes, crs=4326).to_json()
    app = opened(path)
    uploaded(app, "explore.districts", "d.geojson", content)
    wanted = dpviz.read(path).of("bike").count_regions(shapes)
    assert (wanted.total_error > wanted.half_width).any()
    assert list(table(app, "district")["bike"]) == [
        with_noise(*each) for each in zip(wanted.count, wanted.total_error, strict=True)
    ]


def test_kinds_are_shown_together_and_compared(path):
    app = opened(path, kinds="leading")
    legend = app.session_state["explore.scene"][1].legend
    assert legend.title.startswith("Leading category")
    shares = table(app, "category", "share")  # a rectangle is answered for all kinds at once
    assert shares["share"][0] == share_words(dpviz.read(path).share(RECT, "bike"))
    named(app.selectbox, "Categories").set_value(5).run()
    assert app.query_params["kinds"] == "bike"
    for shown in (app, opened(path, kinds="bike")):
        legend = shown.session_state["explore.scene"][1].legend
        assert legend.title == "Share of bike against all others"
        assert not shown.warning
    app = opened(path, kinds="wolf")
    assert "asks for the category 'wolf'" in app.warning[0].value


def test_kinds_of_a_window_in_time_are_shown_together_and_compared(tmp_path):
    random = np.random.default_rng(0)
    records = pd.DataFrame(
        {
            "x": random.uniform(0, 1, 900),
            "y": random.uniform(0, 1, 900),
            "t": random.uniform(0, 86_400, 900),
            "mode": random.choice(["bike", "walk"], 900),
        }
    )
    day = dpviz.Domain.from_bounds(
        [0, 0, 1, 1], ("x", "y"), time="t", period=(0, 86_400), kind="mode",
        kinds=["bike", "walk"],
    )  # fmt: skip
    data = dpviz.load(records, day, public=True)
    release = dpviz.build(data, "quadtree", epsilon=2.0, seed=1, height=2)
    app = opened(release.save(tmp_path / "r.parquet"), kinds="bike")
    assert app.session_state["explore.scene"][1].legend.title.startswith("Share of bike")
    words = share_words(release.share(RECT, "bike"))
    assert table(app, "category", "share")["share"][0] == words
    named(app.selectbox, "Categories").set_value(3).run()
    assert app.session_state["explore.scene"][1].legend.title.startswith("Leading category")


def test_built_in_rides_have_kinds_and_exact_answers_of_one():
    app = rides_opened(kind="bike", rect=(14, -25, 16, -23))
    rides = dpviz.datasets.DATASETS["rides"]
    bikes = int((rides.table()["mode"] == "bike").sum())
    assert metrics(app)["Exact count (public data)"] == f"{bikes:,}"
    assert metrics(app)["Exact total of bike (public data)"] == f"{bikes:,}"


def test_the_share_of_epsilon_for_sums_is_in_the_address():
    """A link to the same choices was another release."""
    app = rides_opened(sums="0.25")
    slider = app.slider(key="explore.sum_share")
    assert slider.value == 0.25
    (row,) = [
        row
        for row in app.session_state["explore.scene"][0][1][0].header.budget
        if row["purpose"] == "sums of values"
    ]
    assert row["epsilon"] == pytest.approx(0.25)
    slider.set_value(0.7).run()
    assert "0.7" in app.query_params["sums"]
    app.slider(key="explore.sum_share").set_value(0.5).run()
    assert "sums" not in app.query_params
    app = rides_opened(sums="7")
    assert app.slider(key="explore.sum_share").value == 0.5


def test_two_categories_of_a_drawn_rectangle_are_compared(path):
    app = opened(path)
    open_tab(app, "Compare counts")
    release = dpviz.read(path)
    one, other = (dpviz.Subset(RECT, kind=kind) for kind in ("bike", "walk"))
    answer = release.compare(one, other)
    assert metrics(app)["A − B"] == with_noise(answer.value, answer.half_width)
