"""Shares inside families: what the network sees, and what becomes of what it says."""

import numpy as np
import pytest

import dpviz
from dpviz.domain import Domain
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.points.ladder_tree import LadderTree
from dpviz.private.index import PointIndex
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.network import Network, trained
from dpviz.trees.sharing import FEATURES, Evidence, shared
from tests.methods.cases import handle
from tests.training.network import beginning
from tests.training.sharing import WEIGHTS, symmetries

SQUARE = Domain((0.0, 0.0), (1.0, 1.0))


def cells(seed: int, n: int = 3000) -> np.ndarray:
    """Lattice cells of records around a few places, and a few anywhere."""
    random = np.random.default_rng(seed)
    places = random.random((6, 2))[random.integers(6, size=n)]
    points = places + 0.05 * random.standard_normal((n, 2))
    points[: n // 20] = random.random((n // 20, 2))
    return (np.clip(points, 0, 1 - 1e-12) * SQUARE.side).astype(np.int64)


def tree(records: np.ndarray) -> Decomposition:
    """Cells that hold more than 40 split; counts are exact."""
    grown = CellTree(PointIndex.from_cells(SQUARE, records), 2)
    grown.grow(lambda counts, depth: counts > 40, 7)
    return grown.decomposition(grown.counts().astype(np.float64), np.full(len(grown.parent), 4.0))


def raw(nodes: Decomposition) -> tuple[np.ndarray, np.ndarray]:
    """Estimates of before, a function of counts alone."""
    return nodes.count - 3.0 * np.cos(nodes.count), 2.0 + nodes.count % 5


def random_network(seed: int, scale: float = 1.0) -> Network:
    network = beginning((FEATURES, 9, 8), seed)
    network.weights[-1][:] = scale * np.random.default_rng(seed).normal(
        size=network.weights[-1].shape
    )
    return network


@pytest.mark.parametrize("seed", range(3))
def test_children_stay_above_zero_and_sum_to_their_parents(seed):
    nodes = tree(cells(seed))
    count = shared(nodes, raw(nodes), random_network(seed))
    families = Evidence.of(nodes, raw(nodes)).families()
    assert (count >= 0).all()
    assert count[0] == nodes.count[0]
    np.testing.assert_allclose(
        count[families.child].sum(axis=1), count[families.parent], rtol=1e-12, atol=1e-9
    )
    assert np.abs(count - nodes.count).max() > 5


@pytest.mark.parametrize("which", range(8))
def test_features_of_a_turned_tree_are_turned(which):
    records = cells(4)
    turned, last = records.copy(), SQUARE.side - 1
    if which > 3:
        turned = turned[:, ::-1]
    for _ in range(which % 4):  # as np.rot90 turns rows and columns
        turned = np.stack([last - turned[:, 1], turned[:, 0]], axis=1)
    families = []
    for each in (records, turned):
        nodes = tree(np.ascontiguousarray(each))
        made = Evidence.of(nodes, raw(nodes)).families()
        # Families of one total, level and numbers of leaves differ in all their numbers.
        families.append(made.features.astype(np.float64).round(4))
    feature, _ = symmetries()[which]
    expected, seen = (each[np.lexsort(each.T)] for each in (families[0][:, feature], families[1]))
    np.testing.assert_allclose(seen, expected, atol=2e-4)


def test_what_is_beside_a_node_is_what_its_own_size_holds_there():
    """West, south, north and east of it; nothing at the domain's edge."""
    nodes = tree(cells(5))
    parent = np.flatnonzero(~nodes.leaf)
    evidence = Evidence.of(nodes, raw(nodes))
    seen = evidence.beside(parent)
    loads = nodes.count / evidence.unit
    density = loads / nodes.volume
    for row, (axis, upper) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1)]):
        there = nodes.beside[axis, upper][parent]
        held = density[there] * nodes.volume[parent]
        ratio = np.clip(np.log1p(held) - np.log1p(loads[parent]), -5, 5) / 2
        np.testing.assert_allclose(seen[row], np.where(there < 0, 0, ratio), atol=1e-4)


def test_what_is_known_for_sure_stays():
    nodes = tree(cells(6))
    near = shared(nodes, (nodes.count, np.full(len(nodes), 1e-12)), random_network(1))
    np.testing.assert_allclose(near, nodes.count, rtol=1e-4, atol=1e-4)


def test_weights_fit_the_features_and_are_few():
    network = trained("sharing")
    assert network.weights[0].shape[0] == FEATURES
    assert len(network.biases[-1]) == 8
    assert WEIGHTS.stat().st_size < 60_000


@pytest.mark.parametrize("parameters", [{"shrink": False}, {"learned": False}])
def test_trees_that_do_not_learn_are_as_they_were(parameters, monkeypatch):
    """The network is not even asked; by default it is."""
    data = handle(np.random.default_rng(0).random((500, 2)), 2)

    def refused(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("dpviz.methods.points.ladder_tree.shared", refused)
    dpviz.build(data, LadderTree(**parameters), 1.0, seed=1)
    with pytest.raises(AssertionError):
        dpviz.build(data, "ladder_tree", 1.0, seed=1)
