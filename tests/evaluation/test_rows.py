"""Files of rows: what may join them, and what is never written over."""

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import DataError, ParameterError, PrivacyError
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import COLUMNS, MeasureRow, RowFile
from dpviz.evaluation.truth import records_digest
from dpviz.queries.workloads import workload

DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
POINTS = np.random.default_rng(4).beta(2, 6, size=(500, 2))
HEAD = ",".join(COLUMNS) + "\n"


def about(points=POINTS, domain=DOMAIN, sizes=("small",), queries=9, unit=1):
    handle = dpviz.from_points(points, domain, public=True)
    handle.max_per_unit = unit
    loads = tuple(workload(DOMAIN, size, queries, seed=1) for size in sizes)
    return {**PointBench(handle, loads).about, "seed": 7}


def rows_at(size="small", repeat=0):
    return [
        MeasureRow("ugrid:cells=4", 1.0, size, repeat, each, 0.5) for each in ("error", "seconds")
    ]


@pytest.fixture
def output(tmp_path):
    RowFile(tmp_path / "errors.csv", about()).append(rows_at())
    return tmp_path / "errors.csv"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": POINTS * 0.99}, "records "),
        ({"points": POINTS[1:]}, "records "),
        ({"domain": dpviz.Domain((0, 0), (1, 2), columns=("x", "y"))}, "bounds "),
        ({"unit": 5}, "max_per_unit 1, here 5"),
        ({"sizes": ("small", "medium")}, "queries "),
        ({"queries": 5}, "queries "),
    ],
)
def test_rows_of_another_experiment_are_refused(output, change, words):
    before = output.read_bytes()
    with pytest.raises(ParameterError, match=rf"^errors\.csv holds another experiment \({words}"):
        RowFile(output, about(**change))
    with pytest.raises(ParameterError, match="seed 7, here 8"):
        RowFile(output, {**about(), "seed": 8})
    assert output.read_bytes() == before
    assert RowFile(output, about(POINTS[::-1])).rows  # in another order they are the same


def test_the_records_of_kinds_and_their_values_have_a_digest_of_their_own():
    table = {"x": [0.1, 0.2, 0.7], "y": [0.1, 0.2, 0.7], "v": [1.0, 2.0, 2.0]}
    kinds, value = {"kind": "k", "kinds": ("a", "b")}, {"value": "v", "clip": (0, 2)}

    def digest(what, axes, **changes):
        domain = dpviz.Domain.from_bounds((0, 0, 1, 1), ("x", "y"), **axes)
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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "no text in UTF-8"),
        (b"precious", "row 1 is not one of 'dpviz evaluate'"),
        (b'{"type": "FeatureCollection", "features": []}', "row 1 is not one of 'dpviz evaluate'"),
        (b"# dpviz evaluation {{{\n" + HEAD.encode(), "row 1 is not one of 'dpviz evaluate'"),
        ((HEAD + "ugrid,half\n").encode(), "row 1 is not one of 'dpviz evaluate'"),
        ((HEAD + "a" * 200_000 + "\n").encode(), "row 1 is not one of 'dpviz evaluate'"),
        ((HEAD + "ugrid,1,small,0,error,0.5\n").encode(), "does not say what its rows are about"),
    ],
)
def test_a_file_of_anything_else_is_refused_and_stays(tmp_path, content, words):
    path = tmp_path / "errors.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        RowFile(path, about())
    assert path.read_bytes() == content


def test_rows_are_kept_in_a_csv_file_of_a_folder_that_exists(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for name in ("folder.csv", "rows.txt", "absent/rows.csv"):
        with pytest.raises(ParameterError, match=r"give a \.csv file in a folder that exists"):
            RowFile(tmp_path / name, about())


def test_a_link_to_rows_stays_a_link(output, tmp_path):
    (tmp_path / "link.csv").symlink_to(output)
    RowFile(tmp_path / "link.csv", about()).append(rows_at(repeat=1))
    assert (tmp_path / "link.csv").is_symlink()
    assert RowFile(output, about()).rows == rows_at() + rows_at(repeat=1)
