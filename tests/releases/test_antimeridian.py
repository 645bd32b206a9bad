"""Shapes over the meridian of 180° in degrees: in pieces on both sides of it."""

import json

import geopandas
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import LineString, MultiLineString, MultiPolygon, Polygon, box

import dpviz
from dpviz.releases.antimeridian import cut

PACIFIC = "EPSG:3832"
"""Mercator about 150° east."""

DEGREE = 111_319.490793
"""Metres of it."""

FIJI = (3_000_000.0, -2_200_000.0, 3_600_000.0, -1_900_000.0)


def in_degrees(*shapes, crs=PACIFIC):
    frame = geopandas.GeoDataFrame(geometry=list(shapes), crs=crs)
    return cut(frame.to_crs(4326), frame).geometry.tolist()


def eastward(shape):
    """A shape in degrees, as one that goes on beyond 180°."""
    return shapely.union_all(
        shapely.transform(shape, lambda xy: np.column_stack([xy[:, 0] % 360, xy[:, 1]]))
    )


def expected(shape):
    """A shape of the Pacific's CRS in degrees that go on beyond 180°."""
    (moved,) = geopandas.GeoSeries([shape], crs=PACIFIC).to_crs(4326)
    lat = shapely.get_coordinates(moved)[:, 1]
    return shapely.transform(shape, lambda xy: np.column_stack([xy[:, 0] / DEGREE + 150, lat]))


def as_expected(made, shape, kind):
    """Whether it is all there, in pieces of a kind that are within ±180 degrees."""
    wanted = expected(shape)
    west, _, east, _ = shapely.bounds(shapely.get_parts(made)).T
    assert made.geom_type == kind
    assert made.is_valid
    assert (west >= -180).all()
    assert (east <= 180).all()
    assert (east - west <= wanted.bounds[2] - wanted.bounds[0] + 1e-9).all()
    assert eastward(made).hausdorff_distance(wanted) < 1e-6
    return True


@pytest.mark.parametrize("leaves", [True, False])
def test_cells_over_the_meridian_are_in_two_pieces_and_the_others_as_they_were(tmp_path, leaves):
    """One was 359 degrees wide in every program that opened the file."""
    random = np.random.default_rng(0)
    places = np.column_stack([random.normal(x, 3e4, 500) for x in (3_340_000, -2_000_000)])
    domain = dpviz.Domain(FIJI[:2], FIJI[2:], crs=PACIFIC)
    data = dpviz.from_points(places, domain, public=True)
    release = dpviz.build(data, "ugrid", 1.0, seed=1, cells=9)
    path = dpviz.export(release, tmp_path / "fiji.geojson", leaves=leaves)
    shapes = [json.dumps(each["geometry"]) for each in json.loads(path.read_text())["features"]]
    frame = release.to_geopandas()
    cells = frame.geometry[frame["leaf"]] if leaves else frame.geometry
    plain = cells.to_crs(4326).tolist()
    pieces = 0
    for text, cell, corners in zip(shapes, cells, plain, strict=True):
        if corners.bounds[2] - corners.bounds[0] < 180:
            assert text == json.dumps(json.loads(shapely.to_geojson(corners)))
        else:
            assert as_expected(shapely.from_geojson(text), cell, "MultiPolygon")
            pieces += 1
    assert 0 < pieces < len(shapes)


RING = [(3.2e6, 0), (3.5e6, 0), (3.5e6, 1e5), (3.3e6, 2e5), (3.5e6, 3e5), (3.2e6, 3e5)]
HOLE = [(3.30e6, 1e4), (3.36e6, 1e4), (3.36e6, 5e4)]


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (Polygon(RING), "MultiPolygon"),
        (Polygon(RING[::-1], [HOLE]), "MultiPolygon"),
        (MultiPolygon([Polygon(RING, [HOLE]), box(3e6, 0, 3.1e6, 1e5)]), "MultiPolygon"),
        (LineString(RING), "MultiLineString"),
        (MultiLineString([RING, HOLE, [(3.4e6, 0), (3.5e6, 0)]]), "MultiLineString"),
    ],
)
def test_areas_and_lines_over_the_meridian_are_in_pieces(shape, kind):
    (made,) = in_degrees(shape)
    assert as_expected(made, shape, kind)
    if kind == "MultiPolygon":
        assert made.area == pytest.approx(expected(shape).area)
        assert all(part.exterior.is_ccw for part in made.geoms)  # RFC 7946, §3.1.6
    else:
        assert made.length == pytest.approx(expected(shape).length)


