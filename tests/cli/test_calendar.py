"""A calendar at the outermost edge: commands on files, with one person more and without."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.exports.data_use import data_use
from dpviz.exports.facts import guarantee_sentence, statement
from dpviz.planning.calls import code_of
from dpviz.private.load import bounding
from dpviz.ui.shared.account import account_summary, over_budget_message
from dpviz.ui.shared.shelf import receipt_of
from tests.commands import as_json, refused, run

AREAS = ["--areas=rect=0,0,0.5,1;rect=0.5,0,1,1", "--every=1d"]
READING = ["--bounds=0,0,1,1", "--unit=person", "--max-per-unit=2", "--time=time"]
BERLIN = ["--per=day", "--zone=Europe/Berlin", "--dataset=visits"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Visits around the clock change of autumn, and the same with one person less.

    That person's records of the 27th stand last: they came late.
    """
    monkeypatch.chdir(tmp_path)
    random, rows = np.random.default_rng(1), 600
    hours = pd.to_timedelta(random.integers(0, 73 * 3_600, rows), "s")
    moment = pd.Timestamp("2024-10-25T22:00:00Z") + hours
    table = pd.DataFrame({"lon": random.random(rows), "lat": random.random(rows)})
    table["person"] = random.integers(0, 20, rows)
    table["time"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    its = (table.person == 4) & (moment.tz_convert("Europe/Berlin").strftime("%d") == "27")
    assert its.sum() > 2
    pd.concat([table[~its], table[its]]).to_csv("more.csv", index=False)
    table[~its].to_csv("less.csv", index=False)
    return tmp_path


def begin(total=2):
    assert run("ledger", "calendar", "visits", "--unit=day", "--zone=Europe/Berlin")[0] == 0
    assert run("ledger", "set", "visits", f"--epsilon={total}")[0] == 0


def build(file, period, out, *words, epsilon=1):
    how = [*READING, *BERLIN, f"--period={period}", f"--epsilon={epsilon}", *words]
    code, shown, err = run("build", file, *how, "-o", out)
    assert code == 0, err
    return shown


def test_gaussian_releases_add_up_by_rho_and_state_it(files):
    """Pure releases count by ε²/2; another day has none of it."""
    assert run("ledger", "calendar", "visits", "--unit=day", "--zone=Europe/Berlin")[0] == 0
    assert run("ledger", "set", "visits", "--epsilon=9", "--delta=1e-5")[0] == 0
    build("more.csv", "2024-10-26,2024-10-27", "pure.parquet", *AREAS)
    build(
        "more.csv",
        "2024-10-26,2024-10-27",
        "a.parquet",
        *AREAS,
        "--max-per-unit=40",
        "--delta=1e-6",
    )
    release = dpviz.read("a.parquet")
    rho = release.header.extra["rho"]
    (account,) = as_json("ledger", "show", "visits")["datasets"]
    assert account["rho"] == pytest.approx(rho + 0.5)
    assert f"together {rho + 0.5:.4g}-zCDP (ρ)" in run("ledger", "show", "visits")[1]
    other = ["ledger", "show", "visits", "--period=2024-10-27,2024-10-28"]
    assert as_json(*other)["datasets"][0]["rho"] is None
    loss = data_use(release)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-6, "rho": rho}


@pytest.mark.parametrize("words", [[], ["--delta=1e-6"]], ids=["records", "persons"])
def test_one_person_more_on_one_day_changes_no_other_day_and_at_most_the_bound(files, words):
    """T12 on the command line: the noise is 0 at this ε, and the key of the bound is fixed."""
    begin(1e10)
    counts = {}
    with patch.object(bounding, "fresh_key", lambda: b"k" * 16):
        for name in ("more", "less"):
            for day in (26, 27, 28):
                out = f"{name}-{day}.parquet"
                build(
                    f"{name}.csv",
                    f"2024-10-{day},2024-10-{day + 1}",
                    out,
                    *AREAS,
                    *words,
                    epsilon=1e9,
                )
                table = dpviz.read(out).table(None, margins=False)
                counts[name, day] = table["count"].to_numpy(dtype=float).round()
    for day, most in ((26, 0), (27, 2), (28, 0)):
        apart = np.abs(counts["more", day] - counts["less", day])
        assert apart.sum() == most
    prices = as_json("ledger", "show", "visits")["datasets"][0]["longer"]
    assert prices == {"day": 2e9, "week": 4e9, "month": 6e9, "for ever": 6e9}


