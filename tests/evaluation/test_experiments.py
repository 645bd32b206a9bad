import csv
import json

import numpy as np
import pytest

import dpviz
from dpviz.errors import DataError, ParameterError, PrivacyError
from dpviz.evaluation import metrics
from dpviz.evaluation.experiments import ErrorRow, Experiment, run
from dpviz.evaluation.plots import error_figure
from dpviz.evaluation.results import CONTRACT, OPTIONAL, Results, about, summary
from dpviz.evaluation.rowfile import FORMAT, rows_in
from dpviz.evaluation.truth import exact_counts, nonempty, public_records
from dpviz.queries.workloads import workload
from tests.commands import as_json, fails

DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
POINTS = np.random.default_rng(4).beta(2, 6, size=(4000, 2))


@pytest.fixture
def handle():
    return dpviz.from_points(POINTS, DOMAIN, public=True)


def plan_of(methods=("privtree", "ugrid:cells=8"), epsilons=(0.5, 2.0), repeats=2, seed=7):
    loads = tuple(workload(DOMAIN, size, 50, seed=1) for size in ("small", "large"))
    return Experiment(methods, epsilons, loads, repeats, seed)


def test_metrics_by_hand():
    assert metrics.errors([11, 3, 0], [10, 0, 4], bound=5) == pytest.approx(
        {
            "mean_relative_error": (0.1 + 0.6 + 0.8) / 3,
            "median_relative_error": 0.6,
            "mean_absolute_error": (1 + 3 + 4) / 3,
        }
    )
    assert metrics.sanity_bound(5000) == 5.0
    assert metrics.sanity_bound(0) == 1.0


def test_rows_are_the_errors_of_the_release_itself(handle):
    """A release of exact counts: what is left is the uniformity error, computed here by hand."""
    plan = plan_of(("ugrid:cells=8",), (1e6,), repeats=1)
    (rows,) = run(handle, plan, processes=0)
    for row, load in zip(rows, plan.workloads, strict=True):
        low, high = load.rects[:, None, :2], load.rects[:, None, 2:]
        edges = np.arange(8) / 8
        cut = np.minimum(high, edges[:, None] + 1 / 8) - np.maximum(low, edges[:, None])
        share = np.maximum(cut, 0) * 8
        grid, _, _ = np.histogram2d(*POINTS.T, bins=8, range=[[0, 1], [0, 1]])
        expected = np.einsum("qi,qj,ij->q", share[:, :, 0], share[:, :, 1], grid)
        exact = np.array(
            [((rect[:2] <= POINTS) & (rect[2:] > POINTS)).all(axis=1).sum() for rect in load.rects]
        )
        relative = np.abs(expected - exact) / np.maximum(exact, 4.0)
        # Queries snap to lattice lines: 2^-27 of the domain at most.
        assert row.mean_relative_error == pytest.approx(relative.mean(), rel=1e-4)
        assert row.median_relative_error == pytest.approx(np.median(relative), rel=1e-4)


def test_worker_processes_give_the_rows_of_this_process(handle):
    plan = plan_of()
    here = {row.key: row for rows in run(handle, plan, processes=0) for row in rows}
    there = {row.key: row for rows in run(handle, plan, processes=2) for row in rows}
    assert list(here) == plan.row_keys()
    assert set(here) == set(there)
    for key, row in here.items():
        assert there[key].mean_relative_error == row.mean_relative_error


def test_repetitions_and_epsilons_have_noise_of_their_own(handle):
    rows = [row for each in run(handle, plan_of(("privtree",)), processes=0) for row in each]
    errors = [row.mean_absolute_error for row in rows if row.size == "large"]
    assert len(set(errors)) == len(errors) == 4


def test_without_a_seed_the_noise_is_that_of_releases(handle, monkeypatch):
    built = []

    def build(*arguments, **words):
        built.append(dpviz.build(*arguments, **words))
        return built[-1]

    monkeypatch.setattr("dpviz.evaluation.experiments.build", build)
    for seed in (None, 7):
        list(run(handle, plan_of(("ugrid:cells=8",), (1.0,), repeats=1, seed=seed), processes=0))
    assert [release.header.private for release in built] == [True, False]


def with_rows(output, handle, plan=None):
    """A file that holds the rows of the first build of a plan."""
    plan = plan or plan_of()
    results = Results(output, about(handle, plan), absolute=False)
    results.append(next(run(handle, plan, processes=0)))
    return results


