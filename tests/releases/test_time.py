"""A release with time: counts over a period, timelines, exports, commands on files."""

import json
from datetime import date
from functools import cache

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

import dpviz
from dpviz.domain import calendar
from dpviz.errors import DomainError, ReleaseError
from dpviz.exports import map_page
from dpviz.exports.facts import are_views_of_one
from dpviz.releases.points.box import Box
from dpviz.releases.points.window import during, windows
from dpviz.render.numbers import count_words
from dpviz.trees.lattice import overlaps
from tests.commands import as_json, fails
from tests.commands import run as cli

YEAR = ("2024-01-01", "2025-01-01")
BOX = dpviz.Domain.from_bounds([0, 0, 8, 8], ("x", "y"), period=YEAR, time="when", every="1h")
RANDOM = np.random.default_rng(0)
RECORDS = np.column_stack([RANDOM.uniform(0, 8, (4_000, 2)), RANDOM.uniform(*BOX.period, 4_000)])
DATA = dpviz.from_points(RECORDS, BOX, public=True)


@pytest.fixture(scope="module")
def release():
    return dpviz.build(DATA, "quadtree", epsilon=1.0, seed=1, height=4)


def test_a_domain_states_its_period_and_step():
    assert BOX.time == "when"
    assert BOX.without_time == dpviz.Domain((0, 0), (8, 8), ("x", "y"))
    assert dpviz.Domain.from_dict(json.loads(json.dumps(BOX.to_dict()))) == BOX
    start, end = BOX.period
    cells, inside = BOX.to_lattice([[1, 1, start], [1, 1, start + 3599], [1, 1, end]])
    assert inside.tolist() == [True, True, False]
    assert cells[0].tolist() == cells[1].tolist()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"period": "2024-01-01"}, "give two moments"),
        ({"period": "2025-01-01,2024-01-01"}, "the end must be after the start"),
        ({"period": "2024-01-01,soon"}, "'soon' is not a time"),
        ({"period": YEAR, "every": "7h"}, "give another step, or end it at 2025-01-01T01:00:00$"),
        ({"period": YEAR, "every": "1mo"}, "no fixed length"),
        ({"period": YEAR, "every": "0h"}, "give a number and a unit"),
        ({"every": "1h"}, "without a period"),
        ({"period": YEAR, "bounds": [0, 0, 0, 0, 1, 1, 1, 1]}, "a time axis with 4 coordinates"),
    ],
)
def test_an_invalid_period_is_refused(wrong, words):
    with pytest.raises(DomainError, match=words):
        dpviz.Domain.from_bounds(**{"bounds": [0, 0, 1, 1]} | wrong)


def test_a_timeline_adds_up_to_the_count_of_the_period(release):
    period = ("2024-02-10T06:00", "2024-05-03")
    for every, steps in (("1mo", 4), ("1w", 13), ("6h", 331), ("1y", 1)):
        line = release.timeline([1, 1, 5, 6], every, period)
        assert len(line) == len(line.start) == steps
        assert line.count.sum() == pytest.approx(release.count([1, 1, 5, 6], period).count[0])
        assert str(line.start[0]) == "2024-02-10T06:00:00"
        assert (line.start[1:] == line.end[:-1]).all()
    weeks = release.timeline(every="1w").start[1:]
    assert (weeks.astype("datetime64[D]").astype(int) % 7 == 4).all()  # Mondays
    assert len(release.timeline()) == 366
    whole = release.count([0, 0, 8, 8]).count[0]
    assert release.timeline(every="1d").count.sum() == pytest.approx(whole)


def test_nearly_without_noise_hours_are_exact():
    """Counts of four hours on a lattice that hours divide equal the records."""
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], period=(0, 4 * 3600), every="1h")
    seconds = np.array([0, 3599.9, 3600, 7200, 7200, 7201, 4 * 3600])
    points = np.repeat(np.column_stack([np.full((7, 2), 0.3), seconds]), 100, axis=0)
    data = dpviz.from_points(points, domain, public=True)
    release = dpviz.build(data, "quadtree", epsilon=1e6, seed=1, height=4)
    assert release.timeline(every="1h").count.round(2).tolist() == [200, 100, 300, 0]


