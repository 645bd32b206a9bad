"""Folders and tables as sources: what is refused, and what a message says."""

import os
import shutil
from contextlib import closing
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import DataError, DpvizError
from dpviz.private.load import aggregation
from dpviz.private.load.engines.duck import Duck
from tests.commands import run
from tests.private.load.engines.cases import CASES, EVIL, digest
from tests.private.load.engines.servers import PASSWORD, connected, create
from tests.private.load.stability import database
from tests.vault import index_of

CASE = CASES["plane0"]


@pytest.fixture
def folder(tmp_path):
    """A folder whose name is also a pattern."""
    folder = tmp_path / "day[1]*?"
    folder.mkdir()
    pq.write_table(CASE.table, folder / "a.parquet")
    (tmp_path / "day1x").mkdir()
    pq.write_table(CASE.table, tmp_path / "day1x" / "a.parquet")
    return folder


def test_the_name_of_a_folder_is_no_pattern(folder):
    handle = dpviz.load(folder, CASE.domain)
    assert digest(index_of(handle)) == digest(CASE.expected())
    assert handle.name == "day_1_"


@pytest.mark.slow
def test_bad_folders_are_refused_in_one_line(tmp_path, folder):
    with pytest.raises(DataError, match="no column 'no' in day1x: it has 'lon', 'lat', 'who'"):
        dpviz.load(tmp_path / "day1x", CASE.domain, columns=["no", "lat"])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="no Parquet file in the folder empty"):
        dpviz.load(empty, CASE.domain)
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), empty / "a.parquet")
    with pytest.raises(DataError, match="name 2 columns of empty: it has 'a', 'b'"):
        dpviz.load(empty, CASE.domain)
    (empty / "a.parquet").write_bytes(b"PAR1 cut short")
    with pytest.raises(DataError, match=r"a.parquet cannot be read as Parquet"):
        dpviz.load(empty, CASE.domain)
    with pytest.raises(DataError, match="must be in the CRS of the domain"):
        dpviz.load(folder, CASE.domain, crs="EPSG:27700")


@pytest.mark.slow
def test_too_many_cells_is_an_error_that_names_the_bits(folder, monkeypatch):
    monkeypatch.setattr(aggregation, "MAX_CELLS", 300)
    with pytest.raises(DataError, match="over 300 cells at 16 bits per axis: give fewer bits"):
        dpviz.load(folder, CASE.domain)
    with pytest.raises(DataError, match="over 300 cells at 16 bits"):
        dpviz.load(folder, CASE.domain, unit="who", max_per_unit=9)
    assert len(index_of(dpviz.load(folder, CASE.domain, bits=4)).codes) <= 256


def test_bits_are_an_option_of_every_source(tmp_path, folder):
    file = folder / "a.parquet"
    assert digest(index_of(dpviz.load(file, CASE.domain, bits=9))) == digest(CASE.expected(9))
    assert digest(index_of(dpviz.load(file, CASE.domain))) == digest(CASE.expected(26))
    built_in = dpviz.load("city-50k", bits=3)
    assert len(index_of(built_in).codes) <= 64
    assert index_of(built_in).total == 50_000
    for source in (file, folder):
        with pytest.raises(DpvizError, match="bits=27: give 1 to 26"):
            dpviz.load(source, CASE.domain, bits=27)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("mysql://u:{}@h/d", {"table": "t"}, "mysql: is not a supported source.*dpviz.cell_sql"),
        ("mysql:/u:{}@h/d", {}, "mysql: is not a supported source"),
        ("http://u:{}@h/d.csv", {}, "http: is not a supported source: give a file that you have"),
        ("postgresql://u:{}@127.0.0.1:1/d", {}, "name one with table="),
        ("postgresql://u:{}@127.0.0.1:1/d", {"table": "t"}, "PostgreSQL refused.*no connection"),
        ("postgresql://u:{0}/{0}@127.0.0.1:1/d", {"table": "t"}, "PostgreSQL refused"),
        ("postgresql://u:{}@127.0.0.1:x/d?{0}=1", {"table": "t"}, "PostgreSQL refused"),
        ("duckdb:///missing.db", {"table": "t"}, "no file 'missing.db'"),
        ("duckdb://", {"table": "t"}, "give duckdb:///FILE"),
        ("plane.csv", {"table": "t"}, "no file 'plane.csv'"),
    ],
)
def test_bad_urls_are_one_line_that_never_quotes_a_password(source, options, message):
    with pytest.raises(DataError, match=message) as caught:
        dpviz.load(source.replace("{0}", "{}").replace("{}", PASSWORD), CASE.domain, **options)
    assert PASSWORD not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.slow
