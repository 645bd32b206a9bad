"""Records that name a cell in place of coordinates: its centre is their place."""

import h3
import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import DataError
from dpviz.private.load.cell_points import cell_points, geohash_centre
from tests.private.load.stability import check
from tests.vault import index_of

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")
BOX = dpviz.Domain.from_bounds([10, 50, 11, 51])
PLACES = [(50.1, 10.2), (50.5, 10.5), (50.9, 10.7)]
CELLS = [h3.latlng_to_cell(*each, 9) for each in PLACES]


def whole(cells):
    return pa.array([h3.str_to_int(each) for each in cells], pa.uint64())


COLUMNS = {
    "h3": pa.array(CELLS),
    "h3_index": whole(CELLS),
    "H3_res9": pa.array([each.encode() for each in CELLS]),
    "geohash": pa.array(["u0zm00", "u0zrqc", "u1p9e6"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_cell_is_found_by_the_name_of_its_column_and_counts_at_its_centre(name, tmp_path):
    table = pa.table({"who": ["a", "b", "c"], name: COLUMNS[name]})
    points = cell_points(COLUMNS[name], name)
    handle = dpviz.load(table, BOX, name="rides")
    inside = BOX.contains(points)
    assert index_of(handle).total == inside.sum() > 0
    wanted = dpviz.from_points(points[inside], BOX)
    assert index_of(handle).codes.tolist() == index_of(wanted).codes.tolist()


def test_the_centre_of_a_cell_of_h3_is_that_of_its_library():
    wanted = [h3.cell_to_latlng(each)[::-1] for each in CELLS]
    assert cell_points(pa.array(CELLS), "h3").tolist() == [list(each) for each in wanted]


@pytest.mark.parametrize("place", PLACES)
def test_a_geohash_halves_longitude_and_latitude_in_turn(place):
    """By a search of its own."""
    letters, low, high = "", [-180.0, -90.0], [180.0, 90.0]
    bits = ""
    while len(letters) < 9:
        axis = len(bits) % 2
        middle = (low[axis] + high[axis]) / 2
        above = place[1 - axis] >= middle
        bits += str(int(above))
        (low if above else high)[axis] = middle
        letters = "".join(
            "0123456789bcdefghjkmnpqrstuvwxyz"[int(bits[at : at + 5], 2)]
            for at in range(0, len(bits) // 5 * 5, 5)
        )
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    assert geohash_centre(letters.encode()) == pytest.approx(middle, abs=1e-12)


@pytest.mark.parametrize("odd", ["", "moon", "8928308280fffff0", "-1", "9" * 400, None])
@pytest.mark.parametrize("name", ["h3", "geohash"])
def test_what_is_no_cell_is_dropped_by_itself(name, odd):
    column = COLUMNS[name].to_pylist()
    tables = [pa.table({name: column}), pa.table({name: [odd, *column]})]
    assert np.isnan(cell_points(pa.array([odd, *column]), name)[0]).all()
    check(lambda table: dpviz.load(table, BOX, name="rides"), tables, 0)


def test_cells_are_in_degrees_whatever_the_domain_is_in():
    metres = dpviz.Domain.from_bounds([500_000, 5_500_000, 700_000, 5_700_000], crs="EPSG:25832")
    table = pa.table({"h3": CELLS})
    assert index_of(dpviz.load(table, metres, name="rides")).total == 3
    with pytest.raises(DataError, match="no points: name two columns"):
        dpviz.load(pa.table({"h3": [True]}), BOX, name="rides")
