"""Trips by time step: the step of a trip, the price, the release and its answers."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DataError, DomainError, ReleaseError
from dpviz.private.load.roads import read_trips
from dpviz.private.roads import RoadData, exact_visits, visits
from dpviz.releases.roads.beyond_noise import beyond_noise, facts_of_each_step
from dpviz.roads.generate import commuter_starts, commuter_trips
from dpviz.roads.paths import Paths
from dpviz.roads.steps import MAX_COUNTS, MAX_STEPS, Steps
from tests.commands import as_json, fails, run
from tests.headers import header_of, with_header
from tests.roads.conftest import grid
from tests.vault import steps_of, trips_of

WEEK = "2024-03-04,2024-03-11"
DAYS = Steps.of("start", WEEK, "1d")
HOURS = Steps.of("start", WEEK, "6h", "Europe/Berlin", "day")
MONDAY = 1709510400.0


@pytest.fixture(scope="module")
def data(streets, trips):
    step = DAYS.of_moments(commuter_starts(trips))
    return RoadData("grid", streets, trips, public=True, steps=DAYS, step=step)


@pytest.fixture(scope="module", params=["dwork", "min+opt+tru", "flows", "gs"])
def release(request, data, workload):
    wanted = None if request.param == "gs" else workload
    return dpviz.build(data, request.param, 1.0, workload=wanted, seed=4)


MOMENTS = st.one_of(
    st.floats(MONDAY - 1e5, MONDAY + 8e5),
    st.sampled_from([*DAYS.edges, *(DAYS.edges - 1e-3), np.nan, np.inf, -np.inf, 1e300]),
)


@settings(max_examples=40)
@given(st.lists(MOMENTS, max_size=8), st.sampled_from([DAYS, HOURS]))
def test_a_moment_is_in_one_step_by_itself(moments, steps):
    """Half-open steps: a brute-force search finds the same one, and others change nothing."""
    chosen = steps.of_moments(np.array(moments))
    for moment, step in zip(moments, chosen.tolist(), strict=True):
        assert steps.of_moments(np.array([moment])).tolist() == [step]
        place = moment
        if steps is HOURS:  # CET, one hour ahead of UTC all week
            inside = MONDAY - 3600 <= moment < MONDAY + 7 * 86_400 - 3600
            place = (np.floor(moment) + 3600) % 86_400 if inside else np.nan
        spans = zip(steps.edges, steps.edges[1:], strict=False)
        holding = [at for at, (low, high) in enumerate(spans) if low <= place < high]
        assert holding == ([] if step < 0 else [step])


def test_steps_are_stated_written_and_read_back():
    for steps in (DAYS, HOURS, Steps.of("t", None, "1h", cycle="week"),
                  Steps.of("t", "2024-01-01,2024-04-01", "1mo", "Asia/Tokyo")):  # fmt: skip
        assert Steps.from_dict(json.loads(json.dumps(steps.to_dict()))) == steps
        assert Steps.of(**steps.options()) == steps
    assert DAYS.step_limits(6) == ("2024-03-10", "2024-03-11")
    part = DAYS.restricted_to("2024-03-05,2030-01-01")
    assert (len(part), DAYS.rows(part)) == (6, slice(1, 7))
    zoned = Steps.of("t", "2024-03-30,2024-04-02", "1d", "Europe/Berlin")
    # The night when summer time begins.
    assert np.diff(zoned.edges).tolist() == [86_400, 82_800, 86_400]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"period": WEEK}, "without a time"),
        ({"time": "t"}, "without a period"),
        ({"time": "t", "period": WEEK}, "without a step"),
        ({"time": "t", "period": WEEK, "every": "1s"}, "steps in the period"),
        ({"time": "t", "period": WEEK, "every": "5min"}, f"at most {MAX_STEPS:,}"),
        ({"time": "t", "period": WEEK, "every": "soon"}, "give a number and a unit"),
        ({"time": "t", "cycle": "day", "every": "1w"}, "longer than a day"),
        ({"time": "t", "cycle": "year", "every": "1h"}, "choose one of day, week"),
        ({"time": "t", "period": WEEK, "every": "1h", "zone": "Mars"}, "is unknown"),
    ],
)
def test_steps_that_are_none_are_refused(stated, message):
    with pytest.raises(DomainError, match=message):
        Steps.of(**{"time": None, **stated})


def test_a_part_of_a_step_is_not_answered(release, workload):
    with pytest.raises(DomainError, match="give 2024-03-05 or 2024-03-06"):
        release.count(workload, "2024-03-04,2024-03-05T12:00")
    with pytest.raises(DomainError, match="outside that of the trips"):
        release.count(workload, "2025-03-04,2025-03-05")
    with pytest.raises(DomainError, match="has no time"):
        release.parts[0].count(workload, WEEK)
    with pytest.raises(DomainError, match=r"at most 181\b"):
        Steps.of("t", WEEK, "15min").require_room(MAX_COUNTS // 181)


def test_answers_of_steps_add_up_with_their_noise(release, workload):
    """All the time, and any whole steps, are sums; their variances too, as noise is independent."""
    rows = workload.take(np.arange(12))
    each = [release.parts[step].count(rows) for step in range(7)]
    for period, chosen in ((None, each), ("2024-03-05,2024-03-08", each[1:4]),
                           ("2024-03-09,2024-03-10", each[5:6])):  # fmt: skip
        answers = release.count(rows, period)
        for name, power in (("count", 1), ("noise_sd", 2), ("nodes", 1)):
            summed = np.sum([getattr(one, name) ** power for one in chosen], axis=0)
            np.testing.assert_allclose(getattr(answers, name) ** power, summed, atol=1e-6)


def test_the_loss_by_truncation_is_stated_for_all_steps_together(data, workload):
    """The share of one step with few trips was said to be that of all visits."""
    release = dpviz.build(data, "min+opt+tru", 20.0, workload=workload, seed=4)
    each = sorted(one.limit for one in release.parts)
    shares = [100 * one["kept"] for one in facts_of_each_step(release) if "kept" in one]
    (sentence,) = beyond_noise(release)
    assert each[0] < each[-1]
    assert f"{each[0]} to {each[-1]} streets (by step of time)" in sentence
    assert f"about {shares[0]:.0f} % of all visits are counted (an estimate)" in sentence


def test_each_step_holds_the_trips_that_start_in_it(data, workload):
    """At an epsilon without noise: exact visits, step by step and together."""
    release = dpviz.build(data, "dwork", 1e6, workload=workload, seed=1)
    for step in range(7):
        exact = exact_visits(data, slice(step, step + 1))
        assert exact.sum() > 0
        np.testing.assert_allclose(release.parts[step].answers.count, exact, atol=0.01)
    np.testing.assert_allclose(release.answers.count, exact_visits(data), atol=0.05)


def test_all_steps_cost_what_one_costs(release):
    header = release.header
    assert sum(row["epsilon"] for row in header.budget) == pytest.approx(header.epsilon)
    assert all("steps are disjoint" in row["theorem"] for row in header.budget)
    limits = [of_step.limit for of_step in release.parts]
    assert None not in limits
    shares = [each.header.extra.get("kept") for each in release.parts]
    if None not in shares:  # methods that estimate it state it for every window
        assert min(shares) <= release.header.extra["kept"] <= max(shares)
        part = release.during("2024-03-05,2024-03-08").header.extra["kept"]
        assert min(shares[1:4]) <= part <= max(shares[1:4])


def test_the_bound_of_a_unit_holds_over_all_steps(tmp_path, streets):
    """A person with a trip on each day: of seven trips two are kept, at half of epsilon each."""
    rows = [f"ann,{day},{day},2024-03-{4 + day:02}T08:00" for day in range(7)]
    (tmp_path / "trips.csv").write_text("\n".join(["who,trip,edge,start", *rows]))
    data = read_trips(tmp_path / "trips.csv", streets, unit="who", max_per_unit=2, steps=DAYS)
    assert sum(len(each) for each in steps_of(data)) == len(trips_of(data)) == 2
    release = dpviz.build(data, "dwork", 1.0, workload=Paths.of([[0]]), ledger=None)
    alone = dpviz.build(
        RoadData("one", streets, Paths.of([[0]]), public=True), "dwork", 0.5,
        workload=Paths.of([[0]]), seed=1,
    )  # fmt: skip
    np.testing.assert_allclose(release.parts[3].answers.noise_sd, alone.answers.noise_sd)
    assert "with at most 2 trips" in release.header.neighbouring


def test_one_trip_more_changes_one_step(streets):
    trips = commuter_trips(streets, 60, mean_edges=4, hubs=9, seed=5)
    step = DAYS.of_moments(commuter_starts(trips))
    with_it, without = (
        RoadData("grid", streets, trips.take(np.arange(n)), steps=DAYS, step=step[:n])
        for n in (60, 59)
    )
    moved = [
        int(np.abs(visits(one, len(streets)) - visits(two, len(streets))).sum())
        for one, two in zip(steps_of(with_it), steps_of(without), strict=True)
    ]
    assert [bool(each) for each in moved] == [at == step[59] for at in range(7)]


def test_a_damaged_file_is_refused(release, tmp_path):
    table = release.to_arrow()
    broken = {
        "in their order": table.take(np.arange(len(table))[::-1]),
        "'step' is missing": table.drop_columns("step"),
        "'step' holds nulls": table.set_column(
            table.column_names.index("step"), "step", [[None] * len(table)]
        ).cast(table.schema),
        "within a cycle": None,
    }
    for message, wrong in broken.items():
        if wrong is None:
            header = header_of(table)
            header["time"] |= {"cycle": "day", "period": [0, 1e9]}
            wrong = with_header(table, header)
            message = "within the cycle"
        pq.write_table(wrong, tmp_path / "bad.parquet")
        with pytest.raises(ReleaseError, match=message):
            dpviz.read(tmp_path / "bad.parquet")


NODES = "node,x,y\n0,0,0\n1,1,0\n2,2,0\n"
EDGES = "edge,src,dst\na,0,1\nb,1,2\n"
TRIPS = (
    "trip,edge,start\n1,a,2024-03-04T08:00\n1,b,nonsense\n2,b,2024-03-05T08:00+00:00\n"
    "3,a,soon\n4,a,2025-01-01\n5,b,2024-03-06T04:40\n6,a,\n"
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("nodes", NODES), ("edges", EDGES), ("trips", TRIPS)):
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "w.csv").write_text("query,edge\n0,a\n1,b\n")
    return ["--graph", "nodes.csv,edges.csv"]


TIME = ["--time", "start", "--period", WEEK, "--every", "1d"]


@pytest.mark.slow
def test_the_commands_build_query_and_list_trips_by_time(files):
    """A trip's time is that of its first row; what is unreadable or outside is dropped."""
    build = ["build", "trips.csv", *files, *TIME, "-o", "r.parquet", "--workload", "w.csv",
             "--method", "dwork", "--set", "max_length=2", "--public", "--seed", "1"]  # fmt: skip
    assert as_json(*build, "--epsilon", "1000000")["steps"] == 7
    asked = ["query", "r.parquet", "--path", "a,b"]
    assert as_json(*asked)["answers"][0]["count"] == pytest.approx(4, abs=0.1)
    (first,) = as_json(*asked, "--period", "2024-03-04,2024-03-05")["answers"]
    assert first["count"] == pytest.approx(2, abs=0.1)
    line = as_json("timeline", "r.parquet", "--between", "0,2")
    assert np.rint([row["count"] for row in line["timeline"]]).tolist() == [2, 1, 1, 0, 0, 0, 0]
    assert (line["timeline"][1]["start"], line["timeline"][1]["end"]) == ("2024-03-05",
                                                                          "2024-03-06")  # fmt: skip
    assert as_json("export", "r.parquet", "-o", "e.csv")["rows"] == 14
    owner_facts = json.dumps(as_json("check", "trips.csv", *files, *TIME))
    for reason in ("with an empty time", "without a readable time"):
        assert f'"{reason}: dropped": 1' in owner_facts
    assert '"outside the period: dropped": 1' in owner_facts
    assert '"kept": 3' in owner_facts
    assert "7 steps of 1d from 2024-03-04 to 2024-03-11 UTC" in run("info", "r.parquet")[1]
    _, code, _ = run("info", "r.parquet", "--code", "all")
    assert f"period='{WEEK}'" in code
    assert f"--period {WEEK}" in code


