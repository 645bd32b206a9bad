"""The tests of stability have power: each finding that they stand for, put back, fails them."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.private.load import bounding, items, points
from dpviz.private.load.roads import read_trips
from tests.private.load.stability import BOX, check, check_files, delimited, moved_trips, put
from tests.private.load.test_stability import GRAPH, written_trips

pytestmark = pytest.mark.usefixtures("one_key")
K = 1
PERSONS = [f"p{number}" for number in range(40)]


def trips(folders):
    """40 persons with a trip each, and one first who uses the numbers of all these trips."""
    rows = [("zed", who, "7") for who in PERSONS] + [(who, who, "1") for who in PERSONS]
    paths = put(folders, rows, "zed", partial(written_trips, form="csv"))
    check(partial(read_trips, graph=GRAPH, unit="who", max_per_unit=K), paths, K, moved_trips)


def ids(folders):
    """40 devices with long ids, and one whose id is longer than a whole number of 64 bits."""
    rows = [(str(10**17 + number), "0.5", "0.5") for number in range(40)]
    rows.append(("99999999999999999999", "0.5", "0.5"))
    read = partial(dpviz.load, domain=BOX, unit="who", max_per_unit=K)
    check_files("csv", folders, read, rows, (), rows[-1][0], K)


def by_trip_alone(monkeypatch):
    """Rows are grouped by the number of the trip, whose first row says who made it."""
    grouped = items._grouped

    def merged(rows, groups, counts):
        group, _ = items.numbered(groups)
        first = np.unique(group, return_index=True)[1]
        return grouped(replace(rows, unit=rows.unit[first][group]), groups, counts)

    monkeypatch.setattr(items, "_grouped", merged)


def by_inference(monkeypatch):
    """The unit's type is what suits all cells, as DuckDB sniffs it."""

    def guessed(columns):
        cells = pa.chunked_array(list(columns)).cast(pa.string()).to_pylist()
        with duckdb.connect() as db:
            db.register("given", pa.table({"who": cells}))
            for kind in ("BIGINT", "DOUBLE", "VARCHAR"):
                query = f"SELECT CAST(TRY_CAST(who AS {kind}) AS VARCHAR) FROM given"
                ids = [row[0] for row in db.execute(query).fetchall()]
                if None not in ids:
                    return bounding.numbered([pa.array(ids, pa.large_binary())])
        raise AssertionError

    monkeypatch.setattr(points, "numbered", guessed)


@pytest.mark.parametrize(
    ("attack", "fault"), [(trips, by_trip_alone), (ids, by_inference)], ids=["trips", "ids"]
)
def test_a_finding_put_back_fails_the_test_of_stability(folders, attack, fault, monkeypatch):
    attack(folders)
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="moved by more than"):
        attack(folders)


def chosen(monkeypatch, path, rows, key):
    """Which rows a file gives, by their places, which are all distinct."""
    path.write_text(delimited(rows))
    with monkeypatch.context() as patch:
        patch.setattr(bounding, "fresh_key", lambda: key)
        index = dpviz.load(path, BOX, unit="who", max_per_unit=2)._index
    return set(index.codes.tolist())


def test_a_unit_more_changes_nothing_of_what_a_file_keeps_of_others(tmp_path, monkeypatch):
    """Under every key; wherever the unit's rows stand, and how many there are."""
    rng = np.random.default_rng(7)
    cells = iter(rng.permutation(900).tolist())
    others = [(who, f"0.{next(cells):04}1", "0.5") for who in PERSONS[:8] * 6]
    extra = [("zed", f"0.{next(cells):04}1", "0.5") for _ in range(30)]
    mixed = others + extra
    for number in range(10):
        key = bytes([number]) * 16
        alone = chosen(monkeypatch, tmp_path / "a.csv", others, key)
        assert len(alone) == 16
        for rows in (mixed, extra + others, interleaved(others, extra)):
            more = chosen(monkeypatch, tmp_path / "a.csv", rows, key)
            assert alone < more
            assert len(more) == len(alone) + 2


def interleaved(others, extra):
    mixed = [row for pair in zip(others, extra, strict=False) for row in pair]
    return mixed + others[len(extra) :]


def test_the_key_of_the_bounding_is_fresh_for_each_file_read(tmp_path, monkeypatch):
    """Asked of the operating system at each reading, 128 bits; never where records are public."""
    monkeypatch.undo()
    drawn = []
    system = bounding.secrets.token_bytes

    def watched(size):
        drawn.append(system(size))
        return drawn[-1]

    monkeypatch.setattr(bounding, "secrets", SimpleNamespace(token_bytes=watched))
    path = tmp_path / "a.csv"
    path.write_text(delimited([("ann", f"0.{row:02}1", "0.5") for row in range(64)]))
    outcomes = {
        dpviz.load(path, BOX, unit="who")._index.codes.tobytes() for _ in range(20)
    }  # all the same with probability 64^-19
    assert len(outcomes) > 1
    assert len(set(drawn)) == len(drawn) == 20
    assert {len(key) for key in drawn} == {16}
    same = {dpviz.load(path, BOX, unit="who", public=True)._index.codes.tobytes() for _ in range(3)}
    assert (len(same), len(drawn)) == (1, 20)
