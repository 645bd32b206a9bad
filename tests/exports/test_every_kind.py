"""A release of any kind has a page, a report, a picture where there is a map, and data."""

import base64
import html
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import shapely

import dpviz
from dpviz.errors import ReleaseError
from dpviz.exports import Presentation, has_picture, release_page, release_picture, report_page
from dpviz.private.flows import FlowData
from dpviz.render.nearby import place_rows
from dpviz.render.numbers import with_noise
from tests.wards import voronoi

WORDS = Presentation("Crimes, 2024", "By <month>", "crimes")
KINDS = {"kind": "offense", "kinds": ["theft", "fraud"]}
YEAR = {"time": "at", "period": ("2024-01-01", "2025-01-01")}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(rng.random((400, 2)), columns=["lon", "lat"])
    rows["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, 400), "D")
    rows["offense"] = rng.choice(["theft", "fraud"], 400)
    return rows.assign(trip=np.arange(400) // 4)


def points(table, **attributes):
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], **attributes)
    return dpviz.build(dpviz.load(table, domain, public=True), "ugrid", 2.0, cells=4, seed=1)


def areas(table, **attributes):
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], **attributes)
    every = {"every": "1mo"} if "time" in attributes else {}
    data = dpviz.load(table, domain, public=True)
    return dpviz.build(
        data, "areas", 2.0, areas=voronoi(domain.without_time.counts_only, 9, 0), seed=1, **every
    )


def flows(_table):
    wards = voronoi(dpviz.Domain((0.0, 0.0), (1.0, 1.0)), 9, 0)
    ends = np.random.default_rng(9).zipf(1.5, (400, 2)) % 9
    cells = np.column_stack([np.zeros(400, dtype=int), ends])
    return dpviz.build(FlowData("walks", dpviz.Flows(wards), cells, public=True), seed=1)


def boxes(dims):
    domain = dpviz.Domain((0.0,) * dims, (1.0,) * dims)
    records = np.random.default_rng(8).random((400, dims))
    return dpviz.build(dpviz.from_points(records, domain, public=True), "ugrid", 2.0, seed=1)


def roads(_table):
    from tests.roads.conftest import RoadData, commuter_trips, grid

    streets = grid(5)
    trips = commuter_trips(streets, 200, mean_edges=3, hubs=5, seed=3)
    return dpviz.build(RoadData("grid", streets, trips, public=True), epsilon=1.0, seed=1)


def symbols(_table):
    from tests.sequences.cases import public

    return dpviz.build(public([[0, 1, 2], [1, 2], [0, 2, 1]] * 50), "markov", 5.0, seed=1)


def moves(_table):
    data = dpviz.load("city", kind="sequences", side=4, gap=12.0)
    return dpviz.build(data, "markov", 1.0, seed=1)


RELEASES = {
    "points": points,
    "categories": lambda table: points(table, **KINDS),
    "time": lambda table: points(table, **YEAR),
    "time and categories": lambda table: points(table, **YEAR, **KINDS),
    "areas": areas,
    "areas by month and category": lambda table: areas(table, **YEAR, **KINDS, every="1d"),
    "flows": flows,
    "roads": roads,
    "moves": moves,
    "symbols": symbols,
    "trips": lambda _: boxes(4),
    "one dimension": lambda _: boxes(1),
}
WITHOUT_MAP = ("symbols", "one dimension")


@pytest.mark.parametrize("kind", RELEASES)
def test_every_kind_has_a_page_a_report_a_picture_and_data(kind, table, tmp_path):
    release = RELEASES[kind](table)
    sentence = f"{release.header.privacy_status[1]}."
    for page in (release_page(release, WORDS), report_page([release], presentation=WORDS)):
        assert "<h1>Crimes, 2024</h1>" in page
        assert "By &lt;month&gt;" in page
        seen = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL).partition('"more"')[0]
        assert seen.count(sentence) == 1
        if "categories" in kind:
            assert re.search(r">theft</th><td class=[^>]*>[^<]*±", seen)
        if "time" in kind or "month" in kind:
            assert re.search(r">March 2024</th><td class=[^>]*>[^<]*±", seen)
        if kind == "flows":
            assert "Flows, ward: 6 of 9, those with the most records" in seen
            assert re.search(r">All origins</th><td class=[^>]*>[^<]*±", seen)
    report = report_page([release], presentation=WORDS)
    assert ('src="data:image/png' in report) == has_picture(release) == (kind not in WITHOUT_MAP)
    if has_picture(release):
        assert release_picture([release], presentation=WORDS).startswith(b"\x89PNG")
    else:
        with pytest.raises(ReleaseError, match="no map to draw: 'dpviz report' lists its counts"):
            release_picture([release], presentation=WORDS)
    rows = pd.read_csv(dpviz.export(release, tmp_path / "data.csv"))
    assert {"count", "noise_sd", "half_width"} <= set(rows)