@settings(max_examples=20)
@given(st.floats(2e6, 4.5e6), st.floats(-5e6, 5e6), st.floats(1.0, 3e6), st.floats(1.0, 3e6))
def test_boxes_wherever_they_are_keep_their_surface(west, south, wide, high):
    cell = box(west, south, west + wide, south + high)
    (made,) = in_degrees(cell)
    over = west < 30 * DEGREE < west + wide
    assert made.geom_type == ("MultiPolygon" if over else "Polygon")
    assert made.area == pytest.approx(expected(cell).area, rel=1e-6)


@pytest.mark.parametrize("west", [171.0, 177.0, -189.0])
def test_a_domain_in_degrees_that_goes_on_beyond_the_meridian_is_written_within(tmp_path, west):
    domain = dpviz.Domain((west, -22.0), (west + 19.0, -12.0))
    random = np.random.default_rng(0)
    places = domain.lower + random.random((500, 2)) * np.subtract(domain.upper, domain.lower)
    data = dpviz.from_points(places, domain, public=True)
    release = dpviz.build(data, "ugrid", 1.0, seed=1, cells=8)
    path = dpviz.export(release, tmp_path / "fiji.geojson", leaves=True)
    features = json.loads(path.read_text())["features"]
    made = [shapely.from_geojson(json.dumps(each["geometry"])) for each in features]
    assert np.abs(shapely.bounds(made)[:, ::2]).max() == 180
    for shape, cell in zip(made, release.to_geopandas().query("leaf").geometry, strict=True):
        there = shapely.transform(cell, lambda xy: np.column_stack([xy[:, 0] % 360, xy[:, 1]]))
        assert eastward(shape).symmetric_difference(there).area < 1e-9
        assert shape.is_valid
    sample = geopandas.GeoSeries(random.permutation(shapely.points(places)), crs=4326).to_frame("g")
    moved = cut(sample.set_geometry("g"), sample.set_geometry("g"))
    assert np.abs(moved.geometry.x).max() <= 180
    assert moved.geometry.x.to_numpy() % 360 == pytest.approx(sample["g"].x.to_numpy() % 360)


def test_what_is_wider_than_half_the_earth_is_not_taken_for_what_crosses():
    """A box of all longitudes has corners at −180 and 180 degrees, too."""
    side = 180 * DEGREE
    (made,) = in_degrees(box(-side, -1e6, side, 1e6), crs="EPSG:3857")
    assert made.geom_type == "Polygon"
    assert made.bounds[::2] == pytest.approx((-180, 180))


def test_an_area_around_a_pole_reaches_it_and_its_hole_too():
    whole, hole = box(-2e6, -2e6, 2e6, 2e6), box(-1e6, -1e6, 1e6, 1e6)
    made, ring, aside = in_degrees(
        whole, whole.difference(hole), box(-2e6, 1e6, -1e6, 2e6), crs="EPSG:3413"
    )
    assert made.is_valid
    assert made.bounds == pytest.approx((-180, made.bounds[1], 180, 90))
    assert ring.is_valid
    assert ring.bounds[3] < 90
    assert ring.area == pytest.approx(made.area - in_degrees(hole, crs="EPSG:3413")[0].area)
    assert [part.bounds[2] - part.bounds[0] < 40 for part in aside.geoms] == [True, True]


def test_what_an_own_file_holds_beside_plain_areas_stays_in_the_export():
    """A polygon that crosses itself, a row without a shape, points."""
    bow = Polygon([(3.2e6, 0), (3.5e6, 3e5), (3.5e6, 0), (3.2e6, 3e5)])
    made, nothing, point, one = in_degrees(bow, None, shapely.Point(3.5e6, 0), Polygon(RING))
    assert made.is_valid
    assert max(part.bounds[2] - part.bounds[0] for part in made.geoms) < 3
    assert nothing is None
    assert point.x < -178
    assert one.geom_type == "MultiPolygon"
