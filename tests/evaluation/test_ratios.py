from pathlib import Path

import pytest

from dpviz.errors import DataError
from dpviz.evaluation.ratios import error_ratios, means, table
from dpviz.evaluation.rows import MeasureRow, rows_csv

RESULTS = Path(__file__).parents[2] / "assets" / "results"


def row(method, size, value, repeat=0):
    return MeasureRow(method, 0.1, size, repeat, "mean_relative_error", value)


def of_ratio(path, ratio, size="small"):
    """A file in which one method's error is so many times the other's."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(rows_csv([row("privtree", size, 0.01), row("ours", size, 0.01 * ratio)]))
    return str(path)


def test_ratios_are_of_means_over_repetitions(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text(
        rows_csv(
            [
                *(row("privtree", "small", 0.2), row("privtree", "small", 0.4, 1)),
                *(row("ours", "small", 0.15), row("ours", "small", 0.15, 1)),
                *(row("privtree", "large", 0.1), row("ours", "large", 0.2)),
                MeasureRow("ours", 0.1, "large", 0, "build_seconds", 9.0),
            ]
        )
    )
    ratios = error_ratios([str(path)])
    assert ratios["ours"] == pytest.approx(
        {("city", 0.1, "small"): 0.5, ("city", 0.1, "large"): 2.0}
    )
    assert means(ratios)["ours"]["all"] == pytest.approx(1.0)
    assert "| all | 1.000 |" in table(ratios)


def test_files_count_once_and_are_told_apart(tmp_path):
    one = of_ratio(tmp_path / "a" / "errors.csv", 2)
    two = of_ratio(tmp_path / "b" / "errors.csv", 8)
    third = of_ratio(tmp_path / "small.csv", 4)
    again = str(tmp_path / "a" / ".." / "small.csv")
    assert means(error_ratios([one, two, third, again]))["ours"] == pytest.approx(
        {"all": 4, one: 2, two: 8, "small": 4, "size small": 4}
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "has no method but privtree"),
        ([row("privtree", "small", 0.2)], "has no method but privtree: evaluate another"),
        ([row("ours", "small", 0.2)], r"has no privtree at epsilon 0\.1, size small"),
        ([row("privtree", "s", 0.0), row("ours", "s", 0.1)], "is 0 or not finite"),
        ([row("privtree", "s", 0.1), row("ours", "s", float("nan"))], "is 0 or not finite"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, rows, words):
    (tmp_path / "e.csv").write_text(rows_csv(rows))
    with pytest.raises(DataError, match=words):
        error_ratios([str(tmp_path / "e.csv")])
    with pytest.raises(DataError, match="no text"):  # nor one that never ends, such as /dev/full
        error_ratios(["/dev/null"])


def test_the_published_rows_are_read():
    files = sorted(map(str, (RESULTS / "ours").glob("*.csv")))
    files += map(str, RESULTS.glob("privtree-figure-5-*.csv"))
    assert set(means(error_ratios(files))) >= {"ugrid", "agrid", "dawa"}
