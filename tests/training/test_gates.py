"""The training of gates: its loss, its gradient and the symmetries of the square."""

import numpy as np
import pytest

import dpviz
from dpviz.domain import Domain
from dpviz.methods import method
from dpviz.trees.gates import FEATURES, SMOOTHERS, Raster, Surroundings
from dpviz.trees.network import trained
from tests.training.gates import SYMMETRIES, Lesson, error, stepped, turned
from tests.training.network import beginning
from tests.trees.test_gates import full


@pytest.fixture(scope="module")
def lesson() -> tuple[Lesson, np.ndarray, np.ndarray]:
    """One of a small set, its exact answers, and those of its release."""
    random = np.random.default_rng(2)
    domain = Domain.from_bounds([0.0, 0.0, 1.0, 1.0])
    data = dpviz.from_points(random.beta(2, 5, (3000, 2)), domain, public=True)
    chosen = method("hot_grid", gates=False, slopes=False, side=0.05)
    corner = random.random((60, 2)) * 0.9
    rects = np.concatenate([corner, corner + 0.05], axis=1)
    boxes = domain.boxes(rects)
    exact = data._index.box_counts(*boxes)
    nodes = dpviz.build(data, chosen, 0.3, seed=1).nodes
    sloped = dpviz.build(data, method("hot_grid", gates=False, side=0.05), 0.3, seed=1)
    return Lesson.of(nodes, 0.05, boxes, exact, 3.0), exact, sloped.count(rects).count


class Answers:
    """In place of a trainer: says what it is given, and keeps the slope."""

    def __init__(self, output: np.ndarray) -> None:
        self.output = output

    def forward(self, features: np.ndarray) -> np.ndarray:
        return self.output

    def step(self, slope: np.ndarray, rate: float) -> None:
        self.slope = slope


def test_a_lesson_asks_what_a_release_answers(lesson):
    seen, exact, answers = lesson
    wrong = seen.share @ seen.around.centre - seen.truth
    expected = (answers - exact) / np.maximum(exact, 3.0)
    expected /= np.abs(expected).sum()
    np.testing.assert_allclose(wrong, expected, atol=1e-6)
    assert seen.loss(seen.around.centre)[0] == pytest.approx(1.0)
    network = beginning((FEATURES, len(SMOOTHERS) + 1), 0)
    network.biases[0][0] = 30
    assert error(network, [seen]) == pytest.approx([1.0], abs=1e-4)


def test_slopes_are_those_of_finite_differences(lesson):
    seen = lesson[0]
    random = np.random.default_rng(4)
    output = random.normal(0, 0.3, (len(seen.around.centre), len(SMOOTHERS) + 1))

    def loss(given: np.ndarray) -> float:
        return stepped(Answers(given), [seen], [SYMMETRIES[1]], 0.0, 0.0)

    trainer = Answers(output)
    stepped(trainer, [seen], [SYMMETRIES[1]], 0.0, 0.0)
    rows = np.argsort(-np.abs(trainer.slope).max(axis=1))[:4]
    ratios = []
    for row in rows:
        for column in (0, 5, len(SMOOTHERS)):
            above, below = output.copy(), output.copy()
            above[row, column] += 1e-4
            below[row, column] -= 1e-4
            ratios.append(trainer.slope[row, column] / ((loss(above) - loss(below)) / 2e-4))
    # A long slope is cut: all by the same factor.
    np.testing.assert_allclose(ratios, np.median(ratios), rtol=1e-3)
    assert 0 < np.median(ratios) < 1.001


def test_a_turned_leaf_sees_what_a_leaf_of_the_turned_map_sees():
    counts = np.random.default_rng(1).normal(5.0, 3.0, (16, 16))

    def seen(raster: np.ndarray, place: tuple[int, int]) -> Surroundings:
        nodes = full(raster)
        leaf = np.flatnonzero((nodes.lo == place).all(axis=1) & nodes.leaf)
        return Raster.of(nodes.parent, nodes.count, nodes.variance, 0.1).surroundings(leaf)

    for symmetry in SYMMETRIES:
        exchanged, across, along = symmetry
        image, at = (counts.T, (9, 6)) if exchanged else (counts, (6, 9))
        if across < 0:
            image, at = image[::-1], (15 - at[0], at[1])
        if along < 0:
            image, at = image[:, ::-1], (at[0], 15 - at[1])
        turned_leaf = turned(seen(image, at), symmetry)
        np.testing.assert_allclose(
            turned_leaf.counts[:13], seen(counts, (6, 9)).counts[:13], rtol=1e-5
        )


def test_weights_that_were_trained_help_where_they_were_not(lesson):
    seen = lesson[0]
    assert error(trained("gates"), [seen])[0] < 0.97
