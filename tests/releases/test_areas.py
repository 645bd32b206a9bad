"""Areas: polygons of messy files, hexagons, and queries of a release."""

import sqlite3
from contextlib import closing

import geopandas
import h3
import numpy as np
import pyproj
import pytest
import shapely
from shapely import MultiPolygon, Point, Polygon, box

import dpviz
from dpviz.errors import DpvizError
from dpviz.releases.areas.area_file import area_columns
from dpviz.releases.points.region_file import read_regions
from tests.refusals import in_one_line

BOX = dpviz.Domain((0.0, 0.0), (4.0, 4.0), ("lon", "lat"))
LAKE = box(1.25, 1.25, 1.75, 1.75)
UGLY = {
    "ring": box(1, 1, 2, 2).difference(LAKE),
    "lake": LAKE,
    "islands": MultiPolygon([box(0, 0, 1, 1), box(3, 3, 4, 4), box(3, 0, 4, 0.5)]),
    "east": box(2, 1, 3, 2),
}


def written(path, shapes, crs=4326, **columns):
    frame = geopandas.GeoDataFrame(
        {"name": list(shapes), **columns}, geometry=list(shapes.values()), crs=crs
    )
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_file(path)
    return path


@pytest.fixture(scope="module")
def ugly(tmp_path_factory):
    path = tmp_path_factory.mktemp("areas") / "ugly.gpkg"
    return written(path, UGLY, side=["west", "west", "west", "east"])


def row_of(areas, *place):
    at = areas.located(np.array([place], dtype=float))[0]
    return None if at < 0 else areas.names[areas.first_leaf + at]


def test_holes_islands_and_borders_have_one_area_each(ugly):
    areas = dpviz.read_areas(ugly, BOX, levels=("side", "name"))
    assert areas.levels == ("side", "name")
    assert areas.names == ("west", "east", "ring", "lake", "islands", "east")
    assert areas.parent.tolist() == [-1, -1, 0, 0, 0, 1]
    assert row_of(areas, 1.5, 1.5) == "lake"
    assert row_of(areas, 1.1, 1.1) == "ring"
    assert row_of(areas, 1.25, 1.5) == "ring"  # on the common border: the earlier area
    assert row_of(areas, 2.0, 1.5) == "ring"
    assert row_of(areas, 1.0, 1.0) == "ring"  # the islands come later in the file
    assert [row_of(areas, 0.5, 0.5), row_of(areas, 3.5, 3.5), row_of(areas, 3.5, 0.2)] == [
        "islands"
    ] * 3
    assert row_of(areas, 0.5, 3.5) is None


def test_where_a_record_is_depends_on_no_other(ugly):
    """A place alone, among others, in any order: the same area."""
    areas = dpviz.read_areas(ugly, BOX)
    places = np.random.default_rng(0).integers(0, 17, (400, 2)) / 4.0  # many places on borders
    together = areas.located(places)
    assert together.tolist() == [areas.located(each[None])[0] for each in places]
    assert together[::-1].tolist() == areas.located(places[::-1]).tolist()
    inside = np.array(
        [[shape.intersects(Point(each)) for shape in areas.shapes] for each in places]
    )
    lowest = np.where(inside.any(axis=1), inside.argmax(axis=1), -1)
    assert together.tolist() == lowest.tolist()


BOWTIE = Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
BAD = {
    "areas 'a' and 'b' overlap": {"a": box(0, 0, 2, 2), "b": box(1, 1, 3, 3)},
    "areas 'outer' and 'inner' overlap": {"outer": box(0, 0, 3, 3), "inner": box(1, 1, 2, 2)},
    "areas 'one' and 'same' overlap": {"one": box(0, 0, 1, 1), "same": box(0, 0, 1, 1)},
    "area 'tie' is invalid": {"ok": box(2, 2, 3, 3), "tie": BOWTIE},
    "area 'none' is empty": {"ok": box(0, 0, 1, 1), "none": Polygon()},
    "area 'point' is no polygon": {"ok": box(0, 0, 1, 1), "point": Point(2, 2)},
    "area 'far' reaches out of the bounds": {"ok": box(0, 0, 1, 1), "far": box(3, 3, 5, 4)},
}


