"""A series at the outermost edge: a daily job on files, its ledger, and what stops it."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.cli import series
from dpviz.errors import ReleaseError
from dpviz.exports import release_page, report_page
from dpviz.private.load import bounding
from dpviz.releases.areas.table import part_counts
from dpviz.releases.series_days import day_windows
from dpviz.ui.shared.shelf import Shelf
from tests.commands import as_json, fails, refused, run

AREAS = "--areas=rect=0,0,0.5,1;rect=0.5,0,1,1"
WORDS = [AREAS, "--bounds=0,0,1,1", "--unit=person", "--max-per-unit=2", "--time=time"]
WORDS += ["--zone=Europe/Berlin", "--start=2024-03-18", "--dataset=visits", "--kind=mode"]
WORDS += ["--kinds=a,b"]
"""Clocks of Berlin change on the second Sunday of this series."""


class KilledError(BaseException):
    """The end of a process."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the records of 30 days."""
    monkeypatch.chdir(tmp_path)
    random, rows = np.random.default_rng(1), 3_000
    clocks = pd.Timestamp("2024-03-18") + pd.to_timedelta(random.integers(0, 720, rows), "h")
    table = pd.DataFrame({"lon": random.random(rows), "lat": random.random(rows)})
    table["person"], table["mode"] = random.integers(0, 20, rows), random.choice(["a", "b"], rows)
    table["time"] = clocks.strftime("%Y-%m-%dT%H:%M:%S")
    table.to_csv("visits.csv", index=False)
    return tmp_path


def begin(total=1):
    assert run("ledger", "calendar", "visits", "--unit=day", "--zone=Europe/Berlin")[0] == 0
    assert run("ledger", "set", "visits", f"--epsilon={total}")[0] == 0


def update(until, *words, to="daily", source="visits.csv"):
    return as_json("series", "update", to, source, *WORDS, f"--until=2024-{until}", *words)


def counts(file):
    return part_counts(dpviz.read(file)).round()


def test_a_month_costs_epsilon_once_and_a_second_run_nothing(folder):
    begin()
    done = update("04-17")
    assert len(done["released"]) == 30 + 4 + 1
    assert (done["spent"], done["longer"]["week"], done["lost"]) == (1.0, 7.0, [])
    before = {each: each.read_bytes() for each in folder.rglob("*.parquet")}
    spends = dpviz.Ledger().account("visits").spends
    assert update("04-17") == {**done, "released": []}
    assert dpviz.Ledger().account("visits").spends == spends
    assert {each: each.read_bytes() for each in folder.rglob("*.parquet")} == before

    rows = pd.DataFrame(as_json("series", "table", "daily")["rows"])
    assert set(rows.end) == {"2024-04-17"}
    assert [*rows.window.unique()] == ["1 day", "7 days", "28 days", "running total"]
    read = dpviz.read_series("daily")
    for row in rows.to_dict("records"):
        for final in (False, True):
            told = read.count(row["name"], (row["start"], row["end"]), row["kind"], final=final)
            made = read.table(last=True, final=final).merge(pd.DataFrame([row])[KEYS], on=KEYS)
            assert told.value == pytest.approx(made["count"].item())
            assert told.noise_sd == pytest.approx(made.noise_sd.item())
    assert run("series", "table", "daily", "-o", "all.csv")[0] == 0
    assert len(pd.read_csv("all.csv")) == 4 * (30 + 24 + 3 + 30)


KEYS = ["name", "kind", "window"]


def test_a_page_has_all_days_and_the_latest_with_the_numbers_and_the_price_of_the_series(folder):
    begin()
    update("04-05")
    read, box = dpviz.read_series("daily"), (0, 0, 0.5, 1)
    maps, names = day_windows(read, 10)
    assert names[:2] == ["18 March to 4 April 2024", "26 March 2024"]
    assert (len(names), names[-1]) == (11, "4 April 2024")
    for each in maps:
        for kind in "ab":
            told = read.count(each.frame.names[-2], each.header.extra["period"], kind)
            made = each.of(kind).count(box)
            assert made.count.item() == pytest.approx(told.value)
            assert made.noise_sd.item() == pytest.approx(told.noise_sd)
    header = maps[0].header
    assert header.epsilon == 1.0
    assert sum(row["epsilon"] for row in header.budget) == pytest.approx(1.0)
    assert read.charged == 0.587  # of a day that is in a week, and in no four weeks yet
    more = day_windows(replace(read, charged=1.327))[0][0].header
    assert more.epsilon == pytest.approx(sum(row["epsilon"] for row in more.budget)) == 1.327
    assert "ε = 1.327, add" in more.guarantee
    assert header.weaker == "WEAKER for longer: a person's week or month costs the sum of its days."
    text = release_page(read)
    shown = text[: text.index("<details")]
    assert (shown.count("remains uncertain"), shown.count("ε = ")) == (1, 1)
    assert "visits" not in text  # the account's name
    assert "4 April 2024" in report_page(maps[:1], series=read)