def test_stopping_keeps_what_is_finished_and_resuming_adds_the_rest(handle, tmp_path):
    plan, output = plan_of(), tmp_path / "errors.csv"
    results = Results(output, about(handle, plan), absolute=False)
    finished = run(handle, plan, processes=0)
    for _ in range(3):
        results.append(next(finished))
    finished.close()
    with output.open("a") as file:
        file.write("privtree,0.5,sma")  # a crash in the middle of a line
    before = output.read_text().splitlines()[:-1]

    resumed = Results(output, about(handle, plan), absolute=False)
    assert [row.key for row in resumed.rows] == plan.row_keys()[:6]
    fractions = []
    done = {row.key for row in resumed.rows}
    for rows in run(
        handle, plan, done=done, processes=0, progress=lambda f, _: fractions.append(f)
    ):
        resumed.append(rows)
    assert len(fractions) == 5  # builds, not rows
    assert fractions[-1] == 1.0
    lines = output.read_text().splitlines()
    assert lines[: len(before)] == before
    assert [row.key for row in rows_in(output, ErrorRow, OPTIONAL)] == plan.row_keys()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["errors.csv", "errors.plan.json"]


def test_half_a_build_is_resumed_by_size(handle, tmp_path):
    plan = plan_of(("privtree",), (1.0,), repeats=1)
    (rows,) = run(handle, plan, done=[("privtree", 1.0, "small", 0)], processes=0)
    assert [row.size for row in rows] == ["large"]


def test_rows_of_another_experiment_are_never_mixed(handle, tmp_path):
    output = tmp_path / "errors.csv"
    with_rows(output, handle)
    with pytest.raises(ParameterError, match="another experiment"):
        Results(output, about(handle, plan_of(seed=8)), absolute=False)
    other = Experiment(("privtree",), (1.0,), (workload(DOMAIN, "small", 51, seed=1),), 1, 7)
    with pytest.raises(ParameterError, match="other small queries"):
        Results(output, about(handle, other), absolute=False)
    with pytest.raises(ParameterError, match="columns"):
        Results(output, about(handle, plan_of()), absolute=True)
    output.write_text(",".join(CONTRACT) + "\nprivtree,half\n")
    with pytest.raises(DataError, match="line 2"):
        Results(output, about(handle, plan_of()), absolute=False)


def test_sensitive_data_are_refused_everywhere():
    secret = dpviz.from_points(POINTS, DOMAIN)
    with pytest.raises(PrivacyError, match="never shown"):
        list(run(secret, plan_of(), processes=0))
    with pytest.raises(PrivacyError, match="never shown"):
        public_records(secret)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ()}, "no methods"),
        ({"methods": ("privtreee",)}, "did you mean privtree"),
        ({"methods": ("privtree:size=3",)}, "no parameter 'size'"),
        ({"repeats": 0}, "repeats=0"),
    ],
)
def test_bad_plans_fail_before_any_work(change, message):
    with pytest.raises(ParameterError, match=message):
        plan_of(**change)


def test_nonempty_queries_hold_records(handle):
    load = nonempty(handle, workload(DOMAIN, "small", 2000, seed=1), 100)
    assert len(load) == 100
    assert (exact_counts(handle, load.rects) > 0).all()
    with pytest.raises(ParameterError, match="ask for fewer"):
        nonempty(handle, workload(DOMAIN, "small", 100, seed=1), 101)


def test_the_summary_and_the_figure_show_every_method_and_size(handle):
    rows = [row for each in run(handle, plan_of(), processes=0) for row in each]
    entries = summary(rows)
    assert len(entries) == 8
    first = entries[0]
    mine = [row for row in rows if row.key[:3] == (first["method"], 0.5, "small")]
    assert first["mean_relative_error"] == pytest.approx(
        np.mean([row.mean_relative_error for row in mine])
    )
    figure = error_figure(rows)
    assert [panel.get_title() for panel in figure.axes] == ["small queries", "large queries"]
    for panel in figure.axes:
        labels = [line.get_label() for line in panel.get_lines()]
        assert labels == ["privtree", "ugrid:cells=8"]
    drawn = figure.axes[0].get_lines()[0].get_ydata()
    assert drawn[0] == pytest.approx(first["mean_relative_error"])


def test_a_figure_of_a_file_with_dollars_in_its_name_is_drawn(handle, tmp_path):
    (rows,) = run(handle, plan_of(("privtree",), (1.0,), repeats=1), processes=0)
    error_figure(rows, title=r"from $\nowhere$").savefig(tmp_path / "errors.svg")
    assert (tmp_path / "errors.svg").stat().st_size > 1000


