"""Sequences from files, releases in files, and the commands on both."""

import dataclasses
import gzip
import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.build import build
from dpviz.errors import DataError, DomainError, DpvizError, ParameterError, ReleaseError
from dpviz.methods import of_kind
from dpviz.private.load.sequences import read_places, read_sequences
from dpviz.private.load.visits import cell_sequences
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.releases.files import KEY
from dpviz.releases.sequences.cells import Cells
from dpviz.releases.store import from_arrow, save
from dpviz.sequences.alphabet import Alphabet, alphabet_of
from tests.commands import as_json, fails, run
from tests.vault import sequences_of

from .cases import ABC, lists, public

UNIT = dpviz.Domain.from_bounds([0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("text", ["a b c\n\nb\n", "a,b,c\r\nb\r\n", "a\tb\tc\nb"])
def test_text_has_one_sequence_a_line(tmp_path, text):
    path = tmp_path / "visits.txt"
    path.write_text(text)
    data = read_sequences(path, ABC, public=True)
    assert data.name == "visits"
    assert lists(sequences_of(data)) == [[0, 1, 2], [1]]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.uint8()])
def test_a_list_column_holds_words_or_whole_numbers(tmp_path, kind):
    path = tmp_path / "visits.parquet"
    rows = [["1", "2"], [], ["3"]] if kind == pa.string() else [[1, 2], [], [3]]
    pq.write_table(pa.table({"visit": pa.array(rows, pa.list_(kind)), "who": [7, 7, 8]}), path)
    data = read_sequences(path, alphabet_of("1..3"), public=True)
    assert lists(sequences_of(data)) == [[0, 1], [2]]
    bounded = read_sequences(path, alphabet_of("1..3"), unit="who", max_per_unit=1)
    assert bounded.unit == "one who with at most 1 sequence"
    assert bounded.accounted_unit == "one who"
    assert len(sequences_of(bounded)) <= 2


def test_a_sequence_with_an_unknown_symbol_is_dropped_or_does_without_it(tmp_path):
    path = tmp_path / "visits.txt"
    path.write_text("a SECRET b\nSECRET\nc\n")
    with pytest.raises(DataError) as caught:
        read_sequences(path, ABC, public=True)
    assert "SECRET" not in str(caught.value)
    assert lists(sequences_of(read_sequences(path, ABC))) == [[2]]
    path.write_text("a SECRET b\nSECRET\n")
    assert lists(sequences_of(read_sequences(path, ABC, drop_unknown=True))) == [[0, 1]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2]}, "0 list columns"),
        ({"x": [[1], [2]], "y": [[1], [2]]}, "2 list columns"),
        ({"x": [{"a": 1}]}, "0 list columns"),
        ({"x": [[[1]], [[2]]]}, "an id must be a number or text"),
    ],
)
def test_bad_columns_are_one_clear_line(tmp_path, columns, message):
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(DataError, match=message):
        read_sequences(path, alphabet_of("1..2"))


def test_records_with_missing_values_are_dropped_alone(tmp_path):
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"x": [[1, 2], None, [2, None], []]}), path)
    assert lists(sequences_of(read_sequences(path, alphabet_of("1..2")))) == [[0, 1]]


def test_sequences_come_in_every_shape(tmp_path):
    """A column of text, a row for each symbol, JSON lines; the unit is a column of each."""
    wide, long, lines = (tmp_path / name for name in ("a.csv", "b.csv", "c.jsonl"))
    wide.write_text("who,visits\n7,a b c\n07,b\n")
    long.write_text("who,sequence,symbol\n7,1,a\n07,1,b\n7,1,b\n7,1,c\n")
    rows = [{"who": 7, "visits": ["a", "b", "c"]}, {"who": "07", "visits": ["b"]}]
    lines.write_text("\n".join(map(json.dumps, rows)))
    for path, column in ((wide, "visits"), (long, None), (lines, "visits")):
        data = read_sequences(path, ABC, unit="who", columns=(column,))
        assert sorted(lists(sequences_of(data))) == [[0, 1, 2], [1]], path


