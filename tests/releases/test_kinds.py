"""Releases of several kinds: a tree for each, counts and shares, files, commands."""

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

import dpviz
from dpviz.errors import DataError, DomainError
from dpviz.releases.points.quotient import quotients
from dpviz.releases.points.window import during
from dpviz.render.kinds import overlay_scene, share_scene
from tests.commands import as_json, fails
from tests.commands import run as cli
from tests.private.load.stability import distance
from tests.vault import layers_of

KINDS = ("bike", "walk", "other")
BOX = dpviz.Domain.from_bounds([0, 0, 8, 8], ("x", "y"), kind="mode", kinds=KINDS)
QUARTER = [0, 0, 4, 4]


def frame(n=1_200, seed=0):
    """Records of two listed kinds, one that is not, and some without a kind."""
    random = np.random.default_rng(seed)
    modes = np.array(["bike", "walk", "tram", None], dtype=object)
    return pd.DataFrame(
        {
            "x": 8 * random.beta(2, 4, n),
            "y": 8 * random.beta(3, 2, n),
            "mode": modes[random.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])],
            "who": random.integers(0, n // 3, n).astype(str),
            "t": random.uniform(0, 86_400, n),
        }
    )


RECORDS = frame()
EXACT = {name: int((RECORDS["mode"] == name).sum()) for name in ("bike", "walk", "tram")}


def build(method="quadtree", epsilon=1.0, domain=BOX, **parameters):
    data = dpviz.load(RECORDS, domain, public=True)
    return dpviz.build(data, method, epsilon=epsilon, seed=1, **parameters)


