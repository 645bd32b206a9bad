"""Every engine gives the (cell, count) rows that NumPy gives, on random boxes with all edges."""

import pytest

import dpviz
from dpviz.private.load.engines import duck
from tests.private.load.engines.cases import CASES, digest


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_record_is_in_the_cell_that_numpy_says(source, name):
    case = CASES[name]
    place, table = source(name)
    columns = None if table and table.endswith("_points") else case.domain.columns
    handle = dpviz.load(place, case.domain, table=table, columns=columns)
    assert digest(handle._index) == digest(case.expected())
    assert 1_000 < handle._index.total < 2_000


@pytest.mark.parametrize("bits", [1, 26])
def test_grids_of_other_steps(source, bits):
    case = CASES["plane1"]
    place, table = source("plane1")
    handle = dpviz.load(place, case.domain, table=table, bits=bits)
    assert digest(handle._index) == digest(case.expected(bits))


@pytest.mark.parametrize(("name", "k"), [("texts", 1), ("texts", 5), ("trips", 5), ("aliases", 1)])
def test_every_engine_keeps_the_same_records_of_a_unit(source, name, k):
    case = CASES[name]
    place, table = source(name)
    # The salt of public data is fixed, so that the choice can be compared.
    handle = dpviz.load(place, case.domain, table=table, unit="who", max_per_unit=k, public=True)
    rows = case.chosen(k)
    assert digest(handle._index) == digest(case.expected(rows=rows))
    assert handle.max_per_unit == k
    assert 0 < handle._index.total < case.expected().total


@pytest.mark.parametrize(("small", "batches"), [(2_000, 1), (1_999, 8)])
@pytest.mark.parametrize(("place", "name", "k"), [("folder", "trips", 1), ("file", "texts", 5)])
def test_no_record_is_chosen_by_the_batches(
    folders, duckdb_file, place, name, k, small, batches, monkeypatch
):
    """At the limit and one row beyond it: counts and sums are the same."""
    case, numbers, choose = CASES[name], [], duck.Duck.choose

    def chosen(engine, number):
        numbers.append(number)
        choose(engine, number)

    monkeypatch.setattr(duck, "SMALL", small)
    monkeypatch.setattr(duck.Duck, "choose", chosen)
    source = {"source": f"duckdb:///{duckdb_file}", "table": name}
    source = {"source": folders / name} if place == "folder" else source
    read = {**source, "unit": "who", "max_per_unit": k, "public": True}
    handle = dpviz.load(domain=case.domain, **read)
    assert numbers == ([*range(batches)] if batches > 1 else [])
    assert digest(handle._index) == digest(case.expected(rows=case.chosen(k)))
    values = {"value": case.domain.columns[0], "clip": (-5, 20)}
    domain = dpviz.Domain.from_bounds(case.domain.bounds, case.domain.columns, **values)
    layers = dpviz.load(domain=domain, **read)._layers
    monkeypatch.setattr(duck, "SMALL", 10**9)
    wanted = dpviz.load(domain=domain, **read)._layers
    assert [*map(digest, layers.counts)] == [*map(digest, wanted.counts)]
    assert [*map(digest, layers.sums)] == [*map(digest, wanted.sums)]
    assert 0 < wanted.counts[0].total < case.expected().total
