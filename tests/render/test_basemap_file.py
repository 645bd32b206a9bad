"""An owner's base map: clipped, simplified, drawn below the cells; bad files are one line."""

import numpy as np
import pytest
import shapely

from dpviz.errors import ParameterError
from dpviz.render.basemap import VARIABLE, outlines
from dpviz.render.basemap_file import basemap_marks
from tests.geojson import collection, feature

BOUNDS = (10.0, 50.0, 10.2, 50.1)


@pytest.fixture
def file(tmp_path):
    lake = (
        shapely.Point(10.1, 50.05).buffer(0.02).difference(shapely.Point(10.1, 50.05).buffer(0.01))
    )
    features = [
        feature(lake, kind="water"),
        feature(shapely.LineString([(9.0, 50.05), (11.0, 50.05)]), kind="road"),
        feature(shapely.Point(10.05, 50.02), kind="place", name="<b>Here</b>"),
        feature(shapely.box(0, 0, 1, 1), kind="green"),
    ]
    path = tmp_path / "ground.geojson"
    path.write_text(collection(features))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["geojson", "gpkg", "parquet"])
def test_a_file_is_clipped_and_lies_below_the_cells(file, tmp_path, ending):
    import geopandas

    path = tmp_path / f"other.{ending}"
    frame = geopandas.read_file(file).to_crs("EPSG:3857")
    if ending == "geojson":
        path = file
    else:
        frame.to_parquet(path) if ending == "parquet" else frame.to_file(path)
    marks = {mark.id: mark for mark in basemap_marks(path, BOUNDS)}
    assert set(marks) == {"base-water", "base-line-road", "base-names"}
    assert marks["base-water"].layer.ground
    rings = np.array(marks["base-water"].table["polygon"].to_pylist())
    area = sum(shapely.Polygon(ring).area for ring in rings)
    assert area == pytest.approx(np.pi * (0.02**2 - 0.01**2), rel=0.02)  # the hole is a hole
    (road,) = marks["base-line-road"].table["path"].to_pylist()
    assert min(x for x, _ in road) == pytest.approx(9.95)
    assert marks["base-names"].table["name"].to_pylist() == ["<b>Here</b>"]


def test_bad_files_are_one_clear_line(file, tmp_path):
    with pytest.raises(ParameterError, match="no such file"):
        basemap_marks(tmp_path / "none.gpkg", BOUNDS)
    broken = tmp_path / "broken.geojson"
    broken.write_text("{")
    with pytest.raises(ParameterError, match="cannot be read as GeoJSON"):
        basemap_marks(broken, BOUNDS)
    with pytest.raises(ParameterError, match="nothing in it lies near"):
        basemap_marks(file, (100.0, 0.0, 101.0, 1.0))


def test_the_environment_names_a_file_for_every_map(file, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv(VARIABLE, str(file))
    outlines.cache_clear()
    assert "base-water" in {mark.id for mark in outlines(BOUNDS)}
    assert "land" in {mark.id for mark in outlines((30.0, 0.0, 31.0, 1.0))}  # the file has no such
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.gpkg"))
    outlines.cache_clear()
    assert "land" in {mark.id for mark in outlines(BOUNDS)}
    assert "no such file" in caplog.records[-1].getMessage()
    outlines.cache_clear()
