"""Adaptive detail: at every zoom the rows tile the domain and add up to the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz import Decomposition
from dpviz.render.cells import adaptive, node_bounds
from dpviz.render.detail import GAP_SDS, NEVER, NOISE_SDS, POOLED, QUIET, SHOWN, detail
from dpviz.render.projection import areas

ZOOMS = (0.0, 6.0, 8.5, 9.0, 10.0, 11.5, 13.0, 16.0, 22.0)


def detail_of(nodes, km2, side, **options):
    return detail(nodes, lambda rows: (km2[rows], side[rows]), **options)


def walked(nodes, km2, side, zoom):
    """The rule by a plain walk from the roots at one zoom: {node: (kind, total)}."""
    kinds = {}

    def clear(n, v):
        return n > 0 and n >= NOISE_SDS * v**0.5

    def split(children):
        """True if a child stands by itself; the roots are drawn in any case."""
        stand = [c for c in children if clear(nodes.count[c], nodes.variance[c])]
        pool = [c for c in children if c not in stand]
        stand.sort(key=lambda c: nodes.count[c] / km2[c])
        total = [float(each[pool].sum()) for each in (nodes.count, nodes.variance, km2)]
        while pool and stand and not clear(total[0], total[1]):
            c = stand[0]
            noise = nodes.variance[c] / km2[c] ** 2 + total[1] / total[2] ** 2
            if nodes.count[c] / km2[c] - total[0] / total[2] >= GAP_SDS * noise**0.5:
                break
            pool.append(stand.pop(0))
            total = [float(each[pool].sum()) for each in (nodes.count, nodes.variance, km2)]
        if not stand and nodes.parent[children[0]] >= 0:
            return False
        kind = POOLED if clear(total[0], total[1]) else QUIET
        for c in pool:
            kinds[c] = (SHOWN if kind == POOLED and len(pool) == 1 else kind, total[0])
        for c in stand:
            below = np.arange(nodes.first_child[c], nodes.first_child[c] + nodes.n_children[c])
            large = len(below) and side[below].min() * 2**zoom >= 2
            if not (large and split(below.tolist())):
                kinds[c] = (SHOWN, float(nodes.count[c]))
        return True

    split(np.flatnonzero(nodes.parent < 0).tolist())
    return kinds


@st.composite
def trees(draw):
    """A quadtree of three levels at most, with counts of any size and noise."""
    lo, hi, parent = [[0, 0]], [[64, 64]], [-1]
    level = [0]
    for _ in range(draw(st.integers(1, 3))):
        below = []
        for node in level:
            if draw(st.booleans()) or node == 0:
                (x, y), half = lo[node], (hi[node][0] - lo[node][0]) // 2
                for dx, dy in ((0, 0), (half, 0), (0, half), (half, half)):
                    below.append(len(lo))
                    lo.append([x + dx, y + dy])
                    hi.append([x + dx + half, y + dy + half])
                    parent.append(node)
        level = below
    n = len(lo)
    counts = draw(st.lists(st.floats(-20, 200), min_size=n, max_size=n))
    noise = draw(st.lists(st.floats(0, 400), min_size=n, max_size=n))
    counts = np.array(counts)
    for node in range(n - 1, 0, -1):  # consistent: a parent is the sum of its children
        first = [k for k in range(n) if parent[k] == node]
        counts[node] = counts[first].sum() if first else counts[node]
    counts[0] = counts[[k for k in range(n) if parent[k] == 0]].sum()
    return Decomposition(lo, hi, parent, counts, noise)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(trees())
def test_the_columns_are_the_plain_walk_at_every_zoom(nodes):
    size = (nodes.hi - nodes.lo).astype(float)
    km2, side = size.prod(axis=1) * 0.3, size.min(axis=1) / 64
    columns = detail_of(nodes, km2, side)
    for zoom in (0.0, 1.2, 2.3, 3.4, 4.5, 8.0):
        drawn = np.flatnonzero(columns.at(zoom))
        wanted = walked(nodes, km2, side, zoom)
        assert drawn.tolist() == sorted(wanted)
        for node in drawn.tolist():
            kind, total = wanted[node]
            assert columns.kind[node] == kind
            assert columns.total[node] == pytest.approx(total, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 10.0])
@pytest.mark.parametrize("method", ["privtree", "quadtree", "hierarchy", "dawa", "kdtree"])
def test_rows_tile_the_domain_and_add_up_to_the_whole(method, epsilon):
    release = dpviz.build(dpviz.load("city-50k"), method, epsilon, seed=0)
    columns, nodes = adaptive(release), release.nodes
    for zoom in ZOOMS:
        drawn = np.flatnonzero(columns.at(zoom))
        assert nodes.volume[drawn].sum() == release.domain.side**2
        heads = drawn[columns.group[drawn] == drawn]
        assert columns.total[heads].sum() == pytest.approx(nodes.count[0], rel=1e-9)
        km2 = areas(node_bounds(release))
        assert columns.km2[heads].sum() == pytest.approx(km2[drawn].sum(), rel=1e-9)
        shown = heads[columns.kind[heads] != QUIET]
        assert (columns.total[shown] >= NOISE_SDS * np.sqrt(columns.variance[shown])).all()


def test_without_noise_every_cell_that_holds_somebody_is_shown():
    lo = [[0, 0], [0, 0], [32, 0], [0, 32], [32, 32]]
    hi = [[64, 64], [32, 32], [64, 32], [32, 64], [64, 64]]
    nodes = Decomposition(lo, hi, [-1, 0, 0, 0, 0], [5, 5, 0, 0, 0], np.zeros(5))
    columns = detail_of(nodes, np.array([4.0, 1, 1, 1, 1]), np.array([2.0, 1, 1, 1, 1]))
    assert columns.kind.tolist() == [SHOWN, SHOWN, QUIET, QUIET, QUIET]
    assert columns.total[2:].tolist() == [0, 0, 0]


def test_noise_that_goes_together_adds_its_deviations():
    lo = [[0, 0], [0, 0], [32, 0], [0, 32]]
    hi = [[64, 64], [32, 32], [64, 32], [64, 64]]
    nodes = Decomposition(lo, hi, [-1, 0, 0, 0], [460, 3, 57, 400], [1.0, 4.0, 900.0, 1.0])
    km2, side = np.array([4.0, 1, 1, 2]), np.array([2.0, 1, 1, 1])
    apart, together = (detail_of(nodes, km2, side, correlated=c) for c in (False, True))
    assert apart.variance.tolist() == [1, 904, 904, 1]
    assert together.variance.tolist() == [1, 32**2, 32**2, 1]
    assert NEVER not in together.kind


def test_cells_about_a_pole_have_no_pixel_and_are_never_opened():
    """The division by their height was a warning in the server's log."""
    domain = dpviz.Domain.from_bounds([-180, 80, 180, 90])
    points = np.column_stack([np.linspace(-179, 179, 500), np.full(500, 89.0)])
    release = dpviz.build(dpviz.from_points(points, domain, public=True), "ugrid", 1.0, seed=0)
    assert (adaptive(release).kind == NEVER).any()


