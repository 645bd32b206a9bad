"""Road speeds, on demand: ``uv run pytest tests/benchmarks/bench_roads.py``."""

import pytest

from dpviz.build import build
from dpviz.private.roads import RoadData
from dpviz.releases.roads.graph_file import read_graph
from dpviz.releases.store import save
from dpviz.roads.decompose import min_cut
from dpviz.roads.generate import clustered_workload, commuter_trips

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def oldenburg(shared_data):
    files = (shared_data / f"road_oldenburg_{part}.parquet" for part in ("nodes", "edges"))
    return read_graph(*files)


def test_decomposition_of_oldenburg(benchmark, oldenburg):
    """5,000 queries of 50 edges: 3 s are allowed."""
    workload = clustered_workload(oldenburg, 50)
    benchmark.pedantic(min_cut, (oldenburg, workload), rounds=3)


def test_whole_pipeline_on_oldenburg(benchmark, shared_data, tmp_path):
    """Files, 45,000 trips, decomposition, best trees, noise, consistency, saving: 30 s."""

    def pipeline():
        files = (shared_data / f"road_oldenburg_{part}.parquet" for part in ("nodes", "edges"))
        graph = read_graph(*files)
        data = RoadData("oldenburg", graph, commuter_trips(graph, 45_000), public=True)
        release = build(data, "min+best+tru", 1.0, workload=clustered_workload(graph, 50), seed=1)
        save(release, tmp_path / "release.parquet")

    benchmark.pedantic(pipeline, rounds=2)
