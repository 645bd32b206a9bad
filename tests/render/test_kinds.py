"""Kinds on one map: the leading kind of a cell and shares, only where noise allows."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.evaluation.truth import records_of_kind
from dpviz.render import zoomed
from dpviz.render.cells import map_corners
from dpviz.render.colors import oklab
from dpviz.render.kinds import (
    KIND_COLORS,
    MAX_SHARE_WIDTH,
    _grouped,
    kind_cells,
    leaders,
    overlay_scene,
    share_scene,
    shares,
)
from tests.render.test_colors import EVEN, seen
from tests.vault import index_of

KINDS = ("bike", "walk", "sled")


def built(method, epsilon, **parameters):
    """Bikes in the west, walkers in the east, both alike in the north; no sled anywhere."""
    random = np.random.default_rng(5)
    south = random.uniform([0, 0], [4, 2], (6_000, 2))
    north = random.uniform([0, 2], [4, 4], (6_000, 2))
    modes = np.where(south[:, 0] < 2, "bike", "walk")
    table = {
        "x": np.r_[south[:, 0], north[:, 0]],
        "y": np.r_[south[:, 1], north[:, 1]],
        "mode": np.r_[modes, random.permutation(np.repeat(["bike", "walk"], 3_000))],
    }
    domain = dpviz.Domain.from_bounds([0, 0, 4, 4], ("x", "y"), kind="mode", kinds=KINDS)
    data = dpviz.load(pd.DataFrame(table), domain, public=True)
    return dpviz.build(data, method, epsilon, seed=2, **parameters)


@pytest.fixture(scope="module", params=["quadtree", "privtree"])
def release(request):
    return built(request.param, 5.0, **({"height": 3} if request.param == "quadtree" else {}))


def middles(release, cells):
    """Middles of the boxes that are drawn where the whole domain is in sight, by count."""
    corners = cells.offsets[:, :2] + cells.offsets[:, 2:]
    whole = np.ptp(np.r_[cells.offsets[:, :2], cells.offsets[:, 2:]], axis=0)
    return corners / whole / 2  # centres from −½ to ½, east and north


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kdtree", "privtree"])
def test_cells_of_one_kind_that_cut_another_s_make_no_leader(method, monkeypatch):
    """Regression: with equally frequent kinds up to a fifth of the cells had a false leader."""
    boxes = {}

    def noted(domain, lo, hi):
        boxes["all"] = lo, hi
        return map_corners(domain, lo, hi)

    monkeypatch.setattr(zoomed, "map_corners", noted)
    random = np.random.default_rng(0)
    places = random.random((60, 2))[random.integers(0, 60, 30_000)]
    x, y = np.clip(places + random.normal(0, 0.02, places.shape), 0, 0.9999).T
    table = pd.DataFrame({"x": x, "y": y, "m": random.choice(["a", "b"], len(x))})
    box = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), kind="m", kinds=["a", "b"])
    data = dpviz.load(table, box, public=True)
    cells = kind_cells(dpviz.build(data, method, 5.0, seed=1))
    exact = np.array(
        [index_of(records_of_kind(data, kind)).box_counts(*boxes["all"]) for kind in "ab"]
    )
    leader, clear = leaders(cells)
    true = np.where(exact[0] == exact[1], -1, exact.argmax(axis=0))
    assert np.mean((leader != true) & clear) < 0.05
    share, some = shares(cells), exact.sum(axis=0) > 0
    fraction = exact[0] / np.maximum(exact.sum(axis=0), 1)
    held = (share.low <= fraction) & (fraction <= share.high)
    assert held[some & ~cells.quiet].mean() > 0.9


@pytest.mark.slow
def test_a_kind_leads_where_it_is_and_none_within_the_noise(release):
    cells = kind_cells(release)
    leader, clear = leaders(cells)
    east, north = middles(release, cells).T
    for kind, side in ((0, east < -0.05), (1, east > 0.05)):
        here = clear & side & (north < -0.05)
        assert here.any()
        assert set(leader[here]) == {kind}
    assert not leaders(kind_cells(built("quadtree", 1e-4, height=2)))[1].any()


def test_noise_of_an_area_is_never_understated_where_cells_share_a_leaf(release):
    nodes = release.nodes
    parents = np.unique(nodes.parent[nodes.parent >= 0])
    _, rows = nodes.children(parents)
    member = np.searchsorted(parents, nodes.parent[rows])
    alone = np.zeros(len(rows), dtype=bool)
    for part in release.parts:
        count, variance, _ = _grouped(part, nodes.lo[rows], nodes.hi[rows], member, alone)
        whole = part.count_boxes(nodes.lo[parents], nodes.hi[parents])
        assert np.allclose(count, whole.count[member], atol=1e-6)
        assert (variance >= whole.noise_sd[member] ** 2 * (1 - 1e-9)).all()


@pytest.mark.slow
def test_a_share_is_coloured_hatched_or_blank_by_its_interval(release):
    scene = share_scene(release, "bike", ["walk"])
    tables = {name: scene.tables[name] for name in ("share", "wide", "too-few")}
    cells = kind_cells(release.only(["bike", "walk"]))
    answers = shares(cells)
    enough = answers.enough & ~cells.quiet
    width = answers.high - answers.low
    narrow = (enough & (width <= MAX_SHARE_WIDTH)).sum()
    strength = tables["share"]["strength"].to_numpy()
    assert (strength == 1).sum() == narrow > 0
    assert ((strength < 1).sum() + tables["wide"].num_rows) >= (
        enough & (width > MAX_SHARE_WIDTH)
    ).sum()
    assert sum(table.num_rows for table in tables.values()) == len(enough)
    assert set(tables["too-few"]["share"].to_pylist()) <= {"too few records"}
    assert tables["share"]["density"].to_numpy().max() > 0.9
    assert scene.legend.title == "Share of bike against walk"
    against = share_scene(release, "bike").legend.title
    assert against == "Share of bike against all others"


def test_a_share_is_blank_where_the_map_of_all_records_is():
    """Regression: large cells of few records were the strongest on the map."""
    random = np.random.default_rng(3)
    town, country = random.uniform(0, 1, (6_000, 2)), random.uniform([2, 2], [4, 4], (60, 2))
    x, y = np.vstack([town, country]).T
    mode = np.r_[random.choice(["bike", "walk"], len(town)), np.repeat("bike", len(country))]
    domain = dpviz.Domain.from_bounds([0, 0, 4, 4], ("x", "y"), kind="mode", kinds=KINDS[:2])
    data = dpviz.load(pd.DataFrame({"x": x, "y": y, "mode": mode}), domain, public=True)
    release = dpviz.build(data, "quadtree", 5.0, seed=2, height=2)
    blank = share_scene(release, "bike").tables["too-few"]["share"].to_pylist()
    assert any("to 100" in share for share in blank)
    assert len(share_scene(release, "bike").legend.swatches) == 1


def test_the_legend_names_the_kinds_and_the_map_has_every_cell_once(release):
    scene = overlay_scene(release)
    drawn = [name for name in scene.tables if name.startswith("kind-")]
    cells = kind_cells(release)
    assert sum(scene.tables[name].num_rows for name in drawn) == len(cells.km2)
    labels = [swatch.label for swatch in scene.legend.swatches]
    assert sorted(labels[:3]) == sorted(KINDS)
    assert labels[3] == "none leads beyond the errors"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_kinds_are_apart_for_every_eye(theme):
    colors = np.array(KIND_COLORS.of(theme), dtype=float)
    for eye in ("typical", "protanopia", "deuteranopia", "tritanopia"):
        places = 100 * oklab(seen(colors, eye))
        gaps = [np.linalg.norm(one - two) for one, two in combinations(places, 2)]
        assert min(gaps) > EVEN