def test_the_first_line_is_not_shown_where_it_may_be_a_record(tmp_path):
    """A column of text without a header: the error listed the first sequence as the columns."""
    path = tmp_path / "visits.txt"
    path.write_text("p7 a b\nb c\n")
    for how in ({"columns": ["visits"]}, {"unit": "visits"}):
        with pytest.raises(DataError, match=r"^no column 'visits' in the first line") as error:
            read_sequences(path, ABC, **how)
        assert "p7" not in str(error.value)


@pytest.mark.parametrize("first", ["a b", "{a b", "\x1f b", "PAR1 b", "PK\3\4 b", "SQLite format"])
def test_the_first_sequence_does_not_decide_what_a_file_is(tmp_path, first):
    """Regression: with an unknown file ending, the first line could get the file refused."""
    for name in ("visits", "visits.seq", "visits.txt"):
        path = tmp_path / name
        path.write_text(f"{first}\nb c\n")
        if path.suffix == ".txt":
            assert lists(sequences_of(read_sequences(path, ABC)))[-1] == [1, 2]
            continue
        with pytest.raises(DataError, match=f"^{name} has no known file ending: use"):
            read_sequences(path, ABC)


def test_text_that_is_a_table_by_its_name_is_read_as_one(tmp_path):
    """Regression: its lines were read as sequences and dropped; an empty release was paid for."""
    wide, rows = tmp_path / "a.csv", tmp_path / "b.TSV"
    for content in ("who,sequence\np7,a b c\n", "p7 a\nb c\n", "a\n", ""):
        wide.write_text(content)
        with pytest.raises(DataError, match=r"^a\.csv is a table: name .* \(--column\)") as error:
            read_sequences(wide, ABC)
        assert "p7" not in str(error.value)
    rows.write_text("sequence\tsymbol\n1\ta\n1\tb\n2\tc\n")
    assert sorted(lists(sequences_of(read_sequences(rows, ABC)))) == [[0, 1], [2]]
    packed, zipped = tmp_path / "c.csv.gz", tmp_path / "c.zip"
    packed.write_bytes(gzip.compress(rows.read_bytes()))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(rows, "b.TSV")
    for path in (packed, zipped):
        assert sorted(lists(sequences_of(read_sequences(path, ABC)))) == [[0, 1], [2]]
    wide.write_text("1,2\n3\n")
    with pytest.raises(
        DataError, match=r"^a\.csv begins with numbers, .* per line is named \.txt$"
    ):
        read_sequences(wide, ABC)


