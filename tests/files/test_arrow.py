"""Columns of pyarrow and arrays of NumPy, both ways, and pandas in neither."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.files.arrow import number_array, numbers

KINDS = (pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_())


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rows", [slice(0), slice(1), slice(None), slice(3, 60), slice(9, None)])
def test_a_column_is_read_as_pyarrow_reads_it(kind, share, rows):
    random = np.random.default_rng(3)
    cells = [None if random.random() < share else bool(v) for v in random.integers(0, 2, 71)]
    column = pa.array(cells, pa.bool_()).cast(kind)[rows]
    expected = column.to_numpy(zero_copy_only=False)
    if kind == pa.bool_():
        expected = np.array([bool(cell) for cell in column.to_pylist()], dtype=bool)
    for each in (column, pa.chunked_array([column[:5], column[5:]])):
        assert np.array_equal(number_array(each), expected, equal_nan=kind != pa.bool_())
    if not column.null_count:
        assert numbers(expected).equals(column)
        assert number_array(column).dtype == expected.dtype


def test_a_null_is_read_as_the_given_number():
    assert number_array(pa.array([3, None]), null=-1).tolist() == [3, -1]


@pytest.mark.slow
def test_a_build_from_a_file_imports_no_pandas(tmp_path):
    """Importing pandas takes longer than the build, and swallows a Ctrl-C."""
    (tmp_path / "people.csv").write_text("lon,lat\n0.5,0.5\n")
    pq.write_table(pa.table({"lon": [0.5], "lat": [0.5]}), tmp_path / "people.parquet")
    (tmp_path / "people.geojson").write_text('{"type": "Point", "coordinates": [0.5, 0.5]}')
    code = (
        "import sys, dpviz\n"
        "for name in ('people.csv', 'people.parquet', 'people.geojson'):\n"
        "    people = dpviz.load(name, dpviz.Domain((0, 0), (1, 1)))\n"
        "    dpviz.build(people, ledger=None).save('release.parquet')\n"
        "    dpviz.read('release.parquet')\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
