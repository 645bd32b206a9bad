"""The one runner: its measures against counts by hand, and the command."""

import csv

import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError, PrivacyError
from dpviz.evaluation import truth
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import error_figure
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import COLUMNS, MeasureRow, RowFile, means, rows_csv, summary
from dpviz.evaluation.truth import exact_counts, nonempty_queries, public_index
from dpviz.queries.workloads import workload
from tests.commands import as_json, fails
from tests.commands import run as command

DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
POINTS = np.random.default_rng(4).beta(2, 6, size=(4000, 2))
MEASURES = (
    *("mean_relative_error", "median_relative_error", "mean_absolute_error"),
    *("build_seconds", "query_seconds"),
)


@pytest.fixture
def bench():
    return bench_of(dpviz.from_points(POINTS, DOMAIN, public=True))


def bench_of(handle, sizes=("small", "large"), queries=50):
    return PointBench(handle, tuple(workload(DOMAIN, size, queries, seed=1) for size in sizes))


def plan_of(methods=("privtree", "ugrid:cells=8"), epsilons=(0.5, 2.0), repeats=2, seed=7):
    return Experiment(methods, epsilons, repeats, seed)


def rows_of(bench, plan, **how):
    return [row for rows in run(bench, plan, **how) for row in rows]


def test_relative_errors_have_a_sanity_bound():
    assert truth.relative_errors([11, 3, 0], [10, 0, 4], bound=5).tolist() == [0.1, 0.6, 0.8]
    assert truth.sanity_bound(5000) == 5.0
    assert truth.sanity_bound(0) == 1.0


def test_rows_are_the_errors_of_the_release_itself(bench):
    """A release of exact counts: what is left is the uniformity error, computed here by hand."""
    measured = means(rows_of(bench, plan_of(("ugrid:cells=8",), (1e6,), repeats=1)))
    for load in bench.workloads:
        low, high = load.rects[:, None, :2], load.rects[:, None, 2:]
        edges = np.arange(8) / 8
        cut = np.minimum(high, edges[:, None] + 1 / 8) - np.maximum(low, edges[:, None])
        share = np.maximum(cut, 0) * 8
        grid, _, _ = np.histogram2d(*POINTS.T, bins=8, range=[[0, 1], [0, 1]])
        expected = np.einsum("qi,qj,ij->q", share[:, :, 0], share[:, :, 1], grid)
        exact = np.array(
            [((rect[:2] <= POINTS) & (rect[2:] > POINTS)).all(axis=1).sum() for rect in load.rects]
        )
        off = np.abs(expected - exact)
        relative = off / np.maximum(exact, 4.0)
        # Queries snap to lattice lines: 2^-27 of the domain at most.
        values = [measured["ugrid:cells=8", 1e6, load.size, each] for each in MEASURES[:3]]
        by_hand = [relative.mean(), np.median(relative), off.mean()]
        assert values == pytest.approx(by_hand, rel=1e-4)


@pytest.mark.slow
def test_every_build_has_noise_of_its_own(bench):
    rows = rows_of(bench, plan_of(("privtree",)))
    errors = [row.value for row in rows if (row.size, row.measure) == ("large", MEASURES[2])]
    assert len(set(errors)) == len(errors) == 4


def test_without_a_seed_the_noise_is_that_of_releases(bench, monkeypatch):
    built = []

    def build(*arguments, **words):
        built.append(dpviz.build(*arguments, **words))
        return built[-1]

    monkeypatch.setattr("dpviz.evaluation.experiments.build", build)
    for seed in (None, 7):
        rows_of(bench, plan_of(("ugrid:cells=8",), (1.0,), repeats=1, seed=seed))
    assert [release.header.private for release in built] == [True, False]


@pytest.mark.slow
def test_stopping_keeps_whole_builds(bench, tmp_path):
    plan, output = plan_of(), tmp_path / "errors.csv"
    file, fractions = RowFile(output), []
    assert not output.exists()  # nothing is written before the first rows
    finished = run(bench, plan, progress=lambda share, _: fractions.append(share))
    for _ in range(2):
        file.append(next(finished))
    finished.close()
    assert fractions == [1 / 8, 2 / 8]
    assert output.read_text() == rows_csv(file.rows)
    of_builds = {(row.method, row.epsilon, row.repeat) for row in file.rows}
    assert of_builds == {("privtree", 0.5, 0), ("privtree", 2.0, 0)}
    assert len(file.rows) == 2 * 2 * len(MEASURES)
    assert [each.name for each in tmp_path.iterdir()] == ["errors.csv"]