def test_hexagons_of_a_series_are_named_by_their_largest_towns_and_keep_their_ids(folder):
    begin()
    update("03-20", "--areas=h3:4", "--bounds=-0.5,51.2,0.3,51.8")
    assert run("series", "table", "daily", "-o", "all.csv")[0] == 0
    read, rows = dpviz.read_series("daily"), pd.read_csv("all.csv")
    names = dict(zip(rows["id"], rows["name"], strict=True))
    assert {*names} == {*read.areas.names}
    assert "London" in names.values()
    assert len({*names.values()}) == len(names)
    tables = release_page(read).partition("<table")[2]
    assert "London" in tables
    assert not any(each in tables for each in names)


def test_days_that_no_release_answers_are_left_out_of_a_page(folder):
    begin()
    update("03-24")
    for day in (18, 20):
        (folder / "daily" / f"2024-03-{day}-1d.parquet").unlink()
    names = day_windows(dpviz.read_series("daily"))[1]
    assert names == ["21 to 23 March 2024", *(f"{day} March 2024" for day in (19, 21, 22, 23))]


def test_a_kept_series_is_opened_by_its_id_alone_and_has_each_new_day(folder):
    begin()
    shelf = Shelf()
    place = str(shelf.series_folder("visits"))
    shelf.ready()
    update("03-19", to=place)
    stored = shelf.keep_series("visits", "here", "Visits")
    assert shelf.keep_series("visits", "here", "again") == stored == shelf.find(stored.id)
    assert [each.id for each in shelf.of("here")] == [stored.id]
    assert shelf.of("user:another") == []
    with pytest.raises(ReleaseError, match="no such release here"):
        shelf.open("visits")
    before = shelf.version(stored)
    update("03-20", to=place)
    assert shelf.version(stored) != before
    assert len(shelf.open(stored.id)[1].nodes) == 2


def test_a_folder_of_daily_files_gives_the_series_of_one_file_with_sums(folder):
    """The noise is 0 at this ε; a folder is counted in an engine, by local clocks."""
    begin(1e11)
    table = pd.read_csv("visits.csv", parse_dates=["time"])
    table["fare"] = np.linspace(-5, 60, len(table))
    table.to_csv("visits.csv", index=False)
    for day, rows in table.groupby(table.time.dt.date):
        (folder / "days").mkdir(exist_ok=True)
        rows.to_parquet(folder / "days" / f"{day}.parquet")
    words = ["--sum=fare", "--clip=0,50", "--max-per-unit=99", "--epsilon=1e10"]
    update("03-25", *words, to="one")
    update("03-25", *words, "--again", to="many", source="days")
    one, many = (dpviz.read_series(each).table() for each in ("one", "many"))
    pd.testing.assert_frame_equal(one, many, atol=1e-3)
    whole = one[(one.window == "7 days") & (one.end == "2024-03-25")]
    records = table[table.time < "2024-03-25"]
    assert whole["count"].sum() == pytest.approx(len(records), abs=0.1)
    assert whole["sum"].sum() == pytest.approx(records.fare.clip(0, 50).sum(), abs=2)
    assert "holds a series with clip [0.0, 50.0]" in fails(
        *("series", "update", "one", "visits.csv", *WORDS, "--until=2024-03-25"),
        *(*words[2:], "--sum=fare", "--clip=0,9"),
    )


def test_a_run_that_is_killed_after_the_payment_leaves_a_lost_release(folder):
    begin(2)
    killed = patch.object(series, "save_release", side_effect=KilledError)
    with killed, pytest.raises(KilledError):
        run("series", "update", "daily", "visits.csv", *WORDS, "--until=2024-03-20")
    (spend,) = dpviz.Ledger().account("visits").spends
    assert (spend.epsilon, spend.outcome) == (0.327, "paid")
    done = update("03-20")
    assert done["lost"] == ["2024-03-18-1d.parquet"]
    assert done["released"] == ["2024-03-19-1d.parquet"]
    assert done["spent"] == 0.327
    done = update("03-20", "--again")
    assert (done["released"], done["lost"]) == (["2024-03-18-1d.parquet"], [])
    assert done["spent"] == 0.654


def test_a_run_that_is_killed_before_the_payment_leaves_nothing(folder):
    begin()
    killed = patch.object(dpviz.Ledger, "spend", side_effect=KilledError)
    with killed, pytest.raises(KilledError):
        run("series", "update", "daily", "visits.csv", *WORDS, "--until=2024-03-19")
    assert not (folder / "daily").exists()
    assert not dpviz.Ledger().account("visits").spends