HEADER = dpviz.Header("quadtree", {}, False, "NOT PRIVATE", 1.0)


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (("2020-01-01", "2021-01-01"), "lies outside that of the domain, 2024-01-01 to 2025-01-01"),
        (("2024-06-01", "2024-05-01"), "the end must be after the start"),
        (("2024-06-01",), "give two moments"),
        (("x", "y"), "'x' is not a time"),
    ],
)
def test_periods_outside_are_refused(release, period, words):
    with pytest.raises(DomainError, match=words):
        release.count([1, 1, 2, 2], period)
    with pytest.raises(DomainError, match=words):
        release.timeline(period=period)


def test_a_timeline_is_of_one_rectangle(release):
    with pytest.raises(DomainError, match="2 rectangles: a timeline is of one"):
        release.timeline([[1, 1, 2, 2], [2, 2, 3, 3]])


def test_a_release_without_time_has_no_period(tmp_path):
    flat = dpviz.from_points(RECORDS[:, :2], BOX.without_time, public=True)
    flat = dpviz.build(flat, epsilon=1.0, seed=1)
    for asked in (flat.timeline, lambda: flat.count([1, 1, 2, 2], YEAR)):
        with pytest.raises(DomainError, match="this release has no time"):
            asked()
    with pytest.raises(DomainError, match="at most 20,000"):
        dpviz.CountRelease(Box(BOX), TREE, HEADER).timeline(every="1min")


TREE = dpviz.Decomposition(
    lo=np.zeros((1, 3), np.int64), hi=np.full((1, 3), BOX.side), parent=np.array([-1]),
    count=np.array([100.0]), variance=np.array([4.0]),
)  # fmt: skip


@pytest.mark.slow
def test_differences_of_two_periods_have_95_percent_intervals():
    """100 releases of one grid, windows that cut its cells, against the same without noise."""
    windows = ("2024-03-05", "2024-05-20"), ("2024-05-20", "2024-09-11")
    rects = np.array([[1, 1, 5, 6], [0, 0, 8, 8], [2.5, 3, 4, 7]])
    grid = {"method": "quadtree", "height": 2}
    exact = dpviz.build(DATA, epsilon=1e7, seed=0, **grid).difference(rects, *windows)
    within = []
    for seed in range(100):
        release = dpviz.build(DATA, epsilon=1.0, seed=seed, **grid)
        answer = release.difference(rects, *windows)
        within.append((answer.low <= exact.count) & (exact.count <= answer.high))
    a, b = (release.count(rects, each) for each in windows)
    assert answer.count == pytest.approx(a.count - b.count)
    assert answer.noise_sd == pytest.approx(a.noise_sd + b.noise_sd)
    assert np.mean(within, axis=0).min() >= 0.95


@cache
def built(method):
    return dpviz.build(DATA, method, 1.0, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["quadtree", "privtree", "kdtree", "ugrid"])
def test_the_map_of_a_window_answers_as_the_release_does(method):
    """Its cells are a partition, and each cell's count and noise are the release's own."""
    whole = built(method)
    window = ("2024-03-01", "2024-03-20")
    flat = during(whole, window)
    assert flat.domain == BOX.without_time
    leaf = flat.nodes.leaf
    assert flat.nodes.volume[leaf].sum() == BOX.side**2 << 2 * (flat.domain.bits - BOX.bits)
    low = flat.domain.to_coordinates(flat.nodes.lo[leaf])
    high = flat.domain.to_coordinates(flat.nodes.hi[leaf])
    rects = np.hstack([low, high])
    answers = whole.count(rects, window)
    assert flat.nodes.count[leaf] == pytest.approx(answers.count)
    assert (flat.nodes.variance[leaf] >= answers.noise_sd**2 - 1e-6).all()
    assert flat.header.extra["period"] == list(window)


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [("quadtree", 0.7, 1.5), ("ladder_tree", 0.7, 1.5), ("ugrid", 0.9, 6)],
)
@pytest.mark.parametrize(
    "window", [("2024-03-01", "2024-03-20"), ("2024-03-05T06:00", "2024-03-05T18:00")]
)
def test_the_map_of_a_window_knows_what_is_assumed_of_time(method, least, most, window, tmp_path):
    """Cells that the window cuts were taken for exact: its answers had hardly any such error.

    Grids stand for cells of another shape, and take parts of one cell for independent of others.
    """
    whole = built(method)
    flat = during(whole, window)
    corners = np.random.default_rng(9).uniform(0, 8, (100, 2, 2))
    for rects in (np.array([[0.0, 0, 8, 8]]), np.sort(corners, axis=1).reshape(-1, 4)):
        expected, stated = (
            each.uniformity_sd for each in (whole.count(rects, window), flat.count(rects))
        )
        assert least < np.median(stated[expected > 0] / expected[expected > 0]) < most
    places = shapely.box(*rects.T)
    assert flat.count_regions(places).uniformity_sd == pytest.approx(stated, rel=1e-3)
    again = dpviz.read(flat.save(tmp_path / "flat.parquet"))
    assert again.count(rects).uniformity_sd == pytest.approx(stated)


