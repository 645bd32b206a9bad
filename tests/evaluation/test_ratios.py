import pytest

from dpviz.errors import DataError
from dpviz.evaluation.ratios import error_ratios, means, table


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text(
        "method,epsilon,size,repeat,mean_relative_error\n"
        "privtree,0.1,small,0,0.2\nprivtree,0.1,small,1,0.4\n"
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


def test_what_cannot_be_compared_is_refused(rows, tmp_path):
    with pytest.raises(DataError, match=r"has no ugrid at epsilon 0\.1"):
        error_ratios([str(rows)], "ugrid")
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
    path.write_text("method,epsilon,size,repeat,mean_relative_error\n" + lines)
    with pytest.raises(DataError, match=words):
        error_ratios([str(path)])
