"""The experiments on sequences: measures against brute force, resuming, the command."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DataError, ParameterError, PrivacyError
from dpviz.evaluation.rowfile import RowFile
from dpviz.evaluation.sequence_truth import sequences_digest
from dpviz.evaluation.sequences import (
    LENGTHS,
    MeasureRow,
    SequenceExperiment,
    about,
    run,
    shares,
    summary,
    variation,
)
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.sequences.alphabet import Alphabet
from tests.commands import as_json, fails

from .cases import ABC, counted, public

ROWS = [[0, 1, 2], [0, 1], [0, 1, 1], [2], [0] * 9] * 60
SMALL = {"tops": (2, 5), "epsilons": (0.5, 1e7), "repeats": 2, "samples": 4000, "l_top": 6}


def rows_of(plan, done=()):
    return [row for rows in run(public(ROWS), plan, done=done) for row in rows]


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
    plan = SequenceExperiment(methods=("topk_em", "truncate"), **SMALL)
    measured = [row for rows in run(public(rows), plan) for row in rows]
    by_measure = {(row.method, row.measure): row for row in measured if row.epsilon == 1e7}
    whole, cut = (counted(rows, l_top, 9) for l_top in (99, 6))

    def best(counts, k):
        return sorted(counts, key=lambda string: -counts[string])[:k]

    for k, precision in ((2, 0.5), (5, 0.8)):
        for counts in (whole, cut):  # no tie where the list is cut
            ranked = best(counts, k + 1)
            assert counts[ranked[k - 1]] > counts[ranked[k]]
        assert len(set(best(whole, k)) & set(best(cut, k))) / k == precision
        assert by_measure["truncate", f"top {k}"].value == precision
        assert by_measure["topk_em", f"top {k}"].value == precision
    # Of 118 sequences 11 have 9 symbols, which are cut at 6.
    assert by_measure["truncate", LENGTHS].value == pytest.approx(11 / 118)
    assert ("topk_em", LENGTHS) not in by_measure


def test_every_method_is_measured_and_one_without_noise_once():
    plan = SequenceExperiment(methods=("markov", "ngram:n_max=2", "topk_em", "truncate"), **SMALL)
    rows = rows_of(plan)
    keys = [(row.method, row.epsilon, row.measure, row.repeat) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * (3 + 3 + 2) * 2 + 2 * 3
    assert all(0 <= row.value <= 1 and math.isfinite(row.build_seconds) for row in rows)
    assert {row.repeat for row in rows if row.method == "truncate"} == {0}
    means = summary(rows)
    assert [row["measure"] for row in means[:1]] == ["top 2"]
    assert means[-1]["measure"] == LENGTHS
    assert all(row["least"] <= row["mean"] <= row["greatest"] for row in means)


def test_an_interrupted_experiment_goes_on_where_it_was(tmp_path):
    plan = SequenceExperiment(methods=("markov", "truncate"), **SMALL)
    output = tmp_path / "rows.csv"
    data = public(ROWS)
    first = RowFile(output, about(data, plan), MeasureRow)
    going = run(data, plan)
    first.append(next(going))
    first.append(next(going))
    going.close()
    output.write_text(output.read_text() + "markov,0.5,to")  # a crash in the middle of a row
    again = RowFile(output, about(data, plan), MeasureRow)
    done = {(row.method, row.epsilon, row.repeat) for row in again.rows}
    assert len(done) == 2
    for rows in run(data, plan, done=done):
        again.append(rows)
    whole = rows_of(plan)

    def plain(rows):
        return {(row.method, row.epsilon, row.measure, row.repeat, row.value) for row in rows}

    assert (
        plain(again.rows)
        == plain(RowFile(output, about(data, plan), MeasureRow).rows)
        == plain(whole)
    )
    with pytest.raises(ParameterError, match=r"another experiment \(seed 0, here 1\)"):
        RowFile(output, about(data, SequenceExperiment(**{**SMALL, "seed": 1})), MeasureRow)
    output.write_text("method\nx\n")
    with pytest.raises(DataError, match="line 2 is not a row"):
        RowFile(output, about(data, plan), MeasureRow)


def test_rows_on_other_sequences_of_one_name_are_refused(tmp_path):
    """They were given for those of the second."""
    plan, output = SequenceExperiment(methods=("truncate",), **SMALL), tmp_path / "rows.csv"
    data = public(ROWS)
    results = RowFile(output, about(data, plan), MeasureRow)
    for rows in run(data, plan):
        results.append(rows)
    assert RowFile(output, about(public(ROWS[::-1]), plan), MeasureRow).rows
    for other in ([*ROWS, [0]], [[2, 1, 0], *ROWS[1:]], [[0], [1, 2], *ROWS[1:]]):
        with pytest.raises(ParameterError, match="other records than test has here"):
            RowFile(output, about(public(other), plan), MeasureRow)
    with pytest.raises(ParameterError, match="places False, here True"):
        RowFile(output, {**about(data, plan), "places": True}, MeasureRow)


def test_public_rules_and_cells_are_part_of_what_sequences_are():
    follows = np.ones((3, 3), dtype=bool)
    cells = {"side": 2, "domain": {"lower": [0, 0], "upper": [1, 1], "columns": ["x", "y"]}}
    moved = {**cells, "domain": {**cells["domain"], "lower": [-1, 0]}}
    named = {**cells, "domain": {**cells["domain"], "columns": ["lon", "lat"]}}
    sequences, lines = Sequences.of(ROWS), (np.array([0, 2]), np.zeros((2, 2)))

    def digest(alphabet=ABC, **how):
        return sequences_digest(SequenceData("v", alphabet, sequences, public=True, **how))

    digests = [digest(), digest(Alphabet(("a", "b", "d"))), digest(Alphabet(ABC.names, follows))]
    digests += [digest(facts={"cells": each}) for each in (cells, moved, {**cells, "side": 3})]
    digests += [digest(lines=each) for each in (lines, (lines[0], lines[1] + 1))]
    assert len(set(digests)) == len(digests)
    assert digest(facts={"cells": named}) == digest(facts={"cells": cells})
    with pytest.raises(PrivacyError):
        sequences_digest(SequenceData("visits", ABC, sequences))


def test_progress_is_reported_and_may_cancel():
    fractions = []

    def progress(fraction, what):
        fractions.append(fraction)
        if len(fractions) == 3:
            raise KeyboardInterrupt

    going = run(public(ROWS), SequenceExperiment(methods=("markov",), **SMALL), progress=progress)
    with pytest.raises(KeyboardInterrupt):
        list(going)
    assert fractions == [0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"methods": ()}, "no methods"),
        ({"methods": ("cloud",)}, "unknown sequence method 'cloud': one of markov, [a-z, _]*te$"),
        ({"methods": ("ugrid",)}, "ugrid works on points, the data are sequences"),
        ({"methods": ("ngram:n_max=0",)}, "n_max"),
        ({"epsilons": (0.0,)}, "epsilon=0"),
        ({"tops": (0, 5)}, "top 0"),
        ({"repeats": 0}, "repeats=0"),
        ({"samples": 0}, "samples=0"),
    ],
)
def test_bad_plans_are_one_clear_line(words, message):
    with pytest.raises(ParameterError, match=message):
        SequenceExperiment(**words)


def test_sensitive_sequences_are_not_measured():
    secret = SequenceData("visits", ABC, Sequences.of(ROWS))
    with pytest.raises(PrivacyError, match="NOT PRIVATE"):
        next(run(secret, SequenceExperiment(**SMALL)))


def test_no_sequence_is_one_clear_line():
    with pytest.raises(DataError, match="no sequence over its alphabet"):
        next(run(public([]), SequenceExperiment(**SMALL)))


def test_the_command_writes_rows_and_a_picture_and_goes_on(tmp_path):
    source, output = tmp_path / "visits.txt", tmp_path / "rows.csv"
    source.write_text("a b c\na b\n" * 200)
    words = ["evaluate", source, "-o", output, "--alphabet=a,b,c", "--tops=2,3,2"]
    words += ["--samples=500", "--epsilons=1,2,1", "--methods=markov,topk_em,markov"]
    words += ["--repeats=1"]
    assert "only for public data" in fails(*words)
    words += ["--public", "--plot", tmp_path / "picture.png"]
    facts = as_json(*words)
    assert facts["rows"] == 2 * (3 + 2)
    assert {row["measure"] for row in facts["results"]} == {"top 2", "top 3", "lengths"}
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    before = output.read_text()
    assert as_json(*words)["rows"] == facts["rows"]
    assert output.read_text() == before
    assert "give a .png" in fails(*words[:-1], tmp_path / "picture.txt")
