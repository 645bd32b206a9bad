"""Exports as other programs read them: GDAL, the readers of vector tiles, GeoPandas."""

import gzip
import json
import sqlite3
from itertools import pairwise
from xml.etree import ElementTree

import altair
import geopandas
import mapbox_vector_tile
import numpy as np
import pyogrio
import pytest
from pmtiles.reader import MmapSource, Reader, all_tiles

import dpviz
from dpviz.errors import ReleaseError
from dpviz.exports.styles import SLD
from tests.notebook.releases import commutes, streets

KINDS = ["points", "areas", "flows", "roads"]


@pytest.fixture(scope="module")
def releases(pair):
    city = dpviz.load("city-50k")
    areas = dpviz.build(city, areas="h3:6", seed=1)
    return {"points": pair[1], "areas": areas, "flows": commutes(), "roads": streets()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_geopackage_opens_in_gdal_with_rows_and_both_styles(kind, releases, tmp_path):
    release, path = releases[kind], tmp_path / "map.gpkg"
    dpviz.export(release, path)
    rows = pyogrio.read_dataframe(path, layer="dpviz")
    assert rows["count"].tolist() == release.rows(None)["count"].tolist()
    styles = pyogrio.read_dataframe(path, layer="layer_styles")
    (style,) = styles.to_dict("records")
    assert (style["f_table_name"], style["useAsDefault"]) == ("dpviz", 1)
    with sqlite3.connect(path) as file:
        (geometry,) = file.execute("SELECT column_name FROM gpkg_geometry_columns").fetchone()
    assert style["f_geometry_column"] == geometry
    assert release.header.guarantee in style["description"]
    bounds = [
        (float(each.get("lower")), float(each.get("upper")))
        for each in ElementTree.fromstring(style["styleQML"]).iter("range")
    ]
    assert all(one[1] == two[0] for one, two in pairwise(bounds))
    rules = ElementTree.fromstring(style["styleSLD"]).findall(f".//{{{SLD}}}Rule")
    assert len(rules) == len(bounds) >= 5
    dpviz.export(release, path)  # its styles are no other layer that would be lost


def test_a_style_of_its_own_is_that_of_the_geopackage(releases, tmp_path):
    for name in ("map.gpkg", "map.qml", "map.sld"):
        dpviz.export(releases["areas"], tmp_path / name)
    (style,) = pyogrio.read_dataframe(tmp_path / "map.gpkg", layer="layer_styles").to_dict(
        "records"
    )
    assert (tmp_path / "map.qml").read_text("utf-8") == style["styleQML"]
    assert (tmp_path / "map.sld").read_text("utf-8") == style["styleSLD"]


def test_records_per_square_kilometre_are_those_of_an_equal_area_projection(releases, tmp_path):
    dpviz.export(releases["areas"], tmp_path / "areas.parquet")
    rows = geopandas.read_parquet(tmp_path / "areas.parquet")
    surface = rows.to_crs("EPSG:6933").area / 1e6
    np.testing.assert_allclose(rows["per_km2"] * surface, rows["count"], rtol=0.01, atol=1e-9)


@pytest.mark.parametrize("kind", ["points", "areas", "flows"])
def test_vector_tiles_hold_every_cell_with_its_count_and_the_guarantee(kind, releases, tmp_path):
    release, path = releases[kind], tmp_path / "map.pmtiles"
    dpviz.export(release, path)
    wanted = release.rows(None)["count"].to_numpy()
    with path.open("rb") as file:
        reader = Reader(MmapSource(file))
        assert reader.metadata()["description"] == release.header.guarantee
        last, counts = reader.header()["max_zoom"], set()
        for (zoom, _, _), data in all_tiles(MmapSource(file)):
            layer = mapbox_vector_tile.decode(gzip.decompress(data))["dpviz"]
            if zoom == last:
                counts |= {each["properties"]["count"] for each in layer["features"]}
    assert counts == set(wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_is_valid_in_vega_lite_and_holds_every_row(kind, releases, tmp_path):
    path = dpviz.export(releases[kind], tmp_path / "map.vl.json")
    chart = json.loads(path.read_text("utf-8"))
    altair.Chart.from_dict(chart)  # checks it by the schema of Vega-Lite
    counts = [each["properties"]["count"] for each in chart["data"]["values"]]
    assert counts == releases[kind].rows(None)["count"].tolist()
    assert releases[kind].header.guarantee in chart["title"]["subtitle"]


def test_a_chart_of_categories_has_a_menu_of_them(tmp_path):
    rides = dpviz.load("rides")
    for release in (
        dpviz.build(rides, "ugrid", seed=1, cells=4),
        dpviz.build(rides, areas="h3:5", seed=1),
    ):
        chart = json.loads(dpviz.export(release, tmp_path / "map.vl.json").read_text("utf-8"))
        altair.Chart.from_dict(chart)
        (menu,) = chart["params"]
        parts = {each["properties"]["part"] for each in chart["data"]["values"]}
        assert parts == {*menu["bind"]["options"]} >= {*release.kinds}
        assert menu["value"] in release.kinds


def test_a_chart_of_cells_with_time_is_refused_in_one_line(tmp_path):
    year = dpviz.build(dpviz.load("year"), "ugrid", 1.0, seed=1, cells=4)
    with pytest.raises(ReleaseError, match=r"several in one place: give a period"):
        dpviz.export(year, tmp_path / "map.vl.json")
    month = year.map_during("2030-01-01,2030-02-01")
    assert dpviz.export(month, tmp_path / "map.vl.json").exists()


def test_vector_tiles_of_the_whole_earth_are_as_fine_as_without_the_poles(tmp_path):
    """The poles of Web Mercator are infinitely far away: all tiles were one."""
    levels = []
    for north in (85, 90):
        domain = dpviz.Domain((-180, -north), (180, north))
        data = dpviz.from_points([[8.5, 50.1]], domain, public=True)
        release = dpviz.build(data, "ugrid", 1.0, seed=0, cells=2)
        with dpviz.export(release, tmp_path / f"{north}.pmtiles").open("rb") as file:
            levels.append(Reader(MmapSource(file)).header()["max_zoom"])
    assert levels[0] == levels[1] > 0


def test_a_plane_without_a_crs_has_no_tiles(releases, tmp_path):
    with pytest.raises(ReleaseError, match=r"no CRS: use \.gpkg"):
        dpviz.export(releases["roads"], tmp_path / "map.pmtiles")