def test_commands_refuse_in_one_line(files):
    build = ["build", "trips.csv", *files, "-o", "r.parquet", "--workload", "w.csv",
             "--public"]  # fmt: skip
    for words, message in (
        (["--time", "start"], "--time requires --period or --cycle"),
        (["--time", "start", "--period", WEEK], "--every is missing"),
        (["--time", "began", *TIME[2:]], "no column"),
    ):
        assert message in fails(*build, *words)


def test_the_built_in_city_has_times_of_its_own():
    """Rush hours of working days; its trips are those without time."""
    trips = commuter_trips(grid(7), 2_000, mean_edges=4, hubs=9)
    starts = commuter_starts(trips)
    assert (Steps.of("start", WEEK, "1d").of_moments(starts) >= 0).all()
    hour = (starts - MONDAY) % 86_400 // 3_600
    rush = np.isin(hour, (7, 8, 17, 18))
    assert rush.mean() > 0.35
    with pytest.raises(DataError, match="have the column 'start'"):
        dpviz.load("generate:9", grid(3), time="when", cycle="day", every="1h")
    made = dpviz.load("generate:50", grid(3), time="start", cycle="day", every="1h")
    plain = dpviz.load("generate:50", grid(3))
    np.testing.assert_array_equal(trips_of(made).edge, trips_of(plain).edge)
    assert repr(made) == "RoadData('generated', public, 12 edges, 24 steps of time)"
