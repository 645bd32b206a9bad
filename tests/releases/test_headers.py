"""Headers of strangers: what is missing has its default, what is of another type is one line."""

import dataclasses
import json

import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import ReleaseError
from dpviz.files import limits
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
    ("points", "period", ["2024-01-01"], "extra.period"),
    ("points", "kind", [], "extra.kind"),
    ("points", "marginal", "lon", "extra.marginal"),
    ("points", "bits", "20", "extra.bits"),
    ("points", "workload", {"name": 5}, "extra.workload.name"),
    ("points", "promises", "square=1", "extra.promises"),
    ("points", "release_id", {}, "extra.release_id"),
    ("areas", "records", ["synthetic"], "extra.records"),
    ("areas", "ledger", 1, "extra.ledger"),
    ("areas", "period", -1, "extra.period"),
    ("roads", "smoothing", None, "extra.smoothing"),
    ("roads", "smoothing", "x", "extra.smoothing"),
    ("roads", "limit", None, "extra.limit"),
    ("roads", "kept", [], "extra.kept"),
    ("roads", "factors", {}, "extra.factors"),
    ("roads", "of_steps", [{"limit": "x"}], "extra.of_steps.0.limit"),
    ("roads", "columns", "trip", "extra.columns"),
    ("visits", "cells", [1], "extra.cells"),
    ("visits", "session", {"gap": 0}, "extra.session.gap"),
    ("visits", "column", 3, "extra.column"),
]


@pytest.mark.parametrize(("name", "field", "value", "place"), WRONG)
def test_what_a_header_says_beside_its_fields_is_typed(name, field, value, place, tables):
    header = header_of(tables[name])
    inside = {**header, "extra": {**header["extra"], field: value}}
    with in_one_line(ReleaseError, f"^r: the header is damaged at '{place}"):
        from_arrow(with_header(tables[name], inside), "r")
    if field not in header and field != "kind":  # as a field of a later version
        with pytest.raises(ReleaseError, match=f"^r: the header is damaged at '{place}"):
            from_arrow(with_header(tables[name], {**header, field: value}), "r")


@pytest.mark.parametrize("value", [{}, [[1]], [{}], "\ud800"])
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


def test_areas_that_state_a_workload_have_code(tables, tmp_path):
    header = header_of(tables["areas"])
    header["extra"]["workload"] = {"name": "hot"}
    pq.write_table(with_header(tables["areas"], header), tmp_path / "r.parquet")
    assert run("info", tmp_path / "r.parquet", "--code", "all")[0] == 0


def written(table, text):
    """A table whose header ends in this text of JSON."""
    head = json.dumps(header_of(table))
    return table.replace_schema_metadata({KEY: f'{head[:-1]}, "later": {text}}}'})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NaN", "it holds nan, which is no JSON"),
        ("[1, {'a': -Infinity}]", "it holds -inf, which is no JSON"),
        ("1e999", "it holds inf, which is no JSON"),
        ("1" * 400, "it holds a number beyond any float"),
        ("[" * 33 + "]" * 33, "more than 32 levels of nesting in a header: give the file as"),
        ("[" * 10**5 + "]" * 10**5, "more than 32 levels of nesting in a header: give the file"),
    ],
    ids=["nan", "infinity", "overflow", "digits", "nested", "nested-deeply"],
)
def test_a_header_is_json_as_its_standard_has_it(text, words, tables):
    table = written(tables["points"], text.replace("'", '"'))
    with pytest.raises(ReleaseError, match=f"^r: the header is damaged: {words}"):
        from_arrow(table, "r")


def test_a_header_may_be_nested_up_to_the_limit(tables):
    depth = limits.HEADER_DEPTH.most - 1
    release = from_arrow(written(tables["points"], "[" * depth + "]" * depth))
    assert str(release.header.extra["later"]).count("[") == depth


def test_geojson_holds_no_nan(tables, tmp_path):
    release = from_arrow(tables["points"])
    header = dataclasses.replace(release.header, extra={"later": float("nan")})
    odd = dataclasses.replace(release, header=header)
    with pytest.raises(ReleaseError, match="the header holds a number that is not finite"):
        dpviz.export(odd, tmp_path / "r.geojson")
    assert not [*tmp_path.iterdir()]