def test_cells_of_a_window_that_share_noise_never_look_surer_than_their_sum():
    """Variances of cells against the exact variance of random sums of them, node by node."""
    whole = built("privtree")
    flat = during(whole, ("2024-03-01", "2024-07-20")).nodes
    leaves, cells = np.flatnonzero(whole.nodes.leaf), np.flatnonzero(flat.leaf)
    (low,), (high,) = BOX.boxes(BOX.query_boxes([0, 0, 8, 8], ("2024-03-01", "2024-07-20")))
    finer = BOX.without_time.side // BOX.side
    share = np.zeros((len(cells), len(leaves)))
    for row, cell in enumerate(cells):
        lo, hi = (
            np.append(flat.lo[cell] // finer, low[2]),
            np.append(flat.hi[cell] // finer, high[2]),
        )
        common = overlaps(whole.nodes.lo[leaves], whole.nodes.hi[leaves], lo, hi)
        share[row] = common / whole.nodes.volume[leaves]
    looser = False
    for size in (1, 2, 5, len(cells) // 2, len(cells)):
        some = RANDOM.choice(len(cells), size, replace=False)
        exact = (share[some].sum(axis=0) ** 2 * whole.nodes.variance[leaves]).sum()
        stated = flat.variance[cells[some]].sum()
        assert stated >= exact * (1 - 1e-9)
        looser |= stated < 1.01 * exact
    assert looser  # the stated error of all steps together is exact


@pytest.mark.slow
def test_exports_carry_start_and_end(release, tmp_path):
    path = release.save(tmp_path / "r.parquet")
    assert dpviz.read(path).domain == BOX
    leaves = int(release.nodes.leaf.sum())
    frames = [
        geopandas.read_parquet(path).query("leaf"),
        geopandas.read_file(dpviz.export(release, tmp_path / "r.gpkg"), layer="dpviz"),
        geopandas.read_file(dpviz.export(release, tmp_path / "r.geojson")),
    ]
    plain = pd.read_csv(dpviz.export(release, tmp_path / "r.csv"))
    for frame in (*frames, plain):
        assert len(frame) == leaves
        t0 = pd.to_datetime(frame["t0"], utc=True)
        t1 = pd.to_datetime(frame["t1"], utc=True)
        assert t0.min() == pd.Timestamp(YEAR[0], tz="UTC")
        assert t1.max() == pd.Timestamp(YEAR[1], tz="UTC")
        assert (t1 > t0).all()
    geojson = json.loads((tmp_path / "r.geojson").read_text())
    assert geojson["dpviz"]["domain"]["time"] == {"step": 3600.0, "zone": "UTC"}


@pytest.mark.slow
def test_the_command_line_builds_and_queries_points_by_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    when = calendar.Calendar().stamps(RECORDS[:, 2]).astype(str)
    table = pd.DataFrame({"x": RECORDS[:, 0], "y": RECORDS[:, 1], "visited_at": when})
    table.to_csv("visits.csv", index=False)
    box = ["--bounds=0,0,8,8", "--time", "visited_at", "--period=2024-01-01,2025-01-01"]

    build = ["build", "visits.csv", "-o", "r.parquet", "--public", "--seed=1"]
    as_json(*build, *box, "--every=1h", "--columns=x,y")
    march = ["r.parquet", "--rect=1,1,5,5", "--period=2024-03-01,2024-04-01"]
    (whole,) = as_json("query", *march)["answers"]
    (gap,) = as_json("query", *march, "--less=2024-06-01,2024-07-01")["answers"]
    release = dpviz.read("r.parquet")
    wanted = release.difference([1, 1, 5, 5], "2024-03-01,2024-04-01", "2024-06-01,2024-07-01")
    assert (gap["count"], gap["noise_sd"]) == (wanted.count[0], wanted.noise_sd[0])
    days = as_json("timeline", *march, "--every=1d")["timeline"]
    assert [days[0]["start"], days[-1]["end"]] == ["2024-03-01", "2024-04-01"]
    assert sum(day["count"] for day in days) == pytest.approx(whole["count"])
    assert as_json("info", "r.parquet")["domain"]["time"]["step"] == 3600.0
    assert as_json("check", "visits.csv", *box)["facts"]["kept"] == len(table)
    assert "--time requires --period or --cycle" in fails(*build, *box[:-1])
    assert "every='1h' without a period" in fails(*build, box[0], "--every=1h")
    assert "no column 'nope'" in fails(*build, box[0], "--time=nope", box[-1])
    as_json(*build[:3], "flat.parquet", *build[4:], box[0])
    assert "this release has no time" in fails("timeline", "flat.parquet")


@pytest.mark.slow
def test_a_file_of_rectangles_is_of_places_alone_or_with_time(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release.save("r.parquet")
    start, end = BOX.period
    march = start + 60 * 86_400

    def answers(*words):
        return as_json("query", "r.parquet", *words)["answers"]

    def file_of(text):
        (tmp_path / "rects.csv").write_text(text)
        return "--rects", "rects.csv"

    def of_file(text, *words):
        return answers(*file_of(text), *words)

    def refused(text, *words):
        return fails("query", "r.parquet", *file_of(text), *words)

    alone, timed = answers("--rect=1,1,5,5"), answers(f"--rect=1,1,{start},5,5,{march}")
    for text in (
        "west,south,east,north\n1,1,5,5\n",
        "name,y_min,x_min,y_max,x_max,count\nhere,1,1,5,5,7\n",  # as many columns as with time
    ):
        assert of_file(text) == alone
        assert of_file(text, "--rect=1,1,5,5") == alone * 2
        whole = of_file(text, f"--period={YEAR[0]},{YEAR[1]}")
        assert [row["count"] for row in whole] == pytest.approx([alone[0]["count"]])
    sides = "x_min,y_min,when_min,x_max,y_max,when_max"
    assert of_file(f"{sides}\n1,1,{start},5,5,{march}\n") == timed
    flat = "west,south,east,north\n1,1,5,5\n"
    line = "name each side once: x_min, y_min, when_min"
    assert line in refused(flat, f"--rect=1,1,{start},5,5,{end}")
    cells = "x_min,y_min,x_max,y_max,t0,t1\n1,1,5,5,2024-01-01,2024-02-01\n"
    assert line in refused(cells)


@pytest.mark.slow
@pytest.mark.parametrize("method", [["privtree"], ["ugrid", "--set", "cells=7"]])
def test_the_hour_of_the_week_from_file_to_answer(method, tmp_path, monkeypatch):
    """Clocks of Berlin in winter and summer: 300 records on Mondays at half past eight."""
    monkeypatch.chdir(tmp_path)
    times = ["2024-01-08T08:30", "2024-07-08T08:30", "2024-07-08T06:30Z", "2024-07-14T23:30"]
    rows = [f"{0.3 + i / 1e3},0.5,{when}" for when in times for i in range(100)]
    (tmp_path / "visits.csv").write_text("\n".join(["x,y,when", *rows]))
    week = ["--time=when", "--cycle=week", "--zone=Europe/Berlin", "--every=1h"]
    build = ["build", "visits.csv", "--public", "--seed=1", "--columns=x,y", "--bounds=0,0,1,1"]
    build += ["--epsilon=100000", "--bits=4", "--method", *method]

    as_json(*build, *week, "-o", "week.parquet")
    box = ["week.parquet", "--rect=0,0,1,1"]
    (monday,) = as_json("query", *box, "--period=Mon 00:00,Tue 00:00")["answers"]
    days = as_json("timeline", *box, "--every=1d")["timeline"]
    assert [round(day["count"]) for day in days] == [300, 0, 0, 0, 0, 0, 100]
    assert round(monday["count"]) == 300
    assert [days[0]["start"], days[-1]["end"]] == ["Mon 00:00", "Sun 24:00"]
    domain = dpviz.read("week.parquet").domain
    assert as_json("info", "week.parquet")["domain"] == domain.to_dict()
    assert (domain.zone, domain.cycle) == ("Europe/Berlin", "week")
    as_json("export", "week.parquet", "-o", "week.gpkg")
    hours = geopandas.read_file("week.gpkg", layer="dpviz")
    assert (hours["t0"].min(), hours["t1"].max()) == (0, 168)
    line = as_json("info", "week.parquet", "--code", "command", "--source", "visits.csv")["command"]
    assert "--zone Europe/Berlin --cycle week --every 1h" in line
    assert cli("share", "week.parquet", "-o", "week.html")[0] == 0
    assert '"names": ["the whole week", "Mon"' in (tmp_path / "week.html").read_text()
    wrap = fails("query", *box, "--period=Fri 22:00,Mon 06:00")
    assert "split a period that wraps around into two" in wrap
    assert "--time requires --period or --cycle" in fails(*build, week[1], "-o", "x.parquet")
    wrong = [word.replace("Europe/Berlin", "Mars/Base") for word in week]
    mars = fails(*build, *wrong, "-o", "x.parquet")
    assert "time zone 'Mars/Base' is unknown" in mars


@pytest.mark.slow
def test_the_one_file_map_steps_through_the_months(release, tmp_path):
    maps, labels = windows(release)
    assert labels[0] == "all 2024"
    assert labels[1:] == [f"{date(2024, month, 1):%B %Y}" for month in range(1, 13)]
    total = sum(each.count([0, 0, 8, 8]).count[0] for each in maps[1:])
    assert total == pytest.approx(release.count([0, 0, 8, 8]).count[0])
    path = release.save(tmp_path / "r.parquet")
    assert cli("share", path, "-o", tmp_path / "r.html", "--rect=1,1,5,5")[0] == 0
    text = (tmp_path / "r.html").read_text()
    assert '"names": ["all 2024", "January 2024"' in text
    answers = text[text.index("<h2>Answers</h2>") :]
    for each, label in zip(maps, labels, strict=True):
        answer = release.count([1, 1, 5, 5], each.header.extra["period"])
        assert (
            f'<td class="name">{label}</td><td class="number">{count_words(answer)}</td>' in answers
        )
    assert are_views_of_one(maps)
    assert not are_views_of_one([release, release])


def test_a_frame_that_is_a_part_of_a_week_says_its_length(tmp_path):
    """Regression: the last of five frames, of two days, looked like a fall."""
    domain = dpviz.Domain.from_bounds([0, 0, 8, 8], period=("2025-01-01", "2025-01-29"))
    records = np.random.default_rng(0).uniform(domain.lower, domain.upper, (500, 3))
    data = dpviz.from_points(records, domain, public=True)
    path = dpviz.build(data, "quadtree", 1.0, seed=1, height=3).save(tmp_path / "r.parquet")
    names = [
        "1 to 5 January 2025, 5 days",
        *(f"{day} to {day + 6} January 2025" for day in (6, 13, 20)),
        "27 to 28 January 2025, 2 days",
    ]
    for command in ("share", "report"):
        assert cli(command, path, "-o", tmp_path / "r.html")[0] == 0
        text = (tmp_path / "r.html").read_text()
        assert all(name in text for name in names), command


@pytest.mark.slow
def test_one_part_of_the_period_is_a_map(release, tmp_path):
    with pytest.raises(ReleaseError, match=r"release.during\(period\)"):
        map_page([release])
    path = release.save(tmp_path / "r.parquet")
    march = ("--period", "2024-03-01,2024-04-01")
    assert cli("share", path, "-o", tmp_path / "r.html", *march)[0] == 0
    assert "2024-03-01 to 2024-04-01" in (tmp_path / "r.html").read_text()
    flat = during(release, march[1]).save(tmp_path / "flat.parquet")
    refused = fails("share", flat, "-o", tmp_path / "x.html", *march)
    assert "this release has no time" in refused
