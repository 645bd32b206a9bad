"""Rows of an experiment and their plan: what may join them, and what is never written over."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import DataError, ParameterError, PrivacyError
from dpviz.evaluation import rowfile
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.results import CONTRACT, Results, about
from dpviz.evaluation.truth import records_digest
from dpviz.queries.workloads import workload
from tests.commands import as_json, fails
from tests.commands import run as command

DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
POINTS = np.random.default_rng(4).beta(2, 6, size=(500, 2))
LATER = ("format", "columns", "crs", "max_per_unit", "records")
"""What plans of earlier versions do not say."""


def data(points=POINTS, domain=DOMAIN):
    return dpviz.from_points(points, domain, public=True)


def plan_of(sizes=("small",), queries=9, **changes):
    loads = tuple(workload(DOMAIN, size, queries, seed=1) for size in sizes)
    return Experiment(("ugrid:cells=4",), (1.0,), loads, **{"repeats": 1, "seed": 7} | changes)


def opened(output, plan, handle=None, absolute=False):
    return Results(output, about(handle or data(), plan), absolute)


def measured(output, plan, handle=None):
    """The file with every row of a plan in it."""
    handle = handle or data()
    results = opened(output, plan, handle)
    for rows in run(handle, plan, done={row.key for row in results.rows}, processes=0):
        results.append(rows)
    return results


@pytest.fixture
def output(tmp_path):
    return tmp_path / "errors.csv"


def contents(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def test_the_queries_of_every_size_stay_in_the_plan(output):
    """Those of earlier sizes were forgotten, and others were accepted beside their rows."""
    measured(output, plan_of())
    measured(output, plan_of(("medium",)))
    before = contents(output.parent)
    for sizes in (("small",), ("medium",), ("large", "small")):
        with pytest.raises(ParameterError, match=r"holds answers to other (small|medium) queries"):
            opened(output, plan_of(sizes, queries=5, repeats=2))
    assert contents(output.parent) == before
    rows = measured(output, plan_of(("small", "medium"), repeats=2)).rows
    assert sorted((row.size, row.repeat) for row in rows) == [
        *(("medium", 0), ("medium", 1), ("small", 0), ("small", 1))
    ]


@pytest.mark.parametrize(
    ("handle", "words"),
    [
        (data(POINTS * 0.99), "other records than points has here"),
        (data(POINTS[1:]), "other records"),
        (
            data(POINTS[1:], dpviz.Domain((0, 0), (1, 1), columns=("x2", "y2"))),
            r"columns \['x', 'y'\], here \['x2', 'y2'\]",
        ),
        (data(domain=dpviz.Domain((0, 0), (1, 2), columns=("x", "y"))), "bounds"),
    ],
)
def test_rows_on_other_records_of_one_name_are_refused(output, handle, words):
    """The rows of the first records were given for those of the second."""
    measured(output, plan_of())
    before = contents(output.parent)
    with pytest.raises(ParameterError, match=rf"^errors\.csv holds another experiment \({words}"):
        opened(output, plan_of(), handle)
    assert contents(output.parent) == before
    assert opened(output, plan_of(), data(POINTS[::-1])).rows  # in another order they are the same


def test_the_records_of_kinds_and_their_values_have_a_digest_of_their_own():
    table = {"x": [0.1, 0.2, 0.7], "y": [0.1, 0.2, 0.7], "v": [1.0, 2.0, 2.0]}
    box, kinds = (0, 0, 1, 1), {"kind": "k", "kinds": ("a", "b")}
    value = {"value": "v", "clip": (0, 2)}

    def digest(what, axes, **changes):
        domain = dpviz.Domain.from_bounds(box, ("x", "y"), **axes)
        frame = pd.DataFrame({**table, "k": list(what), **changes})
        return records_digest(dpviz.load(frame, domain, public=True))

    digests = [
        *(digest("aab", {}), digest("aab", kinds), digest("aba", kinds), digest("aab", value)),
        digest("aab", value, v=[2.0, 1.0, 2.0]),
        digest("aab", {**value, "clip": (0, 3)}),
    ]
    assert len(set(digests)) == len(digests)
    assert digest("aba", {}) == digests[0]
    with pytest.raises(PrivacyError, match="never shown"):
        records_digest(dpviz.from_points(POINTS, DOMAIN))


def test_another_bound_on_a_unit_is_another_experiment(output):
    """It is other noise, on the same records."""
    handle = data()
    measured(output, plan_of(), handle)
    handle.max_per_unit = 5
    with pytest.raises(ParameterError, match=r"\(max_per_unit 1, here 5\)"):
        opened(output, plan_of(), handle)


def test_nothing_is_written_before_the_first_rows(output):
    results = opened(output, plan_of())
    assert contents(output.parent) == {}
    results.append(next(run(data(), plan_of(), processes=0)))
    assert sorted(contents(output.parent)) == ["errors.csv", "errors.plan.json"]


@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_without_rows_is_in_the_way_of_nothing(output, absolute):
    """A command that was refused left one, and its plan."""
    measured(output, plan_of(seed=None))
    columns = (*CONTRACT, "mean_absolute_error")[: None if not absolute else -1]
    output.write_text(",".join(columns) + "\n")
    results = opened(output, plan_of(), absolute=absolute)
    results.append(next(run(data(), plan_of(), processes=0)))
    assert output.read_text().startswith(",".join(results.columns) + "\n")
    again = opened(output, plan_of(), absolute=absolute).rows
    assert [row.key for row in again] == [row.key for row in results.rows]


def test_a_kill_between_the_plan_and_the_rows_leaves_nothing_in_the_way(output, monkeypatch):
    handle, write = data(), rowfile.write_bytes

    def killed(path, content):
        if path == output:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(rowfile, "write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        measured(output, plan_of(), handle)
    monkeypatch.undo()
    assert list(contents(output.parent)) == ["errors.plan.json"]
    measured(output, plan_of(seed=8), handle)

    joining = opened(output, plan_of(("small", "large"), seed=8), handle)
    joining._begin(joining._plan)  # and then the kill, before any row of the large queries
    with pytest.raises(ParameterError, match="other small queries"):
        opened(output, plan_of(("small", "large"), queries=5, seed=8), handle)
    rows = measured(output, plan_of(("large",), queries=5, seed=8), handle).rows
    assert [row.size for row in rows] == ["small", "large"]


def test_a_file_that_came_meanwhile_stays(output):
    """Where a system has no locks two commands may begin at once."""
    handle = data()
    one, other = opened(output, plan_of(), handle), opened(output, plan_of(seed=8), handle)
    rows = next(run(handle, plan_of(), processes=0))
    one.append(rows)
    before = contents(output.parent)
    with pytest.raises(DataError, match=r"errors\.csv has changed meanwhile, and nothing was"):
        other.append(rows)
    assert contents(output.parent) == before


def test_a_link_to_rows_has_the_plan_of_the_rows(output, tmp_path):
    """Each name had a plan of its own, and rows of both were in one file."""
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.csv"
    link.symlink_to(output)
    measured(link, plan_of())
    assert link.is_symlink()
    assert sorted(contents(tmp_path)) == ["errors.csv", "errors.plan.json"]
    assert sorted(contents(tmp_path / "other")) == ["link.csv"]
    for name in (link, output):
        assert opened(name, plan_of()).rows
        with pytest.raises(ParameterError, match="another experiment"):
            opened(name, plan_of(seed=8))


@pytest.mark.parametrize(
    "content",
    [
        b'{"type": "FeatureCollection", "features": []}',
        b'{"source": "a", "seed": 1, "checksum": "b"}',
        b"[1]",
        b"\xff",
        b" " * (rowfile.MOST_BYTES + 1),
        b"{" * 9999,
    ],
)
def test_a_stranger_s_file_is_not_replaced_by_a_plan(output, content):
    side = output.with_suffix(".plan.json")
    side.write_bytes(content)
    with pytest.raises(DataError, match=r"errors\.plan\.json does not say .* written over: choose"):
        opened(output, plan_of())
    assert contents(output.parent) == {side.name: content}
    side.write_bytes(b"")
    assert measured(output, plan_of()).rows


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_place_of_a_plan_is_not_read(output):
    os.mkfifo(output.with_suffix(".plan.json"))
    with pytest.raises(DataError, match=r"errors\.plan\.json does not say"):
        opened(output, plan_of())


BOX = "--bounds=0,0,1,1"


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A command that measures little."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("points.csv", POINTS, delimiter=",", header="lon,lat", comments="")
    words = ["evaluate", "points.csv", "--public", "--seed", 1, "-o", "e.csv", "--repeats", 1]
    return [*words, "--processes", 0, "--queries", 9]


def test_a_value_that_is_given_twice_is_measured_once(words):
    """Each row was written twice, under one key."""
    facts = as_json(*words, BOX, "--methods=ugrid,ugrid", "--sizes=small,small", "--epsilons=1,1.0")
    assert facts["rows"] == 1


@pytest.mark.parametrize(
    ("refused", "line"),
    [
        (["--epsilons=0", BOX, "--columns=lon,lat"], "epsilon=0.0: give a positive"),
        (
            ["--methods=ugrid,hilbert_rtree", "--bounds=0,0,0,1,1,1", "--columns=lon,lat,z"],
            "works in 2-D, the data is 3",
        ),
    ],
)
def test_what_is_refused_leaves_nothing_that_blocks_the_corrected_command(
    words, tmp_path, refused, line
):
    cube = np.hstack([POINTS, POINTS[:, :1]])
    np.savetxt("points.csv", cube, delimiter=",", header="lon,lat,z", comments="")
    words += ["--workload", "queries.parquet"]
    before = contents(tmp_path)
    assert line in fails(*words, *refused)
    assert contents(tmp_path) == before
    again = [BOX, "--methods=ugrid", "--epsilons=1", "--sizes=small", "--columns=lon,lat"]
    assert command(*words, *again)[0] == 0
    assert "queries.parquet" in contents(tmp_path)


@pytest.mark.parametrize("kind", ["points", "sequences"])
def test_records_in_place_of_the_plan_are_refused_before_any_work(
    words, tmp_path, monkeypatch, kind
):
    """They were replaced, and the command ended well."""
    place = {"type": "Point", "coordinates": [0.5, 0.5]}
    feature = {"type": "Feature", "properties": {}, "geometry": place}
    (tmp_path / "e.plan.json").write_text(
        json.dumps({"type": "FeatureCollection", "features": [feature]})
    )
    if kind == "points":
        words[1] = "e.plan.json"
    else:
        words = ["evaluate", "city", "--side=8", "-o", "e.csv"]
    before = contents(tmp_path)
    monkeypatch.setattr(dpviz, "load", None)
    assert "e.plan.json does not say what rows of an evaluation are about" in fails(*words)
    assert contents(tmp_path) == before