def test_one_person_more_on_one_day_changes_only_the_releases_of_that_day(folder):
    """T12 for a series: the noise is 0 at this ε, and the key of the bound is fixed."""
    begin(1e11)
    table = pd.read_csv("visits.csv")
    its = (table.person == 4) & (table.time.str[:10] == "2024-03-20")
    assert its.sum() > 1
    table[~its].to_csv("less.csv", index=False)
    with patch.object(bounding, "fresh_key", lambda: b"k" * 16):
        for name in ("visits", "less"):
            update("03-25", "--epsilon=1e10", "--again", to=name, source=f"{name}.csv")
    apart = {
        file.name: np.abs(counts(file) - counts(folder / "less" / file.name)).sum()
        for file in (folder / "visits").iterdir()
    }
    assert len(apart) == 8
    changed = {name for name, moved in apart.items() if moved}
    assert changed == {"2024-03-20-1d.parquet", "2024-03-18-7d.parquet"}
    assert max(apart.values()) == 2


def test_late_records_are_in_releases_that_are_built_later(folder):
    begin(1e11)
    table = pd.read_csv("visits.csv").drop_duplicates(["person", "time"])
    late = table.time.str[:10] == "2024-03-19"
    table[~late].to_csv("visits.csv", index=False)
    update("03-20", "--epsilon=1e10", "--max-per-unit=99")
    table.to_csv("visits.csv", index=False)
    update("03-25", "--epsilon=1e10", "--max-per-unit=99")
    day, week = (
        counts(folder / "daily" / f"2024-03-{name}.parquet") for name in ("19-1d", "18-7d")
    )
    assert (day.sum(), week.sum()) == (0, (table.time < "2024-03-25").sum())
    known = dpviz.read_series("daily").table().known_on
    assert set(known) == {pd.Timestamp.now("Europe/Berlin").strftime("%Y-%m-%d")}


def test_days_whose_records_were_deleted_are_left_out_unpaid(folder):
    begin()
    done = update("03-21", "--since=2024-03-20")
    assert done["released"] == ["2024-03-20-1d.parquet"]
    assert dpviz.Ledger().account("visits", "2024-03-18,2024-03-20").spent == 0
    read = dpviz.read_series("daily")
    assert set(read.table().window) == {"1 day"}
    with pytest.raises(dpviz.DpvizError, match="no release that answers it"):
        read.count(read.areas.names[0], "2024-03-18,2024-03-21")


CHANGED = {
    "--epsilon=2": "holds a series with epsilon 1.0",
    "--unit=mode": "holds a series with unit 'person'",
    "--zone=UTC": "holds a series with zone 'Europe/Berlin'",
    "--areas=rect=0,0,1,1": "holds a series with other areas",
    "--kinds=a": "holds a series with kinds ['a', 'b']",
    "--start=2024-03-11": "holds a series with start '2024-03-18'",
    "--until=2024-03-01": "only days that are over are released",
    "--until=monday": "give one such as 2024-03-01",
    "--period=2024-01-01,2024-02-01": "--period is not for a series",
}


@pytest.mark.parametrize(("word", "line"), CHANGED.items(), ids=CHANGED)
def test_a_changed_frame_is_refused_in_one_line(folder, word, line):
    begin()
    update("03-19")
    refused(folder, ["series", "update", "daily", "visits.csv", *WORDS, word], line)


def test_a_job_with_a_last_day_still_to_come_releases_days_that_are_over(folder):
    begin()
    job = as_json(
        *("series", "update", "daily", "visits.csv", *WORDS),
        *("--until=9024-01-01", "--since=9000-01-01"),  # none of them, for speed
    )
    assert (job["until"] < "9000", job["released"]) == (True, [])


def test_a_refused_first_run_leaves_no_folder(folder):
    words = ["series", "update", "daily", "visits.csv", *WORDS, "--until=2024-03-19"]
    assert "has no calendar" in fails(*words)
    assert not (folder / "daily").exists()


def test_a_folder_of_several_series_or_of_renamed_releases_is_not_read(folder):
    begin(2)
    update("03-19")
    update("03-20", "--max-per-unit=1", to="other")
    (folder / "other" / "2024-03-19-1d.parquet").rename("daily/2024-03-19-1d.parquet")
    assert "are of different series" in fails("series", "table", "daily")
    (folder / "daily" / "2024-03-18-1d.parquet").rename("other/2024-03-20-1d.parquet")
    (folder / "other" / "2024-03-18-1d.parquet").unlink()
    assert "give its name back" in fails("series", "table", "other")
