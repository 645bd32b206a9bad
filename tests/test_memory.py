"""What a visitor used goes with the visitor: no cache of the process holds it."""

import gc
import weakref

import pytest

from dpviz.render.cells import density_scale
from tests.golden.make import MADE


@pytest.mark.parametrize("kind", ["points", "roads", "contexts"])
def test_nothing_holds_a_release_or_its_graph_after_its_visitor_left(kind):
    release = MADE[kind]()
    gone = [weakref.ref(release)]
    if kind == "points":
        density_scale(release)
        gone.append(weakref.ref(release.nodes))
    if kind == "roads":
        gone.append(weakref.ref(release.graph))
    del release
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)
