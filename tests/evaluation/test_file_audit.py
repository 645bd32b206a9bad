"""The audit of whole builds: what reading does wrong is refuted, whatever the room that reads.

Old mistakes are put back in front of the command, as a rewriting of its file: what a build then
does is what it did when the mistake stood in the reader.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from dpviz.cli import audit as command
from dpviz.cli.audit import run_here, run_outside
from dpviz.evaluation import file_audit
from dpviz.evaluation.file_audit import FEATURES, KINDS, FileBench, Outcome, audit_files
from dpviz.evaluation.file_cases import MANY, FileCase, file_cases
from dpviz.files import sandbox
from tests.commands import as_json, fails, run

CASES = file_cases()
TOTAL = FEATURES.index("count of everything")


def case(kind, *words):
    return next(
        each for each in CASES if each.kind == kind and all(part in each.name for part in words)
    )


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """Files are read in this process, as on systems that cannot fork."""
    monkeypatch.setattr(sandbox, "CAN_FORK", False)


STOLEN = case("roads", "uses all their trip ids")
LONG = case("points", "18-digit devices", "of 20 digits more")


def rewritten(rewrite):
    """A command that sees the file after ``rewrite(rows)``."""

    def run(words):
        path = Path(words[list(words).index("build") + 1])
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        rewrite(rows)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return run_here(words)

    return run


def trips_by_their_id_alone(rows):
    """All rows of a trip id are one trip, of the person of its first row."""
    owner = {}
    for row in rows:
        row["person"] = owner.setdefault(row["trip"], row["person"])


def units_typed_by_inference(rows):
    """One number too long for an integer makes doubles of the whole column."""
    names = [row["device"] for row in rows]
    if any(float(name) >= 2.0**63 for name in names):
        for row in rows:
            row["device"] = repr(float(row["device"]))


MISTAKES = [
    pytest.param(STOLEN, trips_by_their_id_alone, id="trips grouped by trip id alone"),
    pytest.param(LONG, units_typed_by_inference, id="unit column typed by inference"),
]


@pytest.mark.parametrize(("mistaken", "rewrite"), MISTAKES)
def test_an_old_mistake_shows_at_once(mistaken, rewrite, tmp_path):
    bench = FileBench(rewritten(rewrite), 1.0, tmp_path, 100, None)
    larger, without = bench.run(mistaken, 2)
    assert (larger[:, 0] == 0).all()  # the build went through: no refusal
    assert (without[:, 0] == 0).all()
    gap = np.abs(np.subtract.outer(larger[:, TOTAL], without[:, TOTAL]))
    assert gap.min() > 0.5 * MANY


def of_few_builds(run):
    """A command that builds the first five releases of a file, and hands them out in turn after.

    What the audit makes of a hundred runs is tested, not a hundred builds.
    """
    builds, runs = defaultdict(list), Counter()

    def again(words):
        source, output = words[words.index("build") + 1], Path(words[words.index("-o") + 1])
        done = builds[source]
        if len(done) < 5:
            done.append((run(words), output.read_bytes()))
        outcome, release = done[runs[source] % len(done)]
        runs[source] += 1
        output.write_bytes(release)
        return outcome

    return again


@pytest.mark.parametrize(
    ("mistaken", "rewrite", "build"),
    [
        pytest.param(*MISTAKES[0].values, of_few_builds, id="few builds"),
        *(pytest.param(*each.values, lambda run: run, id=each.id, marks=pytest.mark.campaign)
          for each in MISTAKES),
    ],
)  # fmt: skip
def test_an_old_mistake_is_refuted(mistaken, rewrite, build):
    (result,) = audit_files(build(rewritten(rewrite)), 1.0, cases=[mistaken], trials=100)
    assert result.violates
    assert result.epsilon_lower_bound > 1.2
    assert "count" in result.event


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_one_unit_more_moves_nothing_but_a_count(case, tmp_path):
    """Of every case: both files are read, or both refused in the same words.

    A release differs by one unit and noise of rate 1 in at most five cells of each side: by more
    than 40 with probability under 1e-9.
    """
    larger, without = FileBench(run_here, 1.0, tmp_path, 100, None).run(case, 1)
    np.testing.assert_array_equal(larger[:, :TOTAL], without[:, :TOTAL])
    assert without[0, 0] == 0
    assert abs(larger[0, TOTAL] - without[0, TOTAL]) <= 40


@pytest.mark.slow
@pytest.mark.campaign
def test_no_claim_of_a_whole_build_is_refuted():
    results = list(audit_files(run_here, 1.0, trials=100, confidence=1 - 1e-6))
    assert [each.kind for each in results] == list(KINDS)
    assert not any(each.violates for each in results)


def test_a_refusal_that_depends_on_one_unit_is_refuted():
    """A command that makes nothing: it only refuses what holds a certain word."""

    def run(words):
        present = b"9999" in Path(words[1]).read_bytes()
        return Outcome(2, f"error: row {201 if present else 200} is no number")

    (result,) = audit_files(run, 1.0, cases=[LONG], trials=200)
    assert result.violates
    assert "checksum of the error" in result.event


def test_a_command_that_always_refuses_in_the_same_words_is_sound():
    """Progress rises to 1 and is there once, at the end, though few trials meet many cases."""
    reports = []

    def progress(fraction, what):
        reports.append((fraction, what))

    results = list(audit_files(lambda words: Outcome(2, "no"), trials=100, progress=progress))
    assert [each.kind for each in results] == list(KINDS)
    assert not any(each.violates for each in results)
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1 > fractions[-2]
    assert list(dict.fromkeys(what for _, what in reports)) == [
        f"auditing files of {kind}" for kind in KINDS
    ]


def test_cases_differ_by_one_unit_and_have_names_of_their_own():
    assert {each.kind for each in CASES} == set(KINDS)
    names = [(each.kind, each.name) for each in CASES]
    assert len(set(names)) == len(names)
    for each in CASES:
        assert isinstance(each, FileCase)
        assert len(each.larger) > len(each.without)
        if not each.file.endswith("json"):  # lines of the smaller are all in the larger, in order
            lines = iter(re.split(rb"[\r\n]", each.larger))
            assert all(line in lines for line in re.split(rb"[\r\n]", each.without))


def test_both_ways_to_run_a_command_tell_the_same(tmp_path):
    box = ["--bounds", "0,0,1,1", "-o", str(tmp_path / "out.parquet")]
    words = ["build", str(tmp_path / "absent.csv"), *box]
    here, outside = run_here(words), run_outside(words)
    assert here == outside
    assert here.code == 2
    assert "absent.csv" in here.error
    assert run_here(["methods"]).code == 0


def test_the_command_audits_files(monkeypatch):
    cases = [case("points", "of 500 rows")]
    monkeypatch.setattr(file_audit, "file_cases", lambda: cases)
    monkeypatch.setattr(command, "run_here", lambda words: Outcome(2, "no"))
    (result,) = as_json("audit", "files", "--trials", "100")["audits"]
    assert (result["kind"], result["violates"], result["trials"]) == ("points", False, 100)
    _, output, _ = run("audit", "files", "--trials", "100")
    assert output.startswith("files of points: not refuted at epsilon = 1\n")


@pytest.mark.parametrize("words", [["--set", "height=3"], ["-o", "x.md"], ["--trials", "99"]])
def test_what_is_not_for_files_is_one_clear_line(words):
    assert fails("audit", "files", *words).count("\n") == 1
