"""Map of a public prior: cells share out its whole mass, finer where there is more."""

import numpy as np

import dpviz
from dpviz.render import priors
from dpviz.render.scene import Camera
from tests.strategies import UNIT_SQUARE


def test_cells_hold_the_whole_mass_and_none_too_much_unless_it_is_the_finest(monkeypatch):
    monkeypatch.setattr(priors, "CELLS", 20)
    points = np.random.default_rng(1).random((4_000, 2)) ** 2
    public = dpviz.prior(np.vstack([points, np.full((900, 2), 0.7)]), UNIT_SQUARE)
    low, high, mass = priors._cells(public, UNIT_SQUARE.bits)
    sides = (high - low)[:, 0] / UNIT_SQUARE.side
    assert np.isclose(mass.sum(), 4_900)
    assert np.isclose((sides**2).sum(), 1.0)
    finest = sides == sides.min()
    assert mass[~finest].max() <= 4_900 / 20
    assert mass[finest].max() >= 900
    scene = priors.prior_scene(public, UNIT_SQUARE, Camera())
    assert scene.legend is not None
    assert scene.legend.title == "Public prior: weight per km²"
    drawn = scene.tables["prior"]["mass"].to_numpy()
    assert 0.97 * 4_900 < drawn.sum() <= 4_900 * 1.0001
