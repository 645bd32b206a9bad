"""Aggregation inside an engine gives the cells and counts that NumPy gives."""

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot

import dpviz
from dpviz.errors import DataError
from dpviz.private.index import PointIndex
from dpviz.private.sql import GRID_BITS, cell_counts_query, parquet_folder_index


def folder_of(tmp_path, points, names):
    """Two Parquet files, one of them in a folder below."""
    (tmp_path / "day=2").mkdir(parents=True)
    half = len(points) // 2
    for part, path in ((points[:half], "a.parquet"), (points[half:], "day=2/b.parquet")):
        pd.DataFrame(part, columns=names).to_parquet(tmp_path / path)
    return tmp_path


@pytest.mark.parametrize("dims", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_equals_numpy_on_random_rectangles(tmp_path, dims, seed):
    random = np.random.default_rng(seed)
    lower = random.uniform(-180, 100, dims)
    domain = dpviz.Domain(tuple(lower), tuple(lower + random.uniform(0.1, 60, dims)))
    points = random.uniform(domain.lower, domain.upper, (20_000, dims))
    points[:6] = [domain.lower, domain.upper, lower - 1, *np.full((3, dims), np.nan)]
    points[3] = np.inf
    step = (np.array(domain.upper) - lower) / 2 ** GRID_BITS[dims]
    points[10:500] = lower + random.integers(0, 900, (490, dims)) * step  # on cell borders
    index = parquet_folder_index(folder_of(tmp_path, points, domain.columns), domain)
    cells, _ = domain.to_lattice(points)
    shift = domain.bits - GRID_BITS[dims]
    expected = PointIndex.from_cells(domain, (cells >> shift) << shift)
    np.testing.assert_array_equal(index.codes, expected.codes)
    np.testing.assert_array_equal(index.weights, expected.weights)


def test_a_folder_is_a_source(tmp_path):
    domain = dpviz.Domain((0, 0), (1, 1))
    points = np.random.default_rng(0).random((1_000, 2))
    folder = folder_of(tmp_path / "days", points, domain.columns)
    handle = dpviz.load(folder, domain)
    assert handle._index.total == 1_000
    with pytest.raises(DataError, match=r"privacy unit.*folder"):
        dpviz.load(folder, domain, unit="who")
    with pytest.raises(DataError, match="must be in the CRS of the domain"):
        dpviz.load(folder, domain, crs="EPSG:27700")


def test_bad_folders(tmp_path):
    domain = dpviz.Domain((0, 0), (1, 1))
    with pytest.raises(DataError, match="no Parquet file in the folder"):
        parquet_folder_index(tmp_path, domain)
    folder = folder_of(tmp_path / "x", np.zeros((4, 2)), ["a", "b"])
    with pytest.raises(DataError, match="name 2 columns of x: it has 'a', 'b'"):
        parquet_folder_index(folder, domain)
    (folder / "a.parquet").write_bytes(b"PAR1 cut short")
    with pytest.raises(DataError, match="cannot be read as a folder of Parquet"):
        parquet_folder_index(folder, domain)


def test_names_are_quoted_and_constants_are_no_decimals():
    evil = 'x"; DROP TABLE t; --'
    domain = dpviz.Domain((0.1, 0.2), (0.7, 0.9))
    table = sqlglot.exp.to_table("t")
    query = cell_counts_query(table, (evil, "y"), domain, 16)
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE t (" + '"x""; DROP TABLE t; --" DOUBLE, y DOUBLE)')
        engine.execute("INSERT INTO t VALUES (0.1, 0.2), (0.7, 0.9), (0.05, 0.5)")
        assert sorted(engine.execute(query).fetchall()) == [(0, 1), (2**32 - 1, 1)]
    for dialect in ("postgres", "spark", "bigquery", "snowflake", "databricks"):
        written = cell_counts_query(table, ("x", "y"), domain, 16, dialect)
        assert sqlglot.parse_one(written, dialect=dialect).find(sqlglot.exp.Group)
        assert "'0.1'" in written
