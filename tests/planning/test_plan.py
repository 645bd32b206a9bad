"""A plan reads no records, and what it promises holds where the data are as it assumed."""

import dataclasses
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from dpviz.errors import DomainError, ParameterError, PrivacyError
from dpviz.evaluation.truth import exact_counts, places_of_records
from dpviz.planning import proxy, search, trial
from dpviz.planning.proxy import clumped, matching_clumps
from dpviz.planning.search import EPSILON_RATIO, cheapest_candidate, first_row, prices
from dpviz.planning.trial import Candidate, Trial
from dpviz.queries.wishes import parse_all, squares
from dpviz.releases.points.promises import promises, success_probability
from dpviz.trees.lattice import grid_edges
from tests.benchmarks.plans import oracle
from tests.commands import as_json, fails, run, run_commands
from tests.geojson import collection, feature
from tests.vault import index_of

BOUNDS = "2,48,3,49"
DOMAIN = dpviz.Domain.from_bounds([2.0, 48.0, 3.0, 49.0])
PAGE = Path(__file__).parents[2] / "assets" / "docs" / "plan.md"
FEW = (Candidate("ugrid", {"cells": 16}), Candidate("ladder_tree"))


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(search, "candidates_for", lambda domain, wishes: FEW)
    monkeypatch.setattr(proxy, "DRAWS", 1)
    monkeypatch.setattr(trial, "BUILDS", 3)


@pytest.fixture(scope="module")
def handle():
    points = np.random.default_rng(0).uniform([2, 48], [3, 49], (4_000, 2))
    return dpviz.from_points(points, DOMAIN, public=True)


def built(planned, records):
    """Promises of the release that a plan's command makes from n evenly spread records.

    It is ``of_the_command.parquet``; that of the plan's Python promises the same.
    """
    points = np.random.default_rng(1).uniform([2, 48], [3, 49], (records, 2))
    np.savetxt("people.csv", points, delimiter=",", header="lon,lat", comments="")
    assert run(*shlex.split(planned["command"])[1:])[0] == 0
    promises = as_json("info", "release.parquet")["promises"]
    Path("release.parquet").rename("of_the_command.parquet")
    exec(planned["python"], {})
    assert as_json("info", "release.parquet")["promises"] == promises
    return promises


@pytest.mark.slow
def test_the_least_price_is_least_and_is_that_of_the_theory(handle):
    """A whole box is one sum of all leaf counts; of a grid of 16 cells a side, 256 of them."""
    wishes = parse_all(["rect=2,48,3,49 ±300"])
    tried = Trial([handle], wishes, as_map=True)
    grid = prices(10)
    candidate, epsilon = cheapest_candidate(tried, grid)
    assert tried.holds(candidate, epsilon)
    assert not tried.holds(candidate, grid[grid.index(epsilon) - 1])
    alone = grid[first_row(tried, FEW[0], grid)]
    assert alone == pytest.approx(2.12 * np.sqrt(2 * 256) / 300, rel=EPSILON_RATIO - 1)


def test_the_likelihood_is_that_of_the_less_likely_law():
    one = np.ones(1)
    assert success_probability(1.96 * one, one, 0 * one, 0 * one) == pytest.approx(
        0.9375, abs=0.001
    )  # Laplace
    assert success_probability(1 * one, one, 0 * one, 0 * one) == pytest.approx(
        0.6827, abs=0.001
    )  # normal
    assert success_probability(one, 0 * one, 2 * one, 0 * one) == pytest.approx(0, abs=1e-9)
    assert success_probability(one, 0 * one, 0.5 * one, 0 * one) == pytest.approx(1)


@pytest.mark.slow
def test_the_command_opens_no_source_and_writes_one_that_builds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search, "candidates_for", lambda domain, wishes: FEW[:1])
    source = tmp_path / "people.csv"
    words = ["plan", source, f"--bounds={BOUNDS}", "--records", 3_000, "--map"]
    planned = as_json(*words, "--want", "rect=2,48,3,49 +-200")
    assert {"epsilon", "method", "parameters", "wishes", "command"} <= set(planned)
    assert sum(row["epsilon"] for row in planned["budget"]) == pytest.approx(planned["epsilon"])
    assert not source.exists()
    [promise] = built(planned, 3_000)
    assert promise["probability"] >= 0.9
    header = dpviz.read("of_the_command.parquet").header
    assert (header.method, header.epsilon) == (planned["method"], planned["epsilon"])
    assert header.extra["promises"] == ["rect=2,48,3,49 ±200 at 95%"]
    _, text, _ = run("info", "of_the_command.parquet")
    assert "rect=2,48,3,49 ±200 at 95%: 9" in text


