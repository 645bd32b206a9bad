"""The cells of a release: bounds, densities, levels and the colour scale."""

import numpy as np
import pytest
from shapely import box

from dpviz import CountRelease, Decomposition, Domain, Header, build, from_points, load
from dpviz.exports import map_page
from dpviz.releases.points.box import Box
from dpviz.releases.points.region_count import Regions
from dpviz.render import cells, density_scale
from dpviz.render.cells import adaptive, domain_bounds, map_corners, node_bounds
from dpviz.render.detail import NEVER
from dpviz.render.difference import difference
from dpviz.render.districts import district_marks
from dpviz.render.projection import WORLD, areas, to_degrees, world
from dpviz.render.scene import tables

HALF = 1 << 25


def release(counts=(100.0, 60.0, 30.0, -5.0, 15.0), variance=4.0, domain=None):
    """A root and its four quadrants, breadth-first."""
    lo = [[0, 0], [0, 0], [HALF, 0], [0, HALF], [HALF, HALF]]
    hi = [[2 * HALF, 2 * HALF], [HALF, HALF], [2 * HALF, HALF], [HALF, 2 * HALF], [2 * HALF] * 2]
    nodes = Decomposition(lo, hi, [-1, 0, 0, 0, 0], counts, np.full(5, variance))
    header = Header("test", {}, private=False, guarantee="NOT PRIVATE", epsilon=1.0)
    return CountRelease(Box(domain or Domain((10.0, 50.0), (11.0, 51.0))), nodes, header)


def test_bounds_are_west_south_east_north():
    assert node_bounds(release()).tolist() == [
        [10, 50, 11, 51],
        [10, 50, 10.5, 50.5],
        [10.5, 50, 11, 50.5],
        [10, 50.5, 10.5, 51],
        [10.5, 50.5, 11, 51],
    ]


def test_large_counts_are_shown_to_the_last_digit():
    """Regression: on the map 123,456,827 was 123,456,824."""
    large = release((123_456_827.0, 123_456_427.0, 300.0, 60.0, 40.0))
    table = cells(large).table
    assert table["count"].to_pylist() == large.nodes.count.tolist()
    small = release((100.0, 50.0, 30.0, 5.0, 15.0))
    mark, _ = difference([large, small], ["A", "B"])
    of_a, gap = (np.array(mark.table[name].to_pylist()) for name in ("count_a", "gap"))
    assert set(of_a) <= set(large.nodes.count)
    assert gap.max() == 123_456_377
    assert str(cells(small).table["count"].type) == "float"


def test_an_inner_node_is_drawn_at_its_level_and_a_leaf_from_its_level_on():
    table = cells(release()).table
    assert table["first"].to_pylist() == [0, 1, 1, 1, 1]
    assert table["last"].to_pylist() == [0, 255, 255, 255, 255]


def test_only_what_is_drawn_travels_until_raw_cells_are_asked_for():
    """A tree of much depth has many nodes within their noise: they were most of a map's bytes."""
    noisy = build(load("city-50k"), "ladder_tree", 0.1, seed=0)
    adapted, mark = adaptive(noisy), cells(noisy)
    drawn = np.flatnonzero(adapted.kind != NEVER)
    assert 0 < mark.table.num_rows == len(drawn) < len(noisy.nodes) / 3
    sent, whole = (
        np.array([table[name].to_pylist() for name in ("count", "since", "until", "inside")])
        for table in (mark.table, mark.raw_table())
    )
    assert whole.shape[1] == len(noisy.nodes)
    assert (sent == whole[:, drawn]).all()
    around = np.where(adapted.enclosed, noisy.nodes.parent, adapted.group)[drawn]
    assert drawn[mark.table["group"].to_pylist()].tolist() == around.tolist()
    for raw, rows in ((False, mark.table.num_rows), (True, len(noisy.nodes))):
        assert tables([mark], raw=raw)["cells"].num_rows == rows


def test_offsets_add_up_to_web_mercator():
    mark = cells(release())
    origin = np.array(mark.layer.origin)
    offsets = np.array(mark.table["bounds"].to_pylist())
    corner = world([10.5, 50.5])
    assert offsets[1, 2:] + origin == pytest.approx(corner, abs=1e-6)
    assert offsets[4, :2] + origin == pytest.approx(corner, abs=1e-6)


