"""Reading a model of sequences that somebody spoilt: one clear error or a model that answers.

Six thousand mutations: of the bytes of files, of the header, and of the columns.
"""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.files import KEY
from dpviz.releases.store import from_arrow, read
from tests.golden.make import MADE
from tests.releases.test_corrupted import (
    anything,
    bytes_spoilt,
    numbers,
    packed,
    places,
    replaced,
    spoilt,
    values,
    with_values,
)

pytestmark = pytest.mark.slow

TABLES = {name: MADE[name]().to_arrow() for name in ("contexts", "grams", "ranking")}
FILES = {name: packed(table) for name, table in TABLES.items()}

every = st.sampled_from(sorted(TABLES))
slow = pytest.mark.slow  # the few hundred of test_reading run every time

often = settings(
    max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def survives(made):
    """A release that can be asked, or the one kind of error that is allowed."""
    try:
        release = made()
    except ReleaseError:
        return
    questions = (
        lambda model: model.top(1, longest=5),
        lambda model: model.count([0, 0]),
        lambda model: model.following([0]),
        lambda model: model.sample(3, seed=1, longest=5),
    )
    for question in questions:
        try:
            with np.errstate(over="ignore"):  # counts near the largest float
                question(release.model)
        except DpvizError:
            continue


@slow
@often
@given(every, bytes_spoilt)
def test_a_file(tmp_path_factory, name, steps):
    path = tmp_path_factory.getbasetemp() / "spoilt-visits.parquet"
    path.write_bytes(spoilt(FILES[name], steps))
    survives(lambda: read(path))


@slow
@often
@given(every, numbers, anything)
def test_a_header_with_a_foreign_value(name, where, new):
    table = TABLES[name]
    header = json.loads(table.schema.metadata[KEY])
    spots = list(places(header))
    other = replaced(header, spots[where % len(spots)], new)
    spoilt_table = table.replace_schema_metadata({KEY: json.dumps(other).encode()})
    survives(lambda: from_arrow(spoilt_table))


@slow
@often
@given(
    every,
    numbers,
    st.lists(numbers, min_size=1, max_size=4),
    st.lists(values, min_size=1, max_size=4),
)
def test_a_column_with_foreign_values(name, which, rows, new):
    table = TABLES[name]
    at = which % table.num_columns
    try:
        column = with_values(table.column(at), rows, new)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return  # no such column can be written at all
    other = table.set_column(at, table.column_names[at], column)
    survives(lambda: from_arrow(other))


@slow
@often
@given(every, every, numbers, st.sampled_from(("drop", "rows", "nulls", "text", "model")))
def test_a_table_of_another_shape(name, model, number, kind):
    table = TABLES[name]
    at = number % table.num_columns
    title = table.column_names[at]
    metadata = table.schema.metadata
    if kind == "drop":
        table = table.remove_column(at)
    elif kind == "rows":
        table = table.slice(number % (table.num_rows + 1), number // 7 % (table.num_rows + 1))
    elif kind == "nulls":
        table = table.set_column(at, title, pa.nulls(table.num_rows, table.schema.types[at]))
    elif kind == "text":
        table = table.set_column(at, title, pa.array(["x"] * table.num_rows))
    else:
        header = json.loads(metadata[KEY])
        metadata = {KEY: json.dumps({**header, "model": model}).encode()}
    other = table.replace_schema_metadata(metadata)
    survives(lambda: from_arrow(other))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_an_unspoilt_table_is_read(name):
    assert from_arrow(TABLES[name]).header == MADE[name]().header
