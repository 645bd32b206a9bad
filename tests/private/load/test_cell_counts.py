"""The (cell, count) contract: every engine's rows are those of one reading."""

import itertools

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import DataError, ParameterError
from tests.private.load.stability import layers_apart
from tests.vault import layers_of

DOMAIN = dpviz.Domain((10.0, 50.0), (11.0, 51.0))
UNIT = {"unit": "who", "max_per_unit": 3}


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(8)
    places = np.column_stack([rng.normal(10.5, 0.4, 400), rng.normal(50.5, 0.4, 400)])
    places[::50] = np.nan
    return pd.DataFrame({"lon": places[:, 0], "lat": places[:, 1], "who": rng.integers(0, 40, 400)})


def by_dask(records, **unit):
    import dask
    import dask.dataframe as dd

    frame = dd.from_pandas(records, npartitions=4)
    if unit:  # all records of a unit are in one part
        frame = frame.shuffle("who")
    count = dask.delayed(dpviz.cell_counts)
    tables = [count(part, DOMAIN, bits=8, **unit) for part in frame.to_delayed()]
    return dask.compute(*tables, scheduler="synchronous")


def by_duckdb(records, **unit):
    session = duckdb.connect()
    session.register("visits", records)
    return session.sql(dpviz.cell_sql("visits", DOMAIN, bits=8, **unit))


def by_ibis(records, **unit):
    import ibis

    session = ibis.duckdb.connect()
    session.con.register("visits", records)
    return session.raw_sql(dpviz.cell_sql("visits", DOMAIN, bits=8, **unit)).df()


def by_batches(records, **unit):
    """As Ray's map_batches and Beam's ParDo call it: a part at a time."""
    order = records.sort_values("who")
    edges = np.searchsorted(order["who"], [0, 13, 27, 40])
    batches = [order.iloc[a:b] for a, b in itertools.pairwise(edges)]
    return (
        dpviz.cell_counts(pa.Table.from_pandas(part), DOMAIN, bits=8, **unit) for part in batches
    )


engines = pytest.mark.parametrize("count", [by_dask, by_duckdb, by_ibis, by_batches])


@pytest.mark.slow
@engines
def test_every_engine_counts_as_one_reading_does(records, count):
    handle = dpviz.from_counts(count(records), DOMAIN, name="visits", bits=8)
    read = dpviz.load(records, DOMAIN, bits=8, name="visits")
    assert layers_apart(layers_of(handle).counts, layers_of(read).counts) == 0


@pytest.mark.slow
@engines
def test_a_unit_adds_no_more_than_its_bound_in_any_engine(records, count):
    handle = dpviz.from_counts(count(records, **UNIT), DOMAIN, name="visits", bits=8, **UNIT)
    inside = records.dropna().query("10 <= lon < 11 and 50 <= lat < 51")
    most = inside.groupby("who").size().clip(upper=3).sum()
    assert sum(int(index.weights.sum()) for index in layers_of(handle).counts) == most
    assert handle.max_per_unit == 3
    assert handle.unit == "one who with at most 3 records"


def test_counts_with_other_public_facts_are_refused(records):
    part = dpviz.cell_counts(records, DOMAIN, bits=8)
    with pytest.raises(DataError, match="other public facts"):
        dpviz.from_counts(part, DOMAIN, name="visits", bits=9)
    with pytest.raises(DataError, match="other public facts"):
        dpviz.from_counts(part, DOMAIN, name="visits", bits=8, **UNIT)
    with pytest.raises(DataError, match="does not say that it was bounded for each who"):
        dpviz.from_counts(pa.table({"cell": [1], "n": [1]}), DOMAIN, name="visits", **UNIT)
    with pytest.raises(DataError, match="but no unit"):
        dpviz.cell_counts(records, DOMAIN, max_per_unit=3)
    with pytest.raises(ParameterError, match="bits=40"):
        dpviz.cell_sql("visits", DOMAIN, bits=40)


def test_an_invalid_table_of_counts_is_refused_without_a_value():
    with pytest.raises(DataError, match="other columns than cell and n") as refused:
        dpviz.from_counts(pa.table({"cell": [1], "n": [1], "lon": [977.0]}), DOMAIN, name="visits")
    assert "977" not in str(refused.value)
    with pytest.raises(DataError, match="give pyarrow"):
        dpviz.from_counts([(1, 2)], DOMAIN, name="visits")


def test_no_part_and_an_empty_part_are_a_data_set_of_nobody(records):
    for tables in ([], [dpviz.cell_counts(records.iloc[:0], DOMAIN)]):
        handle = dpviz.from_counts(tables, DOMAIN, name="visits")
        assert dpviz.build(handle, "ugrid", 1.0, cells=4).header.private
