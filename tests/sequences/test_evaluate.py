"""The experiments on sequences: measures against brute force, and the command."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DataError, ParameterError, PrivacyError
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.rows import means
from dpviz.evaluation.sequences import ALL, LENGTHS, SequenceBench, shares, summary, variation
from dpviz.private.sequences import SequenceData, Sequences
from tests.commands import as_json, fails

from .cases import ABC, counted, public

ROWS = [[0, 1, 2], [0, 1], [0, 1, 1], [2], [0] * 9] * 60
SMALL = {"tops": (2, 5), "samples": 4000, "l_top": 6}


def rows_of(*methods, data=ROWS, epsilons=(0.5, 1e7), repeats=2):
    bench = SequenceBench(public(data), **SMALL)
    plan = Experiment(methods, epsilons, repeats, kind="sequences")
    return [row for rows in run(bench, plan) for row in rows]


@pytest.mark.slow
@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_variation_is_the_most_that_an_event_tells_apart(one, other):
    distributions = [shares(np.array(each)) for each in (one, other)]
    wanted = 0.0
    for subset in range(1 << 6):
        inside = [length for length in range(6) if subset >> length & 1]
        share = [np.isin(each, inside).mean() for each in (one, other)]
        wanted = max(wanted, abs(share[0] - share[1]))
    assert variation(*distributions) == pytest.approx(wanted)
    assert variation(distributions[0], distributions[0]) == 0.0


def test_measures_without_noise_are_those_of_the_truncated_sequences():
    rows = [[0, 1, 2]] * 50 + [[0, 1]] * 30 + [[2]] * 20 + [[1]] * 7 + [[0] * 9] * 11
    by_measure = means(rows_of("topk_em", "truncate", data=rows))
    whole, cut = (counted(rows, l_top, 9) for l_top in (99, 6))

    def best(counts, k):
        return sorted(counts, key=lambda string: -counts[string])[:k]

    for k, precision in ((2, 0.5), (5, 0.8)):
        for counts in (whole, cut):  # no tie at the end of the list
            ranked = best(counts, k + 1)
            assert counts[ranked[k - 1]] > counts[ranked[k]]
        assert len(set(best(whole, k)) & set(best(cut, k))) / k == precision
        for method in ("truncate", "topk_em"):
            assert by_measure[method, 1e7, ALL, f"top {k}"] == precision
    # 11 of 118 sequences have 9 symbols, and are truncated to 6.
    assert by_measure["truncate", 1e7, ALL, LENGTHS] == pytest.approx(11 / 118)
    assert ("topk_em", 1e7, ALL, LENGTHS) not in by_measure


@pytest.mark.slow
def test_every_method_is_measured_and_summed_up():
    rows = rows_of("markov", "ngram:n_max=2", "topk_em", "truncate")
    keys = [(row.method, row.epsilon, row.repeat, row.measure) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * 2 * (3 * 4 + 3)
    assert all(0 <= row.value <= 1 or row.measure == "build_seconds" for row in rows)
    entries = summary(rows)
    assert [entry["measure"] for entry in entries[:1]] == ["top 2"]
    assert entries[-1]["measure"] == LENGTHS
    for entry in entries:
        assert entry["repeats"] == 2
        assert entry["least"] <= entry["mean"] <= entry["greatest"]
        assert math.isfinite(entry["build_seconds"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"methods": ("cloud",)}, "unknown sequence method 'cloud': one of markov, [a-z, _]*te$"),
        ({"methods": ("ugrid",)}, "ugrid works on points, the data are sequences"),
        ({"methods": ("ngram:n_max=0",)}, "n_max"),
        ({"l_top": 0}, "l_top"),
        ({"tops": (0, 5)}, "top 0"),
        ({"samples": 0}, "samples=0"),
    ],
)
def test_bad_plans_are_one_clear_line(words, message):
    def begun(methods=("markov",), **sizes):
        plan = Experiment(methods, (1.0,), kind="sequences")
        run(SequenceBench(public(ROWS), **{**SMALL, **sizes}), plan)

    with pytest.raises(ParameterError, match=message):
        begun(**words)


def test_sensitive_and_missing_sequences_are_not_measured():
    with pytest.raises(PrivacyError, match="NOT PRIVATE"):
        SequenceBench(SequenceData("visits", ABC, Sequences.of(ROWS)), **SMALL)
    with pytest.raises(DataError, match="no sequence over its alphabet"):
        SequenceBench(public([]), **SMALL)


@pytest.mark.slow
def test_the_command_writes_rows_and_a_picture(tmp_path):
    source, output = tmp_path / "visits.txt", tmp_path / "rows.csv"
    source.write_text("a b c\na b\n" * 200)
    words = ["evaluate", source, "-o", output, "--alphabet=a,b,c", "--tops=2,3,2"]
    words += ["--samples=500", "--epsilons=1,2,1", "--methods=markov,topk_em,markov"]
    words += ["--repeats=1"]
    assert "so it needs public data" in fails(*words)
    words += ["--public", "--plot", tmp_path / "picture.png"]
    facts = as_json(*words)
    assert facts["rows"] == 2 * (4 + 3)
    assert {row["measure"] for row in facts["results"]} == {"top 2", "top 3", "lengths"}
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "rows.csv' exists: name another file" in fails(*words)
    output.unlink()
    assert "give a .png" in fails(*words[:-1], tmp_path / "picture.txt")