@pytest.mark.slow
def test_the_impossible_is_refused_with_what_would_be_possible():
    words = ["plan", f"--bounds={BOUNDS}", "--records", 2_000, "--at-most", 0.1]
    line = fails(*words, "--want", "rect=2,48,3,49 ±5")
    assert "no method fulfils the wishes with epsilon up to 0.1" in line
    possible = line.split('"')[1]
    assert possible.startswith("rect=2,48,3,49 ±")
    assert run(*words, "--want", possible)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--want", "rect=5,48,6,49 ±200"], "outside the domain"),
        (["--want", "rect=2,48,3,49"], "write it as"),
        (["--want", "rect=3,49,2,48 ±200"], "inside out"),
        (["--want", "rect=2,48,3,49 ±200%"], "below 100%"),
        (["--want", "rect=2,48,3,49 ±0"], "positive"),
        (["--want", "areas=broken.geojson ±5"], "broken.geojson"),
        (["--want", "areas=h3:99 ±5"], "h3:99"),
        (["--want", "any 1 km² ±5", "--at-most", "nan"], "give 0.001 or more"),
        (["--want", "any 90000 km² ±5"], "does not fit"),
        (["--want", "areas=absent.gpkg ±5"], "no file 'absent.gpkg'"),
        (["--want", "any 1 km² ±5", "--at-most", "0"], "give 0.001 or more"),
        (["--want", "any 1 km² ±5", "--at-most", "1e308"], "give 0.001 or more, to 1000"),
        (["--want", "any 1 km² ±5", "--max-per-unit", "1" + "0" * 200], "1 to 1,000,000,000"),
        (["--want", "areas=\udcff\x00.gpkg ±5"], "no file '\\udcff"),
        (["--want", "any 1 km² ±5", "--records", "0"], "give at least 1"),
        (["--want", "any 1 km² ±5", "--like", "absent.csv"], "absent.csv"),
    ],
)
def test_bad_plans_are_refused_in_one_line(monkeypatch, tmp_path, change, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.geojson").write_text('{"type": "FeatureCollection", "features": [{')
    line = fails("plan", f"--bounds={BOUNDS}", *change)
    assert message in line
    assert line.count("\n") == 1


@pytest.mark.slow
def test_rectangles_are_counted_by_themselves_at_the_price_of_the_theory(
    handle, tmp_path, monkeypatch
):
    """Two that share a side: one draw each, whose 95 % are ln(20)/ε, wherever the records lie."""
    monkeypatch.chdir(tmp_path)
    wishes = ["rect=2.1,48.1,2.4,48.5 ±100", "rect=2.4,48.1,2.7,48.5 ±200"]
    words = ["plan", "people.csv", f"--bounds={BOUNDS}", "--records", 3_000]
    words += [word for wish in wishes for word in ("--want", wish)]
    planned = as_json(*words)
    assert planned["method"] == "areas"
    assert planned["epsilon"] == pytest.approx(np.log(20) / 100, rel=EPSILON_RATIO - 1)
    assert planned["wishes"][0]["probability"] >= 0.95
    likely = [promise["probability"] for promise in built(planned, 3_000)]
    assert likely == pytest.approx([each["probability"] for each in planned["wishes"]], abs=1e-3)
    release = dpviz.read("of_the_command.parquet")
    rects = [parse_all(wishes)[row].rect for row in range(2)]
    assert (release.count(rects).uniformity_sd == 0).all()
    as_map = dpviz.plan(DOMAIN, wishes, like=handle, as_map=True)
    assert as_map.method != "areas"
    assert as_map.epsilon > planned["epsilon"]
    overlapping = dpviz.plan(DOMAIN, [wishes[0], "rect=2,48,3,49 ±300"], like=handle)
    assert overlapping.method != "areas"
    assert any("overlap" in line for line in overlapping.assumed)


@pytest.mark.parametrize(
    ("areas", "message"),
    [
        ("rect=2,48,2.5,49;rect=2.4,48,3,49", "overlap"),
        ("rect=5,48,6,49", "outside the domain"),
        ("rect=2,48,3,nan", "not finite"),
        ("rect=2.5,48.5,2.500000000000001,49", "no surface"),
    ],
)
def test_rectangles_that_are_no_areas_are_refused(areas, message):
    with pytest.raises((ParameterError, DomainError), match=message):
        dpviz.build(dpviz.from_points([[2.5, 48.5]], DOMAIN), areas=areas)


def test_clumped_records_have_the_dimension_that_is_claimed():
    """Pairs in one of 2^k × 2^k cells fall by ((w + 1)/(4w + 1)) a level, on the average."""
    weight, levels, sums = 1.0, 4, []
    corner = np.array([DOMAIN.lower]), np.array([DOMAIN.upper])
    edges = grid_edges(DOMAIN.side, 2**levels)
    for seed in range(200):
        records = clumped(DOMAIN, *corner, np.array([2_000]), (weight,) * levels, seed)
        share = index_of(records).histogram([edges, edges]) / 2_000
        sums.append((share**2).sum())
    expected = ((weight + 1) / (4 * weight + 1)) ** levels
    assert np.mean(sums) == pytest.approx(
        expected, abs=5 * np.std(sums) / np.sqrt(len(sums)) + 1 / 2_000
    )


@pytest.mark.slow
def test_a_square_is_planned_for_what_it_holds_and_says_so():
    """The owner's guess is used, also beside a rectangle."""
    stated, whole = "any 400 km2 of about 1000 ±600", "rect=2,48,3,49 ±2000"
    assert str(parse_all([stated])[0]) == "any 400 km² of about 1000 ±600 at 95%"
    for records in matching_clumps(DOMAIN, 4_000, 400.0, 1_000.0, proxy.FINE_WEIGHTS[0], 0):
        rects = squares(DOMAIN, places_of_records(records, 500, 1), 400.0)
        assert exact_counts(records, rects).mean() == pytest.approx(1_000, rel=0.5)
    guessed = dpviz.plan(DOMAIN, [whole, stated], records=20_000)
    assert all(each.probability >= 0.95 for each in guessed.wishes)
    assert any("holds 1,000: your guess" in each for each in guessed.assumed)
    scenes, times, _ = proxy.scenes_of(DOMAIN, 250_000, None, 0, parse_all([whole, stated]))
    assert (len(scenes), times) == (len(proxy.FINE_WEIGHTS), 3)


@pytest.mark.slow
def test_what_a_refusal_offers_is_granted_all_at_once(handle):
    """Tolerances change no record of a proxy, so that wider ones are kept by the same builds."""
    wishes = ["rect=2,48,3,49 ±3", "any 400 km2 ±1", "any 900 km2 of about 800 ±2% or ±3"]
    for like in (None, handle):
        options = {"records": 3_000, "like": like, "at_most": 0.5}
        with pytest.raises(ParameterError) as refused:
            dpviz.plan(DOMAIN, wishes, **options)
        offered = str(refused.value).split('"')[1::2]
        assert len(offered) == len(wishes)
        assert dpviz.plan(DOMAIN, offered, **options).epsilon <= 0.5


def test_a_plan_accepts_public_records_only(handle, tmp_path):
    source, far = tmp_path / "people.csv", tmp_path / "far.csv"
    far.write_text("lon,lat\n90,10\n")
    words = ["plan", source, f"--bounds={BOUNDS}", "--want", "any 25 km² ±150", "--like"]
    assert "is the source itself" in fails(*words, source)
    assert "no public record is within the bounds" in fails(*words, far)
    table = pa.table({"lon": np.full(500, 2.5), "lat": np.full(500, 48.5)})
    pq.write_table(table, tmp_path / "census.parquet")
    planned = as_json(*words, tmp_path / "census.parquet")
    assert "spread as, the records of the public table" in planned["assumed"][0]
    dpviz.Ledger().spend("census", 0.1, what="ugrid", purpose="before")
    assert "census" in fails(*words, tmp_path / "census.parquet")
    with pytest.raises(PrivacyError):
        dpviz.plan(DOMAIN, ["any 1 km² ±5"], like=dpviz.from_points([[2.5, 48.5]], DOMAIN))


@pytest.mark.parametrize("wrong", [{"records": 0}, {"records": -5}, {"max_per_unit": 0}])
def test_a_wrong_number_is_named_whatever_the_records_are_like(handle, wrong):
    ((name, value),) = wrong.items()
    for like in (None, handle, dpviz.build(handle, "ugrid", 1.0, seed=1)):
        with pytest.raises(ParameterError, match=f"^{name}={value}: give"):
            dpviz.plan(DOMAIN, ["rect=2.2,48.2,2.4,48.4 ±200"], like=like, **wrong)


def test_a_plan_is_for_two_dimensions():
    cube = dpviz.Domain((0.0,) * 4, (1.0,) * 4)
    for wish in ("any 1 km² ±5", "rect=0,0,0,0,1,1,1,1 ±5"):
        with pytest.raises(DomainError, match="two dimensions"):
            dpviz.plan(cube, [wish])


def kept(truth, candidate, epsilon, builds=8):
    return np.mean([truth.odds(candidate, epsilon, row)[0] for row in range(builds)])


def towns(seed, records=20_000):
    """Towns of unequal sizes, a third of whose records stand at addresses that many share."""
    random = np.random.default_rng(seed)
    centre = random.uniform([2.1, 48.1], [2.9, 48.9], (30, 2))
    town = random.choice(30, records, p=random.dirichlet(np.full(30, 0.4)))
    points = random.normal(centre[town], random.uniform(0.01, 0.05, 30)[town, None])
    moved = records // 3
    points[:moved] = points[random.integers(records - moved, records, moved // 20)[
        random.integers(moved // 20, size=moved)]]  # fmt: skip
    return dpviz.from_points(np.clip(points, [2, 48], [2.999, 48.999]), DOMAIN, public=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed", "most"), [("number", 0, 3.0), ("table", 1, 2.5)])
def test_plans_keep_what_they_promise_at_little_more_than_the_least_price(
    kind, seed, most, monkeypatch
):
    """Squares within 12 % of what they hold in a set of towns, by fixed seeds.

    By a table of others at less than 2.5 times the least ε.
    """
    monkeypatch.undo()
    records = towns(seed)
    mean = exact_counts(records, squares(DOMAIN, places_of_records(records, 300, 1), 25.0)).mean()
    about = f"of about {float(f'{mean:.1g}'):.0f} " if kind == "number" else ""
    wish = parse_all([f"any 25 km² {about}±{0.12 * mean:.0f}"])
    half = places_of_records(records, 20_000, 9)
    like = dpviz.from_points(half, DOMAIN, public=True) if kind == "table" else None
    planned = dpviz.plan(DOMAIN, map(str, wish), records=20_000, like=like, as_map=True)
    truth = Trial([records], wish, seed=50)
    chosen = Candidate(planned.method, planned.parameters)
    assert kept(truth, chosen, planned.epsilon) > 0.94
    assert planned.epsilon < most * oracle(truth, prices(10))


@pytest.mark.slow
def test_a_plan_accepts_an_earlier_release(handle, tmp_path):
    release = dpviz.build(handle, "ugrid", 1.0, seed=0, cells=16)
    path = release.save(tmp_path / "earlier.parquet")
    words = ["plan", f"--bounds={BOUNDS}", "--like", path]
    planned = as_json(*words, "--want", "any 400 km2 ±30%")
    assert "earlier release" in planned["assumed"][0]


def test_a_plan_with_a_prior_needs_records_that_show_how_closely_it_is_followed(
    tmp_path, monkeypatch
):
    """Half of the records of towns are like the private ones, the other half is the prior."""
    monkeypatch.setattr(search, "candidates_for", lambda domain, wishes: FEW[1:])
    points = places_of_records(towns(1), 20_000, 3)
    for name, part in (("like", points[:10_000]), ("homes", points[10_000:])):
        np.savetxt(tmp_path / f"{name}.csv", part, "%.6f", ",", header="lon,lat", comments="")
    words = ["plan", f"--bounds={BOUNDS}", "--want", "any 25 km² ±25% or ±20 at 80%"]
    words += ["--prior", tmp_path / "homes.csv"]
    planned = as_json(*words, "--like", tmp_path / "like.csv")
    assert planned["method"] == "ladder_tree"
    assert planned["epsilon"] < 0.9 * float(planned["assumed"][-1].split()[-1].rstrip("."))
    assert "--prior PRIOR" in planned["command"]
    assert "needs like" in fails(*words)
    assert "the file of --like" in fails(*words, "--like", tmp_path / "homes.csv")


@pytest.mark.slow
def test_areas_are_counted_by_themselves_at_the_price_of_the_theory(handle, tmp_path, monkeypatch):
    """Four wards of one level: the noise is one draw each, whose 95 % are ln(20)/ε."""
    monkeypatch.chdir(tmp_path)
    wards = [shapely.box(x, y, x + 0.5, y + 0.5) for x in (2.0, 2.5) for y in (48.0, 48.5)]
    named = (feature(each, name=f"ward {row}") for row, each in enumerate(wards))
    (tmp_path / "wards.geojson").write_text(collection(named))
    wish = "areas=wards.geojson ±1% or ±100"
    planned = dpviz.plan(DOMAIN, [wish], like=handle, source="people.csv")
    assert planned.method == "areas"
    assert planned.epsilon == pytest.approx(np.log(20) / 100, rel=EPSILON_RATIO - 1)
    [promise] = built(planned.to_dict(), 500)
    assert promise["probability"] >= 0.95
    assert promise["note"].endswith("4 of 4 areas reach it")
    with pytest.raises(ParameterError, match="leave squares out"):
        dpviz.build(handle, areas="wards.geojson", wishes=["any 1 km² ±9"], seed=1)
    same = (feature(each, name="ward") for each in wards)
    (tmp_path / "same.geojson").write_text(collection(same))
    planned = dpviz.plan(DOMAIN, ["areas=same.geojson ±600"], like=handle)
    assert planned.method != "areas"
    assert "two areas are called 'ward'" in planned.assumed[-1]
    tight = [f"{wish} at 99%", "areas=wards.geojson ±1"]
    with pytest.raises(ParameterError, match="possible would be"):
        dpviz.plan(DOMAIN, tight, like=handle, at_most=0.1)


def test_a_header_chooses_no_file_outside_its_folder(handle, tmp_path):
    (tmp_path / "areas.geojson").write_text("{}")
    wishes = [f"areas={tmp_path}/areas.geojson ±5%", "any 400 km² ±10"]
    release = dpviz.build(handle, "ugrid", 1.0, seed=0, cells=16, wishes=wishes)
    areas, square = promises(release)
    assert areas.wish == "areas=areas.geojson ±5% at 95%"
    assert areas.probability is None
    assert 0 < square.probability < 1
    [areas, _] = promises(release, tmp_path)
    assert "areas.geojson" in areas.note
    header = dataclasses.replace(release.header, extra={"promises": ["any 1 km² ±5\x00"]})
    (strange,) = promises(dpviz.CountRelease(release.frame, release.nodes, header))
    assert strange.probability is None


def test_a_promise_that_is_none_is_refused_before_anything_is_paid(handle):
    ledger = dpviz.Ledger()
    sensitive = dpviz.from_points([[2.5, 48.5]], DOMAIN, name="unpaid")
    for wishes, message in ((["nonsense"], "write it as"), (["rect=5,48,6,49 ±2"], "outside")):
        with pytest.raises((ParameterError, DomainError), match=message):
            dpviz.build(sensitive, "ugrid", 1.0, wishes=wishes, cells=4)
    assert not ledger.account("unpaid").spends


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = np.random.default_rng(2).uniform([14.4, -24.1], [15, -23.6], (500, 2))
    np.savetxt("visits.csv", points, delimiter=",", header="lon,lat", comments="")
    assert len(run_commands(PAGE)) == 5
    release = dpviz.read("release.parquet")
    assert len(promises(release)) == 2


@pytest.mark.slow
def test_many_records_are_planned_as_fewer_at_a_larger_price():
    """Ten times the records with ten times the error: a tenth of ε."""

    def planned(records, tolerance):
        wish = [f"rect=2.2,48.2,2.6,48.6 ±{tolerance}"]
        return dpviz.plan(DOMAIN, wish, records=records, as_map=True).epsilon

    few = planned(100_000, 2_000)
    assert planned(1_000_000, 20_000) == pytest.approx(few / 10, rel=EPSILON_RATIO - 1 + 0.01)
    assert planned(100_000_000, 5_000_000) < few / 10
    with pytest.raises(ParameterError, match=r"give at most 1,000,000,000,000"):
        planned(10**13, 50_000)
