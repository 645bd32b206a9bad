"""Cells as an alphabet: of a public grid, and of the leaves of a private release."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.build import build
from dpviz.errors import DataError, ParameterError, ReleaseError
from dpviz.private.load.sequences import city_sequences, read_places
from dpviz.releases.sequences.cells import Cells, cells_of, grid_cells, leaf_cells
from dpviz.releases.store import read, save
from tests.commands import as_json, fails
from tests.strategies import trees

UNIT = dpviz.Domain.from_bounds([0.0, 0.0, 1.0, 1.0])
CITY = dpviz.datasets.DATASETS["persons"].domain


@cache
def spatial(method="privtree", dims=2, n=600, **parameters):
    domain = dpviz.Domain((0.0,) * dims, (1.0,) * dims)
    points = np.random.default_rng(3).beta(2, 5, size=(n, dims))
    handle = dpviz.from_points(points, domain, public=True, name="sightings")
    return dpviz.build(handle, method, 0.5, seed=1, **parameters)


def inside(cells, place):
    """Cells that hold a place, one by one."""
    return [
        cell
        for cell in range(len(cells))
        if all(cells.lo[cell, axis] <= place[axis] < cells.hi[cell, axis] for axis in (0, 1))
    ]


@pytest.mark.slow
@given(st.integers(2, 64), st.lists(st.tuples(*[st.integers(0, UNIT.side - 1)] * 2), max_size=9))
def test_a_place_is_in_the_cell_that_its_grid_says(side, places):
    cells = grid_cells(UNIT, side)
    edges = [tuple(corner.tolist()) for corner in (cells.lo[-1], cells.hi[0] - 1, cells.hi[0])]
    lattice = np.array([*places, *edges])
    wanted = lattice * side // UNIT.side
    assert cells.symbol(lattice).tolist() == (wanted[:, 0] * side + wanted[:, 1]).tolist()


@pytest.mark.parametrize("most", [4, 40, 256])
@pytest.mark.parametrize("method", ["privtree", "quadtree", "kdtree", "ladder_tree"])
def test_leaves_are_a_partition_of_at_most_so_many_cells(method, most):
    cells = leaf_cells(spatial(method), most)
    assert 2 <= len(cells) <= most
    places = np.random.default_rng(1).integers(0, UNIT.side, size=(50, 2))
    assert [[cell] for cell in cells.symbol(places).tolist()] == [
        inside(cells, place) for place in places
    ]
    assert len(set(cells.names)) == len(cells)


def test_the_fullest_nodes_are_opened_first():
    release = spatial("quadtree", height=4)
    nodes, most = release.nodes, 40
    leaves = {0}
    while True:  # brute force: the fullest closed node whose children fit
        fits = [
            node
            for node in leaves
            if nodes.n_children[node] and len(leaves) - 1 + nodes.n_children[node] <= most
        ]
        if not fits:
            break
        node = max(fits, key=lambda each: (nodes.count[each], -each))
        leaves.remove(node)
        leaves |= set(np.flatnonzero(nodes.parent == node).tolist())
    cells = leaf_cells(release, most)
    assert cells.names == tuple(f"node-{node}" for node in sorted(leaves))
    assert (cells.lo == nodes.lo[sorted(leaves)]).all()


def test_a_step_leads_to_a_cell_that_touches():
    cells = leaf_cells(spatial("privtree"), 30)
    follows = cells.alphabet(neighbours=True).follows
    assert cells.alphabet(neighbours=False).follows is None
    for one in range(len(cells)):
        for other in range(len(cells)):
            apart = np.maximum(
                cells.lo[one] - cells.hi[other], cells.lo[other] - cells.hi[one]
            ).max()
            assert follows[one, other] == (one != other and apart <= 0)


@pytest.mark.slow
@given(trees())
def test_boxes_that_are_no_partition_are_refused(nodes):
    domain = UNIT
    scale = domain.side // 64
    leaves = np.flatnonzero(nodes.leaf)
    names = tuple(map(str, leaves.tolist()))
    lo, hi = nodes.lo[leaves] * scale, nodes.hi[leaves] * scale
    assert len(Cells(domain, names, lo, hi, {})) == len(leaves)
    if len(leaves) > 1:
        with pytest.raises(ReleaseError, match="overlap or leave gaps"):
            Cells(domain, names[1:], lo[1:], hi[1:], {})
        moved = lo.copy()
        moved[0] = 0
        if (moved != lo).any():
            with pytest.raises(ReleaseError, match="overlap or leave gaps"):
                Cells(domain, names, moved, hi, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: leaf_cells(spatial(), 1), "1 cells: give 2 to 1024"),
        (lambda: leaf_cells(spatial(), 3), "do not fit into 3 cells"),
        (lambda: leaf_cells(spatial(dims=4), 256), "4-D"),
        (lambda: grid_cells(UNIT, 1), "1 cells per side"),
        (
            lambda: city_sequences(cells=leaf_cells(spatial(), 9)),
            "the cells are of the rectangle .0.0, 0.0, 1.0, 1.0.",
        ),
    ],
)
def test_bad_cells_are_one_clear_line(made, message):
    with pytest.raises((ParameterError, ReleaseError, DataError), match=message):
        made()


def test_a_tree_of_boxes_that_overlap_is_refused():
    with pytest.raises(ReleaseError, match="take the leaves of another method"):
        leaf_cells(spatial("hilbert_rtree", height=2), 1024)


@pytest.fixture(scope="module")
def city_release():
    data = dpviz.load("persons")
    return dpviz.build(data, "privtree", 0.5, seed=1)


def test_a_release_of_sequences_says_what_its_cells_cost_and_where_they_are(city_release, tmp_path):
    cells = leaf_cells(city_release, 60)
    data = city_sequences(cells=cells, neighbours=True)
    assert len(data.alphabet) == len(cells) <= 60
    release = build(data, "markov", 1.0, seed=1)
    save(release, tmp_path / "r.parquet")
    again = read(tmp_path / "r.parquet")
    facts = again.header.extra["cells"]
    assert facts["epsilon"] == 0.5
    assert facts["guarantee"] == city_release.header.guarantee
    stated = cells_of(again.header, again.alphabet.names)
    assert stated.names == cells.names
    assert (stated.boxes == cells.boxes).all()
    assert stated.domain == cells.domain == CITY
    grid = build(city_sequences(6), "markov", 1.0, seed=1)
    assert cells_of(grid.header, grid.alphabet.names).names == grid.alphabet.names
    assert "boxes" not in grid.header.extra["cells"]
    symbols = dataclasses.replace(grid.header, extra={})
    assert cells_of(symbols, ("a",)) is None


@pytest.fixture(scope="module")
def nine(city_release):
    """Nine leaves, and the header of a release over them."""
    cells = leaf_cells(city_release, 9)
    return cells, build(city_sequences(cells=cells), "markov", 1.0, seed=1, max_depth=1).header


@pytest.mark.parametrize(
    "change",
    [
        {"domain": None},
        {"domain": {"lower": [0]}},
        {"boxes": "x"},
        {"boxes": [[0, 0, 1]]},
        {"boxes": [[0, 0, 2**70, 1]]},
        {"boxes": []},
        {"boxes": [[0, 0, 0, 0]]},
        {"side": 1e9},
        {"side": "x"},
    ],
)
def test_corrupted_cells_in_a_header_are_one_clear_line(nine, change):
    cells, header = nine
    assert cells_of(header, cells.names).names == cells.names
    corrupted = dataclasses.replace(header, extra={"cells": {**cells.to_dict(), **change}})
    with pytest.raises(ReleaseError, match="damaged"):
        cells_of(corrupted, cells.names)


@pytest.mark.slow
def test_places_in_a_file_over_leaves_by_command(tmp_path):
    places, leaves, out = (tmp_path / name for name in ("p.csv", "leaves.parquet", "r.parquet"))
    random = np.random.default_rng(4)
    lines = [
        f"{x:.4f},{y:.4f},p{i % 40},2030-01-{1 + i // 400:02d}T{i // 40 % 10:02d}:00:00"
        for i, (x, y) in enumerate(random.beta(2, 5, size=(2000, 2)))
    ]
    places.write_text("\n".join(["lon,lat,who,when", *lines]) + "\n")

    bounds = ("--bounds", "0,0,1,1")
    as_json("build", places, "-o", leaves, *bounds, "--epsilon", 0.5, "--unit", "who")
    common = (places, "-o", out, "--time", "when", "--unit", "who", "--leaves", leaves)
    facts = as_json("build", *common, "--cells", 20, "--epsilon", 2)
    assert 2 <= facts["symbols"] <= 20
    assert facts["cells_epsilon"] == 0.5
    assert facts["total_epsilon"] == 2.5
    assert dpviz.Ledger().account("p").spent == 2.5  # both are paid, under the file's name
    again = read(out)
    assert len(cells_of(again.header, again.alphabet.names)) == facts["symbols"]
    leaves.unlink()
    as_json("build", places, "-o", leaves, *bounds, "--epsilon", 0.5, "--dataset", "q")
    out.unlink()
    other = as_json("build", *common, "--dataset", "r")
    assert other["cells_unit"] == "one record"
    assert "total_epsilon" not in other
    data = read_places(
        places,
        UNIT,
        unit="who",
        time="when",
        cells=leaf_cells(dpviz.read(leaves), 9),
        public=True,
    )
    assert len(data.alphabet) <= 9
    for words, message in (
        (
            ("--time", "when", "--leaves", leaves),
            "sequences of places in time: give --time, --unit",
        ),
        (
            ("--alphabet", "a,b", "--leaves", leaves),
            "--alphabet and --leaves are for different kinds of data: give one",
        ),
        ((*common[3:], "--bounds", "0,0,2,2"), "give the same one to both"),
    ):
        assert message in fails("build", places, "-o", tmp_path / "s.parquet", *words)
