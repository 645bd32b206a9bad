"""The audit catches mechanisms that are broken and leaves sound ones alone.

Every audit runs at confidence 1 − 1e-6, so the false-positive rate is at most
1e-6 whatever the seed.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.evaluation.audit import audit, tiny
from dpviz.evaluation.audits import audited, extremes, page, settings, small
from dpviz.evaluation.events import clopper_pearson, epsilon_bound, feature_names, features
from dpviz.evaluation.exact import _Threshold, chain_losses, shared_threshold_loss
from dpviz.evaluation.neighbours import neighbours
from dpviz.methods import METHODS, method, of_kind
from dpviz.methods.points.base import PointMethod, parameter
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.points.privtree import exact_loss, tight_constant
from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees.decomposition import Decomposition
from tests.commands import as_json, fails

PRIVATE = sorted(name for name, cls in of_kind("points").items() if cls.guarantee != "none")


@dataclass(frozen=True, kw_only=True)
class Half(PointMethod):
    """One noisy count at the rate ``factor``·ε: private for factor 1, broken for 2."""

    name: ClassVar[str] = "half"
    factor: float = parameter(1.0, "Of ε", 0.1, 10)

    def build(self, index, budget, noise):
        share = budget.spend(budget.left, "count")
        rate = self.factor * share.use()
        tree = CellTree(index, index.domain.dims)
        count = tree.counts() + noise.two_sided(1, rate)
        return tree.decomposition(count, np.ones(1))


@dataclass(frozen=True, kw_only=True)
class ExactSplits(PointMethod):
    """InLN_DPSD's flaw: splits on exact counts, noise on the leaves."""

    name: ClassVar[str] = "exact_splits"
    threshold: float = parameter(20.0, "Split above", 0, 1000)

    def build(self, index, budget, noise):
        tree = CellTree(index, index.domain.dims)
        tree.grow(lambda counts, _: counts > self.threshold, 3)
        return tree.with_leaf_counts(noise, budget)


@dataclass(frozen=True, kw_only=True)
class BinarySparseVector(PointMethod):
    """PrivTree §5, algorithm 3 (NOT PRIVATE): one noisy threshold for every node, scale 2/ε."""

    name: ClassVar[str] = "binary_sparse_vector"
    threshold: float = parameter(60.0, "θ, far from the counts of empty nodes", 0, 1000)

    def build(self, index, budget, noise):
        rate = budget.spend(budget.left, "tree").use() / 2
        threshold = self.threshold + noise.two_sided(1, rate)[0]
        tree = CellTree(index, index.domain.dims)
        tree.grow(lambda counts, _: counts + noise.two_sided(len(counts), rate) > threshold, 12)
        zeros = np.zeros(len(tree.parent))
        return tree.decomposition(zeros, zeros)


SURE = 1 - 1e-6


def test_a_mechanism_at_twice_the_rate_is_caught():
    """The bound of 1,500 trials is 1.52 on average, seven standard deviations above the claim."""
    result = audit(Half(factor=2.0), 1.0, trials=1500, confidence=SURE)
    assert result.violates
    assert 1.0 < result.epsilon_lower_bound <= 2.0
    assert "count" in result.event


def test_the_same_mechanism_at_its_rate_is_not():
    result = audit(Half(), 1.0, trials=4000, confidence=SURE)
    assert not result.violates
    assert result.epsilon_lower_bound > 0.7  # the loss is exactly 1: the audit has power


def test_splits_on_exact_counts_are_caught_at_once():
    result = audit(ExactSplits(), 1.0, trials=600, confidence=SURE)
    assert result.epsilon_lower_bound > 3
    assert "nodes" in result.event or "level" in result.event or "depth" in result.event


@pytest.mark.slow
@pytest.mark.campaign
def test_the_binary_sparse_vector_technique_is_caught():
    result = audit(BinarySparseVector(), 2.0, trials=10_000)
    assert result.violates
    assert "49 places" in result.neighbours


