import pickle

import numpy as np
import pytest

import dpviz
from dpviz import Domain
from dpviz.errors import DataError, DomainError, DpvizError, ParameterError, PrivacyError
from dpviz.evaluation.truth import exact_counts, exact_total
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import geometric_variance

SQUARE = Domain((0.0, 0.0), (1.0, 1.0), columns=("x", "y"))
POINTS = np.random.default_rng(3).beta(2, 6, size=(5000, 2))


def handle(*, public=False, **options):
    index = PointIndex.from_points(SQUARE, POINTS)
    name = options.pop("name", "beta")
    return DataHandle(name, SQUARE, index, public=public, **options)


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, 10**400, "x", True, None])
def test_an_invalid_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon.*: give a (positive, finite )?number"):
        dpviz.build(handle(), "privtree", epsilon)


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("privtre", {}, r"unknown method 'privtre': did you mean privtree"),
        ("zzz", {}, "unknown method 'zzz': one of"),
        ("privtree", {"hight": 3}, "no parameter 'hight': it has tree_share"),
        ("quadtree", {"height": 99}, "quadtree: height=99: give a number from 1 to 12"),
        ("quadtree", {"height": 2.5}, "give a whole number"),
        ("quadtree", {"height": "tall"}, "give a number"),
        ("quadtree", {"budget": "lavish"}, "choose one of uniform, geometric, leaf"),
        ("quadtree", {"consistency": "perhaps"}, "give true or false"),
        ("privtree", {"tree_share": None}, "give a value"),
    ],
)
def test_invalid_methods_and_parameters_are_refused(method, parameters, message):
    with pytest.raises(ParameterError, match=message):
        dpviz.build(handle(), method, 1.0, **parameters)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": dpviz.METHODS["privtree"]}, r"give a name, or dpviz.method\(NAME\)"),
        ({"ledger": "ledger.sqlite"}, r"ledger='ledger.sqlite': give dpviz.Ledger\(FILE\)"),
        ({"progress": 5}, r"progress=5: give a function of \(fraction, what\)"),
        ({"areas": 5}, "areas=5: give dpviz.read_areas"),
        ({"purpose": None}, "purpose=None: give a text"),
        ({"delta": False}, "delta=False: give a number"),
        ({"method": "kdtree", "median": "smooth", "delta": np.nan}, "delta=nan: give a number"),
        ({"wishes": "any 1 km² ±50"}, "wishes='any 1 km² ±50': give a list of texts"),
        ({"data": POINTS}, "data of type ndarray: load them first, with dpviz.load"),
    ],
)
def test_arguments_of_another_type_are_refused_before_payment(options, message, tmp_path):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(DpvizError, match=message):
        dpviz.build(**{"data": handle(), "ledger": ledger, **options})
    assert ledger.account("beta").spent == 0


@pytest.mark.parametrize("seed", ["a", -1, 2.5, np.nan])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ParameterError, match=r"seed=.*: give a whole number"):
        dpviz.build(handle(public=True), seed=seed)


def test_a_simulated_release_says_so_and_repeats():
    first, second = (dpviz.build(handle(public=True), "ugrid", 1.0, seed=4) for _ in range(2))
    assert first.header.guarantee.startswith("NOT PRIVATE: simulated noise")
    assert not first.header.private
    assert (first.nodes.count == second.nodes.count).all()


@pytest.mark.parametrize("areas", [None, "h3:1"])
def test_a_release_is_one_line_with_its_method_and_its_guarantee(areas):
    release = dpviz.build(handle(public=True), "quadtree" if areas is None else None, areas=areas)
    start = f"{type(release).__name__}({release.header.method!r}, 'differentially private, ε = 1, "
    assert repr(release).startswith(start)
    assert len(repr(release).splitlines()) == 1
    assert len(repr(release)) < 200
    if areas is None:
        assert repr(release.nodes) == f"Decomposition({len(release.nodes):,} nodes, 2-D)"


def test_a_secure_release_states_its_guarantee_and_differs_each_time():
    first, second = (dpviz.build(handle(), "ugrid", 1.0, n_public=5000) for _ in range(2))
    assert first.header.guarantee == "differentially private, ε = 1, add or remove one record"
    assert first.header.private
    assert (first.nodes.count != second.nodes.count).any()


def test_exact_answers_are_for_public_data():
    with pytest.raises(PrivacyError, match="exact answers are NOT PRIVATE"):
        exact_counts(handle(), [0, 0, 1, 1])
    with pytest.raises(PrivacyError, match="exact answers are NOT PRIVATE"):
        exact_total(handle())
    assert exact_counts(handle(public=True), [0, 0, 1, 1]).tolist() == [5000]
    assert exact_total(handle(public=True)) == 5000


def test_a_privacy_unit_of_k_records_costs_k_times_the_noise():
    one = dpviz.build(handle(), "quadtree", 1.0, height=1, budget="leaf", prune=0)
    three = dpviz.build(
        handle(max_per_unit=3, unit="one person with at most 3 records", name="persons"),
        "quadtree",
        1.0,
        height=1,
        budget="leaf",
        prune=0,
    )
    leaf = one.nodes.leaf
    assert one.nodes.variance[leaf] == pytest.approx(float(geometric_variance(1.0)))
    assert three.nodes.variance[leaf] == pytest.approx(float(geometric_variance(3.0)))
    assert three.header.epsilon == 1.0
    assert sum(row["epsilon"] for row in three.header.budget) == pytest.approx(1.0)
    assert "one person with at most 3 records" in three.header.guarantee


def test_a_handle_shows_no_counts():
    sensitive = handle()
    assert "5000" not in repr(sensitive)
    with pytest.raises(TypeError, match="cannot be pickled or copied"):
        pickle.dumps(sensitive)


def test_load_needs_a_domain_for_a_file_and_knows_the_built_in_names(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("x,y\n0.5,0.5\n")
    with pytest.raises(DataError, match=r"p\.csv: give a domain"):
        dpviz.load(path)
    built_in = dpviz.load("city-50k")
    assert built_in.public
    assert built_in.domain.dims == 2


def test_the_whole_domain_can_be_asked_for_and_beyond_it_not():
    release = dpviz.build(handle(public=True), "privtree", 1.0, seed=0)
    assert release.count([-5, -5, 5, 5]).count[0] == release.nodes.count[0]
    with pytest.raises(DomainError, match="outside the domain"):
        release.count([2, 2, 3, 3])


@pytest.mark.parametrize("method", ["privtree", "ladder_tree"])
def test_numpy_s_settings_in_a_notebook_end_no_build(method):
    """Regression: builds failed after payment, depending on the records in a cell."""
    queries = np.tile([0.1, 0.1, 0.4, 0.4], (3, 1))
    for epsilon in (1.0, 50.0):
        with np.errstate(all="raise"):
            release = dpviz.build(handle(), method, epsilon, ledger=None)
            assert release.count(queries).count.shape == (3,)
            with pytest.raises(FloatingPointError):
                np.exp(-1000.0)  # the caller's settings still hold