def test_a_release_says_its_unit_and_what_longer_times_cost(files):
    begin()
    shown = build("more.csv", "2024-10-26,2024-10-29", "r.parquet")
    unit = "one person's records of one day with at most 2 records"
    weaker = (
        "WEAKER for longer: ε = 2 for a person's calendar week, ε = 3 for a person's calendar "
        "month, ε = 3 for ever; releases of other days add theirs"
    )
    release = dpviz.read("r.parquet")
    assert (release.header.unit, release.header.weaker) == (unit, f"{weaker}.")
    assert release.header.extra["calendar"] == {
        "unit": "day", "zone": "Europe/Berlin", "time": "time",
        "days": ["2024-10-26", "2024-10-29"],
        "longer": {"day": 1, "week": 2, "month": 3, "for ever": 3},
    }  # fmt: skip
    receipt = receipt_of(release)
    page = guarantee_sentence([release], ["r"])[1]
    for text in (shown, " ".join(statement(release.header)), str(receipt), page):
        assert weaker in text
        assert "one person's records of one day" in text.replace("any one", "one")
    assert run("share", "r.parquet", "-o", "r.html")[0] == 0
    assert weaker in (files / "r.html").read_text().replace("&#39;", "'")
    code = code_of(release, "more.csv")
    assert "--per day" in code.command()
    assert "per='day'" in code.python()


def test_the_ledger_shows_a_calendar_and_the_pages_send_to_the_command_line(files):
    begin()
    build("more.csv", "2024-10-26,2024-10-28", "a.parquet")
    build("more.csv", "2024-10-26T23:30,2024-10-27T00:30", "b.parquet")
    build("more.csv", "2024-10-28,2024-10-29", "c.parquet")
    out = run("ledger", "show", "visits")[1]
    for line in (
        "ε = 0 left of ε = 2 (to add or remove one person's records of one day)",
        "WEAKER for longer: ε = 4 for a person's calendar week, ε = 5 for a person's calendar",
        "2024-10-26 to before 2024-10-28: ε = 2 per day in Europe/Berlin",
        "2024-10-28 to before 2024-10-29: ε = 1 per day in Europe/Berlin",
    ):
        assert line in out
    day = as_json("ledger", "show", "visits", "--period=2024-10-28,2024-10-29")["datasets"][0]
    assert (day["spent"], day["left"], len(day["spends"])) == (1, 1, 1)
    account = dpviz.Ledger().account("visits")
    assert "for a person's records of one day (WEAKER for longer: ε = 4" in account_summary(account)
    assert "choose “Every day” in step Data, or publish" in over_budget_message(account, 0.1)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--period=2024-10-26,2024-10-27"], "not bounded by it: load them with --per day --zone"),
        ([*BERLIN[:1], "--period=2024-10-26,2024-10-27"], "not bounded by it but by day in UTC"),
        ([*BERLIN, "--period=2024-10-26,2024-10-27", "--epsilon=3"], "cannot spend epsilon=3"),
        ([*BERLIN, "--cycle=day", "--epsilon=3"], "cannot spend epsilon=3"),
        ([*BERLIN, "--period=2024-10-26,2024-10-27", "--dataset=others"], "has no calendar: begin"),
        (["--per=hour", "--period=2024-10-26,2024-10-27"], "unit of time 'hour': choose one of"),
        (["--per=day", "--alphabet=a,b"], "--per"),
    ],
)
def test_a_price_that_does_not_fit_a_calendar_is_refused_before_payment(files, words, line):
    begin()
    reading = READING if "--alphabet=a,b" not in words else []
    refused(
        files, ["build", "more.csv", "--dataset=visits", *reading, *words, "-o", "x.parquet"], line
    )


def test_a_cycle_charges_every_day_of_its_period(files):
    begin()
    build("more.csv", "2024-10-26,2024-10-29", "w.parquet", "--cycle=day")
    (piece,) = [each for each in dpviz.Ledger().calendar("visits") if each.epsilon]
    assert (piece.start, piece.end) == ("2024-10-26", "2024-10-29")
    refused(files, ["ledger", "show", "--period=2024-10-26,2024-10-27"], "name the data set too")