METHODS = {
    "quadtree": {"height": 3},
    "kdtree": {"height": 3},
    "privelet": {"log_cells": 3},
    "hilbert_rtree": {"height": 3},
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_builds_a_tree_for_each_kind(method, tmp_path):
    release = build(method, **METHODS[method])
    again = dpviz.read(release.save(tmp_path / "r.parquet"))
    assert again.header == release.header
    assert sum(row["epsilon"] for row in again.header.budget) == pytest.approx(1.0)
    assert all("disjoint" in row["theorem"] for row in again.header.budget)
    assert [part.header.extra["kind"] for part in again.parts] == list(KINDS)
    if method == "hilbert_rtree":  # its boxes overlap
        return
    # The map of all kinds gives the sum of the kinds, and is never more certain.
    leaf = again.nodes.leaf
    assert again.nodes.volume[leaf].sum() == BOX.side**2
    answers = again.count_boxes(again.nodes.lo[leaf], again.nodes.hi[leaf])
    assert again.nodes.count[leaf] == pytest.approx(answers.count, abs=1e-6)
    assert (again.nodes.variance[leaf] >= answers.noise_sd**2 * (1 - 1e-9) - 1e-6).all()


def test_cells_of_all_kinds_together_that_are_added_up_are_never_too_sure():
    """Trees of different depth: a cell that only one kind divides is shared."""
    names = tuple(f"kind {number}" for number in range(12))
    domain = dpviz.Domain.from_bounds([0, 0, 8, 8], ("x", "y"), kind="mode", kinds=names)
    random = np.random.default_rng(0)
    x, y = 8 * random.beta(2, 4, (2, 20_000))
    number = np.where(random.random(len(x)) < 0.9, 0, random.integers(1, 12, len(x)))
    records = pd.DataFrame({"x": x, "y": y, "mode": np.array(names)[number]})
    data = dpviz.load(records, domain, public=True)
    release = dpviz.build(data, "privtree", epsilon=0.3, seed=1)
    nodes = release.nodes
    first, second = np.triu_indices(4, 1)
    inner = np.flatnonzero(~nodes.leaf)
    one = (nodes.first_child[inner, None] + first).ravel()
    other = (nodes.first_child[inner, None] + second).ravel()
    low, high = (
        np.minimum(nodes.lo[one], nodes.lo[other]),
        np.maximum(nodes.hi[one], nodes.hi[other]),
    )
    beside = np.prod(high - low, axis=1) == nodes.volume[one] + nodes.volume[other]
    both = release.count_boxes(low[beside], high[beside])
    stated = (nodes.variance[one] + nodes.variance[other])[beside]
    assert len(stated) == 4 * len(inner)
    assert (stated >= both.noise_sd**2 * (1 - 1e-9)).all()


def test_nearly_without_noise_counts_are_exact_by_kind():
    release = build("ugrid", epsilon=1e6, cells=2)
    in_quarter = (RECORDS["x"] < 4) & (RECORDS["y"] < 4)
    for name, mode in (("bike", "bike"), ("walk", "walk"), ("other", "tram")):
        wanted = [EXACT[mode], ((RECORDS["mode"] == mode) & in_quarter).sum()]
        count = release.count([[0, 0, 8, 8], QUARTER], kind=name).count
        assert count.round(2).tolist() == wanted
    share = release.share([0, 0, 8, 8], "bike", of=["walk"])
    assert share.value[0] == pytest.approx(EXACT["bike"] / (EXACT["bike"] + EXACT["walk"]))
    without = build("ugrid", 1e6, dpviz.Domain.from_bounds(
        [0, 0, 8, 8], ("x", "y"), kind="mode", kinds=["walk", "bike"]), cells=2)  # fmt: skip
    assert without.count([0, 0, 8, 8]).count[0].round(2) == EXACT["bike"] + EXACT["walk"]


@pytest.mark.slow
def test_kinds_and_time_go_together():
    domain = dpviz.Domain.from_bounds(
        [0, 0, 8, 8], ("x", "y"), period=(0, 86_400), time="t", kind="mode", kinds=KINDS
    )
    release = build("quadtree", 1e6, domain, height=2)
    assert release.domain.without_time.kinds == domain.kinds
    half = (0, 43_200)
    wanted = ((RECORDS["mode"] == "bike") & (RECORDS["t"] < 43_200)).sum()
    assert release.count([0, 0, 8, 8], half, "bike").count[0].round(2) == wanted
    assert release.share([0, 0, 8, 8], "bike", period=half).enough.all()
    shown = during(release, half)
    assert shown.kinds
    assert shown.domain == dpviz.Domain.from_bounds(
        [0, 0, 8, 8], ("x", "y"), kind="mode", kinds=KINDS
    )
    for kind in (None, *KINDS):
        asked = release.count(QUARTER, half, kind)
        assert shown.count(QUARTER, kind=kind).count[0] == pytest.approx(asked.count[0])
    (before,), (after,) = (
        release.share(QUARTER, "bike", period=half).low,
        shown.share(QUARTER, "bike").low,
    )
    assert after == pytest.approx(before, abs=1e-3)
    assert overlay_scene(shown).legend.title.startswith("Leading category")
    assert share_scene(shown, "bike").legend.title.startswith("Share of bike")


@pytest.mark.slow
def test_the_window_of_wavelets_of_kinds_has_the_noise_of_the_window(tmp_path):
    """Regression: an hour had the uniformity error of the whole period, three times as much."""
    domain = dpviz.Domain.from_bounds(
        [0, 0, 8, 8], ("x", "y"), period=(0, 86_400), time="t", kind="mode", kinds=KINDS
    )
    release = build("privelet", 1.0, domain, log_cells=3)
    hours = (0, 10_800)
    shown = dpviz.read(release.during(hours).save(tmp_path / "r.parquet"))
    assert release.count(QUARTER, hours).noise_sd < 0.7 * release.count(QUARTER).noise_sd
    for kind in (None, *KINDS):
        asked = release.count(QUARTER, hours, kind)
        assert shown.count(QUARTER, kind=kind).noise_sd == pytest.approx(asked.noise_sd)


def test_exports_have_the_column_of_kinds(tmp_path):
    release = build(**METHODS["quadtree"])
    table = pd.read_csv(dpviz.export(release, tmp_path / "r.csv"))
    assert set(table["kind"]) == set(KINDS)
    for name in KINDS:
        whole = release.count([0, 0, 8, 8], kind=name).count[0]
        assert table.loc[table["kind"] == name, "count"].sum() == pytest.approx(whole)
    assert len(release.to_geopandas()) == sum(len(part.nodes) for part in release.parts)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kind": "mode"}, "require each other"),
        ({"kinds": ["a"]}, "require each other"),
        ({"kind": "mode", "kinds": []}, "0 kinds: give 1 to 64"),
        ({"kind": "mode", "kinds": "ab"}, "give a list of texts"),
        ({"kind": "mode", "kinds": ["a", "a"]}, "'a' is listed twice"),
        ({"kind": "mode", "kinds": ["a", ""]}, "give a text of 1 to 100 characters"),
        ({"kind": "mode", "kinds": ["caf\udce9", "other"]}, "is not valid Unicode"),
        ({"kind": "mode", "kinds": ["a\0b"]}, "contains a NUL"),
        ({"kind": "mode", "kinds": [f"k{each}" for each in range(65)]}, "65 kinds"),
    ],
)
def test_an_invalid_list_of_kinds_is_refused(wrong, words):
    with pytest.raises(DomainError, match=words):
        dpviz.Domain.from_bounds([0, 0, 1, 1], **wrong)


