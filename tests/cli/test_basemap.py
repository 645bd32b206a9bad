"""One's own base map, kept for all maps of an installation."""

import shapely

from dpviz.render.basemap import outlines
from dpviz.render.basemap_file import installed
from dpviz.render.scene import PLACES
from tests.commands import fails, run
from tests.geojson import collection, feature

BOUNDS = (10.0, 50.0, 10.2, 50.1)


def test_a_base_map_is_kept_until_it_is_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "kept"))
    ground = tmp_path / "ground.json"
    ground.write_text(collection([feature(shapely.Point(10.1, 50.05).buffer(0.02), kind="water")]))
    assert "no such file" in fails("basemap", "set", tmp_path / "none.gpkg")
    (tmp_path / "notes.txt").write_text("a,b")
    assert "write it as GeoJSON" in fails("basemap", "set", tmp_path / "notes.txt")
    assert installed() == ""
    assert run("basemap", "set", ground)[0] == 0
    ground.unlink()
    outlines.cache_clear()
    assert {mark.id for mark in outlines(BOUNDS)} == {"base-water", "countries", PLACES}
    assert run("basemap", "clear")[0] == 0
    outlines.cache_clear()
    assert "land" in {mark.id for mark in outlines(BOUNDS)}
    outlines.cache_clear()
