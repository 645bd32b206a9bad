"""The measures of trajectories against brute force, and where they are taken."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import PrivacyError
from dpviz.evaluation import trajectories
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.sequences import SequenceBench
from dpviz.evaluation.trajectories import MEASURES, Trajectories, divergence, measures
from dpviz.private.load.visits import cell_sequences, place_lines
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.releases.sequences.cells import Cells
from dpviz.sequences.model import ContextTree
from dpviz.sequences.places import drawn_places
from tests.vault import sequences_of

BOUNDS = (0.0, 0.0, 6.0, 6.0)


def lines(*rows, bounds=BOUNDS):
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Trajectories(start, np.concatenate([np.asarray(row, float) for row in rows]), bounds)


def random_lines(seed, n=60):
    random = np.random.default_rng(seed)
    return [random.uniform(0, 6, (random.integers(1, 7), 2)) for _ in range(n)]


def test_lengths_diameters_and_passing_are_those_by_hand(monkeypatch):
    monkeypatch.setattr(trajectories, "QUERIES", 2)
    monkeypatch.setattr(trajectories, "RADIUS", 0.15)
    rows = random_lines(1)
    measured = lines(*rows)
    for at, row in enumerate(rows):
        steps = [np.linalg.norm(b - a) for a, b in itertools.pairwise(row)]
        apart = [np.linalg.norm(a - b) for a in row for b in row]
        assert measured.travelled[at] == pytest.approx(sum(steps), abs=1e-9)
        assert measured.diameter[at] == pytest.approx(max(apart))
    centres = np.random.default_rng(3).uniform((0, 0), (6, 6), (2, 2))
    passed = [0, 0]
    for row in rows:  # dense points along each line stand for the line
        t = np.linspace(0, 1, 4001)[:, None]
        along = np.concatenate([row, *(a + t * (b - a) for a, b in itertools.pairwise(row))])
        for at, centre in enumerate(centres):
            passed[at] += np.linalg.norm(along - centre, axis=1).min() <= 0.15 * 6
    assert 10 < min(passed) <= max(passed) < 50
    assert measured.passing(3).tolist() == passed


def test_trips_and_patterns_are_counted_on_the_grid(monkeypatch):
    monkeypatch.setattr(trajectories, "TOP", 2)
    go, back = [(0.5, 0.5), (0.6, 0.6), (1.5, 0.5), (1.5, 1.5)], [(1.5, 1.5), (0.5, 0.5)]
    real = lines(go, go, back)
    assert real.cells == [(0, 6, 7), (0, 6, 7), (7, 0)]
    assert real.patterns == {(0, 6), (0, 6, 7)}  # ties: the smaller cells first
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


@pytest.mark.slow
def test_places_are_measured_and_plain_symbols_are_not(monkeypatch):
    monkeypatch.setattr(trajectories, "QUERIES", 20)
    data = dpviz.load("city", kind="sequences", side=6)
    plan = Experiment(("markov", "truncate"), (10.0,), repeats=1, kind="sequences")
    sizes = {"tops": (5,), "samples": 2000}
    rows = [row for part in run(SequenceBench(data, **sizes), plan) for row in part]
    values = {(row.method, row.measure): row.value for row in rows}
    for name in MEASURES[:4]:
        assert 0 <= values["markov", name] < 0.5
        assert values["truncate", name] >= 0  # what cells and l_top cost, without noise
    assert values["markov", "pattern F1"] > 0.4
    whole = ContextTree.sample
    monkeypatch.setattr(ContextTree, "sample", lambda *given: [row[:0] for row in whole(*given)])
    none = {row.measure for row in next(run(SequenceBench(data, **sizes), plan))}
    assert none == {"top 5", "lengths", "build_seconds"}  # all drawn are empty: no line
    plain = SequenceData("x", data.alphabet, sequences_of(data), public=True)
    bench = SequenceBench(plain, **sizes)
    measured = {row.measure for part in run(bench, plan) for row in part}
    assert measured.isdisjoint(MEASURES)


def test_real_lines_are_the_places_behind_the_cells_and_of_public_data_only():
    random = np.random.default_rng(4)
    points, person = random.uniform(-0.1, 1.1, (300, 2)), random.integers(0, 9, 300)
    when = random.permutation(300).astype(float)
    domain = dpviz.Domain((0.0, 0.0), (1.0, 1.0))
    cells = Cells(domain, 3)
    sequences, who = cell_sequences(points, person, when, cells, 30.0)
    start, xy = place_lines(points, person, when, domain, 30.0)
    assert len(start) - 1 == len(sequences) == len(who) > 20
    for row in range(len(sequences)):
        cell = cells.symbol(domain.to_lattice(xy[start[row] : start[row + 1]])[0])
        assert cell[np.append(True, cell[1:] != cell[:-1])].tolist() == sequences[row].tolist()
    with pytest.raises(PrivacyError, match="public data only"):
        SequenceData("x", cells.alphabet(neighbours=False), sequences, lines=(start, xy))


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=5), st.integers(0, 9))
def test_synthetic_places_lie_in_their_cells(rows, seed):
    boxes = np.array([[0.0, 0, 1, 1], [1, 0, 3, 1], [0, 1, 1, 4], [1, 1, 3, 4]])
    sequences = Sequences.of(rows)
    start, xy = drawn_places(boxes, sequences.start, sequences.symbol, seed)
    wanted = [row if len(row) > 1 else row * 2 for row in rows if row]
    assert np.diff(start).tolist() == [len(row) for row in wanted]
    for box, place in zip(boxes[list(itertools.chain(*wanted))], xy, strict=True):
        assert (box[:2] <= place).all()
        assert (place <= box[2:]).all()