@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_that_claims_epsilon_is_refuted(name):
    chosen = tiny(name)
    domain = Domain((0.0, 0.0), (1.0, 1.0))
    nodes = chosen.build(
        PointIndex.from_cells(domain, [[5, 5]], [40]), Budget(1.0, chosen.delta), SimulatedNoise(0)
    )
    assert len(nodes) < 5000, f"{name}: give the class a `tiny` for audits"
    result = audit(chosen, 1.0, trials=100, confidence=SURE)
    assert result.epsilon_lower_bound <= 1.0
    assert result.structure_epsilon is None or result.structure_epsilon <= 1.0


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("name", [name for name in settings() if tiny(name).private])
def test_nothing_that_claims_epsilon_is_refuted_by_many_trials(name):
    """A thousand here; ``dpviz audit all --trials 20000`` takes about ten minutes."""
    assert not audit(tiny(name), 1.0, trials=1_000, confidence=SURE, seed=1).violates


def test_extremes_are_one_parameter_at_an_end_each():
    words = extremes()
    assert len(words) == len(set(words)) > 60
    assert {"privtree tree_share=0.95", "ladder_tree sharing=False", "markov mask=False"} <= set(
        words
    )
    assert {word.split()[0] for word in words} <= {*METHODS}
    for word in words:
        name, pair = word.split()
        key, value = pair.split("=")
        extreme = small(word).parameters()[key]
        assert f"{extreme:g}" == value if isinstance(extreme, float) else str(extreme) == value
        assert small(word) != small(name)
        assert small(word).private


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("word", extremes())
def test_nothing_that_claims_epsilon_is_refuted_at_its_extremes(word):
    """A hundred runs of each; ``dpviz audit extremes`` takes as many as are asked for."""
    assert not audited(small(word), 1.0, trials=100, confidence=SURE, seed=2).violates


def test_every_registered_method_and_every_preset_is_audited():
    words = settings()
    assert set(of_kind("points")) <= set(words)
    assert len(words) == len(set(words))
    audited = [tiny(word) for word in words]
    for kind in of_kind("points").values():
        assert all(tiny(preset) in audited for preset in kind.presets)


@pytest.mark.slow
@pytest.mark.campaign
def test_the_published_binary_sparse_vector_tree_is_refuted_by_its_runs():
    result = audit(tiny("binary_svt_tree"), 2.0, trials=20_000)
    assert result.epsilon_lower_bound > 2.0
    assert "49 places" in result.neighbours
    assert result.structure_epsilon > result.epsilon_lower_bound


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_published_binary_sparse_vector_tree_is_refuted_exactly(epsilon):
    """At its default parameters: nine levels below the root draw a bit of the record."""
    loss = shared_threshold_loss(method("binary_svt_tree").structure(epsilon, 2))
    assert loss > epsilon
    assert loss <= 10 * epsilon / 4  # ten bits of scale 4 / ε: no event can lose more


def test_the_loss_of_a_shared_threshold_grows_with_the_queries():
    losses = [
        shared_threshold_loss(SharedThreshold(100, scale=2.0, depth=depth, fanout=4))
        for depth in (1, 3, 5, 9, 17)
    ]
    assert losses[0] == 0.0
    assert losses == pytest.approx([0, 2 / 2, 4 / 2, 8 / 2, 16 / 2], rel=0.02)


def test_the_quadrature_over_the_threshold_agrees_with_draws():
    """Two nodes split, one does not: 400,000 draws, six standard errors (false alarm 2e-9)."""
    structure = SharedThreshold(10, scale=3.0, depth=2, fanout=4)
    nodes = [(1, 12, True), (1, 9, True), (1, 11, False)]
    random = np.random.default_rng(5)
    draws = 400_000
    threshold = 10 + random.laplace(0, 3.0, draws)
    hits = np.ones(draws, dtype=bool)
    for _, count, splits in nodes:
        hits &= (count + random.laplace(0, 3.0, draws) > threshold) == splits
    exact = math.exp(_Threshold(structure).log_outcome(nodes))
    assert abs(hits.mean() - exact) < 6 * math.sqrt(exact * (1 - exact) / draws)