@pytest.mark.slow
@pytest.mark.parametrize("line", BAD)
def test_areas_that_do_not_partition_are_refused_by_name(line, tmp_path):
    path = written(tmp_path / "bad.parquet", BAD[line])
    with in_one_line(DpvizError, line):
        dpviz.read_areas(path, BOX)


def test_names_are_needed_once_each(tmp_path):
    shapes = {"a": box(0, 0, 1, 1), "b": box(1, 0, 2, 1), "c": box(2, 0, 3, 1)}
    path = written(
        tmp_path / "n.geojson", shapes, ward=["x", "x", "y"], gap=["u", None, "v"], code=[1, 2, 3]
    )
    for options, line in [
        ({"name_column": "ward"}, "two areas are called 'x'"),
        ({"levels": ("gap", "name")}, "row 2 has no 'gap'"),
        ({"levels": ("name", "nowhere")}, "no column 'nowhere'"),
        ({"levels": ("ward", "ward")}, "different columns"),
        ({"levels": ("ward", "code"), "name_column": "name"}, "leave out 'name'"),
    ]:
        with pytest.raises(DpvizError, match=line):
            dpviz.read_areas(path, BOX, **options)
    assert dpviz.read_areas(path, levels=("ward", "code")).names == ("x", "y", "1", "2", "3")
    extent = dpviz.read_areas(path).domain
    assert extent.bounds == (0.0, 0.0, 3.0, 1.0)
    with pytest.raises(DpvizError, match=r"no file 'gone\.gpkg'"):
        dpviz.read_areas(tmp_path / "gone.gpkg")
    with pytest.raises(DpvizError, match=r"no file 'gone\.gpkg'"):
        area_columns(tmp_path / "gone.gpkg")


def test_a_text_among_the_numbers_of_a_geopackage_is_no_0(tmp_path):
    """SQLite lets it stand there; an area was called 0."""
    written(tmp_path / "a.gpkg", {x: box(x, 0, x + 1, 1) for x in range(2)}, code=[1, 2])
    with closing(sqlite3.connect(tmp_path / "a.gpkg")) as db:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:  # they call functions of GDAL
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("UPDATE a SET code = '1A' WHERE fid = 1")
        db.commit()
    for read in (dpviz.read_areas, lambda path: read_regions(path, BOX)):
        with pytest.raises(DpvizError, match=r"'code' of a\.gpkg is declared to hold numbers and"):
            read(tmp_path / "a.gpkg")


def test_slivers_of_digitised_borders_pass_and_have_one_area(tmp_path):
    shapes = {"a": box(0, 0, 1.001, 1), "b": box(1, 0, 2, 1)}
    areas = dpviz.read_areas(written(tmp_path / "s.gpkg", shapes), BOX)
    assert row_of(areas, 1.0005, 0.5) == "a"


def test_another_crs_is_moved_to_that_of_the_records(tmp_path):
    shapes = {"a": box(500_000, 5_000_000, 510_000, 5_010_000)}
    areas = dpviz.read_areas(written(tmp_path / "u.gpkg", shapes, 32633))
    west, south, east, north = areas.domain.bounds
    assert 14.9 < west < east < 15.2
    assert 45.0 < south < north < 45.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "resolution"), [((170, -30, 180, 30), 3), ((-180, -85, 180, 85), 2)]
)
def test_hexagons_cover_the_box_once(bounds, resolution):
    """Also where cells cross the antimeridian."""
    areas = dpviz.hexagons(resolution, dpviz.Domain.from_bounds(bounds))
    west, south, east, north = bounds
    assert areas.surface[areas.slices[0]].sum() == pytest.approx((east - west) * (north - south))
    assert shapely.is_valid(areas.shapes).all()
    places = np.random.default_rng(0).uniform(bounds[:2], bounds[2:], (2_000, 2))
    at = areas.located(places)
    assert (at >= 0).all()
    # Edges of hexagons are great circles but drawn straight: nearly every place is on its polygon.
    assert np.mean(shapely.intersects(areas.shapes[at], shapely.points(places))) > 0.99


