"""Contract of every method, over the registry, its presets and its dimensions."""

import ast
import itertools
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dpviz
from dpviz import METHODS
from dpviz.errors import ParameterError
from dpviz.methods import method as find
from dpviz.methods import names, of_kind
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees.decomposition import Decomposition
from tests.vault import index_of

from .cases import (
    CASES,
    IDS,
    any_setting,
    children_add_up,
    dims_of,
    handle,
    is_paid,
    quick,
    skewed_points,
)

PACKAGE = Path(dpviz.__file__).parent
ROOMS = ("methods/**/*.py", "**/sequences/*.py", "private/**/sequences.py")
FILES = sorted({path for room in ROOMS for path in PACKAGE.glob(room)})
every_case = pytest.mark.parametrize(("name", "dims"), CASES, ids=IDS)
by_method = pytest.mark.parametrize(
    ("name", "dims"), [case for case in CASES if case[0] in METHODS], ids=lambda value: str(value)
)


@pytest.fixture(scope="module")
def releases():
    """One simulated release per case, built when it is first asked for."""
    built = {}

    def release(name, dims, epsilon=1.0, **parameters):
        key = name, dims, epsilon
        if key not in built:
            data = handle(skewed_points(400, dims), dims)
            chosen = {**quick(name, dims), **parameters}
            built[key] = dpviz.build(data, name, epsilon, seed=7, **chosen)
        return built[key]

    return release


@every_case
def test_a_release_is_a_tree_whose_counts_add_up(name, dims, releases):
    """Children partition their parent and have its count, so that an answer does not depend on
    which nodes give it. But for boxes that overlap, and for presets that leave counts as measured.
    """
    release = releases(name, dims)
    nodes, roots, (method, preset) = release.nodes, release.nodes.parent < 0, names("points")[name]
    assert all(row["theorem"] for row in release.header.budget)
    # Halved boxes are trusted, those of a file are checked: check them here.
    Decomposition(**nodes.columns)
    for values in nodes.columns.values():
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    assert (nodes.lo[roots] >= 0).all()
    if not METHODS[method].overlapping:
        assert nodes.is_partition()
        assert nodes.volume[roots].sum() == release.domain.side**dims
    whole = release.count(release.domain.bounds).count[0]
    assert whole == pytest.approx(nodes.count[roots].sum(), abs=1e-9)
    if preset.get("consistency", True) is False:
        return
    scale = np.abs(nodes.count).max() + 1
    children_add_up(nodes, atol=1e-9 * scale * len(nodes))
    low, high = np.full(dims, 0.13), np.full(dims, 0.9)
    left, right = high.copy(), low.copy()
    left[0] = right[0] = 0.437
    both = release.count(np.concatenate([low, high])).count[0]
    halves = release.count([np.concatenate([low, left]), np.concatenate([right, high])]).count
    assert halves.sum() == pytest.approx(both, abs=1e-6 * scale)


@pytest.mark.slow
@every_case
def test_a_large_epsilon_gives_exact_counts_of_aligned_boxes(name, dims):
    data = handle(skewed_points(400, dims), dims)
    measured = METHODS[names("points")[name][0]].measured
    release = dpviz.build(data, name, 1e4, seed=7, **quick(name, dims), **measured)
    index = index_of(data)
    nodes = release.nodes
    assert nodes.count[nodes.parent < 0].sum() == pytest.approx(400, abs=0.1)
    if METHODS[names("points")[name][0]].overlapping:
        return
    rows = np.random.default_rng(0).permutation(len(nodes))[:300]
    cells = index.cells[None], index.weights
    inside = ((cells[0] >= nodes.lo[rows, None]) & (cells[0] < nodes.hi[rows, None])).all(axis=2)
    spread = np.sqrt(nodes.variance[rows])
    assert (spread < 0.1).all()
    # Continuous noise is never quite zero: 40 standard deviations of Laplace are e^-57.
    assert (np.abs(nodes.count[rows] - inside @ cells[1]) <= 1e-6 + 40 * spread).all()


def tiled(nodes):
    """Finite counts, and leaves that leave nothing of the domain out; boxes of curves overlap."""
    assert np.isfinite(nodes.count).all()
    assert (nodes.variance >= 0).all()
    assert nodes.volume[nodes.leaf].sum() >= nodes.volume[0] * (1 - 1e-12)


@every_case
def test_empty_and_single_point_data_give_whole_trees(name, dims):
    """Empty data must not be distinguished by an error, nor must one record."""
    for n, epsilon in itertools.product((0, 1), (0.1, 1.0)):
        data = handle(np.full((n, dims), 0.3), dims)
        tiled(dpviz.build(data, name, epsilon, seed=3, **quick(name, dims)).nodes)


@cache
def _index_of_60(dims):
    return index_of(handle(skewed_points(60, dims), dims))


@pytest.mark.slow
@pytest.mark.parametrize("name", of_kind("points"))
@settings(max_examples=25)
@given(data=st.data())
def test_the_ledger_adds_up_to_epsilon_for_every_setting(name, data):
    dims = data.draw(st.sampled_from(METHODS[name].dims))
    chosen = data.draw(any_setting(name, dims))
    try:
        method = find(name, **chosen)
        method.check(_index_of_60(dims).domain)
    except ParameterError as error:  # a combination that is refused
        assume(not re.search("leave sampling at 1|is below the leaves", str(error)))
        raise
    adds_up(method, dims, data.draw(st.sampled_from([0.05, 0.1, 0.7, 1.0, 2.5])))


@pytest.mark.parametrize("preset", [name for name in names("points") if name not in METHODS])
def test_the_ledger_adds_up_to_epsilon_for_every_preset(preset):
    for dims in dims_of(preset):
        adds_up(find(preset, **quick(preset, dims)), dims, 1.0)


def adds_up(method, dims, epsilon):
    budget = Budget(epsilon, method.delta)
    tiled(method.build(_index_of_60(dims), budget, SimulatedNoise(1)))
    is_paid(budget, epsilon, method.private)


def test_files_draw_nothing_themselves():
    """But for samples from what is released, which is post-processing."""
    draws = {"two_sided", "one_sided", "words", "default_rng", "random", "token_bytes"}
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        drawn = draws & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        post_processing = path.name in {"model.py", "trips.py"}
        assert drawn <= ({"default_rng", "random"} if post_processing else set()), path


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_documented(name):
    """Whatever it works on; road methods have no example, and some say what they are biased by."""
    cls = METHODS[name]
    assert cls.title
    assert cls.paper
    assert cls.advice
    wanted = ["Privacy:" if cls.guarantee != "none" else "NOT PRIVATE"]
    if cls.kind == "roads":
        assert cls.guarantee == "ε-DP"
    else:
        wanted += ["Do not use", ">>>"]
    for part in wanted:
        assert part in " ".join(cls.__doc__.split())
    assert all(field.metadata["parameter"].help for field in cls.parameter_fields().values())


@pytest.mark.parametrize(
    "alias",
    [
        *("quad-baseline", "quad-geo", "quad-post", "quad-opt"),
        *("kd-standard", "kd-hybrid", "kd-cell", "kd-noisymean", "kd-pure", "kd-true"),
        *("UG", "AG", "Hierarchy", "HB", "Privelet*", "DAWA", "DPSD", "InLN_DPSD", "BinarySVT"),
    ],
)
def test_names_of_the_papers_are_accepted(alias):
    assert find(alias).name in METHODS
