"""Counts in regions: against rectangles, against area by brute force, and on bad shapes."""

import time
import zipfile
from functools import cache

import geopandas
import numpy as np
import pyogrio
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError, DomainError
from dpviz.files import limits
from dpviz.releases.points.region_count import Regions, region_cover, regions_of
from dpviz.releases.points.region_file import listed_layers, polygon_layers, read_regions
from tests.commands import as_json

DOMAIN = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0])
POINTS = np.random.default_rng(4).normal([11, 50.5], [0.2, 0.1], size=(20_000, 2))
HANDLE = dpviz.from_points(POINTS, DOMAIN, public=True)
COLUMNS = ("count", "noise_sd", "uniformity_sd")


@cache
def built(method):
    return dpviz.build(HANDLE, method, 1.0, seed=3)


RELEASE = built("privtree")


@st.composite
def boxes(draw):
    """Rectangles whose sides are lattice lines, so that they are not snapped to others."""
    low, high = [], []
    for lower, upper in zip(DOMAIN.lower, DOMAIN.upper, strict=True):
        first = draw(st.integers(0, DOMAIN.side - 4096))
        last = draw(st.integers(first + 4096, DOMAIN.side))
        low.append(lower + (upper - lower) * first / DOMAIN.side)
        high.append(lower + (upper - lower) * last / DOMAIN.side)
    return [*low, *high]


@pytest.mark.slow
@given(boxes(), st.sampled_from(["privtree", "ugrid", "kdtree", "privelet", "hilbert_rtree"]))
def test_a_rectangle_as_a_polygon_has_the_rectangle_s_answer(box, method):
    polygon = built(method).count_regions([shapely.box(*box)])
    rectangle = built(method).count(box)
    for name in COLUMNS:
        np.testing.assert_allclose(
            getattr(polygon, name), getattr(rectangle, name), rtol=1e-6, atol=1e-5
        )


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_any_polygon_is_the_leaves_weighted_by_area(seed):
    random = np.random.default_rng(seed)
    corners = np.array(DOMAIN.lower) + random.random((7, 2)) * [2.0, 1.0]
    shape = shapely.convex_hull(shapely.MultiPoint(corners)).difference(
        shapely.Point(corners.mean(axis=0)).buffer(0.05)  # a hole
    )
    nodes = RELEASE.nodes
    low, high = DOMAIN.to_coordinates(nodes.lo), DOMAIN.to_coordinates(nodes.hi)
    frames = shapely.box(*low[nodes.leaf].T, *high[nodes.leaf].T)
    share = shapely.area(shapely.intersection(frames, shape)) / shapely.area(frames)
    answer = RELEASE.count_regions([shape])
    assert answer.count[0] == pytest.approx(float(nodes.count[nodes.leaf] @ share), abs=1e-4)


def star(corners, radius):
    """A ring of spikes: overlaying it with a box takes time quadratic in its corners."""
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    length = radius * (1 + 0.5 * (np.arange(corners) % 2))
    ring = np.column_stack([11 + length * np.cos(angle), 50.5 + length * np.sin(angle)])
    return shapely.Polygon(ring, [0.5 * (ring[::-1] - [11, 50.5]) + [11, 50.5]])


@pytest.mark.slow
def test_a_valid_polygon_of_very_many_corners_is_bounded(monkeypatch):
    """Overlaying it took minutes."""
    started = time.process_time()
    shapes = np.array([star(10_000, radius) for radius in (0.3, 1e-6)], dtype=object)
    regions = Regions(("wide", "narrow"), shapes, np.ones(2))
    cover = region_cover(DOMAIN, RELEASE.nodes, regions)
    assert set(cover.query.tolist()) == {0, 1}
    for most in (30_000, 100_000):  # before the first cut, and on the way down
        monkeypatch.setattr(limits, "CUTS", limits.CUTS._replace(most=most))
        with pytest.raises(DataError, match="000 vertices to cut by cells: simplify the shapes"):
            region_cover(DOMAIN, RELEASE.nodes, regions)
    assert time.process_time() - started < 10


def test_a_region_inside_one_node_uses_few_nodes_and_whole_nodes_are_exact():
    nodes = RELEASE.nodes
    row = int(np.flatnonzero((nodes.level == 2) & ~nodes.leaf)[0])
    corners = [
        *DOMAIN.to_coordinates(nodes.lo[[row]])[0],
        *DOMAIN.to_coordinates(nodes.hi[[row]])[0],
    ]
    answer = RELEASE.count_regions([shapely.box(*corners)])
    assert answer.nodes[0] == 1
    assert answer.count[0] == nodes.count[row]
    assert answer.uniformity_sd[0] == 0.0


def test_a_bow_tie_is_repaired_and_what_lies_outside_is_said():
    bow = shapely.Polygon([(10.0, 50.0), (11.0, 51.0), (11.0, 50.0), (10.0, 51.0)])
    regions = regions_of(
        [bow, shapely.box(11.5, 50.0, 12.5, 51.0), shapely.box(0, 0, 1, 1)], DOMAIN
    )
    assert shapely.is_valid(regions.shapes).all()
    assert regions.inside == pytest.approx([1.0, 0.5, 0.0])
    answer = RELEASE.count_regions(regions)
    assert answer.count[2] == 0.0
    assert answer.nodes[2] == 0