@pytest.mark.parametrize(
    ("blank", "enclosed"),
    [
        ([(16, 16)], True),
        ([(16, 16), (32, 16)], True),
        ([(16, 16), (32, 32)], True),
        ([(16, 16), (0, 16)], False),
        ([(16, 16), (32, 16), (16, 32), (32, 32)], False),
    ],
)
def test_blank_cells_are_enclosed_where_all_around_their_cluster_stands(
    monkeypatch, blank, enclosed
):
    """More than three cells, or one at the domain's border, are open country here."""
    monkeypatch.setattr("dpviz.render.detail.MAX_HOLE_CELLS", 3)
    fours = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    lo = np.vstack([[[0, 0]], 32 * fours, *(32 * four + 16 * fours for four in fours)])
    size = np.repeat([64, 32, 16], [1, 4, 16])[:, None]
    parent = np.concatenate([[-1, 0, 0, 0, 0], np.repeat([1, 2, 3, 4], 4)])
    count = np.full(21, 100.0)
    rows = [5 + lo[5:].tolist().index(list(corner)) for corner in blank]
    count[rows] = 0.0
    count[1:5] = count[5:].reshape(4, 4).sum(axis=1)
    count[0] = count[1:5].sum()
    nodes = Decomposition(lo, lo + size, parent, count, np.full(21, 4.0))
    columns = detail_of(nodes, (size**2).ravel().astype(float), size.ravel() / 64.0)
    quiet = columns.kind == QUIET
    assert quiet.any()
    assert columns.enclosed[quiet].all() == columns.enclosed[quiet].any() == enclosed
    assert not columns.enclosed[~quiet].any()
    if len(rows) == 1:  # beside open country that stands out of its noise it is no hole
        count[5 + lo[5:].tolist().index([0, 16])] = 10.0
        nodes = Decomposition(lo, lo + size, parent, count, np.full(21, 4.0))
        columns = detail_of(nodes, (size**2).ravel().astype(float), size.ravel() / 64.0)
        assert (columns.kind == QUIET).any()
        assert not columns.enclosed.any()
