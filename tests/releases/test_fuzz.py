"""Corrupted releases of every kind still answer, or give one error naming the file.

Mutants are made of the bytes of files, of headers and of columns, from fixed seeds: a short run
always, 10,000 of each kind of release in the slow one. None takes 10 s or a gigabyte.
"""

import json
import resource
import time
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases import files
from dpviz.releases.store import from_arrow
from dpviz.roads.paths import Paths
from tests.fuzz.mutants import byte_mutant, odd
from tests.golden.make import MADE
from tests.headers import header_of

FAMILIES = {
    "points": ("points", "wavelets", "trips"),
    "roads": ("roads",),
    "sequences": ("contexts", "grams", "ranking"),
    "areas": ("areas",),
}
VALUES = (-(2**63), -2, 0, 1, 2**26, 2**62, float("nan"), float("inf"), -1e300, 0.5)
SECONDS, BYTES = 10.0, 10**9


def packed(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none")
    return sink.getvalue().to_pybytes()


@cache
def table_of(name):
    """Made when it is asked for: every process collects this module, and few come here."""
    return MADE[name]().to_arrow()


@cache
def content_of(name):
    return packed(table_of(name))


def corrupted(content, random):
    """The file with changed, cut or repeated bytes, half of the time in its footer."""
    if random.integers(2):
        return byte_mutant(content, random)
    # The footer, with the schema and the lengths that readers trust.
    size = int(random.integers(1, 4_000))
    return content[:-size] + byte_mutant(content[-size:], random)


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


def other_header(table, random):
    header = header_of(table)
    paths = list(places(header))
    place = paths[random.integers(len(paths))]
    value = odd(random)
    text = json.dumps(replaced(header, place, value)).encode("utf-8", "surrogatepass")
    return table.replace_schema_metadata({files.KEY: text})


def other_column(table, random):
    """One value of a column replaced, in a type that can hold it; else another change."""
    at, row = int(random.integers(table.num_columns)), int(random.integers(len(table)))
    values = table.column(at).to_pylist()
    value = VALUES[random.integers(len(VALUES))]
    lists = isinstance(values[row], list)
    values[row] = [value] * len(values[row]) if lists else value
    kind = table.schema.types[at]
    if isinstance(value, float):
        kind = pa.list_(pa.float64()) if lists else pa.float64()
    try:
        return table.set_column(at, table.column_names[at], pa.array(values, kind))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return other_shape(table, random)


def other_shape(table, random):
    """A column removed, renamed, of texts, of nulls or another one's; or fewer rows."""
    at, other = (int(random.integers(table.num_columns)) for _ in range(2))
    title, names = table.column_names[at], list(table.column_names)
    names[at] = names[other]
    changes = (
        lambda: table.remove_column(at),
        lambda: table.rename_columns(names),
        lambda: table.set_column(at, title, pa.array(["x"] * len(table))),
        lambda: table.set_column(at, title, pa.nulls(len(table), table.schema.types[at])),
        lambda: table.slice(int(random.integers(len(table) + 1))),
        lambda: table.set_column(at, title, table.column(other)),
    )
    return changes[random.integers(len(changes))]()


TABLE_MUTATIONS = (other_header, other_column, other_shape)


def asked(release):
    """Query a release that was read; accept an error of one line."""
    questions = {
        "points": (lambda: release.count(release.domain.bounds), lambda: release.sample(5, seed=1)),
        "areas": (lambda: release.count(release.domain.bounds), lambda: release.answers),
        "roads": (lambda: release.count(Paths.of([[0]])), lambda: release.limit),
        "sequences": (
            lambda: release.top(1, longest=5),
            lambda: release.count([release.alphabet.names[:1] * 2]),
            lambda: release.next(release.alphabet.names[:1]),
            lambda: release.sample(3, seed=1, longest=5),
        ),
    }
    for question in questions[release.kind]:
        try:
            with np.errstate(all="ignore"):  # counts near the largest float
                question()
        except DpvizError as error:
            one_line(error)


def one_line(error, start=""):
    assert "\n" not in str(error)
    assert str(error).startswith(start)


def survives(read):
    """Ask what was read; fail where a mutant does harm, or is refused without its name."""
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    try:
        release = read()
    except ReleaseError as error:
        one_line(error, ("mutant", "table"))
    else:
        asked(release)
    assert time.monotonic() - started < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < BYTES


def mutant_survives(family, seed, path):
    """As :func:`survives`, of one mutant: of a file's bytes, or of header and columns."""
    random = np.random.default_rng(seed)
    name = str(random.choice(FAMILIES[family]))
    if seed % 2:
        path.write_bytes(corrupted(content_of(name), random))
        return survives(lambda: dpviz.read(path))
    table = table_of(name)
    for _ in range(random.integers(1, 3)):
        if table.num_columns and table.num_rows:
            table = TABLE_MUTATIONS[random.integers(len(TABLE_MUTATIONS))](table, random)
            if not table.schema.metadata:
                table = table.replace_schema_metadata(table_of(name).schema.metadata)
    return survives(lambda: from_arrow(table))


runs = pytest.mark.parametrize(
    "mutants", [150, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.campaign])]
)