@pytest.mark.parametrize(
    "shape",
    [
        shapely.Point(11, 50.5),
        shapely.LineString([(10, 50), (12, 51)]),
        shapely.Polygon(),
        None,
        shapely.box(10, 50, 11, np.inf),
        "POLYGON ((10 50, 11 50, 11 51, 10 50))",
        [10, 50, 11, 51],
    ],
    ids=["point", "line", "empty", "none", "infinite", "text", "rectangle"],
)
def test_shapes_without_an_area_are_refused_by_name(shape):
    """And by its place: in a file it may have no name."""
    with pytest.raises(DomainError, match=r"'None', number 2 of 2, has no area.* leave out points"):
        regions_of([shapely.box(10, 50, 11, 51), shape], DOMAIN, ["a", "None"])


def test_geopandas_states_the_crs_of_regions_and_one_polygon_is_one_region():
    shape = shapely.box(10.5, 50.25, 11, 50.5)
    column = geopandas.GeoSeries([shape], crs=DOMAIN.crs).to_crs("EPSG:3857")
    for shapes in (shape, column, column.to_frame("geometry")):
        answer = RELEASE.count_regions(shapes)
        assert answer.count == pytest.approx(RELEASE.count_regions([shape]).count)
    assert RELEASE.count_regions([]).count.shape == (0,)


def test_regions_need_two_dimensions():
    domain = dpviz.Domain.from_bounds([0.0] * 4 + [1.0] * 4)
    with pytest.raises(DomainError, match="2-D"):
        regions_of([shapely.box(0, 0, 1, 1)], domain)


@pytest.fixture
def districts(tmp_path):
    shapes = [shapely.box(10, 50, 11, 51), shapely.box(11, 50, 12, 51)]
    frame = geopandas.GeoDataFrame(
        {"number": [1, 2], "district": ["West <b>", "East"]}, geometry=shapes, crs="EPSG:4326"
    )
    path = tmp_path / "districts.gpkg"
    frame.to_file(path, driver="GPKG")
    return path


@pytest.mark.slow
def test_a_file_in_another_crs_gives_the_same_answers(districts, tmp_path):
    plain = read_regions(districts, DOMAIN)
    assert plain.names == ("West <b>", "East")
    other = tmp_path / "districts.parquet"
    geopandas.read_file(districts).to_crs("EPSG:3857").to_parquet(other)
    moved = read_regions(other, DOMAIN, "number")
    assert moved.names == ("1", "2")
    np.testing.assert_allclose(
        RELEASE.count_regions(plain).count, RELEASE.count_regions(moved).count, rtol=1e-6
    )


PLANE = (
    'ENGCRS["ours",EDATUM["yard"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],'
    'LENGTHUNIT["metre",1]]'
)


def test_a_plane_of_its_own_has_regions_of_its_own_and_no_others(districts, tmp_path):
    plane = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0], crs=PLANE)
    plane_districts = tmp_path / "own.parquet"
    geopandas.read_file(districts).set_crs(PLANE, allow_override=True).to_parquet(plane_districts)
    assert read_regions(plane_districts, plane).names == ("West <b>", "East")
    with pytest.raises(DomainError, match="CRS 'WGS 84' to 'ours'"):
        read_regions(districts, plane)
    nowhere = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0], crs="EPSG:999999")
    with pytest.raises(DomainError, match="'EPSG:999999' is unknown"):
        read_regions(districts, nowhere)


@pytest.mark.slow
def test_of_several_layers_that_of_polygons_is_taken_and_two_are_refused(
    districts, tmp_path, monkeypatch
):
    path, frame = tmp_path / "d.gpkg", geopandas.read_file(districts)
    pyogrio.write_dataframe(frame.drop(columns="geometry"), path, layer="notes")
    frame.set_geometry(frame.representative_point()).to_file(path, layer="pumps")
    frame.to_file(path, layer="wards")
    domain = dpviz.Domain((-2.0, 50.0), (2.0, 52.0))
    regions = read_regions(path, domain)
    assert regions.names == read_regions(districts, domain).names
    pyogrio.write_dataframe(frame, path, layer="towns", geometry_type="Unknown")
    flat = tmp_path / "flat.geojson"
    frame.to_file(flat)
    for read in (read_regions, dpviz.read_areas):
        with pytest.raises(
            DataError, match=r"d\.gpkg has 2 layers of polygons \('wards', 'towns'\).*=wards"
        ):
            read(path, domain)
        with pytest.raises(
            DataError, match=r"d\.gpkg has no layer 'lanes': it has 'pumps', 'wards"
        ):
            read(f"{path}|layername=lanes", domain)
        with pytest.raises(DataError, match=r"has no layers: leave out '\|layername=wards'"):
            read(f"{flat}|layername=wards", domain)
    assert polygon_layers(path) == ("wards", "towns")
    assert polygon_layers(flat) == ()
    named = read_regions(f"{path}|layername=wards", domain)
    assert named.names == dpviz.read_areas(f"{path}|layername=wards").names == regions.names
    monkeypatch.setattr(limits, "LAYERS", limits.LAYERS._replace(most=1))
    with pytest.raises(
        DataError, match=r"d\.gpkg has more than 1 layers or sheets: write the layer"
    ):
        listed_layers(str(path))  # called as in the child process
    broken = tmp_path / "broken.gpkg"
    broken.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(DataError, match=r"broken\.gpkg"):
        polygon_layers(broken)


