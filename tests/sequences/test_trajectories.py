"""The measures of trajectories against brute force, and where they are taken."""

import itertools

import numpy as np
import pytest

import dpviz
from dpviz.evaluation import trajectories
from dpviz.evaluation.sequences import SequenceExperiment, run
from dpviz.evaluation.trajectories import MEASURES, Trajectories, divergence, frequent, measures

BOUNDS = (0.0, 0.0, 6.0, 6.0)


def lines(*rows, bounds=BOUNDS):
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Trajectories(start, np.concatenate([np.asarray(row, float) for row in rows]), bounds)


def random_lines(seed, n=60):
    random = np.random.default_rng(seed)
    return [random.uniform(0, 6, (random.integers(1, 7), 2)) for _ in range(n)]


def test_lengths_diameters_and_passing_are_those_by_hand():
    rows = random_lines(1)
    measured = lines(*rows)
    for at, row in enumerate(rows):
        steps = [np.linalg.norm(b - a) for a, b in itertools.pairwise(row)]
        apart = [np.linalg.norm(a - b) for a in row for b in row]
        assert measured.travelled[at] == pytest.approx(sum(steps), abs=1e-9)
        assert measured.diameter[at] == pytest.approx(max(apart))
    centre, radius = np.array([2.0, 3.0]), 0.9
    by_hand = 0
    for row in rows:  # dense points along each line stand for the line
        t = np.linspace(0, 1, 4001)[:, None]
        along = [row, *(a + t * (b - a) for a, b in itertools.pairwise(row))]
        by_hand += np.linalg.norm(np.concatenate(along) - centre, axis=1).min() <= radius
    assert 10 < by_hand < 50
    assert measured.passing(centre, radius) == by_hand


def test_trips_and_patterns_are_counted_on_the_grid(monkeypatch):
    monkeypatch.setattr(trajectories, "TOP", 2)
    go, back = [(0.5, 0.5), (0.6, 0.6), (1.5, 0.5), (1.5, 1.5)], [(1.5, 1.5), (0.5, 0.5)]
    real = lines(go, go, back)
    assert real.cells == [(0, 6, 7), (0, 6, 7), (7, 0)]
    assert frequent(real) == {(0, 6), (0, 6, 7)}  # ties: the smaller cells first
    other = measures(real, lines(back, back))
    assert other["pattern F1"] == 0
    share = np.array([2 / 3, 1 / 3]), np.array([0.0, 1.0])
    assert other["trip error"] == pytest.approx(divergence(*share))


def test_a_set_is_no_distance_from_itself_whatever_the_number_of_lines():
    rows = random_lines(2)
    real = lines(*rows)
    same = measures(real, lines(*rows, *rows))
    assert set(same) == set(MEASURES)
    assert same.pop("pattern F1") == 1
    assert all(value == pytest.approx(0, abs=1e-12) for value in same.values())
    far = measures(real, lines(*[[(0.1, 0.1), (0.2, 0.2)]] * 9))
    assert all(far[name] > 0.2 for name in MEASURES[:4])


def test_places_are_measured_and_plain_symbols_are_not():
    data = dpviz.load("city", kind="sequences", side=4)
    plan = SequenceExperiment(
        methods=("markov", "truncate"), epsilons=(1.0,), tops=(5,), repeats=1, samples=2000
    )
    rows = [row for part in run(data, plan) for row in part]
    values = {(row.method, row.measure): row.value for row in rows}
    for name in MEASURES[:4]:
        assert 0 <= values["markov", name] < 0.5
        assert values["truncate", name] >= 0
    assert values["markov", "pattern F1"] > 0.5