@pytest.mark.slow
def test_parents_of_hexagons_are_named_by_id_until_few_are_left():
    areas = dpviz.hexagons(8, dpviz.Domain.from_bounds([14.4, -24.1, 14.6, -23.9]))
    sizes = [part.stop - part.start for part in areas.slices]
    assert sizes[0] <= 10 < sizes[1]
    assert areas.levels[-1] == "h3:8"
    for row, above in enumerate(areas.parent.tolist()):
        if above >= 0:
            name = areas.names[row]
            assert h3.cell_to_parent(name, h3.get_resolution(name) - 1) == areas.names[above]


@pytest.mark.slow
def test_hexagons_of_a_projected_box_are_those_of_its_places():
    domain = dpviz.Domain((530_000.0, 180_000.0), (532_000.0, 182_000.0), ("x", "y"), "EPSG:27700")
    areas = dpviz.hexagons(8, domain)
    assert areas.surface[areas.slices[0]].sum() == pytest.approx(4e6, rel=1e-3)
    at = areas.located(np.array([[531_000.0, 181_000.0]]))
    lon, lat = pyproj.Transformer.from_crs(27700, 4326, always_xy=True).transform(531e3, 181e3)
    assert areas.names[areas.first_leaf + at[0]] == h3.latlng_to_cell(lat, lon, 8)


@pytest.mark.parametrize(
    ("resolution", "bounds", "line"),
    [
        (16, (0, 0, 1, 1), "a resolution from 0 to 15"),
        (12, (0, 0, 10, 10), "choose a lower resolution"),
        (2, (170, 0, 190, 1), "within ±180"),
        (2, (0, 80, 10, 90), "±85 of latitude"),
        (0, (-180, -80, 180, 80), "a cell holds a pole"),
    ],
)
def test_hexagons_that_cannot_be_are_refused(resolution, bounds, line):
    with pytest.raises(DpvizError, match=line):
        dpviz.hexagons(resolution, dpviz.Domain.from_bounds(bounds))


def test_rectangles_are_answered_by_whole_areas_and_shares(ugly):
    areas = dpviz.read_areas(ugly, BOX, levels=("side", "name"))
    points = np.random.default_rng(0).uniform(0, 4, (4_000, 2))
    data = dpviz.from_points(points, BOX, public=True)
    release = dpviz.build(data, areas=areas, epsilon=1e6, seed=0)
    whole, cut, part = (
        release.count([each]) for each in ((0, 0, 4, 4), (2, 1, 2.5, 2), (0.9, 0.9, 2, 2))
    )
    assert whole.count[0] == release.nodes.count[:2].sum()
    assert whole.nodes[0] == 2
    assert whole.uniformity_sd[0] == 0
    assert cut.count[0] == pytest.approx(release.nodes.count[5] / 2)
    assert cut.uniformity_sd[0] > 10
    assert part.nodes[0] == 3
    with pytest.raises(DpvizError, match="outside the domain"):
        release.count([5, 5, 6, 6])


def test_a_rectangle_along_the_edges_of_areas_cuts_none(tmp_path):
    """Regression: moving the edges to the domain's lattice cut a strip off every neighbour."""
    steps = np.arange(7) / 10 - 74
    shapes = {f"{x} {y}": box(x, y + 114, x + 0.1, y + 114.1) for x in steps for y in steps}
    domain = dpviz.Domain((-74.0, 40.0), (-73.3, 40.7), ("lon", "lat"))
    areas = dpviz.read_areas(written(tmp_path / "squares.gpkg", shapes), domain)
    points = np.random.default_rng(0).uniform(domain.bounds[:2], domain.bounds[2:], (20_000, 2))
    data = dpviz.from_points(points, domain, public=True)
    answers = dpviz.build(data, areas=areas, seed=0).count([-73.9, 40.1, -73.7, 40.3])
    assert answers.uniformity_sd[0] == 0
    assert answers.nodes[0] == 4