@pytest.mark.parametrize("content", [b"", b'{"visits": ["a"]}\n', b'{"sequence": ["a"]}\n'])
def test_the_column_of_json_is_named_and_never_guessed(tmp_path, content):
    """Regression: without it all sequences were empty; an empty release was paid for."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(
        DataError, match=r"^a\.jsonl does not declare .* \(--column\), such as sequence"
    ):
        read_sequences(path, ABC)
    read = read_sequences(path, ABC, columns=("visits",))
    assert lists(sequences_of(read)) == [[0]] * content.count(b"visits")


def test_the_cut_at_a_forbidden_step_is_of_one_sequence_alone():
    """An empty first sequence once left the last one uncut."""
    stay = Alphabet(("a", "b", "c"), np.eye(3, dtype=bool))
    rows = [[0, 0, 1], [1, 2], [2, 2, 0]]
    cut = [[0, 0], [1], [2, 2]]
    for before in ([], [[]], [[], []]):
        for after in ([], [[]]):
            data = SequenceData("x", stay, Sequences.of([*before, *rows, *after]))
            assert lists(sequences_of(data)) == cut


def test_alphabets_are_read_from_lists_ranges_and_files(tmp_path):
    assert alphabet_of("home, work").names == ("home", "work")
    assert alphabet_of("-1..1").names == ("-1", "0", "1")
    listed = tmp_path / "symbols.txt"
    listed.write_text("x\ny\n\n")
    assert alphabet_of(str(listed)).names == ("x", "y")
    for bad in (",", "a,a", "5..1"):
        with pytest.raises(ParameterError):
            alphabet_of(bad)


def test_one_word_is_the_name_of_a_file_and_no_alphabet(tmp_path):
    """A slip in the name was the only symbol: every sequence was dropped, and ε paid for that."""
    for slip in (str(tmp_path / "symbls.txt"), str(tmp_path), "a;b;c", "a b c", "1...17", ""):
        with pytest.raises(ParameterError, match=r"no such file, no range .* and no list"):
            alphabet_of(slip)
    assert alphabet_of("a,").names == ("a",)


def by_brute_force(points, person, time, side, gap):
    """Place by place, in order of person and time."""
    rows = []
    for who in sorted(set(person)):
        places = sorted((t, i) for i, t in enumerate(time) if person[i] == who)
        last, current = None, None
        for t, i in places:
            x, y = (min(int(value * side), side - 1) for value in points[i])
            if last is None or t - last > gap:
                current = []
                rows.append(current)
            if not current or current[-1] != x * side + y:
                current.append(x * side + y)
            last = t
    return rows


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_places_become_cells_as_by_brute_force(seed, side):
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 40))
    points = random.random((n, 2))
    person = random.integers(0, 4, n)
    time = random.permutation(n * 3)[:n].astype(float)
    sequences, who = cell_sequences(points, person, time, Cells(UNIT, side), 9.0)
    wanted = by_brute_force(points.tolist(), person.tolist(), time.tolist(), side, 9.0)
    assert lists(sequences) == wanted
    assert len(who) == len(wanted)


def test_places_in_a_crs_that_nobody_knows_are_refused(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text("x,y,who,at\n0.5,0.5,ann,2024-01-01\n")
    for crs in ("", "EPSG:4326"):
        domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"), crs=crs)
        read_places(path, domain, unit="who", time="at")
    domain = dataclasses.replace(domain, crs="EPSG:9x9x")
    with pytest.raises(DomainError, match="CRS 'EPSG:9x9x' is unknown"):
        read_places(path, domain, unit="who", time="at")


def test_places_in_a_file_are_bounded_per_person(tmp_path):
    path = tmp_path / "sightings.csv"
    rows = ["lon,lat,who,when"]
    rows += [
        f"0.{1 + 5 * (i % 2)},0.5,p{i % 2},2030-01-{1 + i // 2:02d}T08:00:00" for i in range(20)
    ]
    path.write_text("\n".join(rows) + "\n")
    data = read_places(path, UNIT, unit="who", time="when", side=4, max_per_unit=3)
    assert len(sequences_of(data)) == 6  # ten days each, a gap after every one
    assert data.unit == "one who with at most 3 sequences"
    with pytest.raises(ParameterError, match="gap=-1: give the session gap in hours"):
        read_places(path, UNIT, unit="who", time="when", gap=-1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"parent": [0, 0], "symbol": [-1, 0]}, "begin with the empty one"),
        ({"parent": [-1, 2], "symbol": [-1, 0]}, "without its parent"),
        ({"parent": [-1, -1], "symbol": [-1, 0]}, "without its parent"),
        ({"parent": [-1, 0], "symbol": [-1, 3]}, "outside the alphabet"),
        ({"parent": [-1, 1], "symbol": [-1, 0]}, "do not form a tree"),
        ({"parent": [-1, 0, 0], "symbol": [-1, 0, 0]}, "do not form a tree"),
        ({"parent": [-1, 0], "symbol": [-1, 0.5]}, "whole numbers"),
        (
            {"parent": [-1, 0], "symbol": [-1, 0], "counts": [[1.0] * 4, [-1.0] * 4]},
            "numbers from 0",
        ),
        ({"parent": [-1, 0], "symbol": [-1, 0], "counts": [[1.0] * 3] * 2}, "expected 4 numbers"),
        ({"parent": [-1, None], "symbol": [-1, 0]}, "nulls"),
    ],
)
def test_corrupted_grams_are_one_clear_line(columns, message):
    n = len(columns["parent"])
    columns = {"counts": [[1.0] * 4] * n, **columns}
    columns["counts"] = pa.array(
        columns["counts"], pa.list_(pa.float64(), len(columns["counts"][0]))
    )
    with pytest.raises(ReleaseError, match=message):
        from_arrow(pa.table(columns).replace_schema_metadata(headed("grams")))


@pytest.mark.parametrize(
    ("strings", "message"),
    [
        ([[0], []], "empty or repeated"),
        ([[0], [0]], "empty or repeated"),
        ([[3]], "outside the alphabet"),
        ([[-1]], "outside the alphabet"),
        ([[0], None], "nulls"),
        ([[0, None]], "nulls"),
        ([0, 1], "lists of whole numbers"),
        ([["a"]], "lists of whole numbers"),
    ],
)
def test_a_corrupted_ranking_is_one_clear_line(strings, message):
    with pytest.raises(ReleaseError, match=message):
        from_arrow(pa.table({"string": strings}).replace_schema_metadata(headed("ranking")))


def test_a_model_of_another_kind_is_one_clear_line():
    with pytest.raises(ReleaseError, match="damaged at 'model': Input should be"):
        from_arrow(pa.table({"x": [1]}).replace_schema_metadata(headed("clouds")))


def headed(model):
    """The least header that can be read."""
    header = build(public([[0]]), "markov", 1.0, seed=1).header.to_dict()
    frame = {"kind": "sequences", "alphabet": ["a", "b", "c"], "model": model}
    return {KEY: json.dumps({**header, **frame}).encode()}


def test_a_symbol_of_several_lines_is_printed_in_one(tmp_path):
    """A stranger's release could write lines that look like answers."""
    symbols = ("home", "bar\n99.9 %  home")
    data = read_sequences(
        pa.table({"walk": [symbols] * 500}), Alphabet(symbols), name="w", public=True
    )
    save(build(data, seed=1), tmp_path / "r.parquet")
    for words, lines in (("topk", 3), ("next", 3), ("query", 1)):
        more = ["--string", "home"] if words == "query" else ["-k", "3"] if words == "topk" else []
        code, out, _ = run(words, tmp_path / "r.parquet", *more)
        assert (code, len(out.splitlines())) == (0, lines + 1)  # and the guarantee


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(of_kind("sequences")))
def test_every_method_is_built_by_the_command(tmp_path, method):
    source, out = tmp_path / "visits.txt", tmp_path / "r.parquet"
    source.write_text("a b c\na b\n" * 200)
    words = ("build", source, "--alphabet=a,b,c", "--method", method, "--epsilon=9")
    if of_kind("sequences")[method].guarantee == "none":
        assert "NO PRIVACY GUARANTEE" in fails(*words, "-o", out)
        assert not out.exists()
        words = (*words, "--public")
    model = as_json(*words, "-o", out)["model"]
    top = as_json("topk", out, "-k", 3)["top"]
    assert len(top) == 3
    assert (top[0]["count"] is None) == (model == "ranking")
    if model == "ranking":  # as many strings as the release has, unless more are requested
        few = tmp_path / "few.parquet"
        as_json(*words, "-o", few, "--set", "k=7")
        assert len(as_json("topk", few)["top"]) == 7
        assert "this release ranks 7 strings" in fails("topk", few, "-k", 8)
    for asked in (
        ("query", out, "--string", "a,b"),
        ("next", out, "--context", "a"),
        ("sample", out, "-o", tmp_path / "s.txt"),
    ):
        if model == "ranking":
            assert "holds no counts" in fails(*asked)
        else:
            as_json(*asked)
    assert (tmp_path / "s.txt").exists() == (model != "ranking")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5..1", "alphabet='5..1': no number is in this range: swap its ends"),
        ("1..99999", "alphabet='1..99999' has more than 4,096 symbols in an alphabet: use a coar"),
    ],
)
def test_a_range_of_no_symbols_or_too_many_is_named(text, line):
    with pytest.raises(DpvizError, match=line):
        alphabet_of(text)