def test_rows_are_written_to_a_csv_file_of_a_folder_that_exists(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for name in ("folder.csv", "rows.txt", "absent/rows.csv"):
        with pytest.raises(ParameterError, match=r"give a \.csv file in a folder that exists"):
            RowFile(tmp_path / name)


def test_sensitive_data_are_refused_everywhere():
    secret = dpviz.from_points(POINTS, DOMAIN)
    for call in (bench_of, public_index):
        with pytest.raises(PrivacyError, match="exact answers are NOT PRIVATE"):
            call(secret)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ()}, "no methods"),
        ({"methods": ("privtreee",)}, "did you mean privtree"),
        ({"methods": ("privtree:size=3",)}, "no parameter 'size'"),
        ({"repeats": 0}, "repeats=0"),
        ({"epsilons": (0.0,)}, "epsilon=0.0: give a positive"),
    ],
)
def test_bad_plans_fail_before_any_work(change, message):
    with pytest.raises(ParameterError, match=message):
        plan_of(**change)


def test_nonempty_queries_hold_records(bench):
    load = nonempty_queries(bench.data, workload(DOMAIN, "small", 2000, seed=1), 100)
    assert len(load) == 100
    assert (exact_counts(bench.data, load.rects) > 0).all()
    with pytest.raises(ParameterError, match="ask for fewer"):
        nonempty_queries(bench.data, workload(DOMAIN, "small", 100, seed=1), 101)


@pytest.mark.slow
def test_the_summary_and_the_figure_show_every_method_and_size(tmp_path):
    at = [
        MeasureRow(method, epsilon, size, repeat, MEASURES[0], epsilon + repeat)
        for epsilon in (2.0, 0.5)
        for method in ("b", "a")
        for size in ("small", "large")
        for repeat in (0, 1)
    ]
    entries = summary(at)
    settings = [(entry["method"], entry["epsilon"], entry["size"]) for entry in entries]
    assert settings[:3] == [("b", 0.5, "small"), ("b", 0.5, "large"), ("b", 2.0, "small")]
    assert entries[0] == {
        "method": "b",
        "epsilon": 0.5,
        "size": "small",
        "repeats": 2,
        MEASURES[0]: 1.0,
    }
    figure = error_figure(at, title=r"from $\nowhere$")
    assert [panel.get_title() for panel in figure.axes] == ["small queries", "large queries"]
    for panel in figure.axes:
        lines = panel.get_lines()
        assert [line.get_label() for line in lines] == ["b", "a"]
        assert lines[0].get_ydata().tolist() == [1.0, 2.5]
    figure.savefig(tmp_path / "errors.svg")  # dollars start no formula


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A command that measures little."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("points.csv", POINTS[:500], delimiter=",", header="lon,lat", comments="")
    words = ["evaluate", "points.csv", "--public", "--seed", 1, "-o", "e.csv", "--repeats", 2]
    return [*words, "--queries", 9]


BOX = "--bounds=0,0,1,1"


@pytest.mark.slow
def test_the_command_writes_rows_and_a_picture(words, tmp_path):
    words += [BOX, "--methods=privtree,ugrid:cells=8,privtree", "--epsilons=0.5,2,2.0"]
    words += ["--sizes=small,large,small", "--plot", "e.png"]
    facts = as_json(*words)
    assert facts["rows"] == 16 * len(MEASURES)  # a value that is given twice is measured once
    shown = {"method", "epsilon", "size", "repeats", *MEASURES}
    assert [set(entry) for entry in facts["results"]] == [shown] * 8
    with (tmp_path / "e.csv").open() as file:
        assert tuple(next(csv.reader(file))) == COLUMNS
    assert (tmp_path / "e.png").read_bytes()[:4] == b"\x89PNG"
    assert "'e.csv' exists: name another file" in fails(*words)


@pytest.mark.parametrize(
    ("refused", "line"),
    [
        ([BOX, "--columns=lon,lat", "--epsilons=0"], "epsilon=0.0: give a positive"),
        (
            ["--methods=ugrid,hilbert_rtree", "--bounds=0,0,0,1,1,1", "--columns=lon,lat,z"],
            "works in 2-D, the data is 3",
        ),
    ],
)
def test_what_is_refused_leaves_nothing_that_blocks_the_corrected_command(
    words, tmp_path, refused, line
):
    cube = np.hstack([POINTS[:500], POINTS[:500, :1]])
    np.savetxt("points.csv", cube, delimiter=",", header="lon,lat,z", comments="")
    assert line in fails(*words, *refused)
    assert [each.name for each in tmp_path.iterdir()] == ["points.csv"]
    again = [BOX, "--methods=ugrid", "--epsilons=1", "--sizes=small", "--columns=lon,lat"]
    assert command(*words, *again)[0] == 0
