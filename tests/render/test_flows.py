import numpy as np
import pytest

from dpviz.domain import Domain
from dpviz.releases.sequences.cells import Cells
from dpviz.render.colors import ACCENT
from dpviz.render.flow_legends import move_legend, path_legend, trip_legend
from dpviz.render.flowlines import arrows, centres, path_line
from dpviz.render.flows import (
    VISITED_ALPHA,
    above_noise,
    move_marks,
    next_marks,
    path_marks,
    path_order,
    path_words,
    standing,
    trip_marks,
    visit_marks,
)
from dpviz.sequences.moves import Strings

SIDE = 3
DOMAIN = Domain((10.0, 50.0), (13.0, 51.5))
CELLS = Cells(DOMAIN, SIDE)
PLACES, NAMES = CELLS.boxes, CELLS.names


def strings(*rows, count=None, sd=None):
    count, sd = (None if each is None else np.array(each, dtype=float) for each in (count, sd))
    return Strings(tuple(rows), count, sd)


def column(mark, name):
    return mark.table[name].to_pylist()


def test_boxes_of_cells_lie_around_their_centres():
    column, row = np.divmod(np.arange(SIDE * SIDE), SIDE)
    wanted = np.column_stack([10.5 + column, 50.25 + 0.5 * row])
    np.testing.assert_allclose(centres(PLACES), wanted, atol=1e-6)  # the lattice's step


@pytest.mark.parametrize(("one", "other"), [(0, 1), (0, 3), (4, 0), (8, 0), (2, 6)])
def test_an_arrow_leads_from_one_cell_into_the_other(one, other):
    there, back = arrows(PLACES, np.array([one, other]), np.array([other, one]), np.full(2, 0.1))
    for ring, target in ((there, other), (back, one)):
        assert (ring[0] == ring[-1]).all()
        tip = ring[15]  # after 14 points along the shaft and one wing
        low, high = PLACES[target, :2], PLACES[target, 2:]
        assert ((low < tip) & (tip < high)).all()
    # Both directions keep to the right.
    assert np.abs(there.mean(axis=0) - back.mean(axis=0)).max() > 0.02


def test_moves_within_the_noise_are_counted_and_not_drawn():
    every = strings((0, 1), (3, 4), (4, 4), (1, 2), count=[90, 40, 30, 10], sd=[5, 10, 5, 6])
    moves, hidden = standing(every, len(NAMES))
    halo, clear = move_marks(PLACES, NAMES, moves)
    assert (halo.id, clear.id) == ("moves.halo", "moves")
    assert column(clear, "from") == [NAMES[3], NAMES[0]]  # most frequent last; a stay is not a move
    assert "1 more within their noise" in move_legend(moves, hidden).title


def test_the_largest_noise_of_many_pairs_is_within_the_noise():
    """Half a Laplace draw on average is too large: 100 of 40,000 more than that in 200 draws are
    ten standard deviations. Fixed seed.
    """
    noise = np.random.default_rng(4).laplace(0.0, np.sqrt(0.5), (200, 40_000))
    assert above_noise(noise.ravel(), np.ones(noise.size), 40_000).sum() < 200
    assert (noise.max(axis=1) > 2).all()
    assert above_noise(np.array([4.0]), np.ones(1), 81).all()
    assert not above_noise(np.array([4.0]), np.ones(1), 150**2).any()


def test_a_ranking_is_drawn_without_counts():
    _, mark = move_marks(PLACES, NAMES, strings((0, 1), (1, 2)))
    assert "count" not in mark.table.column_names
    legend = move_legend(strings((0, 1)), 0)
    assert "no counts" in legend.title
    assert [label for label in legend.labels if label] == ["last", "first"]


def test_a_part_of_the_moves_keeps_the_colours_and_widths_of_all():
    """A click gave every class a new meaning without a word."""
    every = strings((0, 1), (3, 4), (1, 2), count=[900, 90, 40])
    shown = []
    for moves in (every.at(np.array([1, 2])), every):
        _, mark = move_marks(PLACES, NAMES, moves, among=every)
        shown.append(mark.table.to_pylist())
    part, whole = shown
    assert part == whole[:2]  # the busiest last


