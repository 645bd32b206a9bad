"""Our vector tiles in MapLibre, which asks a web server for ranges of one file."""

import re

import pytest
from maplibre import Layer, LayerType, Map, MapOptions
from maplibre.sources import VectorTileSource

import dpviz
from tests.browser.conftest import until

PLACE = "https://tiles.example"


@pytest.mark.webgl
def test_maplibre_finds_the_count_of_the_cell_under_the_pointer(offline, tmp_path):
    release = dpviz.build(dpviz.load("city-50k"), "ugrid", 1.0, seed=1, cells=4)
    tiles = dpviz.export(release, tmp_path / "map.pmtiles").read_bytes()
    west, south, east, north = release.domain.bounds
    middle = (0.375 * west + 0.625 * east, 0.375 * south + 0.625 * north)  # of one of 16 cells
    blank = {"version": 8, "sources": {}, "layers": []}
    shown = Map(MapOptions(style=blank, center=middle, zoom=12))
    shown.add_source("dpviz", VectorTileSource(url=f"pmtiles://{PLACE}/map.pmtiles"))
    shown.add_layer(Layer(type=LayerType.FILL, id="cells", source="dpviz", source_layer="dpviz"))
    shown.add_tooltip("cells", "count")

    def answer(route):
        if (asked := route.request.headers.get("range")) is None:
            route.fulfill(body=shown.to_html(), content_type="text/html")
            return
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", asked).groups())
        route.fulfill(status=206, body=tiles[first : last + 1])

    page = offline().new_page()
    page.route(f"{PLACE}/**", answer)
    page.goto(f"{PLACE}/index.html")
    canvas, popup = page.locator("canvas"), page.locator(".maplibregl-popup-content")

    def found():
        canvas.hover(position={"x": 20, "y": 20})
        canvas.hover()  # its middle
        return popup.is_visible()

    until(found)
    (row,) = release.rows(None).cx[middle[0] : middle[0], middle[1] : middle[1]].to_dict("records")
    assert float(popup.inner_text()) == row["count"]
    page.close()