def test_offsets_resolve_a_centimetre():
    lo = np.array([[0, 0], [0, 0], [1, 0]])
    hi = np.array([[2 * HALF, 2 * HALF], [1, 1], [2, 1]])
    nodes = Decomposition(lo, hi, [-1, 0, 0], np.ones(3), np.ones(3))
    header = Header("test", {}, private=False, guarantee="NOT PRIVATE", epsilon=1.0)
    tiny = cells(CountRelease(Box(Domain((10.0, 50.0), (10.5, 50.5))), nodes, header))
    offsets = np.array(tiny.table["bounds"].to_pylist(), dtype=np.float64)
    metre = 512 / 40_075_017
    width = (offsets[1, 2] - offsets[1, 0]) / metre
    assert width == pytest.approx(0.5 / 360 * 40_075_017 / (1 << 26), abs=0.01)


def test_classes_come_from_what_is_drawn():
    scale = density_scale(release())
    drawn = (release().nodes.count / areas(node_bounds(release())))[[1, 2, 4]]
    assert scale.bounds[0] <= drawn.min()
    assert scale.bounds[-1] <= drawn.max()
    assert 5 <= len(scale) <= 8


def test_classes_of_pure_noise_are_a_fallback():
    assert density_scale(release(variance=1e9)).bounds[0] == 1.0


def test_two_releases_share_their_classes():
    other = release(counts=(1000.0, 900.0, 50.0, 25.0, 25.0))
    both = density_scale(release(), other)
    assert both.bounds[-1] > density_scale(release()).bounds[-1]


def test_other_crs_are_drawn_in_degrees():
    west, south, east, north = to_degrees([[0, 0, 111319.4908, 111325.1429]], "EPSG:3857")[0]
    assert (west, south, east, north) == pytest.approx((0, 0, 1, 1), abs=1e-6)


@pytest.mark.slow
def test_a_domain_over_the_meridian_of_180_degrees_is_one_piece():
    """Fiji's own CRS: transformed one by one, its eastern corners are at −178°."""
    domain = Domain((1_500_000.0, 3_500_000.0), (2_400_000.0, 4_300_000.0), crs="EPSG:3460")
    west, _, east, _ = domain_bounds(domain)
    assert (round(west), round(east)) == (174, 183)
    side = domain.side
    lo = np.array([[0, 0], [side // 2, 0], [side * 15 // 16, 0]])
    hi = np.array([[side // 2, side], [side, side], [side, side]])
    # The last box lies beyond the meridian of 180°.
    km2, offsets, origin = map_corners(domain, lo, hi)
    alone, _, _ = map_corners(domain, lo[2:], hi[2:])
    assert km2[2] == alone[0]
    assert (km2 > 0).all()
    degrees = (offsets[:, [0, 2]] + origin[0]) / WORLD * 360 - 180
    assert (degrees[:, 0] < degrees[:, 1]).all()
    assert degrees.max() == pytest.approx(east)
    points = np.random.default_rng(0).uniform(domain.lower, domain.upper, (500, 2))
    release = build(from_points(points, domain, public=True), "ugrid", cells=4, seed=1)
    assert (np.diff(node_bounds(release)[:, [0, 2]]) > 0).all()
    whole = Regions(("all",), np.array([box(*domain.bounds)]), np.ones(1))
    (fill, *_), _ = district_marks(whole, release.count(domain.bounds), domain)
    corners = np.concatenate([np.array(each) for each in fill.table["polygon"].to_pylist()])
    assert corners[:, 0].min() == pytest.approx(west, abs=0.5)
    assert corners[:, 0].max() == pytest.approx(east, abs=0.5)
    assert map_page([release])


def test_four_dimensions_are_refused_by_name():
    nodes = Decomposition(np.zeros((1, 4), int), np.full((1, 4), 4), [-1], [1.0], [1.0])
    header = Header("test", {}, private=False, guarantee="NOT PRIVATE", epsilon=1.0)
    with pytest.raises(ValueError, match="4 dimensions has no cells"):
        cells(CountRelease(Box(Domain((0,) * 4, (1,) * 4)), nodes, header))
