"""Cells of a public grid as an alphabet."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.build import build
from dpviz.errors import ReleaseError
from dpviz.private.load.sequences import city_sequences
from dpviz.releases.sequences.cells import Cells, cells_of
from dpviz.releases.store import read, save

UNIT = dpviz.Domain.from_bounds([0.0, 0.0, 1.0, 1.0])


@pytest.mark.slow
@given(st.integers(2, 64), st.lists(st.tuples(*[st.integers(0, UNIT.side - 1)] * 2), max_size=9))
def test_a_place_is_in_the_one_cell_whose_box_holds_it(side, places):
    cells = Cells(UNIT, side)
    edges = [tuple(corner.tolist()) for corner in (cells.lo[-1], cells.hi[0] - 1, cells.hi[0])]
    lattice = np.array([*places, *edges])
    inside = (cells.lo <= lattice[:, None]) & (lattice[:, None] < cells.hi)
    assert inside.all(axis=2).sum(axis=1).tolist() == [1] * len(lattice)
    assert cells.symbol(lattice).tolist() == inside.all(axis=2).argmax(axis=1).tolist()


def test_a_step_leads_to_a_cell_that_touches():
    cells = Cells(UNIT, 5)
    follows = cells.alphabet(neighbours=True).follows
    assert cells.alphabet(neighbours=False).follows is None
    for one in range(len(cells)):
        for other in range(len(cells)):
            gaps = cells.lo[one] - cells.hi[other], cells.lo[other] - cells.hi[one]
            assert follows[one, other] == (one != other and np.max(gaps) <= 0)


def test_a_saved_release_of_sequences_states_its_cells(tmp_path):
    release = build(city_sequences(6), "markov", 1.0, seed=1)
    save(release, tmp_path / "r.parquet")
    header, names = read(tmp_path / "r.parquet").header, release.alphabet.names
    assert cells_of(header, names) == Cells(dpviz.datasets.DATASETS["persons"].domain, 6)
    assert cells_of(dataclasses.replace(header, extra={}), ("a",)) is None


@pytest.mark.parametrize(
    "change",
    [{"domain": None}, {"domain": {"lower": [0]}}, {"side": 1e9}, {"side": "x"}, {"side": 3}],
)
def test_corrupted_cells_in_a_header_are_one_clear_line(change):
    cells = Cells(UNIT, 4)
    header = dpviz.Header("markov", {}, True, "", 1.0, extra={"cells": cells.to_dict()})
    assert cells_of(header, cells.names) == cells
    extra = {"cells": {**cells.to_dict(), **change}}
    with pytest.raises(ReleaseError, match="damaged"):
        cells_of(dataclasses.replace(header, extra=extra), cells.names)
