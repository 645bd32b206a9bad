"""Counts of persons in blocks at (ε, δ): the composed rate, what moves, and what releases say."""

import csv
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.domain.attributes import Kinds
from dpviz.errors import ParameterError, PrivacyError
from dpviz.methods import method
from dpviz.private.blocks import BlockNoise
from dpviz.private.curve import privacy_curve
from dpviz.private.load.persons import Persons
from dpviz.private.mechanisms.accounting import delta_upper, gaussian_delta
from dpviz.private.slots import SlotNoise
from tests.methods.test_slots import BOX, frame

NAMES = tuple("abcdefghijklmnopqrstuvwxyzABCD")
KINDS = dpviz.Domain((0.0, 0.0), (4.0, 4.0), ("x", "y"), kinds=Kinds("kind", NAMES))


def retained(owners, blocks, codes, k):
    """Blocks and codes of the retained records under the fixed key, sorted."""
    names = np.unique(owners)
    ids = pa.array([b"person %d" % name for name in names], pa.large_binary())
    records = Persons(
        np.searchsorted(names, owners), ids, np.asarray(codes, dtype=np.uint64), public=True
    )
    rows = records.one_in_each(np.asarray(blocks, dtype=np.int64), 8, k)
    return sorted(zip(np.asarray(blocks)[rows], np.asarray(codes)[rows], strict=True))


RECORD = st.tuples(st.integers(0, 7), st.integers(0, 3))


@given(
    st.lists(st.tuples(st.integers(0, 4), RECORD), max_size=30),
    st.lists(RECORD, max_size=20),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_one_person_moves_at_most_k_blocks_by_one_record(others, one, k, random):
    rows = [*others, *((9, record) for record in one)]

    def of(each):
        table = [(owner, *record) for owner, record in each]
        return retained(*np.array(table, dtype=np.int64).reshape(-1, 3).T, k)

    before, after = of(others), of(rows)
    for each in before:
        after.remove(each)
    blocks = [block for block, _ in after]
    assert len(blocks) == len(set(blocks)) == min(k, len({block for block, _ in one}))
    random.shuffle(rows)
    assert of(rows) == of(sorted(rows)), "the order of rows changes nothing"


def adaptive_tree(record, rate):
    """Probabilities of a tree that is split if its noisy total is positive, by its transcript.

    The total has half of the rate; so has the count of each half, if the tree is split.
    """
    grid = np.arange(-50, 51)

    def law(count):
        return np.tanh(rate / 4) * np.exp(-rate / 2 * np.abs(grid - count))

    total, left, right = law(record), law(record), law(0)
    leaves = np.outer(left, right).ravel()
    split = grid > 0
    return np.append(total[~split], np.outer(total[split], leaves).ravel())


def test_rate_holds_for_trees_that_follow_their_data():
    """Full enumeration of two blocks with a person in both, and of one block with both records."""
    epsilon, rate = 0.9, 0.6
    more, less = (adaptive_tree(count, rate) for count in (1, 0))
    loss = np.log(more) - np.log(less)
    values, where = np.unique(loss.round(9), return_inverse=True)  # few losses are possible
    p, q = (np.bincount(where, each) for each in (more, less))
    both = np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(q, q), 0).sum()
    assert abs(values).max() <= rate + 1e-8
    assert 0.01 < both <= delta_upper(epsilon, 2, rate)
    twice = adaptive_tree(2, rate)
    alone = np.maximum(twice - math.exp(epsilon) * less, 0).sum()
    assert alone > both, "records of one person in one block are told apart more easily"


@pytest.mark.parametrize("k", [12, 30])
@pytest.mark.parametrize("moved", [1, 2])
def test_rate_is_the_largest_that_keeps_delta(k, moved):
    noise = BlockNoise(1.0, 1e-6, k, moved, k)
    assert delta_upper(1.0, k, noise.rate * moved) <= 1e-6
    pure = math.isclose(noise.rate * k * moved, 1.0)
    assert pure == (noise.spent_delta == 0.0) == (k == 12)
    assert pure or delta_upper(1.0, k, noise.rate * moved * 1.0001) > 1e-6