def test_the_published_tree_that_splits_on_exact_counts_is_refuted_first_on_the_page():
    audits = [(name, audit(tiny(name), 1.0, trials=200, confidence=SURE))
              for name in ("ugrid", "inln_dpsd")]  # fmt: skip
    assert [each.violates for _, each in audits] == [False, True]
    assert audits[1][1].event
    text = page(audits, "audit all")
    assert text.index("`inln_dpsd` | NOT PRIVATE") < text.index("`ugrid` | 1 |")
    assert "none is refuted" in text
    assert "SO FAR WITHOUT agrid, " in text
    refuted = dataclasses.replace(audits[0][1], epsilon_lower_bound=1.5)
    assert "THESE ARE REFUTED: ugrid" in page([("ugrid", refuted)], "audit all")


def test_audit_all_refuses_what_is_for_one_method():
    for arguments in (["all", "--secure"], ["all", "--set", "height=3"], ["ugrid", "-o", "x.md"]):
        assert "audit all" in fails("audit", *arguments)


def test_audit_all_writes_its_page(monkeypatch, tmp_path):
    from dpviz.evaluation import audits

    monkeypatch.setattr(audits, "BENCHES", ["points"])
    monkeypatch.setattr(audits, "settings", lambda kind: ["ugrid", "inln_dpsd"])
    path = tmp_path / "audit.md"
    words = ["audit", "all", "--trials", "100", "--processes", "1", "-o", path]
    output = as_json(*words)["audits"]
    assert {row["setting"]: row["violates"] for row in output} == {
        "ugrid": False,
        "inln_dpsd": True,
    }
    assert "`inln_dpsd`" in path.read_text()


def test_the_secure_source_can_be_audited():
    result = audit(tiny("ugrid"), 1.0, trials=100, confidence=SURE, secure=True)
    assert result.secure
    assert result.epsilon_lower_bound <= 1.0


@pytest.mark.parametrize("dims", [1, 2, 4])
def test_neighbours_differ_by_one_record_inside_the_domain(dims):
    domain = Domain((0.0,) * dims, (1.0,) * dims)
    cases = list(neighbours(method("privtree"), 0.5, domain))
    assert len({case.name for case in cases}) == len(cases) >= 8
    for case in cases:
        assert case.cells.shape == (len(case.weights), dims)
        for cells in (case.cells, case.target):
            assert (cells >= 0).all()
            assert (cells < domain.side).all()


def test_the_deep_chain_leaves_one_record_at_every_level():
    domain = Domain((0.0, 0.0), (1.0, 1.0))
    (chain,) = (
        case for case in neighbours(method("privtree"), 2.0, domain) if "chain" in case.name
    )
    for level in range(12):
        shift = domain.bits - 1 - level
        together = (chain.cells >> (shift + 1) == chain.target >> (shift + 1)).all(axis=1)
        assert together.sum() == 12 - level


def test_features_of_a_known_tree():
    side = 1 << 26
    half = side // 2
    lo = [[0, 0], [0, 0], [0, half], [half, 0], [half, half]]
    hi = [[side, side], [half, half], [half, side], [side, half], [side, side]]
    nodes = Decomposition(lo, hi, [-1, 0, 0, 0, 0], [10.0, 4.0, 3.0, 2.0, 1.0], np.ones(5))
    by_name = dict(
        zip(feature_names(2), features(nodes, np.array([5, half + 5]), side), strict=True)
    )
    assert by_name["nodes"] == 5
    assert by_name["level of the record's leaf"] == 1
    assert by_name["count of the record's leaf"] == 3
    assert by_name["count outside the record's leaf"] == 7
    assert by_name["splits away from the record"] == 0
    assert by_name["size of the record's leaf (halvings)"] == 2
    assert by_name["count near the record (1/16 of each axis)"] == pytest.approx(3 / 64)


def test_limits_are_those_of_the_binomial_test():
    for hits, n in [(0, 50), (7, 50), (49, 50), (50, 50)]:
        low, high = clopper_pearson(hits, n, 0.01)
        if hits:
            assert stats.binom.sf(hits - 1, n, low) == pytest.approx(0.01, rel=1e-6)
        if hits < n:
            assert stats.binom.cdf(hits, n, high) == pytest.approx(0.01, rel=1e-6)


