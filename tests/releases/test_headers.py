"""Untrusted headers: missing fields get defaults, other types give one line of error."""

import dataclasses
import json

import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import ReleaseError
from dpviz.releases.files import KEY
from dpviz.releases.store import from_arrow
from tests.commands import fails, run
from tests.golden.make import HERE
from tests.headers import header_of, with_header
from tests.refusals import in_one_line


@pytest.fixture(scope="module")
def tables():
    names = ("points", "roads", "visits", "areas")
    return {name: pq.read_table(HERE / "schema-2" / f"{name}.parquet") for name in names}


@pytest.fixture
def least(tables):
    """A release whose header says no more of its budget than it must."""
    header = {**header_of(tables["points"]), "budget": [{"purpose": "x", "epsilon": 1.0}]}
    return with_header(tables["points"], header)


def test_rows_of_a_budget_come_with_what_they_leave_out(least):
    row = {"purpose": "x", "epsilon": 1.0, "delta": 0.0, "mechanism": "", "theorem": ""}
    assert list(from_arrow(least).header.budget) == [row]


@pytest.mark.slow
def test_a_budget_of_the_least_rows_is_shown(least, tmp_path):
    pq.write_table(least, tmp_path / "r.parquet")
    code, out, err = run("info", tmp_path / "r.parquet")
    assert code == 0, err
    assert out.endswith("budget breakdown, in epsilon:\n  1        x\n")
    code, _, err = run("share", tmp_path / "r.parquet", "-o", tmp_path / "r.html")
    assert code == 0, err


WRONG = [
    ("points", "period", 5, "extra.period"),
    ("points", "period", [1, 2], "extra.period.0"),
    ("points", "kind", [], "extra.kind"),
    ("points", "marginal", "lon", "extra.marginal"),
    ("points", "workload", {"name": 5}, "extra.workload.name"),
    ("points", "promises", "square=1", "extra.promises"),
    ("points", "release_id", {}, "extra.release_id"),
    ("areas", "records", ["synthetic"], "extra.records"),
    ("roads", "smoothing", None, "extra.smoothing"),
    ("roads", "of_steps", [{"limit": "x"}], "extra.of_steps.0.limit"),
    ("roads", "columns", "trip", "extra.columns"),
    ("visits", "cells", [1], "extra.cells"),
    ("visits", "session", {"gap": 0}, "extra.session.gap"),
]


@pytest.mark.parametrize(("name", "field", "value", "place"), WRONG)
def test_what_a_header_says_beside_its_fields_is_typed(name, field, value, place, tables):
    header = header_of(tables[name])
    inside = {**header, "extra": {**header["extra"], field: value}}
    with in_one_line(ReleaseError, f"^r: the header is damaged at '{place}"):
        from_arrow(with_header(tables[name], inside), "r")


@pytest.mark.parametrize("value", [{}, [[1]], [{}]])
def test_a_parameter_is_a_plain_value(value, tables):
    header = {**header_of(tables["points"]), "parameters": {"height": value}}
    with pytest.raises(ReleaseError, match=r"'parameters\.height': Input should be a number, a"):
        from_arrow(with_header(tables["points"], header))


@pytest.mark.parametrize("word", ["name", "kind"])
def test_a_parameter_called_as_an_argument_is_refused(word, tables, tmp_path):
    header = {**header_of(tables["points"]), "parameters": {word: "x"}}
    pq.write_table(with_header(tables["points"], header), tmp_path / "r.parquet")
    line = fails("info", tmp_path / "r.parquet", "--code", "all")
    assert line.startswith(f"error: method privtree has no parameter '{word}': it has ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5", "Extra inputs are not permitted"),
        ("NaN", "Extra inputs are not permitted"),
        ("[" * 10**5 + "]" * 10**5, "Invalid JSON: recursion limit exceeded"),
        ("'a", "Invalid JSON: EOF while parsing a string"),
    ],
    ids=["unknown", "nan", "nested", "cut"],
)
def test_a_header_holds_stated_fields_in_json(text, words, tables):
    head = json.dumps(header_of(tables["points"]))[:-1]
    packed = f'{head}, "later": {text}}}'.replace("'", '"')
    with pytest.raises(ReleaseError, match=f"^r: the header is damaged at '.*': {words}"):
        from_arrow(tables["points"].replace_schema_metadata({KEY: packed}), "r")


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999", "1" * 400])
def test_numbers_of_a_header_are_finite(text, tables):
    table = with_header(tables["points"], {**header_of(tables["points"]), "parameters": {"k": 0.5}})
    for field in ('"k": 0.5', '"epsilon": 1.0'):
        packed = table.schema.metadata[KEY].decode()
        assert field in packed
        odd = packed.replace(field, field.split(":")[0] + ": " + text)
        with pytest.raises(ReleaseError, match=r"^r: the header is damaged at '"):
            from_arrow(table.replace_schema_metadata({KEY: odd}), "r")


def test_geojson_holds_no_nan(tables, tmp_path):
    release = from_arrow(tables["points"])
    header = dataclasses.replace(release.header, extra={"later": float("nan")})
    odd = dataclasses.replace(release, header=header)
    with pytest.raises(ReleaseError, match="the header holds a number that is not finite"):
        dpviz.export(odd, tmp_path / "r.geojson")
    assert not [*tmp_path.iterdir()]
