"""Contents of a shared map file: what it must hold, and what it must never hold."""

import base64
import gzip
import html
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import DomainError, ParameterError, ReleaseError
from dpviz.exports import (
    Note,
    Presentation,
    map_page,
    release_page,
    release_picture,
    report_page,
    stills,
)
from dpviz.exports.html import packed_map
from dpviz.releases.points.window import windows
from dpviz.render.cells import density_legend, density_scale
from dpviz.render.difference import difference
from dpviz.render.view import release_scene
from tests.exports.conftest import DOMAIN, NAME

ROOT = Path(__file__).parents[2]
EVIL = "</script><img src=x onerror=window.pwned=1>&\"'{{ 7 * 7 }}"


def element(page, name):
    return re.search(rf'<script id="{name}"[^>]*>(.*?)</script>', page, re.DOTALL)[1]


def unpacked(page):
    """The columns of a page by name, read as the browser reads them."""
    spec = json.loads(element(page, "scene"))
    block = gzip.decompress(base64.b64decode(element(page, "columns")))
    kinds = {"Float32Array": "f4", "Float64Array": "f8", "Int32Array": "i4", "Uint32Array": "u4"}

    def placed(place):
        kind = np.dtype(kinds.get(place["kind"], "u1"))
        raw = np.frombuffer(block, np.uint8, place["items"] * kind.itemsize, place["at"])
        return np.ascontiguousarray(raw.reshape(kind.itemsize, -1).T).view(kind).ravel()

    def column(each):
        if "texts" in each:
            return np.array(each["texts"])[placed(each["value"])]
        values = placed(each["value"])
        if each.get("delta"):
            rows = values.reshape(-1, each["size"])
            values = np.cumsum(rows, axis=0, dtype=rows.dtype).ravel()
        return values

    return {name: (each, column(each)) for name, each in spec["columns"].items()}


TREE = ("lo", "hi", "n_children", "count", "variance")
DETAIL = ("kind", "since", "until", "back")


@pytest.mark.slow
def test_the_columns_are_those_of_the_scene_and_of_the_trees(pair):
    columns = unpacked(map_page(pair))
    scene = release_scene(pair, ["one", "two"])
    contrast, _ = difference(pair, ["one", "two"])
    for mark in (contrast, *scene.marks[2:]):  # the browser derives the cells from the trees
        for name in mark.table.column_names:
            entry, values = columns.pop(f"{mark.id}.{name}")
            column = mark.table.column(name).combine_chunks()
            assert entry["length"] == len(column)
            flat = column
            while hasattr(flat, "values"):
                flat = flat.values
            assert np.array_equal(values, flat.to_numpy(zero_copy_only=False))
    for at, release in enumerate(pair):
        nodes = release.nodes
        _, children = columns.pop(f"tree{at}.n_children")
        assert np.array_equal(children, nodes.n_children)
        inner = nodes.parent >= 0
        for name, sign in (("lo", 1), ("hi", -1)):  # within the parent
            _, values = columns.pop(f"tree{at}.{name}")
            boxes = getattr(nodes, name).copy()
            boxes[inner] = sign * (boxes[inner] - boxes[nodes.parent[inner]])
            assert np.array_equal(values, boxes.ravel())
        _, counts = columns.pop(f"tree{at}.count")
        assert (np.abs(counts - nodes.count) <= np.sqrt(nodes.variance) / 2048).all()
        _, variances = columns.pop(f"tree{at}.variance")
        assert variances == pytest.approx(nodes.variance, rel=1 / 1024)
        for name in DETAIL:
            assert columns.pop(f"tree{at}.{name}")[0]["length"] == len(release.nodes)
    assert columns == {}


def test_a_series_is_in_the_order_of_epsilon_and_small():
    city = dpviz.load("city-50k")
    series = [dpviz.build(city, "quadtree", e, seed=1) for e in (1.0, 0.1, 0.3)]
    page = map_page(series)
    spec = json.loads(element(page, "scene"))
    assert spec["epsilons"] == [0.1, 0.3, 1.0]
    assert spec["names"] == [f"Quadtree · ε = {e:g}" for e in (0.1, 0.3, 1.0)]
    assert len(spec["trees"]) == 3
    nodes = sum(len(release.nodes) for release in series)
    drawing = len(element(page, "columns"))
    assert drawing < 60_000 + 9 * nodes


def test_a_deep_tree_takes_five_bytes_a_node():
    """So 200,000 records at ε = 10 in 1.5 million cells are under 8 MB with deck.gl."""
    release = dpviz.build(dpviz.load("city-50k"), "ladder_tree", 10.0, seed=1)
    page = map_page([release])
    assert len(element(page, "columns")) < 60_000 + 5 * len(release.nodes)


