"""No cache of the process holds data of a session after its end."""

import gc
import weakref

import pytest

from dpviz.build import build
from dpviz.private.roads import RoadData
from dpviz.render.cells import density_scale
from dpviz.roads.paths import Paths
from tests.golden.make import MADE
from tests.roads.conftest import grid

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["points", "roads", "contexts"])
def test_releases_and_graphs_are_freed_with_their_session(kind):
    release = MADE[kind]()
    gone = [weakref.ref(release)]
    if kind == "points":
        density_scale(release)
        gone.append(weakref.ref(release.nodes))
    if kind == "roads":
        gone.append(weakref.ref(release.frame.graph))
    del release
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)


def test_a_plan_of_roads_is_never_another_graph_s():
    """Graphs come and go, and one may stand where another stood in memory."""
    task = Paths.of([[0, 1]])
    for side in (3, 4, 3, 5, 4):
        graph = grid(side)
        data = RoadData("grid", graph, Paths.of([[0, 1], [1, 2]]), public=True)
        release = build(data, "event-histogram", 1.0, workload=task, seed=0)
        assert len(release.frame.graph) == len(graph)
        assert len(release.count(task).count) == 1
        assert graph.cached("key", lambda side=side: side) == side
        del graph, data, release
        gc.collect()