def test_levels_cost_as_many_slots_as_they_move():
    noise = SlotNoise(1.0, 1e-6, 30, 30, 3, 0.5)
    assert gaussian_delta(1.0, 90, noise.variance) <= 1e-6
    assert gaussian_delta(1.0, 90, noise.variance * 0.99) > 1e-6
    assert noise.rho == 90 / (2 * noise.variance)


def handle(tmp_path, k, domain=BOX, extra=True, **how):
    """Visits of forty persons, in many kinds; with ``extra`` of one more, everywhere and often."""
    path = tmp_path / f"visits{extra:d}.csv"
    with path.open("w", newline="") as file:
        rows = [[*row[:4], NAMES[at % len(NAMES)]] for at, row in enumerate(frame(extra))]
        csv.writer(file).writerows([["x", "y", "who", "time", "kind"], *rows])
    return dpviz.load(
        path, domain, columns=("x", "y"), unit="who", max_per_unit=k, name="visits", **how
    )


@pytest.mark.parametrize("name", ["ladder_tree", "privtree", "dawa"])
def test_pure_methods_count_persons_once_in_each_category(tmp_path, name):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    data = handle(tmp_path, 40, KINDS)
    release = dpviz.build(data, name, delta=1e-6, ledger=ledger)
    header, rate = release.header, BlockNoise(1.0, 1e-6, 30, 1, 40).rate
    assert (header.epsilon, header.delta) == (1.0, 1e-6)
    assert sum(row["epsilon"] for row in header.budget) == pytest.approx(1.0)
    assert f"ε = {rate:.4g} in each; also {30 * rate:.4g}-DP" in header.guarantee
    assert header.unit == "one who with at most 40 slots"
    assert "counts of persons" in ledger.account("visits").spends[0].what
    release.save(tmp_path / "r.parquet")
    assert dpviz.read(tmp_path / "r.parquet").header == header


def test_few_categories_cost_no_delta(tmp_path):
    release = dpviz.build(handle(tmp_path, 12, KINDS), "privtree", delta=1e-6, ledger=None)
    assert release.header.delta == 0.0
    assert "pure ε-DP" in release.header.guarantee


@pytest.mark.parametrize("k", [3, 12])
def test_one_person_more_moves_each_level_of_a_quadtree_by_k_ones(tmp_path, k):
    chosen = method("quadtree", top=2, height=4, consistency=False, prune=0)
    levels = []
    for extra in (False, True):
        data = handle(tmp_path, k, extra=extra, public=True)
        release = dpviz.build(data, chosen, delta=1e-6, seed=7)
        nodes = release.nodes
        levels.append([nodes.count[nodes.level == depth] for depth in range(5)])
        assert (release.header.delta > 0) == (k == 12)
    moved = [more - less for less, more in zip(*levels, strict=True)]
    assert all(set(level.tolist()) == {0.0, 1.0} for level in moved[2:])
    assert [level.sum() for level in moved] == [k] * 5


def test_noise_of_a_quadtree_at_a_delta_is_equal_on_its_levels(tmp_path):
    release = dpviz.build(
        handle(tmp_path, 30),
        "quadtree",
        top=2,
        height=4,
        consistency=False,
        prune=0,
        delta=1e-6,
        ledger=None,
    )
    assert dict(privacy_curve(release.header).points)[1.0] <= 1e-6
    nodes, variance = release.nodes, SlotNoise(1.0, 1e-6, 30, 30, 3, 0.5).variance
    for depth, count in enumerate([16, 4, 1, 1, 1]):
        assert nodes.variance[nodes.level == depth] == pytest.approx(count * variance)


@pytest.mark.parametrize(
    ("domain", "chosen", "match"),
    [
        (BOX, {"name": "quadtree"}, "quadtree with its top level"),
        (BOX, {"name": "quadtree", "height": 3, "top": 4}, "below the leaves: choose up to 3"),
        (BOX, {"name": "ladder_tree"}, "or by category"),
        (KINDS, {"name": "quad_exact"}, "PRIVACY|leave delta out"),
    ],
)
def test_wishes_without_a_theorem_are_refused(tmp_path, domain, chosen, match):
    with pytest.raises((ParameterError, PrivacyError), match=match):
        dpviz.build(handle(tmp_path, 30, domain), method(**chosen), delta=1e-6)
    assert dpviz.Ledger().account("visits").spends == ()