def test_the_command_writes_the_contract_and_resumes(tmp_path):
    source, output = tmp_path / "points.csv", tmp_path / "errors.csv"
    np.savetxt(source, POINTS, delimiter=",", header="x,y", comments="")
    arguments = [
        *("evaluate", source, "--public", "--bounds=0,0,1,1", "--columns=x,y"),
        *("--methods", "privtree,ugrid:cells=8", "--epsilons", "0.5,2", "--sizes", "small,large"),
        *("--queries", "40", "--repeats", "2", "--processes", "0"),
        *("--seed", "7"),
        *("-o", output, "--plot", tmp_path / "errors.png"),
        *("--workload", tmp_path / "queries.parquet"),
    ]
    assert as_json(*arguments)["rows"] == 16
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == (
        *("method", "epsilon", "size", "repeat", "mean_relative_error"),
        *("median_relative_error", "build_seconds", "query_seconds"),
    )
    assert len(rows) == 16
    assert (tmp_path / "errors.png").read_bytes()[:4] == b"\x89PNG"

    before = output.read_text().splitlines(keepends=True)
    output.write_text("".join(before[:9]))
    as_json(*arguments)
    again = output.read_text().splitlines(keepends=True)
    assert again[:9] == before[:9]
    assert [line.split(",")[:5] for line in again] == [line.split(",")[:5] for line in before]


def test_the_command_refuses_sensitive_data():
    line = fails("evaluate", "points.csv", "-o", "errors.csv")
    assert "only for public data; add --public" in line


def test_rows_are_what_the_file_holds_of_them(handle, tmp_path):
    """A resumed evaluation printed fewer measures than the one that it went on with."""
    plan = plan_of(("ugrid",), (1.0,), repeats=1)
    (rows,) = run(handle, plan, processes=0)
    for absolute in (True, False):
        name = tmp_path / f"{absolute}.csv"
        results = Results(name, about(handle, plan), absolute)
        results.append(rows)
        resumed = Results(name, about(handle, plan), absolute)
        assert summary(resumed.rows) == summary(results.rows)
        assert all(("mean_absolute_error" in each) == absolute for each in summary(results.rows))


def test_rows_that_do_not_fit_on_the_disk_leave_the_file_as_it_was(handle, tmp_path):
    """A part of them stayed, without a word, and the next ones followed in the middle of a line."""
    resource = pytest.importorskip("resource")
    plan = plan_of(("ugrid",), (1.0,), repeats=1)
    (rows,) = run(handle, plan, processes=0)
    results = with_rows(tmp_path / "errors.csv", handle, plan)
    content, before_them = results.path.read_bytes(), list(results.rows)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 10, before[1]))
    try:
        with pytest.raises(OSError, match="No space left on device"):
            results.append(rows)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert results.path.read_bytes() == content
    assert results.rows == before_them


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "no text in UTF-8"),
        ((",".join(CONTRACT) + "\n" + "a" * 200_000 + "\n").encode(), "line 2 is not a row"),
        (b"precious", "has the columns precious"),
    ],
)
def test_a_file_of_anything_else_is_refused_and_stays(handle, tmp_path, content, words):
    output = tmp_path / "errors.csv"
    output.write_bytes(content)
    with pytest.raises((DataError, ParameterError), match=words):
        Results(output, about(handle, plan_of()), absolute=False)
    assert output.read_bytes() == content


def test_a_header_without_its_line_break_is_made_whole(handle, tmp_path):
    output = tmp_path / "errors.csv"
    output.write_text(",".join(CONTRACT))
    with_rows(output, handle)
    head, *lines = output.read_text().splitlines()
    assert (head, len(lines)) == (",".join(CONTRACT), 2)


def test_rows_that_lost_their_plan_are_not_resumed(handle, tmp_path):
    output, facts = tmp_path / "errors.csv", about(handle, plan_of())
    with_rows(output, handle)
    content = output.read_bytes()
    (tmp_path / "errors.plan.json").unlink()
    with pytest.raises(DataError, match=r"errors\.plan\.json is missing"):
        Results(output, facts, absolute=False)
    assert output.read_bytes() == content


def test_neither_a_folder_nor_a_plan_of_unknown_queries_is_resumed(handle, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ParameterError, match=r"folder\.csv': give a \.csv file"):
        Results(tmp_path / "folder.csv", about(handle, plan_of()), absolute=False)
    output, facts = tmp_path / "errors.csv", about(handle, plan_of())
    with_rows(output, handle)
    (tmp_path / "errors.plan.json").write_text(
        json.dumps({"format": FORMAT, **facts, "checksum": None})
    )
    with pytest.raises(ParameterError, match="unknown queries"):
        Results(output, facts, absolute=False)
    (tmp_path / "errors.plan.json").unlink()
    (tmp_path / "errors.plan.json").mkdir()
    with pytest.raises(DataError, match="does not say what rows of an evaluation are about"):
        Results(output, facts, absolute=False)
