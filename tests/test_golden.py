"""Releases written by every earlier version are read, with every value in place."""

import json

import numpy as np
import pytest

import dpviz
from dpviz.releases.header import SCHEMA
from tests.golden.make import HERE, MADE, answers, facts

FOLDERS = sorted(HERE.glob("schema-*"))


def test_the_present_schema_has_its_golden_files():
    """Where this fails, the schema is new: run ``python -m tests.golden.make`` once."""
    assert [folder.name for folder in FOLDERS] == [
        f"schema-{number}" for number in range(1, SCHEMA + 1)
    ]


def test_the_present_schema_has_a_file_of_every_release():
    assert {path.stem for path in FOLDERS[-1].glob("*.parquet")} >= set(MADE)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        pytest.param(folder, path.stem, id=f"{folder.name}-{path.stem}")
        for folder in FOLDERS
        for path in sorted(folder.glob("*.parquet"))
    ],
)
def test_an_old_file_is_read_as_it_was_written(folder, name):
    read = facts(dpviz.read(folder / f"{name}.parquet"))
    wanted = json.loads((folder / "facts.json").read_text())[name]
    assert set(read) == set(wanted)
    for what, value in wanted.items():
        assert read[what] == pytest.approx(value, rel=1e-12), what


BEFORE = HERE / "written-by-52609b4"
"""Files of the last version that had a file format for each kind of release, and its answers."""

WIDER = ("trips", "splits", "hilbert")
"""Releases in 4-D, or of boxes of any sides: since then the model of uniformity is wider there."""

SETTLED = "wavelets"
"""Since then the model of uniformity takes no noise for records there."""

EXACT = {"uniformity_sd": 0, "region": 2}
"""Answers that are of the model there, and how many of their numbers are not."""

WANTED = json.loads((BEFORE / "answers.json").read_text())


@pytest.mark.parametrize("name", sorted(set(WANTED) - {"header"}))
def test_files_of_the_three_older_formats_answer_the_same(name, tmp_path):
    release = dpviz.read(BEFORE / f"{name}.parquet")
    for opened in (release, dpviz.read(release.save(tmp_path / "again.parquet"))):
        given = answers(opened)
        assert set(given) == set(WANTED[name])
        for what, value in WANTED[name].items():
            if name in (SETTLED, *WIDER) and what in EXACT:
                assert_same(given[what][: EXACT[what]], value[: EXACT[what]])
                if name in WIDER:
                    assert (np.array(given[what]) >= np.array(value) * (1 - 1e-12)).all()
            else:
                assert_same(given[what], value)
    header = release.header.to_dict()
    assert json.loads(json.dumps(header)) == WANTED["header"][name]


def assert_same(given, wanted):
    if isinstance(wanted, list):
        assert len(given) == len(wanted)
        for left, right in zip(given, wanted, strict=True):
            assert_same(left, right)
    else:
        assert given == (wanted if wanted is None else pytest.approx(wanted, rel=1e-12, abs=1e-12))


def assert_holds(quotient, wanted):
    value, low, high = wanted
    assert_same(quotient.value[0], value)
    assert quotient.low[0] <= low < high <= quotient.high[0]


def test_a_file_of_kinds_and_sums_answers_as_when_it_was_written():
    """Of the first version that had them; its records were drawn at random. Intervals of shares and
    means were for the noise alone then, and lie in those of today.
    """
    folder, rect = HERE / "kinds-and-sums", [0.1, 0.2, 0.7, 0.9]
    release = dpviz.read(folder / "rides.parquet")
    wanted = json.loads((folder / "answers.json").read_text())
    assert_holds(release.share(rect, "a"), wanted.pop("share"))
    assert set(wanted) == {"None", "a", "b c"}
    for name, values in wanted.items():
        kind = None if name == "None" else name
        count, total = release.count(rect, kind=kind), release.sum(rect, kind=kind)
        columns = (count.count, count.noise_sd, total.sum, total.noise_sd)
        assert_same([each[0] for each in columns], values[:4])
        assert_holds(release.mean(rect, kind=kind), values[4:])
