"""Map of a public prior: cells share out its whole mass, finer where there is more."""

import json

import numpy as np
import pyarrow.compute as pc

import dpviz
from dpviz.render.cells import ALWAYS
from dpviz.render.view import prior_scene
from dpviz.trees import guided
from tests.strategies import UNIT_SQUARE


def test_cells_hold_the_whole_mass_and_none_too_much_unless_it_is_the_finest(monkeypatch):
    monkeypatch.setattr(guided, "DRAWN", 20)
    points = np.random.default_rng(1).random((4_000, 2)) ** 2
    public = dpviz.prior(np.vstack([points, np.full((900, 2), 0.7)]), UNIT_SQUARE)
    nodes = guided.prior_cells(public, UNIT_SQUARE.side)
    assert nodes.is_partition()
    mass, finest = nodes.count[nodes.leaf], nodes.level[nodes.leaf] == nodes.depth
    assert np.isclose(mass.sum(), 4_900)
    assert mass[~finest].max() <= 4_900 / 20
    assert mass[finest].max() > 899.999
    release = dpviz.build(dpviz.from_points(points, UNIT_SQUARE, public=True), seed=1)
    scene = prior_scene(public, release, "homes.csv")
    assert scene.title == "Public prior: homes.csv"
    assert scene.legend is not None
    assert scene.legend.title == "Public prior: weight per km²"
    words = json.dumps(scene.legend.to_dict())
    assert "records" not in words
    assert "within the noise" not in words
    cells = scene.tables["cells-0"]
    drawn = cells.filter(pc.equal(cells["last"], ALWAYS))["count"].to_numpy()
    assert np.isclose(drawn.sum(), 4_900)
    assert not cells["noise_sd"].to_numpy().any()