def test_points_without_kinds_are_no_records_of_a_domain_with_kinds():
    with pytest.raises(DataError, match="does not say the kind of a record"):
        dpviz.from_points([[1, 1]], BOX)
    plain = build("ugrid", domain=BOX.counts_only, cells=2)
    with pytest.raises(DomainError, match="a release without kinds: leave it out"):
        plain.count([0, 0, 1, 1], kind="bike")
    with pytest.raises(DomainError, match="no kind 'car': choose one of bike, walk, other"):
        build("ugrid", cells=2).count([0, 0, 1, 1], kind="car")


@pytest.mark.slow
def test_a_file_a_folder_and_counts_by_cell_give_the_same_layers(tmp_path):
    RECORDS.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "folder").mkdir()
    RECORDS.to_parquet(tmp_path / "folder" / "t.parquet")
    how = {"columns": ("x", "y"), "bits": 8, "public": True}
    handles = [dpviz.load(tmp_path / name, BOX, **how) for name in ("t.csv", "folder")]
    counts = dpviz.cell_counts(RECORDS, BOX, columns=("x", "y"), bits=8)
    handles.append(dpviz.from_counts(counts, BOX, name="kept", bits=8))
    assert [index.total for index in layers_of(handles[0]).counts] == [*EXACT.values()]
    for other in handles[1:]:
        for one, two in zip(layers_of(handles[0]).counts, layers_of(other).counts, strict=True):
            assert distance(one, two) == 0


def test_shares_are_covered_by_their_intervals():
    """At least 95 % of 20,000 shares; fewer than 94.5 % by chance has odds below 1e-3."""
    random = np.random.default_rng(5)
    for one, rest, scale in ((40, 60, 2.0), (3, 5, 4.0), (0, 30, 1.5), (200, 0, 3.0)):
        noise = random.laplace(0, scale, (2, 20_000))
        above, below = one + noise[0], one + rest + noise[0] + noise[1]
        variance = np.full(20_000, 2 * scale**2)
        shares = quotients(above, below, (variance, 2 * variance, variance), (0.0, 1.0))
        truth = one / (one + rest)
        assert ((shares.low <= truth) & (truth <= shares.high)).mean() >= 0.945
        assert (shares.low <= shares.high).all()
        assert np.isnan(shares.value[~shares.enough]).all()
        assert (shares.high - shares.low)[~shares.enough].min(initial=1.0) == 1.0


PLACES = ("--bounds=0,0,8,8", "--columns", "x,y", "--kind", "mode", "--kinds", "bike,walk")


@pytest.mark.slow
def test_the_commands_know_kinds(tmp_path):
    source, output = tmp_path / "t.csv", tmp_path / "r.parquet"
    RECORDS.to_csv(source, index=False)
    assert cli("build", source, "-o", output, *PLACES, "--public", "--seed", 1)[0] == 0
    (answer,) = as_json("query", output, "--rect=0,0,8,8")["answers"]
    assert answer["count"] == pytest.approx(sum(k["count"] for k in answer["kinds"].values()))
    share = answer["kinds"]["bike"]["share"]
    assert share["low"] <= EXACT["bike"] / (EXACT["bike"] + EXACT["walk"]) <= share["high"]
    assert share["enough"]
    (walk,) = as_json("query", output, "--rect=0,0,8,8", "--kind", "walk")["answers"]
    assert walk["count"] == answer["kinds"]["walk"]["count"]
    assert "kinds" not in walk
    _, out, _ = cli("query", output, "--rect=0,0,8,8")
    assert "bike: " in out
    assert "share " in out
    halves = geopandas.GeoDataFrame(
        {"name": ["west", "east"]},
        geometry=[shapely.box(0, 0, 4, 8), shapely.box(4, 0, 8, 8)],
        crs="EPSG:4326",
    )
    halves.to_file(tmp_path / "halves.gpkg")
    asked = ("query", output, "--regions", tmp_path / "halves.gpkg")
    regions = as_json(*asked)["answers"]
    for each in regions:
        assert each["count"] == pytest.approx(sum(k["count"] for k in each["kinds"].values()))
    both = sum(each["kinds"]["bike"]["count"] for each in regions)
    assert both == pytest.approx(answer["kinds"]["bike"]["count"])
    assert "  walk: " in cli(*asked)[1]
    _, out, _ = cli("info", output)
    assert "kinds by mode: bike,walk" in out
    dropped = len(RECORDS) - EXACT["bike"] - EXACT["walk"]
    assert as_json("check", source, *PLACES)["facts"]["of no listed category: dropped"] == dropped
    err = fails("build", source, "-o", tmp_path / "s.parquet", *PLACES[:-2])
    assert "kind and kinds require each other" in err