def test_a_duckdb_file_is_read_only_and_found_by_both_kinds_of_path(tmp_path, monkeypatch):
    path = tmp_path / "my data.duckdb"
    database(path, **{"t; DROP TABLE t": CASE.table})
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)
    for url in ("duckdb:///my data.duckdb", "duckdb:///my%20data.duckdb", f"duckdb:///{path}"):
        handle = dpviz.load(url, CASE.domain, table="t; DROP TABLE t")
        assert digest(index_of(handle)) == digest(CASE.expected())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DataError, match=r"no table .t. in the DuckDB file: check its name"):
        dpviz.load(f"duckdb:///{path}", CASE.domain, table="t")
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(DataError, match="is this its database file"):
        dpviz.load("duckdb:///text.duckdb", CASE.domain, table="t")


@pytest.mark.slow
def test_a_database_file_can_be_read_while_it_is_read(tmp_path):
    """By two visitors of one server, say: in one process DuckDB gives both the same instance."""
    url = database(tmp_path / "one.duckdb", t=CASE.table)
    with closing(Duck.of_url(url)) as first:
        handle = dpviz.load(url, CASE.domain, table="t")
        assert first.rows("SELECT 1, count(*) FROM t")[1].tolist() == [CASE.table.num_rows]
        with pytest.raises(DataError, match="PermissionException"):
            first.rows("SELECT 1, count(*) FROM read_text('/dev/null')")
    assert digest(index_of(handle)) == digest(CASE.expected())


def test_a_postgres_table_with_an_evil_name_is_read_safely(postgres):
    name = "t; DROP TABLE evil; --"
    x, y = ('"' + column.replace('"', '""') + '"' for column in EVIL)
    with connected(postgres) as db:
        db.execute(f'CREATE TABLE "{name}" AS SELECT * FROM evil'.encode())
    case = CASES["evil"]
    handle = dpviz.load(postgres, case.domain, table=name, unit="who", max_per_unit=2)
    assert 0 < index_of(handle).total < case.expected().total
    with connected(postgres) as db:
        assert db.execute(f"SELECT count({x}), count({y}) FROM evil".encode()).fetchone()[1] == 2000
    with pytest.raises(DataError, match=r"no table .* in the database: check its name and schema"):
        dpviz.load(postgres, case.domain, table="evil'; DROP TABLE evil; --")
    with pytest.raises(DataError, match="no column 'no\"; --' in evil"):
        dpviz.load(postgres, case.domain, table="evil", columns=['no"; --', EVIL[1]])


def test_nothing_that_is_written_holds_a_password(postgres, tmp_path):
    output, ledger = tmp_path / "r.parquet", tmp_path / "ledger.sqlite"
    box = ",".join(map(repr, CASE.domain.bounds))
    words = ["build", postgres, "--table", "public.plane0", f"--bounds={box}", "--unit", "who"]
    code, out, err = run(*words, "-o", output, "--ledger", ledger)
    assert code == 0
    header = dpviz.read(output).header
    assert (header.source, header.unit) == ("plane0", "one who with at most 1 record")
    for text in (out.encode(), err.encode(), output.read_bytes(), ledger.read_bytes()):
        assert PASSWORD.encode() not in text
        assert b"postgresql" not in text


def test_shapes_that_are_not_points_are_refused_or_dropped_in_postgis(postgres):
    with connected(postgres) as db:
        create(db, "lines", "who int, geom geometry(LineString, 4326)")
        create(db, "mixed", "who int, geom geometry")
        db.execute("INSERT INTO mixed SELECT 1, ST_GeomFromText('LINESTRING(1 2, 3 4)')")
        db.execute("CREATE TABLE globe AS SELECT who, geom::geography FROM plane1_points")
    box = CASES["plane1"].domain
    british = dpviz.Domain((0, 0), (1e6, 1e6), crs="EPSG:27700")
    with pytest.raises(DataError, match=r"'geom' is in EPSG:4326, the domain in EPSG:27700"):
        dpviz.load(postgres, british, table="plane1_points")
    with pytest.raises(DataError, match="name 2 columns of lines: it has 'who', 'geom'"):
        dpviz.load(postgres, box, table="lines")
    assert index_of(dpviz.load(postgres, box, table="mixed")).total == 0  # dropped row by row
    x, y = (np.add(box.lower, box.upper) / 2).tolist()
    with connected(postgres) as db:
        for srid in (0, 4326, 3857):  # points in another CRS are dropped
            db.execute(f"INSERT INTO mixed SELECT 1, ST_Point({x}, {y}, {srid})".encode())
    assert index_of(dpviz.load(postgres, box, table="mixed")).total == 2
    with connected(postgres) as db:
        # A multipoint with one point counts as that point.
        for points in (f"{x} {y}", f"{x} {y},0 0"):
            shape = f"'SRID=4326;MULTIPOINT({points})'"
            db.execute(f"INSERT INTO mixed SELECT 1, {shape}::geometry".encode())
    assert index_of(dpviz.load(postgres, box, table="mixed")).total == 3
    with pytest.raises(DataError, match="cannot read points from column 'who'"):
        dpviz.load(postgres, box, table="plane1_points", columns=["who"])
    globe = dpviz.load(postgres, box, table="globe", columns=["geom"])
    assert digest(index_of(globe)) == digest(CASES["plane1"].expected())


