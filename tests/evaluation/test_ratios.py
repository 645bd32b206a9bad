from pathlib import Path

import pytest

from dpviz.errors import DataError
from dpviz.evaluation.ratios import error_ratios, means, table

HEAD = "method,epsilon,size,repeat,mean_relative_error\n"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text(
        HEAD + "privtree,0.1,small,0,0.2\nprivtree,0.1,small,1,0.4\n"
        "ours,0.1,small,0,0.15\nours,0.1,small,1,0.15\n"
        "privtree,0.1,large,0,0.1\nours,0.1,large,0,0.2\n"
    )
    return path


def test_ratios_of_means_over_repetitions(rows):
    ratios = error_ratios([str(rows)])
    assert ratios["ours"][("city", 0.1, "small")] == pytest.approx(0.5)
    assert ratios["ours"][("city", 0.1, "large")] == pytest.approx(2.0)
    assert means(ratios)["ours"]["all"] == pytest.approx(1.0)
    assert "| all | 1.000 |" in table(ratios)


def of_ratio(path, ratio, size="small"):
    """A file in which one method's error is so many times the other's."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{HEAD}privtree,1,{size},0,0.01\nours,1,{size},0,{0.01 * ratio}\n")
    return str(path)


def test_files_of_one_name_all_count_and_are_told_apart(tmp_path):
    one, two = (
        of_ratio(tmp_path / "a" / "errors.csv", 2),
        of_ratio(tmp_path / "b" / "errors.csv", 8),
    )
    third = of_ratio(tmp_path / "city.csv", 4)
    ratios = error_ratios([one, two, third])
    assert means(ratios)["ours"] == pytest.approx(
        {"all": 4, "a/errors.csv": 2, "b/errors.csv": 8, "city": 4, "small": 4}
    )
    assert "| b/errors.csv | 8.000 |" in table(ratios)


def test_a_file_that_is_given_twice_counts_once(tmp_path, monkeypatch):
    one, two = of_ratio(tmp_path / "city.csv", 1), of_ratio(tmp_path / "b" / "town.csv", 9)
    monkeypatch.chdir(tmp_path)
    again = ["b/../city.csv", "city.csv"]
    assert means(error_ratios([one, two, *again]))["ours"]["all"] == pytest.approx(3)
    Path("village.csv").symlink_to("city.csv")
    assert ("village", 1.0, "small") in error_ratios(["village.csv"])["ours"]


def test_a_file_is_never_taken_for_a_size(tmp_path):
    files = [
        of_ratio(tmp_path / f"{stem}.csv", ratio, size)
        for stem, ratio, size in [("small", 2, "small"), ("all", 8, "all")]
    ]
    assert means(error_ratios(files))["ours"] == pytest.approx(
        {"all": 4, "small.csv": 2, "small": 2, "all.csv": 8, "size all": 8}
    )


def test_what_cannot_be_compared_is_refused(rows, tmp_path):
    with pytest.raises(DataError, match=r"has no ugrid at epsilon 0\.1"):
        error_ratios([str(rows)], "ugrid")
    alone = tmp_path / "alone.csv"
    alone.write_text(HEAD + "ours,0.1,small,0,0.2\n")
    with pytest.raises(DataError, match=r"alone\.csv: has no method but ours: evaluate another"):
        error_ratios([str(rows), str(alone)], "ours")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    for file in (str(other), "/dev/null"):  # as one that never ends, such as /dev/full
        with pytest.raises(DataError, match="not a CSV of 'dpviz evaluate'"):
            error_ratios([file])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "has no rows"),
        ("privtree,1\n", "not a CSV"),
        ("a" * 200_000 + "\n", "not a CSV"),
        ("privtree,1,small,0,0\nours,1,small,0,0.1\n", "is 0 or not finite"),
        ("privtree,1,small,0,0.1\nours,1,small,0,0\n", "is 0 or not finite"),
        ("privtree,1,small,0,nan\n", "is 0 or not finite"),
    ],
)
def test_errors_that_have_no_ratio_are_refused(tmp_path, lines, words):
    path = tmp_path / "errors.csv"
    path.write_text(HEAD + lines)
    with pytest.raises(DataError, match=words):
        error_ratios([str(path)])
