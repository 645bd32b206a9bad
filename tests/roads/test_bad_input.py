"""Every kind of bad input to the road commands: exit code 2, one line, nothing written."""

import pandas as pd
import pytest

from tests.commands import fails, run

GOOD = {"src": [1, 2, 3], "dst": [2, 3, 4]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes = {"node": [1, 2, 3, 4], "x": [0, 1, 2, 3], "y": [0, 0, 0, 0]}
    tables = {
        "nodes": nodes,
        "edges": {"edge": [10, 20, 30], **GOOD},
        "lost": {"edge": [10, 20, 30], "src": [1, 2, 3], "dst": [2, 3, 99]},
        "apart": {"edge": [10, 30], "src": [1, 3], "dst": [2, 4]},
        "trips": {"trip": [0, 0, 1], "edge": [10, 20, 30]},
        "strangers": {"trip": [0, 0, 1], "edge": [10, 77, 30]},
        "none": {"query": [], "edge": []},
        "gap": {"query": [0, 0], "edge": [10, 30]},
    }
    for name, table in tables.items():
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


BUILD = "build trips.csv --public --graph nodes.csv,edges.csv -o out.parquet "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "build trips.csv --public --graph nodes.csv,lost.csv -o out.parquet",
            "edge 30 names node 99, which the node table lacks",
        ),
        (
            "build trips.csv --public --graph nodes.csv,apart.csv -o out.parquet",
            "the road graph falls into 2 parts",
        ),
        (
            "build strangers.csv --public --graph nodes.csv,edges.csv -o out.parquet",
            "trip 0 names an edge that the road graph lacks",
        ),
        (
            "build trips.csv --max-per-unit 3 --graph nodes.csv,edges.csv -o out.parquet",
            "at most 3 records per unit, but no unit: name its column too",
        ),
        (
            "build trips.csv --public --graph edges.csv,nodes.csv -o out.parquet",
            "the node table has no column 'node': it has 'edge', 'src', 'dst'",
        ),
        (BUILD + "--workload none.csv", "the workload is empty"),
        (BUILD + "--workload gap.csv", "query 0 (10, 30) is not a path"),
        (BUILD + "--workload clustered:0", "give numbers from 1"),
        (BUILD + "--method basic --set max_length=0", "max_length='0': give a number from 1"),
        (BUILD + "--method ngram_truncation --set limit=0", "limit='0': give a number from 1"),
    ],
)
def test_bad_input_gets_one_clear_line(arguments, message, folder):
    assert message in fails(*arguments.split())
    assert not (folder / "out.parquet").exists()


@pytest.mark.slow
def test_a_query_that_is_no_path_is_refused(folder):
    assert run(*BUILD.split(), "--seed", 1)[0] == 0
    message = fails("query", "out.parquet", "--path", "10,30")
    assert "is not a path: each edge must start where the one before it ends" in message
    assert "names edge 5" in fails("query", "out.parquet", "--path", 5)
