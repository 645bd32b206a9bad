"""Exact privacy loss from file to file: releases of records, and of one person's more.

All that a build draws goes through one function of exact numbers and rates. It is run on the file
with the person, and its noisy numbers are written down; then on the file without, where it gives
the same noisy numbers, whatever the exact ones. If the released columns are equal, the release is a
function of these numbers alone, and Σ rate·|difference of the exact numbers| bounds the loss of
every outcome. That sum, in exact fractions, must not exceed the price.
"""

from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import box

import dpviz
from dpviz.private.load import bounding
from dpviz.private.mechanisms import counts
from tests.commands import run

pytestmark = pytest.mark.slow

K, EPSILON = 3, 0.75
WHO = ("--unit=who", f"--max-per-unit={K}")
FRAME = ("--areas=wards.gpkg", "--levels=district,ward", "--kind=mode", "--kinds=bike,walk")
WEEKS = ("--time=at", "--every=1w", "--period=2024-01-01,2024-01-29")
ENDS = ("--from=lon,lat", "--to=ex,ey")
SUMS = ("--sum=fare", "--clip=-2,9", "--sum-share=0.3")
BOUNDED = bounding.bounded
NOISY = counts._noisy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Records of forty persons; and the same with one more, who has many records of every sort."""
    monkeypatch.chdir(tmp_path)
    lines = np.linspace(0, 1, 4)
    wards = [
        {"ward": f"w{i}{j}", "district": f"d{i}", "geometry": box(left, low, right, high)}
        for i, (left, right) in enumerate(pairwise(lines))
        for j, (low, high) in enumerate(pairwise(lines))
    ]
    geopandas.GeoDataFrame(wards, crs=4326).to_file("wards.gpkg")
    random, n = np.random.default_rng(0), 400
    rows = pd.DataFrame(random.random((n, 4)), columns=["lon", "lat", "ex", "ey"])
    rows["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 28, n), "D")
    rows["mode"], rows["who"] = random.choice(["bike", "walk"], n), random.integers(0, 40, n)
    rows["fare"] = random.normal(4, 9, n).round(2)
    more = rows.head(60).assign(who="zed", fare=[1e9, 9.0, 9.004] * 20)
    odd = more.head(4).assign(lon=["", "x", 7, 0.5], fare=["nan", "", 1, "1e400"])
    pd.concat([more, odd, rows]).to_csv("with.csv", index=False)
    rows.to_csv("without.csv", index=False)
    return tmp_path


class Worlds:
    """What is drawn of both files, in order: exact numbers, rates and the noisy numbers."""

    def __init__(self):
        self.calls = {"with": [], "without": []}

    def build(self, name, *words):
        """Run a command on one of the files; the second one gets the noisy numbers of the first."""
        replayed = iter(self.calls["with"]) if name == "without" else None

        def drawn(noise, exact, rates):
            noisy = NOISY(noise, exact, rates) if replayed is None else next(replayed)[2]
            rows = np.broadcast_to(rates, np.shape(exact)).ravel()
            self.calls[name].append((np.array(exact).ravel(), rows, noisy.copy()))
            return noisy.copy()

        with (
            patch.object(counts, "_noisy", drawn),
            patch.object(bounding, "fresh_key", lambda: b"k" * 16),
        ):
            code, _, err = run(*words)
        assert code == 0, err

    @property
    def loss(self):
        total = Fraction(0)
        for (one, rates, _), (other, same, _) in zip(*self.calls.values(), strict=True):
            assert np.array_equal(rates, same)
            for row in np.flatnonzero(one != other):
                total += Fraction(float(rates[row])) * abs(int(one[row]) - int(other[row]))
        return total


def columns(path):
    return dpviz.read(path).to_arrow().replace_schema_metadata(None)


CASES = {
    "table": (*FRAME, *WEEKS),
    "sums": (*FRAME, *WEEKS, *SUMS),
    "hours of the week": (*FRAME, "--time=at", "--every=6h", "--cycle=week", *SUMS),
    "flows": (*FRAME, *WEEKS, *ENDS, "--method=all-pairs"),
}


def worlds(words):
    both = Worlds()
    for name in ("with", "without"):
        price = (f"--epsilon={EPSILON}", "-o", f"{name}.parquet")
        both.build(name, "build", f"{name}.csv", *words, *WHO, *price)
    return both


@pytest.mark.parametrize("case", CASES)
def test_one_person_more_in_a_file_costs_at_most_the_price(folder, case):
    loss = worlds(CASES[case]).loss
    assert columns("with.parquet").equals(columns("without.parquet"))
    assert 0.999 * EPSILON < loss <= Fraction(EPSILON)


def test_one_person_more_costs_at_most_the_price_of_flows_that_are_opened_by_noise(folder):
    """Which pairs are measured follows from the noisy numbers, which are the same in both files."""
    loss = worlds((*FRAME, *WEEKS, *ENDS, "--set=threshold=0")).loss
    assert columns("with.parquet").equals(columns("without.parquet"))
    assert 0.3 * EPSILON < loss <= Fraction(EPSILON)


@pytest.mark.parametrize("case", CASES)
def test_a_bound_that_is_not_kept_costs_more(folder, case):
    """The same with one record too many of each person."""
    with (
        patch("dpviz.private.load.points.bounded", one_more),
        patch("dpviz.private.load.flows.bounded", one_more),
    ):
        assert worlds(CASES[case]).loss > Fraction(EPSILON)


def one_more(unit, ids, k, slots, **how):
    return BOUNDED(unit, ids, k + 1, slots, **how)


def test_one_person_more_on_a_day_of_a_series_costs_at_most_its_price(folder):
    """Its day, week and four weeks together; other releases do not change."""
    rows = pd.read_csv("with.csv", dtype=str)
    rows.loc[rows.who.eq("zed"), "at"] = "2024-01-10"
    rows.to_csv("with.csv", index=False)
    assert run("ledger", "calendar", "visits", "--unit=day", "--zone=UTC")[0] == 0
    words = ("--time=at", "--start=2023-12-25", "--until=2024-01-22", "--dataset=visits")
    both = Worlds()
    for name in ("with", "without"):
        price = (f"--epsilon={EPSILON}", *(() if name == "with" else ("--again",)))
        both.build(name, "series", "update", name, f"{name}.csv", *FRAME, *WHO, *words, *price)
    files = sorted(each.name for each in (folder / "with").glob("*.parquet"))
    assert len(files) == 28 + 4 + 1
    for file in files:
        assert columns(f"with/{file}").equals(columns(f"without/{file}"))
    assert 0.999 * EPSILON < both.loss <= Fraction(EPSILON)