def test_pages_of_points_have_a_table_of_named_places_with_rounded_counts():
    release = dpviz.build(dpviz.load("city-50k", public=True), "ugrid", 1.0, seed=0)
    rows = place_rows(release)
    assert len(rows) > 5
    for page in (release_page(release, WORDS), report_page([release], presentation=WORDS)):
        table = page.partition("<summary>Named places, densest first")[2].partition("</table>")[0]
        cells = re.findall(r"<(?:th scope=\"row\"|td)[^>]*>([^<]*)", table)
        assert cells == [text for row in rows for text in row.values()]


@pytest.mark.parametrize(("cells", "cut"), [(4, True), (512, False)])
def test_named_places_say_whether_their_errors_are_noise_or_cut_cells(cells, cut):
    """A note told of noise, where every count was unsure since its square cut large cells."""
    data = dpviz.load("city-50k", public=True)
    page = release_page(dpviz.build(data, "ugrid", 0.1, cells=cells, seed=0), WORDS)
    assert ("; around named places most of it is not noise but from cut cells" in page) == cut
    assert "grey: not larger than its ±" in page


def test_named_places_are_those_where_the_release_is_densest_not_the_most_populous():
    """A world map listed Lahore and Wuhan at 0.0, and left out London, which was coloured."""
    rng = np.random.default_rng(0)
    visited = {"Lisbon": (-9.13, 38.72), "London": (-0.13, 51.51), "Oslo": (10.75, 59.91)}
    spots = np.repeat([*visited.values()], [9_000, 6_000, 3_000], axis=0)
    rows = pd.DataFrame(rng.normal(spots, 0.02), columns=["lon", "lat"])
    domain = dpviz.Domain.from_bounds([-180, -60, 180, 80])
    release = dpviz.build(dpviz.load(rows, domain, public=True), "privtree", 1.0, seed=0)
    table = release_page(release, WORDS).partition("<summary>Named places")[2]
    names = re.findall(r"<th scope=\"row\"[^>]*>([^<]*)", table.partition("</table>")[0])
    assert names[:3] == [*visited]
    assert "Camden" not in " ".join(names)  # one name for each square


def test_a_page_of_areas_by_month_has_each_month_of_each_area_in_table_and_file(table, tmp_path):
    """The table had the whole period alone, and no file was on the page."""
    release = RELEASES["areas by month and category"](table)
    page = release_page(release, WORDS)
    link = re.search(r'href="data:text/csv;base64,([^"]*)" download="crimes-2024.csv"', page)
    exported = dpviz.export(release, tmp_path / "data.csv").read_bytes()
    assert base64.b64decode(html.unescape(link[1])) == exported
    rows = pd.read_csv(io.BytesIO(exported))
    march = rows[(rows["start"] == "2024-03-01") & (rows["margin"] == "kinds")].set_index("name")
    shown = page.partition("<summary>ward: 9")[2].partition("</table>")[0]
    head, *lines = (re.findall(r"<t[hd][^>]*>([^<]*)", line) for line in shown.split("<tr>")[1:])
    assert len(lines) == len(march) == 9
    for line in lines:
        row = march.loc[int(line[0])]
        assert line[head.index("March 2024")] == with_noise(row["count"], row["half_width"])


def test_one_level_of_areas_is_not_called_by_its_column():
    squares = [shapely.box(x, 0, x + 1, 1) for x in range(3)]
    domain = dpviz.Domain((0.0, 0.0), (3.0, 1.0))
    column = dpviz.Areas(domain, ("name",), ("a", "b", "c"), np.full(3, -1), np.array(squares))
    data = dpviz.from_points(np.random.default_rng(3).random((90, 2)), domain, public=True)
    page = release_page(dpviz.build(data, "areas", 1.0, areas=column, seed=0))
    assert "<summary>areas: 3</summary>" in page
    assert '<th scope="col">areas</th>' in page
    assert '<tr><td>areas</td><td class="number">1</td>' in page  # the budget
    assert not re.search(r">(level )?name[:<]", page)


@pytest.mark.parametrize("kind", ["time and categories", "areas by month and category"])
def test_the_whole_period_has_a_legend_of_its_own(kind, table):
    page = release_page(RELEASES[kind](table), WORDS)
    spec = json.loads(re.search(r'<script id="scene"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    owner = spec["views"][-1] if kind.startswith("areas") else spec
    whole, steps = owner["wholeLegend"], owner["legend"]
    assert steps["title"] == f"{whole['title']}, one scale for all steps"
    assert whole["classes"] != steps["classes"]


def test_tooltips_over_areas_call_the_records_by_the_owners_noun(table):
    page = release_page(RELEASES["areas by month and category"](table), WORDS)
    spec = json.loads(re.search(r'<script id="scene"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    rows = [row["label"] for tooltip in spec["tooltips"].values() for row in tooltip["rows"]]
    unit = re.search(r"per .*?km²", spec["views"][-1]["legend"]["title"])[0]
    assert {*rows} == {"area", f"{WORDS.noun} (noisy)", unit}


def test_a_release_by_time_without_a_title_is_one_map(table):
    assert "<h1>A map, NOT PRIVATE</h1>" in release_page(points(table, **YEAR))
