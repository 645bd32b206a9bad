"""The base map's marks."""

import numpy as np

from dpviz.datasets import DATASETS
from dpviz.render.basemap import _unwrapped, outlines, river


def test_no_line_crosses_the_whole_map():
    for mark in outlines():
        for line in mark.table["path"].to_pylist():
            assert np.abs(np.diff([point[0] for point in line])).max() < 180


def test_a_line_over_the_date_line_is_cut_there():
    parts = _unwrapped([[178, 0], [179, 1], [-179, 2], [-178, 3]])
    assert [part.tolist() for part in parts] == [[[178, 0], [179, 1]], [[-179, 2], [-178, 3]]]


def test_the_invented_coast_and_river_lie_in_the_city():
    west, south, east, north = DATASETS["city-250k"].domain.bounds
    (coast,) = [mark for mark in outlines((west, south, east, north)) if mark.id == "coast"]
    lines = [np.array(line) for line in coast.table["path"].to_pylist()]
    assert any(((p > [west, south]) & (p < [east, north])).all(axis=1).any() for p in lines)
    bank = np.array(river().table["path"].to_pylist()[0])
    assert (bank[:, 1].min(), bank[:, 1].max()) > (south, south)