def test_a_file_holds_the_release_and_nothing_else_of_the_data(sensitive, records):
    rect = (10.2, 50.3, 10.5, 50.6)
    page = map_page([sensitive], rects=[rect])
    scene = release_scene([sensitive], ["a"])
    tree = {f"tree0.{name}" for name in TREE + DETAIL}
    drawn = {f"{mark.id}.{name}" for mark in scene.marks[1:] for name in mark.table.column_names}
    assert set(unpacked(page)) == tree | drawn
    # Both compressed blocks are searched, so that nothing hides in them.
    columns = gzip.decompress(base64.b64decode(element(page, "columns"))).decode("latin-1")
    text = page.replace(element(page, "columns"), columns).replace(element(page, "deck"), "")
    for secret in (NAME, "very-secret", str(Path.cwd())):
        assert secret not in text, secret
    bare = text.replace(columns, "")
    for word in ("seed", ".csv", "source", "release_id", str(Path.home())):
        assert word not in re.sub(r"<script type=.module.*?</script>", "", bare, flags=re.DOTALL)
    seen = html.unescape(re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL))
    exact = int(((records >= rect[:2]) & (records < rect[2:])).all(axis=1).sum())
    for count in (exact, len(records)):
        # Noisy counts of this size are rounded to tens, so that a match is no coincidence.
        assert count % 10
        assert re.findall(rf"(?<![\d,.])(?:{count}|{count:,})(?![\d,.])", seen) == []
    for bound in (*records.min(axis=0), *records.max(axis=0), *records.mean(axis=0)):
        assert f"{bound:.4f}" not in text
        assert np.float64(bound).tobytes().decode("latin-1") not in columns
    assert sensitive.header.guarantee in seen
    assert "e<sup>ε</sup> = 1.65" in seen


def test_no_address_is_reachable_from_a_file(sensitive):
    page = map_page([sensitive])
    assert "default-src 'none'" in page
    ours = page
    for name in ("columns", "deck"):
        ours = ours.replace(element(page, name), "")
    assert re.findall(r"(?:src|href)\s*=\s*[\"']?http", ours) == []
    namespace = "http://www.w3.org/2000/svg"  # mentioned, never requested
    assert re.findall(r"https?://[^\s\"'<]+", ours) == [namespace]


def test_names_are_never_markup(sensitive):
    evil = replace(
        sensitive,
        header=replace(
            sensitive.header,
            guarantee=EVIL,
            method=EVIL,
            unit=EVIL,
            parameters={EVIL: EVIL},
            budget=(
                {"purpose": EVIL, "epsilon": 0.5, "delta": 0, "mechanism": EVIL, "theorem": EVIL},
            ),
        ),
    )
    page = map_page(
        [evil], labels=[EVIL], presentation=Presentation(EVIL), rects=[(10.1, 50.1, 10.9, 50.9)]
    )
    assert "<img" not in page
    assert html.escape("<img src=x onerror") in page
    assert page.count("</script>") == page.count("<script")
    assert json.loads(element(page, "scene"))["names"] == [EVIL]
    assert "{{ 7 * 7 }}" in html.unescape(page)


@pytest.mark.slow
def test_answers_in_words_are_the_engines(pair):
    rect = (14.5, -24.0, 14.7, -23.8)
    page = map_page(pair, rects=[rect])
    table = html.unescape(re.search(r"<tbody>(.*?)</tbody>", page, re.DOTALL)[1])
    for release in pair:
        answer = release.count(rect)
        assert dpviz.render.with_noise(answer.count[0], answer.total_error[0]) in table
        assert f"{answer.nodes[0]:,}" in table


@pytest.mark.slow
def test_a_release_that_is_not_private_says_so_in_capitals(pair, sensitive):
    assert "gives NO PROTECTION" in map_page(pair)
    assert "<h1>Two maps, NOT PRIVATE</h1>" in map_page(pair)
    private = map_page([sensitive])
    assert "NOT PRIVATE" not in re.sub(r"<script.*?</script>", "", private, flags=re.DOTALL)


def test_two_private_releases_add_up(sensitive):
    assert "both maps together cost ε = 1." in map_page([sensitive, sensitive])


def test_the_same_release_makes_the_same_file(sensitive):
    assert map_page([sensitive]) == map_page([sensitive])


@pytest.mark.slow
def test_a_release_without_a_map_is_refused(sensitive, pair):
    trips = dpviz.build(dpviz.load("trips-200k"), epsilon=1.0, seed=0)
    with pytest.raises(ReleaseError, match="4 dimensions has no map of its own"):
        map_page([trips])
    line = dpviz.build(dpviz.from_points([[1.0]], dpviz.Domain((0,), (2,)), public=True))
    with pytest.raises(ReleaseError, match=r"^a release of one dimension has no map: query it, or"):
        map_page([line])
    with pytest.raises(ReleaseError, match=r"different areas, .* built over one"):
        map_page([sensitive, pair[0]])
    with pytest.raises(ReleaseError, match="13 releases: a map shows one, or a series of up to 12"):
        map_page([sensitive] * 13)
    with pytest.raises(DomainError, match="outside the domain"):
        map_page([sensitive], rects=[(0, 0, 1, 1)])


