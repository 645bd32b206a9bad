"""Answers at the end of a notebook cell: tables of their fields."""

import re
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.releases.answers import MAX_SHOWN_ROWS, Timeline
from dpviz.releases.series import MONDAY
from tests.wards import voronoi

BOX = (10.1, 50.1, 10.4, 50.6)


@pytest.fixture(scope="module")
def rides():
    """A release of points with time, kinds and values."""
    domain = dpviz.Domain.from_bounds(
        [10, 50, 11, 51],
        time="at",
        period=("2024-01-01", "2024-03-01"),
        kind="mode",
        kinds=("a", "b"),
        value="fare",
        clip=(0, 9),
        grid=1,
    )
    n = 300
    columns = {"lon": [10.2] * n, "lat": [50.2] * n, "at": ["2024-01-15"] * n}
    table = pa.table(columns | {"mode": ["a", "b", "a"] * (n // 3), "fare": [5] * n})
    return dpviz.build(dpviz.load(table, domain, public=True, name="rides"), epsilon=1.0, seed=1)


ASKED = {
    "count": lambda rides: rides.count([BOX, BOX]),
    "timeline": lambda rides: rides.timeline(BOX, "1w"),
    "sum": lambda rides: rides.sum(BOX),
    "mean": lambda rides: rides.mean(BOX),
    "share": lambda rides: rides.share(BOX, "a"),
    "estimate": lambda rides: rides.compare(dpviz.Subset(BOX, kind="a"), BOX),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_is_a_table_of_its_fields(name, rides):
    answer = ASKED[name](rides)
    shown = answer._repr_html_()
    assert re.findall(r"<th>(\w+)</th>", shown) == [each.name for each in fields(answer)]
    first = re.findall(r"<td>(.*?)</td>", shown)[0]
    column = np.atleast_1d(getattr(answer, fields(answer)[0].name))
    assert float(first) == pytest.approx(column[0], rel=1e-5)
    assert shown.count("<tr") == 1 + len(column)


def test_a_long_answer_is_cut():
    many = np.zeros(10_000)
    start = np.arange(10_000).astype("datetime64[s]")
    shown = Timeline(*[many] * 6, start, start)._repr_html_()
    assert shown.count("<tr") == MAX_SHOWN_ROWS + 2  # the names, and a row of dots
    assert "1970-01-01" in shown


def test_a_series_is_the_table_of_its_last_windows():
    areas = voronoi(dpviz.Domain.from_bounds([0, 0, 1, 1]), 2, seed=1)
    facts = {"series": {"frame": {"start": "1970-01-05"}}}
    header = dpviz.Header("areas", {}, True, "1-DP", 1.0, extra=facts)
    ones, nodes = np.ones((1, len(areas))), np.array([[MONDAY, 1]])
    first = dpviz.CountRelease(areas, areas.nodes(*ones, *ones), header)
    series = dpviz.Series(first, nodes, ones[None], ones, ("1970-01-06",), 1.0)
    shown = series._repr_html_()
    assert shown.count("<tr") == 1 + 2 * len(areas)  # the day, and the running total
    assert "<td>running total</td>" in shown
