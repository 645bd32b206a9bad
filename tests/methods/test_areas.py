"""Counts of areas: what one record moves, exact sums, exact loss by enumeration, coverage."""

import math
from itertools import product

import numpy as np
import pytest
import shapely

import dpviz
from dpviz.errors import ParameterError
from dpviz.evaluation.audit import audit
from dpviz.methods.areas.hierarchy import AreaCounts
from dpviz.private.areas import AreaData, exact_areas
from dpviz.private.budget import Budget
from tests.trees.leaves import families

SQUARE = dpviz.Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))


def grid(across=6, levels=("country", "district", "ward")):
    lines = np.linspace(0, 1, across + 1)
    shapes = [
        shapely.box(lines[i], lines[j], lines[i + 1], lines[j + 1])
        for half in (0, 1)
        for i in range(half * across // 2, (half + 1) * across // 2)
        for j in range(across)
    ]
    above = [-1, 0, 0, *np.repeat([1, 2], len(shapes) // 2)]
    names = [str(row) for row in range(len(above))]
    return dpviz.Areas(SQUARE, levels, tuple(names), np.array(above), np.array(shapes))


@pytest.fixture(scope="module")
def people():
    points = np.random.default_rng(0).beta(2, 5, (5_000, 2))
    return dpviz.from_points(points, SQUARE, public=True, name="people")


@pytest.mark.parametrize("parameters", [{}, {"budget": "uniform"}, {"whole": True}], ids=str)
@pytest.mark.parametrize("source", ["file", "h3:4"])
def test_what_is_published_adds_up_to_the_last_digit(people, source, parameters):
    data = AreaData(people, grid() if source == "file" else dpviz.hexagons(4, SQUARE))
    for seed in range(3):
        release = dpviz.build(data, "areas", 0.3, seed=seed, **parameters)
        for row, children in families(release.frame.parent):
            assert math.fsum(release.nodes.count[children]) == release.nodes.count[row]
            assert release.nodes.count[children].sum() == release.nodes.count[row]
        if parameters.get("whole"):
            assert (release.nodes.count == np.floor(release.nodes.count)).all()
            assert release.nodes.count.min() >= 0


def test_without_noise_the_counts_are_exact(people):
    release = dpviz.build(people, "areas", 1e6, areas=grid(), seed=0)
    assert release.nodes.count.tolist() == exact_areas(AreaData(people, release.frame)).tolist()
    assert release.nodes.count[0] == 5_000


class Scripted:
    """Noise as a test writes it, and the rates that it was drawn at."""

    private = True

    def __init__(self, draws):
        self.draws, self.rates = list(draws), []

    def two_sided(self, n, rate):
        self.rates += np.broadcast_to(rate, n).tolist()
        return np.array([self.draws.pop(0) for _ in range(n)], dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("budget", ["geometric", "uniform"])
def test_the_exact_loss_by_enumeration_is_epsilon(budget, whole):
    """Root and two leaves, a record more in one of them: noise that hides it, draw by draw.

    Every outcome with the record comes from other draws without it, whose probability differs by
    the rates of the counts that it moves: that is the whole loss, and it is ε.
    """
    areas = grid(2, ("whole", "half", "ward"))
    areas = dpviz.Areas(SQUARE, ("whole", "half"), ("0", "1", "2"), areas.parent[:3], halves())
    method = AreaCounts(budget=budget, whole=whole)
    moved, losses = np.array([1, 1, 0]), set()

    def built(counts, draws):
        noise = Scripted(draws)
        counts, _ = method.build(areas, np.array(counts), Budget(0.7), noise)
        return counts.tolist(), np.array(noise.rates)

    for draws in product(range(-2, 3), repeat=3):
        outcome, rates = built([5, 3], draws)
        hidden = np.array(draws) - moved
        assert built([6, 3], hidden.tolist())[0] == outcome
        losses.add(round(float(rates @ (np.abs(hidden) - np.abs(draws))), 12))
    assert max(losses) == pytest.approx(0.7, abs=1e-12)
    assert min(losses) == pytest.approx(-0.7, abs=1e-12)
    assert max(losses) <= 0.7


def halves():
    return np.array([shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)], dtype=object)


def test_intervals_cover(people):
    """95 % intervals of 39 areas in 60 releases; 92 % has a false alarm below 1e-6."""
    data = AreaData(people, grid())
    exact = exact_areas(data)
    hits = []
    for seed in range(60):
        answers = dpviz.build(data, "areas", 0.5, seed=seed).answers
        hits.append((answers.low <= exact) & (exact <= answers.high))
    assert np.mean(hits) > 0.95 - 4.9 * math.sqrt(0.05 * 0.95 / np.size(hits) * 3)


class Careless(AreaCounts):
    """Measures every level at three times all that there is."""

    name = "careless"

    def build(self, areas, counts, budget, noise):
        return super().build(areas, counts, Budget(9 * budget.epsilon), noise)


@pytest.mark.slow
def test_an_audit_refutes_a_method_that_overspends_and_not_ours():
    """Both from 200 runs; either goes wrong with probability below 1e-4, the seed is fixed."""
    assert not audit(AreaCounts(), 1.0, trials=200).violates
    assert audit(Careless(), 1.0, trials=200).violates


def test_areas_and_methods_that_do_not_fit_are_one_line(people):
    trips = dpviz.from_points(np.zeros((1, 4)), dpviz.Domain((0.0,) * 4, (1.0,) * 4), public=True)
    cases = [
        ((people, "areas"), {}, "method areas needs its areas"),
        ((people, "privtree"), {"areas": grid()}, "works on points, the data are areas"),
        ((trips,), {"areas": grid()}, "areas need 2 coordinates, not 4"),
        ((dpviz.load("city-50k"),), {"areas": grid()}, "in another box than the areas"),
    ]
    for arguments, options, line in cases:
        with pytest.raises((ParameterError, dpviz.DpvizError), match=line):
            dpviz.build(*arguments, **options)
