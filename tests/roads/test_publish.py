"""The contract of every network method and of its release."""

import numpy as np
import pytest

import dpviz
from dpviz.build import build
from dpviz.errors import DataError, ParameterError
from dpviz.methods import names
from dpviz.private.roads import RoadData, exact_visits
from dpviz.roads.paths import Paths
from tests.methods.cases import children_add_up

COMBINED = ["min+opt+tru", "tru+best+min", "random+boost", "hm+tru", "min+opt"]
ALL = [*sorted(names("roads")), *COMBINED]
UNBIASED = ["dwork", "hm", "min+opt", "random+boost", "min+best"]


@pytest.fixture(params=ALL)
def name(request):
    return str(request.param)


def test_parents_are_the_sums_of_their_children(name, data, workload):
    children_add_up(build(data, name, workload=workload, seed=2).nodes, atol=1e-8)


@pytest.mark.slow
def test_a_path_is_the_sum_of_its_edges_and_of_its_cover(name, data, workload):
    release = build(data, name, workload=workload, seed=2)
    answers = release.count(workload)
    np.testing.assert_allclose(answers.count, workload.sum(release.answers.count), atol=1e-8)
    assert (answers.low <= answers.count).all()
    assert (answers.count <= answers.high).all()
    single = Paths.of([[edge] for edge in range(len(data.graph))])
    np.testing.assert_allclose(release.count(single).noise_sd, release.answers.noise_sd, rtol=1e-9)
    if not release.header.extra.get("groups"):
        path, node = release.frame.top_down(release.nodes, workload)
        total = np.bincount(path, release.nodes.count[node], len(workload))
        np.testing.assert_allclose(total, answers.count, atol=1e-8)


@pytest.mark.parametrize("unbiased", UNBIASED)
def test_epsilon_without_bound_gives_exact_counts(unbiased, data, workload):
    release = build(data, unbiased, 1e7, workload=workload, seed=1)
    np.testing.assert_allclose(release.answers.count, exact_visits(data), atol=1e-3)


def test_the_noise_scale_is_l_times_the_relative_scale(data, workload):
    """dwork: Lap(Δ/ε), so a variance of 2(Δ/ε)²; every tree level pays its height."""
    release = build(data, "dwork", 0.5, workload=workload, seed=1, max_length=40)
    np.testing.assert_allclose(release.nodes.measured, 2 * (40 / 0.5) ** 2, rtol=1e-4)
    tree = build(data, "min+boost", 0.5, workload=workload, seed=1, max_length=40)
    height = np.where(tree.nodes.leaf & (tree.nodes.parent < 0), 1, 2)
    np.testing.assert_allclose(tree.nodes.measured, 2 * (40 * height / 0.5) ** 2, rtol=1e-4)


@pytest.mark.slow
def test_answers_are_unbiased_with_the_stated_variance(data, workload):
    """False alarm below 1e-6: the mean of 300 within 5 sd, their variance within 60 %."""
    truth = workload.sum(exact_visits(data))
    path = workload.take(np.array([0, 7, 20]))
    runs = [build(data, "min+opt", 1.0, workload=workload, seed=seed) for seed in range(300)]
    errors = np.array([path.sum(each.answers.count) - truth[[0, 7, 20]] for each in runs])
    variance = runs[0].count(path).noise_sd ** 2
    assert (np.abs(errors.mean(axis=0)) < 5 * np.sqrt(variance / 300)).all()
    np.testing.assert_allclose(errors.var(axis=0), variance, rtol=0.6)


def test_invalid_names_and_trips_are_refused(data, streets):
    for name, message in (
        ("basik", "unknown road method 'basik': did you mean basic"),
        ("opt+best", "names index twice"),
    ):
        with pytest.raises(ParameterError, match=message):
            build(data, name)
    with pytest.raises(DataError, match="is not a path"):
        build(data, workload=Paths.of([[0, 70]]))
    with pytest.raises(DataError, match="a trip names an edge that the road graph lacks"):
        RoadData("g", streets, Paths.of([[0, 10_000]]))


@pytest.mark.slow
def test_a_workload_in_a_word_is_the_same_as_its_paths(data):
    by_word = build(data, workload="corridor", seed=1)
    by_paths = build(data, workload=dpviz.workload_of("corridor", data.graph), seed=1)
    assert by_word.header == by_paths.header
    assert by_word.to_arrow().equals(by_paths.to_arrow())
    with pytest.raises(ParameterError, match="give clustered:LENGTH, corridor, or a file"):
        build(data, workload="uniform", seed=1)
    with pytest.raises(ParameterError, match=r"give dpviz.Paths.of\(\[\[0, 1\]\]\), or dpviz.work"):
        by_word.count([[0, 1]])
    assert len(by_word.count(dpviz.Paths.of([[0]]))) == 1