@pytest.mark.slow
@runs
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_corrupted_release_answers_or_is_one_clear_line(family, mutants, tmp_path):
    path = tmp_path / "mutant.parquet"
    for seed in range(mutants):
        mutant_survives(family, seed, path)


def chain(n):
    """A table of points whose nodes are one chain of n."""
    table = table_of("points")
    box = pa.FixedSizeListArray.from_arrays
    columns = {
        "lo": box(pa.array(np.zeros(2 * n, dtype=np.int64)), 2),
        "hi": box(pa.array(np.full(2 * n, 2**26)), 2),
        "parent": pa.array(np.arange(-1, n - 1, dtype=np.int32)),
        "count": pa.array(np.zeros(n)),
        "variance": pa.array(np.zeros(n)),
    }
    return pa.table(columns).replace_schema_metadata(table.schema.metadata)


@pytest.mark.parametrize("n", [257, 300, 200_000])
def test_an_endless_chain_of_nodes_is_refused(n, tmp_path):
    files.write_table(tmp_path / "mutant.parquet", chain(n))
    with pytest.raises(ReleaseError, match="more than 256 levels"):
        dpviz.read(tmp_path / "mutant.parquet")


def test_the_deepest_tree_is_read_and_answers():
    release = from_arrow(chain(256))
    assert release.nodes.level.max() == 255
    assert release.count(release.domain.bounds).count[0] == 0.0


@pytest.mark.slow
def test_a_small_file_of_very_many_nodes_is_refused_before_memory_is_taken(tmp_path):
    """60 million nodes of one value each: 2 MB in the file, gigabytes in memory."""
    path = tmp_path / "mutant.parquet"
    rows = pa.table({"count": pa.array(np.zeros(1_000_000))})
    schema = rows.schema.with_metadata(table_of("points").schema.metadata)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(60):
            writer.write_table(rows.cast(schema))
    assert path.stat().st_size < 2_000_000
    survives(lambda: dpviz.read(path))
    with pytest.raises(ReleaseError, match="60,000,000 rows: this version reads up to 8,000,000"):
        dpviz.read(path)


def test_a_street_id_of_megabytes_is_refused(tmp_path):
    table = table_of("roads")
    ids = table["edge"].to_pylist()
    ids[0] = "x" * 4_000_000
    at = table.column_names.index("edge")
    files.write_table(tmp_path / "mutant.parquet", table.set_column(at, "edge", pa.array(ids)))
    with pytest.raises(ReleaseError, match="'edge' holds a name of 4,000,000 characters"):
        dpviz.read(tmp_path / "mutant.parquet")
