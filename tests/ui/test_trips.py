"""Trips without a browser: two rectangles make one 4-D query; no exact count is shown."""

import json
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz import Ledger
from dpviz.datasets import DATASETS
from dpviz.domain.attributes import Kinds
from dpviz.errors import ReleaseError
from dpviz.exports.export import export
from dpviz.render import with_noise
from dpviz.render.legend import scale_labels
from dpviz.render.nearby import area_labels
from dpviz.render.numbers import count_words
from dpviz.ui.flows.map_answer import MAX_ENDS
from dpviz.ui.points import trip_maps
from dpviz.ui.server import OPENED
from dpviz.ui.shared.downloads import FORMATS, WITHOUT_SHAPES
from dpviz.ui.shared.upload_form import UPLOAD
from tests.ui.files import uploaded
from tests.ui.opening import metrics, named, open_tab, opened_page, table, texts
from tests.ui.paying import pay
from tests.wards import voronoi

START, END = (14.5, -24.0, 14.6, -23.8), (14.6, -24.0, 14.75, -23.85)
AREA = "85ac1643fffffff"
opened = partial(opened_page, "trips")


def test_two_rectangles_are_one_question_in_four_dimensions():
    app = opened(**{"data": "trips-50k", "from": START, "to": END})
    release = dpviz.build(dpviz.load("trips-50k"), "ladder_tree", 1.0, seed=0)
    answer = release.count([*START[:2], *END[:2], *START[2:], *END[2:]])
    words = with_noise(answer.count[0], answer.total_error[0])  # not of the noise alone
    assert f"Trips from here to there: **{words}**" in texts(app)
    assert len(app.get("bidi_component")) == 4  # two maps, and an overlay on each


@pytest.mark.parametrize(
    ("end", "rect", "asked"),
    [("from", START, "Trips that begin here"), ("to", END, "Trips that end here")],
)
def test_one_rectangle_asks_for_all_trips_of_that_end(end, rect, asked):
    app = opened(**{"data": "trips-50k", end: rect})
    release = dpviz.build(dpviz.load("trips-50k"), "ladder_tree", 1.0, seed=0)
    whole = (*release.domain.lower[:2], *release.domain.upper[:2])
    start, stop = (rect, whole) if end == "from" else (whole, rect)
    answer = release.count([*start[:2], *stop[:2], *start[2:], *stop[2:]])
    assert f"{asked}: **{with_noise(answer.count[0], answer.total_error[0])}**" in texts(app)
    assert any("in the other rectangle" in each.value for each in app.markdown)


@pytest.mark.parametrize("rects", [{}, {"from": START}, {"to": END}])
def test_both_maps_have_the_classes_of_one_legend(rects, monkeypatch):
    scenes, scales, draw = [], [], trip_maps.cells

    def drawn(seen, scale):
        scales.append(scale)
        return draw(seen, scale=scale)

    monkeypatch.setattr(trip_maps, "cells", drawn)
    monkeypatch.setattr(trip_maps, "map_view", lambda scene, **_: scenes.append(scene))
    monkeypatch.setattr(trip_maps, "map_overlay", lambda *_, **__: None)
    opened(data="trips-50k", **rects)
    pickups, drop_offs = scales
    assert pickups == drop_offs
    shown, none = (scene.legend for scene in scenes)
    assert shown.labels == scale_labels(pickups)
    assert (none.title, none.noun) == ("", shown.noun) == ("", "trips")


def test_a_file_is_offered_only_where_a_release_of_trips_can_be_written_as_one(tmp_path):
    app = opened(tab="Share", data="trips-50k")
    offered = [each.proto.label for each in app.get("download_button")]
    assert offered == ["Map (HTML)", "Report (HTML)", "Picture (PNG)", *WITHOUT_SHAPES]
    release = dpviz.build(dpviz.load("trips-50k"), "ladder_tree", 1.0, seed=0)
    for ending in set(FORMATS.values()) - {"parquet"}:
        path = tmp_path / f"trips.{ending}"
        with nullcontext() if ending in WITHOUT_SHAPES.values() else pytest.raises(ReleaseError):
            export(release, path)
    assert any("CSV holds the smallest cells" in each.value for each in app.caption)


def test_without_rectangles_the_page_says_what_to_do():
    app = opened(data="trips-50k")
    assert "Press ▭ **Draw** and mark where they begin" in texts(app)


def test_sensitive_trips_wait_for_the_button_and_show_no_exact_number():
    app = opened(**{"data": "trips-50k", "sensitive": "1", "from": START})
    assert "Trips that begin here" not in texts(app)
    assert len(app.get("bidi_component")) == 1  # the area on the base map
    pay(app)
    assert "Trips that begin here" in texts(app)
    assert "exact, from public data" not in texts(app)
    assert " per record]" in texts(app)