@pytest.mark.slow
def test_a_projected_domain_has_saved_answers_but_no_live_ones(records):
    metres = dpviz.Domain((0.0, 0.0), (700_000.0, 1_300_000.0), crs="EPSG:27700")
    points = np.random.default_rng(3).uniform((4e5, 3e5), (5e5, 4e5), (2_000, 2))
    release = dpviz.build(dpviz.from_points(points, metres), epsilon=1.0)
    page = map_page([release], rects=[(-1.5, 52.5, -1.0, 53.0)])
    spec = json.loads(element(page, "scene"))
    assert spec["tools"] == spec["trees"] == []
    assert "<strong>Draw</strong>" not in page
    assert '<th scope="col">Rectangle' in page
    assert DOMAIN.crs == "EPSG:4326"


def test_labels_that_are_not_one_for_each_release_are_refused(sensitive):
    for page in (map_page, report_page):
        with pytest.raises(ReleaseError, match="2 labels for 1 releases: give one each"):
            page([sensitive], labels=["a", "b"])


def test_pages_that_travel_have_the_colours_of_the_app():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    style = (ROOT / "dpviz" / "exports" / "templates" / "page.css").read_text()
    dark, _, light = style.partition("endset")
    for scheme, text in (("dark", dark), ("light", light)):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text))
        shown = {
            "primaryColor": colours["st-primary-color"],
            "backgroundColor": colours["st-background-color"],
            "secondaryBackgroundColor": colours["paper"],
            "textColor": colours["st-text-color"],
        }
        assert shown == theme[scheme]


def test_the_owners_words_are_on_page_legend_map_and_in_the_name_of_the_file(sensitive):
    words = Presentation("Crimes, 2024", "By place", "crimes", (Note(10.3, 50.4, "Harbour"),))
    page = map_page([sensitive], presentation=words)
    spec = json.loads(element(page, "scene"))
    assert spec["legend"]["title"] == "Crimes per km²"
    assert unpacked(page)["note-titles.name"][1].tolist() == ["Harbour"]
    assert "<h1>Crimes, 2024</h1>" in page
    assert words.file_name("-report.html", "report.html") == "crimes-2024-report.html"
    assert Presentation.from_dict(words.to_dict()) == words
    with pytest.raises(ParameterError, match="6 notes: give at most 5"):
        Presentation(notes=6 * words.notes)


def test_a_series_of_one_release_states_its_guarantee_and_its_epsilon_once():
    year = dpviz.build(dpviz.load("year"), "ugrid", 1.0, seed=1, cells=8)
    page = release_page(year)
    seen = re.sub(r"<(script|style|details class=.more).*?</(script|style|main)>", "", page,
                  flags=re.DOTALL)  # fmt: skip
    assert seen.count("ε = 1") == 1
    assert page.count("gives NO PROTECTION") == 1


def test_a_picture_of_months_and_kinds_has_the_scale_of_the_page(monkeypatch):
    period, names = ("2024-01-01", "2025-01-01"), ["rare", "usual"]
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], period=period, kind="kind", kinds=names)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(0.5, 0.05, (6_000, 2)), columns=["lon", "lat"])
    table["kind"] = rng.choice(names, 6_000, p=[0.2, 0.8])
    table["time"] = np.datetime64("2024-03-01T05:00:00")
    release = dpviz.build(dpviz.load(table, domain, public=True), "ladder_tree", 1.0, seed=1)
    scales = []
    monkeypatch.setattr(
        stills, "comparison_png", lambda *_, scaled_as, **__: scales.append(scaled_as)
    )
    release_picture([release])
    maps, labels = windows(release)
    legend = packed_map(maps, labels, whole=release).spec["wholeLegend"]
    labels_of_picture = density_legend(density_scale(*scales[0])).labels
    assert [*labels_of_picture] == [each["label"] for each in legend["classes"]]
    assert labels_of_picture != density_legend(density_scale(maps[0])).labels


def test_a_report_has_a_picture_of_every_kind():
    names = ["a", "b", "c", "d", "e"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((500, 2)), columns=["lon", "lat"])
    table["kind"] = rng.choice(names, 500)
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], kind="kind", kinds=names)
    data = dpviz.load(table, domain, public=True)
    page = report_page([dpviz.build(data, "ugrid", 5.0, cells=4, seed=1)])
    assert re.findall(r'alt="Map of noisy density: ([^"]*)"', page) == ["All categories", *names]


@pytest.mark.parametrize(
    ("sides", "title"),
    [
        ((-95.9, 29.4, -94.9, 30.2), "A private map around Houston"),
        ((-125, 24, -66, 50), "A private map"),
    ],
)
def test_an_untitled_page_names_the_largest_town_of_its_public_area(sides, title):
    domain = dpviz.Domain.from_bounds(sides)
    data = dpviz.from_points(np.array([[-95.4, 29.8]]), domain, public=True)
    page = map_page([dpviz.build(data, "ugrid", 1.0, ledger=None)])
    assert f"<title>{title}</title>" in page
