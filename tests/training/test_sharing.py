"""Training of the shares inside families."""

import numpy as np
import pytest

from dpviz.trees.network import trained as weights
from tests.training import sharing
from tests.training.fields import scene
from tests.training.sharing import example, held_back, settled_tree, symmetries, trained


@pytest.fixture(scope="module")
def one():
    return example(scene(3, 20_000), 0.2, 3)


def test_the_slope_is_that_of_the_errors(one, monkeypatch):
    """Against differences, without rounding off where an error is zero."""
    monkeypatch.setattr(sharing, "SMOOTH", 0.0)
    random = np.random.default_rng(0)
    output = 0.3 * random.normal(size=(len(one.families.parent), 8))
    step = 1e-5 * random.normal(size=output.shape)
    ends = [(one.after(output + sign * step) ** 2).sum() / 2 for sign in (1, -1)]
    assert ends[0] - ends[1] == pytest.approx(2 * (one.slope(output) * step).sum(), rel=0.02)


def test_answers_are_those_of_the_release(one):
    """A network that says nothing changes hardly anything; what was exact is."""
    assert one.in_bands(one.errors(one.nodes.count)) == pytest.approx(one.before)
    silent = np.zeros((len(one.families.parent), 8))
    assert one.after(silent) == pytest.approx(np.ones(3), abs=0.03)


def test_symmetries_are_eight_and_form_a_group():
    sides = symmetries()
    rows = {tuple(feature) for feature, _ in sides}
    assert len(rows) == 8
    for first, _ in sides:
        assert {tuple(first[second]) for second, _ in sides} == rows


def test_training_learns_and_is_the_same_again(monkeypatch):
    monkeypatch.setattr(sharing, "QUERIES", {"small": 100, "medium": 100, "large": 100})
    few = example(scene(3, 1500), 0.3, 3)
    again = [trained([few] * 4, epochs=30) for _ in range(2)]
    assert all(map(np.array_equal, again[0].weights, again[1].weights))
    assert held_back(again[0], [few]).mean() < -0.01


def test_the_weights_help_where_they_never_saw():
    """A scene that is held back."""
    other = example(scene(1004, 20_000), 0.1, 5)
    assert held_back(weights("sharing"), [other]).mean() < -0.01


def test_families_are_of_the_release():
    nodes, families = settled_tree(scene(3, 2000), 0.5, 1)
    assert np.array_equal(families.parent, np.flatnonzero(~nodes.leaf))