@pytest.mark.parametrize("folder", ["", "wards 2024/", "a/b/"])
def test_a_zipped_shapefile_is_read_in_whatever_folder_it_lies(folder, districts, tmp_path):
    frame = geopandas.read_file(districts)
    (tmp_path / "parts").mkdir()
    frame.to_file(tmp_path / "parts" / "wards.shp")
    with zipfile.ZipFile(tmp_path / "wards.zip", "w") as archive:
        for part in (tmp_path / "parts").iterdir():
            archive.write(part, folder + part.name)
        archive.writestr("__MACOSX/._wards.shp", b"\0\5\x16\7")
    domain = dpviz.Domain((-2.0, 50.0), (2.0, 52.0))
    wanted = read_regions(districts, domain).names
    assert read_regions(tmp_path / "wards.zip", domain).names == wanted
    assert polygon_layers(tmp_path / "wards.zip") == ("wards",)


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a/wards.shp", "b/wards.shp"], "two files of one name"),
        ([f"a/{number}" for number in range(1_001)], "more than 1,000 members"),
        (["a/wards.txt"], "holds no Shapefile"),
    ],
)
def test_an_archive_that_is_no_shapefile_is_refused_in_one_line(names, why, tmp_path):
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        for name in names:
            archive.writestr(name, b"none")
    with pytest.raises(DataError, match=f"odd\\.zip.*{why}"):
        read_regions(tmp_path / "odd.zip", DOMAIN)


def test_regions_of_a_release_of_areas_are_its_finest(tmp_path):
    data = dpviz.from_points(np.array([[10.5, 50.5]]), DOMAIN, public=True)
    release = dpviz.build(data, areas=dpviz.hexagons(4, DOMAIN), epsilon=1.0, seed=0)
    path = release.save(tmp_path / "hexagons.parquet")
    finest = release.frame.rows_of(release.frame.levels[-1])
    assert len(release.frame.levels) > 1
    assert read_regions(path, DOMAIN).names == tuple(release.frame.names[finest])


@pytest.mark.parametrize("inner", ["null", '{"type": "Polygon", "coordinates": []}'])
def test_a_feature_without_a_geometry_is_refused_by_name(inner, tmp_path):
    path = tmp_path / "null.geojson"
    feature = f'{{"type": "Feature", "properties": {{"name": "b"}}, "geometry": {inner}}}'
    path.write_text(f'{{"type": "FeatureCollection", "features": [{feature}]}}')
    with pytest.raises(DomainError, match="'b'"):
        RELEASE.count_regions(read_regions(path, DOMAIN))


@pytest.mark.parametrize("content", [b"", b"{}", b"PK\x03\x04", b"lon,lat\n1,2\n"])
def test_a_file_without_regions_is_one_clear_line(content, tmp_path):
    path = tmp_path / "broken.geojson"
    path.write_bytes(content)
    with pytest.raises(DataError, match="broken"):
        read_regions(path, DOMAIN)


@pytest.mark.parametrize(
    ("values", "names"), [(["a", None, " "], ("a", "2", "3")), ([7, None, 9], ("7", "2", "9"))]
)
def test_a_region_without_a_name_is_called_by_its_row(values, names, tmp_path):
    """Regression: a missing name was "None", and among numbers "nan" beside "7.0"."""
    shapes = [shapely.box(10, 50, 10.5, 51)] * 3
    frame = geopandas.GeoDataFrame({"ward": values}, geometry=shapes, crs="EPSG:4326")
    frame.to_file(tmp_path / "wards.gpkg")
    assert read_regions(tmp_path / "wards.gpkg", DOMAIN, "ward").names == names


def test_an_unknown_name_column_is_refused(districts):
    with pytest.raises(DataError, match="no column 'nme'"):
        read_regions(districts, DOMAIN, "nme")


def test_the_command_answers_every_district(districts, tmp_path):
    path = RELEASE.save(tmp_path / "release.parquet")
    rows = as_json("query", path, "--regions", districts)["answers"]
    assert [row["region"] for row in rows] == ["West <b>", "East"]
    assert all(row["inside"] == 1.0 for row in rows)
    west = RELEASE.count([10, 50, 11, 51])
    assert rows[0]["count"] == pytest.approx(west.count[0])
    assert rows[0]["low"] == west.low[0]