def test_an_engine_s_own_words_about_records_are_not_repeated(tmp_path, postgres):
    secret = "12 Acacia Avenue"
    folder = tmp_path / "texts"
    folder.mkdir()
    pq.write_table(pa.table({"lon": [secret], "lat": ["1"]}), folder / "a.parquet")
    with connected(postgres) as db:
        create(db, "addresses", "lon text, lat text", [(secret, "1")])
    for source, table in ((folder, None), (postgres, "addresses")):
        with pytest.raises(DataError, match="column 'lon' is not declared as a number") as caught:
            dpviz.load(source, CASE.domain, table=table)
        assert secret not in str(caught.value)


@pytest.mark.parametrize("kind", ["bool", "date", "binary", "list", "text"])
def test_a_folder_column_declared_without_numbers_is_refused(kind, tmp_path):
    """All records would be dropped, and the release be paid; of bool they were at 0 and 1."""
    cells = {
        "bool": [True], "date": [date(2030, 1, 1)], "binary": [b"1"], "list": [[1.0]],
        "text": pa.array(["1"]).dictionary_encode(),
    }[kind]  # fmt: skip
    pq.write_table(pa.table({"lon": cells, "lat": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="'lon' is not declared as a number in DuckDB: choose"):
        dpviz.load(tmp_path, CASE.domain)


def test_a_column_of_a_folder_that_is_declared_to_hold_nothing_may_hold_numbers(tmp_path):
    pq.write_table(pa.table({"lon": pa.nulls(2), "lat": [1.0, 1.0]}), tmp_path / "a.parquet")
    assert index_of(dpviz.load(tmp_path, CASE.domain)).total == 0


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [("who", "int64", "string"), ("WHO", "int64", "string"),
     ("WHO", "timestamp[us]", "timestamp[ms]")],
)  # fmt: skip
def test_a_column_of_a_folder_has_one_type_also_in_small_and_large_letters(
    name, one, other, tmp_path
):
    """DuckDB takes them for one, and would cast: one value of the second refuses the folder."""
    place = pa.table({"lon": [1.0], "lat": [1.0]})
    nobody = pa.array([None])
    pq.write_table(place.append_column(name, nobody.cast(one)), tmp_path / "a.parquet")
    pq.write_table(place.append_column("who", nobody.cast(other)), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"column 'who' is .* in one file of .* and .* in another"):
        dpviz.load(tmp_path, CASE.domain, unit=name)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_record_of_a_folder_counts_once(link, folder):
    """The latest day under a second name would cost twice its epsilon."""
    link(folder / "a.parquet", folder / "latest.parquet")
    with pytest.raises(DataError, match=r"'a\.parquet' and 'latest\.parquet' of .* are one file"):
        dpviz.load(folder, CASE.domain)
    (folder / "latest.parquet").unlink()
    (folder / "lost.parquet").symlink_to(folder / "nothing.parquet")
    with pytest.raises(DataError, match=r"'lost\.parquet' of .* links to no file: remove it"):
        dpviz.load(folder, CASE.domain)


def test_files_that_a_writer_left_behind_are_none_of_a_folder(folder):
    for name in ("_temporary/0/a.parquet", ".a.parquet", "_tmp.parquet", "_b/c.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "a.parquet", folder / name)
    before = index_of(dpviz.load(folder / "a.parquet", CASE.domain)).total
    assert index_of(dpviz.load(folder, CASE.domain)).total == before > 0
    # The folder's own name may begin with a dot or an underscore.
    again = folder.parent / "_days" / ".all"
    again.mkdir(parents=True)
    shutil.copy(folder / "a.parquet", again / "part.parquet")
    assert index_of(dpviz.load(again, CASE.domain)).total == before


def test_a_decimal_that_no_double_holds_is_outside(postgres):
    numbers = ("1e-400", "1e400", "NaN", "-1e-400")
    with connected(postgres) as db:
        rows = [*((each, "0.5") for each in numbers), ("1", "1"), (None, "1")]
        create(db, "decimals", "x numeric, y numeric", rows)
    box = dpviz.Domain((0, 0), (1, 1), ("x", "y"))
    assert index_of(dpviz.load(postgres, box, table="decimals")).total == 2


def test_spark_reads_files_by_their_path_and_refuses_what_it_cannot(spark_session, folders):
    case, table = CASES["plane0"], f'parquet."{folders}/plane0/day=2"'
    handle = dpviz.load("spark://local", case.domain, table=table)
    half = np.arange(case.table.num_rows) >= case.table.num_rows // 2
    assert digest(index_of(handle)) == digest(case.expected(rows=half))
    with pytest.raises(DataError, match=r"Spark refused .*: check the name of the table"):
        dpviz.load("spark://local", case.domain, table="nothing")
    with pytest.raises(DataError, match="cannot read points from column 'lon'"):
        dpviz.load("spark://local", case.domain, table=table, columns=["lon"])
    assert spark_session.range(3).count() == 3  # a running session is not stopped
