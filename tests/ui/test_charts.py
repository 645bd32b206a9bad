"""Charts of the pages hold their rows, in colours that the colour-blind tell apart."""

from datetime import timedelta

import pandas
import pytest

from dpviz.domain.calendar import Calendar
from dpviz.ui.shared import charts
from dpviz.ui.shared.timeline import marked_timeline

ERRORS = [
    {"method": name, "epsilon": epsilon, "error": 0.1, "low": 0.05, "high": 0.2}
    for name in ("privtree", "ugrid")
    for epsilon in (0.1, 1.0)
]
COLOURS = {"privtree": charts.BLUE, "ugrid": charts.ORANGE}


@pytest.mark.parametrize(
    ("chart", "rows", "colours"),
    [
        (charts.error_chart(ERRORS, "error", [0.1, 1.0], [0.01, 1.0], COLOURS), 4, 2),
        (charts.bounds_chart({1: 390.0, 10: 94.0}, 5), 3, 1),
    ],
    ids=["errors", "bounds"],
)
def test_a_chart_holds_its_rows_and_the_colours_of_the_pair(chart, rows, colours):
    spec = chart.to_dict()  # altair validates it against the schema of Vega-Lite
    assert sum(map(len, spec["datasets"].values())) == rows
    text = str(spec)
    assert [each in text for each in (charts.ORANGE, charts.BLUE)].count(True) == colours


def test_lines_are_told_apart_without_colour():
    spec = str(charts.error_chart(ERRORS, "error", [0.1, 1.0], [0.01, 1.0], COLOURS).to_dict())
    assert all(str(dash) in spec for dash in charts.DASHES[:2])


def test_an_axis_of_errors_has_its_ends_and_a_few_round_numbers_between():
    for errors, ticks in (
        ({1: 390.0, 10: 94.0, 50: 150.0}, [94, 200, 390]),
        ({1: 290.0, 10: 220.0}, [220, 290]),
        ({1: 5_000.0, 10: 31.0}, [31, 50, 100, 200, 500, 1_000, 2_000, 5_000]),
    ):
        line = charts.bounds_chart(errors, 10).to_dict()["layer"][0]["encoding"]
        assert line["y"]["axis"]["values"] == ticks
        assert line["y"]["axis"]["title"] == "mean error"  # a longer title does not fit
        assert line["x"]["axis"]["values"] == list(errors)


def test_an_axis_of_times_writes_all_of_them_in_one_way():
    """March, Mar 03 and Tue 05 stood beside each other."""
    axis = Calendar("UTC")
    rows = pandas.DataFrame(
        {
            **{name: pandas.to_datetime([0, 27], unit="D", utc=True) for name in ("start", "end")},
            **dict.fromkeys(("from", "to", "count", "low", "high"), 0),
        }
    )
    chart = marked_timeline(rows, axis, (0.0, 86_400.0)).to_dict()
    assert [layer["encoding"]["x"]["axis"]["format"] for layer in chart["layer"]] == ["%-d %b"] * 3
    spans = (0.5, 4, 28, 365, 4_000)
    assert [charts.time_form(timedelta(days=each)) for each in spans] == [
        *("%H:%M", "%-d %b %H:%M", "%-d %b", "%b %Y", "%Y")
    ]


def test_an_axis_of_counts_begins_with_0_and_not_with_0k():
    """In Vega's own format all labels of an axis have one unit."""
    table = pandas.DataFrame(
        [{"start": 0, "end": 1, "count": 5_000.0, "low": 0.0, "high": 9_000.0}]
    )
    text = str(charts.timeline_chart(table, 0, 1, "%H:%M").to_dict())
    assert charts.SHORT in text
    assert "'format': '~s'" not in text


def test_deviations_stand_around_zero_on_an_axis_that_shows_large_and_small_ones():
    rows = [
        {"method": "PrivTree", "ε": epsilon, "error": half / 3, "low": -half, "high": half}
        | {"in words": ""}
        for epsilon, half in ((0.05, 800.0), (10.0, 0.4))
    ]
    spec = charts.deviation_chart(rows).to_dict()
    bars = spec["layer"][0]["encoding"]["y"]
    assert bars["scale"]["type"] == "symlog"
    assert bars["scale"]["domain"] == [-800.0, 800.0]
    assert bars["axis"]["values"] == [-100, -10, -1, 0, 1, 10, 100]
    assert bars["axis"]["labelExpr"] == charts.SHORT
    assert spec["layer"][2]["encoding"]["y"]["field"] == "exact"  # the line at zero


def test_no_axis_reads_500m_for_a_half():
    for labels in (charts.SHORT, charts.ROUNDED):
        small, large = labels.split(" : ")
        assert small.startswith("abs(datum.value) < 1 ? ")
        assert "s')" not in small
        assert "s')" in large