def test_flows_of_the_demo_are_a_map_and_a_matrix_of_origins_by_destinations():
    app = opened(tab="Table", data="trips-50k", count="areas", areas="h3:5", area=AREA)
    domain = dpviz.Domain.from_bounds([14.4, -24.1, 15.0, -23.6])
    records = pa.table(dict(DATASETS["trips-50k"].table()))
    flows = dpviz.Flows(dpviz.hexagons(5, domain))
    data = dpviz.load(records, flows, columns=records.column_names, public=True, name="trips-50k")
    release = dpviz.build(data, "pairs", 1.0, seed=0)
    labels = dict(zip(area_labels(flows.origins, "trips-50k"), flows.origins.names, strict=True))
    ends = {"from": (AREA, None), "to": (None, AREA)}
    (name,) = [label for label, area in labels.items() if area == AREA]
    assert metrics(app) == {
        f"Trips {way} {name}": count_words(release.count([pair])) for way, pair in ends.items()
    }
    assert app.query_params["area"] == AREA
    shown = table(app, "All destinations")
    names = [*shown.columns[2:]]
    assert len(names) == min(MAX_ENDS, flows.shape[0])
    rows = {row.pop("From (row) to (column)"): row for row in shown.to_dict("records")}
    assert [*rows] == ["All origins", *names]
    for origin, destination in ((0, 1), (3, 3), (None, 2), (4, None)):
        asked = [None if at is None else names[at] for at in (origin, destination)]
        answer = release.count([tuple(labels.get(each) for each in asked)])
        cell = rows[asked[0] or "All origins"][asked[1] or "All destinations"]
        assert cell == with_noise(answer.count[0], answer.total_error[0])


@pytest.mark.parametrize(
    ("records", "refusal"),
    [("elsewhere,w1\n", "No record can be used"), ("", "and no records")],
    ids=["unknown area", "no records"],
)
def test_records_in_no_pair_of_areas_are_refused_before_payment(records, refusal):
    app = opened(data=UPLOAD, count="areas")
    app = uploaded(app, "trips.file", "commutes.csv", f"home,work\n{records}")
    app.segmented_control(key="trips.ends").set_value("Names of areas").run()
    for label, column in (("Origin", "home"), ("Destination", "work")):
        named(app.selectbox, label).set_value(column)
    app.run()
    app.segmented_control(key="trips.counted").set_value("Districts of a file").run()
    wards = {"type": "FeatureCollection", "features": [ward("w1", 14.4), ward("w2", 14.5)]}
    app = uploaded(app, "trips.areas.file", "wards.geojson", json.dumps(wards))
    assert any(refusal in each.value for each in app.error)
    assert not [each for each in app.button if each.label.startswith("Publish: spend")]
    assert Ledger().accounts() == ()


def ward(name, west):
    """A square ward."""
    ring = [[west, -24], [west + 0.1, -24], [west + 0.1, -23.9], [west, -23.9], [west, -24]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


def test_flows_by_month_and_category_show_one_category_in_a_window(tmp_path, monkeypatch):
    domain = dpviz.Domain((14.4, -24.1), (15.0, -23.6), kinds=Kinds("mode", ("bike", "bus")))
    areas = replace(voronoi(replace(domain, kinds=None), 9, 3), domain=domain)
    wards = areas.names[areas.first_leaf :]
    random = np.random.default_rng(0)
    records = {end: random.choice(wards, 2_000).tolist() for end in ("home", "work")}
    records["mode"] = random.choice(["bike", "bus"], 2_000, p=[0.8, 0.2]).tolist()
    records["at"] = [f"2024-0{month}-15" for month in random.integers(1, 7, 2_000)]
    time = {"time": "at", "period": ("2024-01-01", "2024-07-01"), "every": "1mo"}
    flows, ends = dpviz.Flows(areas), ("home", "work")
    data = dpviz.load(pa.table(records), flows, columns=ends, public=True, name="rides", **time)
    release = dpviz.build(data, seed=0)
    monkeypatch.setenv(OPENED, str(release.save(tmp_path / "rides.parquet")))
    app = opened_page()
    total = {"Trips (noisy)": count_words(release.count([(None, None)]))}
    assert metrics(app) == total
    box = next(each for each in app.selectbox if each.key.startswith("trips.kind"))
    box.select_index(2).run()
    app.select_slider[-1].set_value((0, 2)).run()
    part = release.of("bus").during(("2024-01-01", "2024-03-01"))
    assert metrics(app) == {"Trips (noisy)": count_words(part.count([(None, None)]))}
    assert metrics(app) != total
    app = open_tab(app, "Timeline", "trips")
    assert len(table(app, "from", "to", "low")) == 6
