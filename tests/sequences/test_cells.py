"""Cells of a public grid as an alphabet."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.build import build
from dpviz.errors import ParameterError, ReleaseError
from dpviz.private.load.sequences import city_sequences
from dpviz.releases.sequences.cells import Cells, cells_of
from dpviz.releases.store import read, save

UNIT = dpviz.Domain.from_bounds([0.0, 0.0, 1.0, 1.0])


@given(st.integers(2, 64), st.lists(st.tuples(*[st.floats(0, 0.999)] * 2), min_size=1, max_size=9))
def test_a_place_is_in_the_box_of_its_cell_alone(side, places):
    cells = Cells(UNIT, side)
    lattice, _ = UNIT.to_lattice(np.array(places))
    place = UNIT.to_coordinates(lattice)[:, None]
    inside = ((cells.boxes[:, :2] <= place) & (place < cells.boxes[:, 2:])).all(axis=2)
    assert inside.sum(axis=1).tolist() == [1] * len(places)
    assert inside.argmax(axis=1).tolist() == cells.symbol(lattice).tolist()


def test_a_step_leads_to_a_cell_that_touches():
    cells = Cells(UNIT, 4)
    assert cells.alphabet(neighbours=False).follows is None
    follows = cells.alphabet(neighbours=True).follows
    low, high = cells.boxes[:, None, :2], cells.boxes[:, None, 2:]
    touches = ((low <= cells.boxes[:, 2:]) & (cells.boxes[:, :2] <= high)).all(axis=2)
    np.testing.assert_array_equal(follows, touches & ~np.eye(16, dtype=bool))


@pytest.mark.parametrize(
    ("domain", "side", "message"),
    [
        (UNIT, 1, "a grid of 1 cells per side: give 2 to 64"),
        (UNIT, 65, "a grid of 65 cells per side"),
        (dpviz.Domain((0.0,) * 4, (1.0,) * 4), 8, "a 2-D domain, not 4-D"),
    ],
)
def test_invalid_grids_are_refused(domain, side, message):
    with pytest.raises((ParameterError, ReleaseError), match=message):
        Cells(domain, side)


def test_a_release_states_its_cells(tmp_path):
    release = build(city_sequences(6), "markov", 1.0, seed=1, max_depth=1)
    save(release, tmp_path / "r.parquet")
    again = read(tmp_path / "r.parquet")
    assert cells_of(again.header) == Cells(dpviz.datasets.DATASETS["persons"].domain, 6)
    assert cells_of(again.header).names == again.alphabet.names
    assert cells_of(dataclasses.replace(again.header, extra={})) is None


@pytest.mark.parametrize(
    "change", [{"domain": None}, {"domain": {"lower": [0]}}, {"side": 1e9}, {"side": "x"}]
)
def test_corrupted_cells_in_a_header_are_one_clear_line(change):
    corrupted = {"cells": {**Cells(UNIT, 3).to_dict(), **change}}
    with pytest.raises(ReleaseError, match="damaged"):
        cells_of(corrupted)