def test_the_bound_holds_with_the_stated_confidence():
    """P(event) = 0.5 and 0.5/e: the true ε is 1. Exact probability of a wrong bound, no draws."""
    n, alpha = 200, 0.05
    more, fewer = stats.binom(n, 0.5), stats.binom(n, 0.5 / math.e)
    wrong = sum(
        more.pmf(i) * fewer.pmf(j)
        for i in range(70, 140)
        for j in range(10, 70)
        if epsilon_bound(i, j, n, alpha) > 1.0
    )
    assert 0 < wrong <= alpha


def test_delta_is_taken_off():
    assert epsilon_bound(500, 100, 1000, 0.01, delta=0.2) < epsilon_bound(500, 100, 1000, 0.01)
    assert epsilon_bound(100, 0, 1000, 0.01, delta=0.2) == 0.0


@pytest.mark.parametrize("accounting", ["paper", "tight", "exact"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_exact_loss_of_privtree_is_what_its_constant_promises(accounting, epsilon):
    chosen = method("privtree", accounting=accounting)
    structure = chosen.structure(epsilon, 2)
    scale = chosen.scale(epsilon / 2, 4)
    adding, removing = chain_losses(structure)
    assert adding <= exact_loss(scale, 4) * (1 + 1e-9) <= tight_constant(4) / scale * (1 + 1e-9)
    assert adding > 0.85 * exact_loss(scale, 4)  # whole counts miss the supremum by little
    assert removing <= epsilon / 2
    assert adding <= epsilon / 2 * (1 + 1e-9)


def test_the_exact_loss_by_brute_force():
    """Every chain of three counts and every depth at which the path may end."""

    def no_split(counts, depth):
        return 1 / (1 + np.exp(0.7 * (np.asarray(counts, dtype=float) - 2 * depth)))

    most, depth = 5, 3
    best_adding, best_removing = -math.inf, -math.inf
    chains = [(a, b, c) for a in range(most + 1) for b in range(a + 1) for c in range(b + 1)]
    for chain in chains:
        for end in range(depth + 1):
            loss = 0.0
            for level in range(end):
                count = chain[level]
                loss += math.log1p(-no_split(count + 1, level)) - math.log1p(
                    -no_split(count, level)
                )
            if end < depth:
                count = chain[end]
                loss += math.log(no_split(count + 1, end)) - math.log(no_split(count, end))
            best_adding, best_removing = max(best_adding, loss), max(best_removing, -loss)
    losses = chain_losses(Structure(no_split, 0.0, depth, most, price=1, rest=0))
    assert losses == pytest.approx((best_adding, best_removing))


def test_the_command_prints_the_contract():
    output = as_json("audit", "ugrid", "--epsilon", "0.5", "--trials", "100")
    assert {"method", "epsilon", "epsilon_lower_bound", "confidence", "event", "trials"} <= set(
        output
    )
    assert (output["method"], output["epsilon"], output["trials"]) == ("ugrid", 0.5, 100)
    assert output["epsilon_lower_bound"] <= 0.5
    assert output["violates"] is False


@pytest.mark.parametrize(
    ("change", "message"),
    [({"trials": 99}, "at least 100"), ({"confidence": 1.0}, "between 0 and 1")],
)
def test_bad_settings_get_one_clear_line(change, message):
    with pytest.raises(ParameterError, match=message):
        audit(Half(), 1.0, **change)


def test_a_word_without_a_value_and_none_at_all_are_named():
    with pytest.raises(ParameterError, match="no parameter 'foo'"):
        small("privtree foo")
    with pytest.raises(ParameterError, match="unknown method ' '"):
        small(" ")


@pytest.mark.parametrize("name", ["ugrid", "markov", "basic", "areas"])
def test_an_audit_whose_inputs_would_not_fit_is_refused(name):
    with pytest.raises(ParameterError, match="epsilon=1e-300: an audit needs at least"):
        audited(small(name), 1e-300, trials=100)
