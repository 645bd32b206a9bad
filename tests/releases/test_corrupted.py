"""Reading a release that somebody spoilt: one clear error or a release, never anything else.

More than ten thousand mutations: of the bytes of files, and of the table and header inside them.
"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.files import KEY
from dpviz.releases.store import from_arrow
from tests.golden.make import points, roads, trips, wavelets

pytestmark = pytest.mark.slow

EXAMPLES = 2_100
"""Of each of the five tests below."""

MADE = {"points": points(), "wavelets": wavelets(), "trips": trips(), "roads": roads()}
TABLES = {name: release.to_arrow() for name, release in MADE.items()}


def packed(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none")
    return sink.getvalue().to_pybytes()


FILES = {name: packed(table) for name, table in TABLES.items()}

often = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
numbers = st.integers(0, 2**31 - 1)
bytes_spoilt = st.lists(
    st.tuples(
        st.sampled_from(("flip", "cut", "zero", "repeat", "splice", "header")), numbers, numbers
    ),
    min_size=1,
    max_size=4,
)


def spoilt(content, steps):
    """The file after byte flips, cuts, zeroed, repeated and foreign stretches."""
    content = bytearray(content)
    for kind, first, second in steps:
        at, size = first % (len(content) + 1), second % 97
        if kind == "flip" and at < len(content):
            content[at] ^= 1 + second % 255
        elif kind == "cut":
            del content[at:]
        elif kind == "zero":
            content[at : at + size] = bytes(len(content[at : at + size]))
        elif kind == "repeat":
            content[at:at] = content[at : at + size]
        elif kind == "splice":
            other = FILES["roads" if second % 2 else "points"]
            content[at : at + size] = other[at : at + size]
        elif kind == "header":  # the footer holds the schema and the lengths that readers trust
            back = len(content) - 1 - first % min(len(content) + 1, 4000)
            if 0 <= back < len(content):
                content[back] = second % 256
    return bytes(content)


def survives(read):
    """The release, or None after the one kind of error that is allowed."""
    try:
        return read()
    except ReleaseError:
        return None


@often
@given(bytes_spoilt)
def test_a_file_of_points(tmp_path_factory, steps):
    path = tmp_path_factory.getbasetemp() / "spoilt-points.parquet"
    path.write_bytes(spoilt(FILES["points"], steps))
    release = survives(lambda: dpviz.read(path))
    if release is not None:
        asked(release)


@often
@given(bytes_spoilt)
def test_a_file_of_trips_or_roads(tmp_path_factory, steps):
    name = "roads" if len(steps) % 2 else "trips"
    path = tmp_path_factory.getbasetemp() / "spoilt-other.parquet"
    path.write_bytes(spoilt(FILES[name], steps))
    survives(lambda: dpviz.read(path))


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.just("1" * 5000),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value, path=()):
    """Every place inside a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


@often
@given(st.sampled_from(sorted(TABLES)), numbers, anything)
def test_a_header_with_a_foreign_value(name, where, new):
    table, key = TABLES[name], KEY
    header = json.loads(table.schema.metadata[key])
    spots = list(places(header))
    other = replaced(header, spots[where % len(spots)], new)
    metadata = {**table.schema.metadata, key: json.dumps(other).encode()}
    release = survives(lambda: from_arrow(table.replace_schema_metadata(metadata)))
    if release is not None and name != "roads":
        asked(release)


values = st.sampled_from(
    (-(2**63), -2, -1, 0, 1, 2, 7, 2**26, 2**31, 2**62, float("nan"), float("inf"), -1e300, 0.5)
)


def with_values(column, rows, new):
    """The column with some values replaced; in a type that can hold them."""
    found = column.combine_chunks().to_pylist()
    for row, value in zip(rows, new, strict=False):
        at = row % len(found)
        found[at] = [value] * len(found[at]) if isinstance(found[at], list) else value
    if any(isinstance(each, float) for each in new):
        return pa.array(found, pa.list_(pa.float64()) if isinstance(found[0], list) else None)
    return pa.array(found)


@often
@given(
    st.sampled_from(sorted(TABLES)),
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
    release = survives(lambda: from_arrow(other))
    if release is not None and name != "roads":
        asked(release)


@often
@given(
    st.sampled_from(sorted(TABLES)),
    st.lists(
        st.tuples(st.sampled_from(("drop", "rename", "retype", "nulls", "rows", "swap")), numbers),
        min_size=1,
        max_size=3,
    ),
)
def test_a_table_of_another_shape(name, steps):
    table = TABLES[name]
    for kind, number in steps:
        if not table.num_columns:
            break
        at = number % table.num_columns
        title = table.column_names[at]
        if kind == "drop":
            table = table.remove_column(at)
        elif kind == "rename":
            names = list(table.column_names)
            names[at] = names[number % 7 % len(names)]
            table = table.rename_columns(names)
        elif kind == "retype":
            table = table.set_column(at, title, pa.array(["x"] * table.num_rows))
        elif kind == "nulls":
            table = table.set_column(at, title, pa.nulls(table.num_rows, table.schema.types[at]))
        elif kind == "rows":
            table = table.slice(number % (table.num_rows + 1))
        else:
            other = number // 7 % table.num_columns
            table = table.set_column(at, title, table.column(other))
    release = survives(lambda: from_arrow(table))
    if release is not None and name != "roads":
        asked(release)


def asked(release):
    """What was read can be asked, or says in one line why not."""
    try:
        with np.errstate(all="ignore"):
            assert len(release.count(release.domain.bounds)) == 1
    except DpvizError:
        pass


@pytest.mark.parametrize("name", sorted(MADE))
def test_an_unspoilt_table_is_read(name):
    assert from_arrow(TABLES[name]).header == MADE[name].header
