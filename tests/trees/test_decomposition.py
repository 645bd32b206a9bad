import numpy as np
import pytest
from hypothesis import given

from dpviz.errors import ReleaseError
from dpviz.trees.decomposition import Decomposition
from tests.strategies import trees


def columns(**changes):
    quarter = [[0, 0], [0, 2], [2, 0], [2, 2]]
    base = {
        "lo": np.array([[0, 0], *quarter]),
        "hi": np.array([[4, 4], *(np.array(quarter) + 2)]),
        "parent": np.array([-1, 0, 0, 0, 0]),
        "count": np.array([10.0, 1, 2, 3, 4]),
        "variance": np.ones(5),
    }
    return {**base, **changes}


@pytest.mark.slow
@given(trees())
def test_random_trees_are_consistent(nodes):
    assert nodes.is_partition()
    for node in range(len(nodes)):
        children = np.flatnonzero(nodes.parent == node)
        assert len(children) == nodes.n_children[node]
        if len(children):
            assert children[0] == nodes.first_child[node]
            assert (np.diff(children) == 1).all()
            assert (nodes.level[children] == nodes.level[node] + 1).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hi": columns()["lo"]}, r"empty boxes at rows \[0 1 2 3 4\]"),
        ({"parent": [-1, 0, 0, 0, 3]}, "children outside their parent"),
        ({"parent": [-1, 0, 1, 0, 0]}, "breadth-first"),
        ({"parent": [0, 0, 0, 0, 0]}, "breadth-first"),
        ({"parent": [-1, 1, 1, 1, 1]}, "breadth-first"),
        ({"parent": [-1, -2, 0, 0, 0]}, "breadth-first"),
        ({"count": [1, 2, 3, 4, np.nan]}, "finite"),
        ({"variance": [1, 1, -1, 1, 1]}, r"negative variance at rows \[2\]"),
        ({"variance": [1.0]}, "one value per node"),
        ({"lo": np.zeros((5, 3), dtype=int)}, "^lo .* and hi"),
    ],
)
def test_broken_columns_are_refused(changes, message):
    with pytest.raises(ReleaseError, match=message):
        Decomposition(**columns(**changes))


def test_columns_refuse_writes_and_are_copies():
    count = columns()["count"]
    nodes = Decomposition(**columns(count=count))
    count[0] = 99
    assert nodes.count[0] == 10
    for name in ("lo", "hi", "parent", "count", "variance", "level", "first_child", "volume"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(nodes, name)[0] = 0


def test_select_keeps_the_links():
    nodes = Decomposition(**columns()).select([True, False, True, False, True])
    assert nodes.parent.tolist() == [-1, 0, 0]
    assert nodes.count.tolist() == [10, 2, 4]
