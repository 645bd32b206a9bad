"""Every engine gives NumPy's (cell, count) rows, on random boxes with all edges."""

import pytest

import dpviz
from tests.private.load.engines.cases import CASES, digest
from tests.vault import index_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_record_is_in_the_cell_that_numpy_says(source, name):
    case = CASES[name]
    place, table = source(name)
    columns = None if table and table.endswith("_points") else case.domain.columns
    handle = dpviz.load(place, case.domain, table=table, columns=columns)
    assert digest(index_of(handle)) == digest(case.expected())
    assert 1_000 < index_of(handle).total < 2_000


@pytest.mark.parametrize("bits", [1, 26])
def test_every_engine_counts_on_grids_of_other_steps(source, bits):
    case = CASES["plane1"]
    place, table = source("plane1")
    handle = dpviz.load(place, case.domain, table=table, bits=bits)
    assert digest(index_of(handle)) == digest(case.expected(bits))


@pytest.mark.parametrize(("name", "k"), [("texts", 1), ("texts", 5), ("trips", 5), ("aliases", 1)])
def test_every_engine_keeps_the_same_records_of_a_unit(source, name, k):
    case = CASES[name]
    place, table = source(name)
    # The salt of public data is fixed, so that the choice can be compared.
    handle = dpviz.load(place, case.domain, table=table, unit="who", max_per_unit=k, public=True)
    rows = case.chosen(k)
    assert digest(index_of(handle)) == digest(case.expected(rows=rows))
    assert handle.max_per_unit == k
    assert 0 < index_of(handle).total < case.expected().total
