"""Shares inside families."""

import numpy as np
import pytest

import dpviz
from dpviz.domain import Domain
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.points.ladder_tree import LadderTree
from dpviz.private.index import PointIndex
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.sharing import reshared_counts
from tests.methods.cases import handle

SQUARE = Domain((0.0, 0.0), (1.0, 1.0))


def tree(seed: int) -> Decomposition:
    """Cells that hold more than 40 of 3000 records split; counts are exact."""
    random = np.random.default_rng(seed)
    places = random.random((6, 2))[random.integers(6, size=3000)]
    points = np.clip(places + 0.05 * random.standard_normal((3000, 2)), 0, 1 - 1e-12)
    cells = (points * SQUARE.side).astype(np.int64)
    grown = CellTree(PointIndex.from_cells(SQUARE, cells), 2)
    grown.grow(lambda counts, depth: counts > 40, 7)
    return grown.decomposition(grown.counts().astype(np.float64), np.full(len(grown.parent), 4.0))


@pytest.mark.parametrize("seed", range(3))
def test_children_stay_above_zero_and_sum_to_their_parents(seed):
    nodes = tree(seed)
    count = reshared_counts(nodes, (nodes.count - 3.0 * np.cos(nodes.count), 2.0 + nodes.count % 5))
    assert (count >= 0).all()
    assert count[0] == nodes.count[0]
    np.testing.assert_allclose(sum_up(nodes.parent, count), count, rtol=1e-12, atol=1e-9)
    assert np.abs(count - nodes.count).max() > 0.1


def test_a_child_below_zero_takes_less_than_its_sisters():
    boxes = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]])
    nodes = Decomposition(
        boxes, boxes + np.array([[2, 2], *[[1, 1]] * 4]), np.array([-1, 0, 0, 0, 0]),
        np.array([8.0, 2, 2, 2, 2]), np.ones(5),
    )  # fmt: skip
    count = reshared_counts(nodes, (np.array([8.0, -2, 0, 1, 9]), np.ones(5)))
    assert (np.diff(count[1:]) > 0).all()
    assert count[2] / count[1] == pytest.approx(np.exp(2.0))


@pytest.mark.parametrize("parameters", [{"shrink": False}, {"sharing": False}])
def test_only_shrunk_trees_are_shared_anew(parameters, monkeypatch):
    data = handle(np.random.default_rng(0).random((500, 2)), 2)

    def refused(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("dpviz.methods.points.ladder_tree.reshared_counts", refused)
    dpviz.build(data, LadderTree(**parameters), 1.0, seed=1)
    with pytest.raises(AssertionError):
        dpviz.build(data, "ladder_tree", 1.0, seed=1)
