"""Errors of path queries on public trips, against sums over the trips by hand."""

import itertools

import numpy as np
import pytest

from dpviz.errors import PrivacyError
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.roads import EACH_STEP, ERROR, RoadBench, summary
from dpviz.private.roads import RoadData
from tests.commands import as_json

QUERIES = "clustered-4"


def test_errors_are_those_of_the_exact_visits_by_hand(streets, trips):
    data = RoadData("walks", streets, trips, public=True)
    bench = RoadBench(data, [4])
    plan = Experiment(("basic",), (1e7, 1e-6), repeats=2, kind="roads")
    rows = [row for part in run(bench, plan) for row in part]
    visits = np.zeros(len(streets))
    for row in range(len(trips)):
        visits[np.unique(trips.edge[trips.start[row] : trips.start[row + 1]])] += 1
    asked = bench._workloads[QUERIES]
    truth = [visits[asked.edge[a:b]].sum() for a, b in itertools.pairwise(asked.start)]
    entries = {(each["workload"], each["epsilon"]): each for each in summary(rows)}
    assert set(entries) == {(name, e) for name in (QUERIES, "corridor") for e in (1e7, 1e-6)}
    precise, rough = (entries[QUERIES, epsilon] for epsilon in (1e7, 1e-6))
    assert precise["zero_squared_error"] == pytest.approx(np.mean(np.square(truth)))
    assert precise["mean_squared_error"] < precise["zero_squared_error"] < 1e12
    assert rough["mean_squared_error"] > 1e6 > precise["mean_squared_error"]
    with pytest.raises(PrivacyError):
        RoadBench(RoadData("walks", streets, trips), [4])


@pytest.mark.slow
def test_the_command_writes_errors_of_all_time_and_of_each_step(tmp_path):
    words = [
        "evaluate",
        "city",
        "--graph=city",
        "--time",
        "start",
        "--cycle",
        "week",
        "--every",
        "1d",
    ]
    words += ["--methods", "basic", "--lengths", "2", "--epsilons", "1", "--repeats", "1"]
    words += ["-o", tmp_path / "rows.csv"]
    facts = as_json(*words)
    assert [row["workload"] for row in facts["summary"]] == [
        "clustered-2",
        f"clustered-2{EACH_STEP}",
        "corridor",
        f"corridor{EACH_STEP}",
    ]
    keys = {"workload", "epsilon", "method", ERROR, "zero_squared_error", "repeats"}
    assert set(facts["summary"][0]) == keys