def test_visits_within_the_noise_are_blank():
    cells, _ = visit_marks(
        PLACES, NAMES, np.array([100.0, 3, 0, 0, 0, 0, 0, 0, 60]), np.full(9, 2.0)
    )
    colors = np.array(column(cells, "color")).reshape(SIDE * SIDE, -1, 4)[:, 0]
    assert colors[[0, 1, 8], 3].tolist() == [VISITED_ALPHA, 0, VISITED_ALPHA]
    assert (colors[0] != colors[8]).any()
    assert column(cells, "sd") == [2.0] * 9


def test_next_places_are_drawn_with_their_noise_and_the_end_is_not():
    chance = np.array([0, 0.5, 0.001, 0, 0, 0.2, 0, 0, 0, 0.299])
    sd = np.full(10, 0.15)
    ring, arrow = next_marks(PLACES, NAMES, 4, chance, sd)
    assert ring.id == "chosen"
    assert column(arrow, "to") == [NAMES[1]]  # the other one is within the noise
    assert column(arrow, "chance") == ["50 ± 32 %"]
    assert arrow.layer.get_fill_color[:3] == list(ACCENT.light)
    assert len(next_marks(PLACES, NAMES, 4, np.eye(10)[9])) == 1


def test_a_click_on_a_path_is_traced_back_to_its_rank():
    rows = strings((0, 1, 2), (3, 4, 5), (6, 7, 8), count=[9, 5, 2])
    for chosen in (0, 2):
        mark = path_marks(PLACES, NAMES, rows, chosen)[0]
        drawn = column(mark, "path-names")
        wanted = [path_words(rows.symbols[rank], NAMES) for rank in path_order(3, chosen)]
        assert drawn == wanted
    assert [mark.id for mark in path_marks(PLACES, NAMES, rows, 1)][:3] == [
        "paths",
        "path.rim",
        "path",
    ]
    assert path_legend(rows, 10.0).labels[-1] == "5"


def test_the_way_back_is_drawn_beside_the_way_there():
    line = path_line(PLACES, (0, 1, 0), 0)
    half = len(line) // 2
    assert np.abs(line[:half] - line[-half:][::-1]).max() > 0.05


def test_trips_keep_to_their_cells_and_those_that_stay_are_left_out():
    (mark,) = trip_marks(PLACES, [np.array([4]), np.array([0, 1, 2])], 10.0)
    (line,) = column(mark, "path")
    for point, cell in zip(line, (0, 1, 2), strict=True):
        assert (PLACES[cell, :2] < point).all()
        assert (point < PLACES[cell, 2:]).all()
    (times,) = column(mark, "time")
    np.testing.assert_allclose(np.diff(times), 1.0, atol=1e-5)


def test_the_legend_of_cells_has_every_class_as_it_is_drawn():
    """Two swatches at full strength stood for seven pale classes, and neither was on the map."""
    counts = np.array([100.0, 200, 500, 1_000, 2_000, 5_000, 10_000, 50, 0])
    cells, _ = visit_marks(PLACES, NAMES, counts, None)
    drawn = [tuple(cell[0]) for cell in column(cells, "color")]
    swatches = trip_legend(10_000.0).swatches[1:]
    assert [each.label for each in swatches] == [
        *("from 100 visits", "200", "500", "1k", "2k", "5k", "10k")
    ]
    assert [each.color.light for each in swatches] == drawn[:7]
    assert {each.color.dark[3] for each in swatches} == {VISITED_ALPHA}


def test_a_legend_of_no_moves_has_the_classes_of_any():
    nothing = Strings((), np.zeros(0), np.zeros(0))
    for legend in (move_legend(nothing, 0), path_legend(nothing, 1.0)):
        assert len(legend.to_dict()["classes"]) == 5
