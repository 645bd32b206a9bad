"""The audit catches mechanisms that are broken and leaves sound ones alone.

Every audit runs at confidence 1 − 1e-6, so the false-positive rate is at most
1e-6 whatever the seed.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.evaluation.audit import audit, small_builds
from dpviz.evaluation.audits import settings, small_method, table
from dpviz.evaluation.events import clopper_pearson, epsilon_bound
from dpviz.evaluation.exact import _Threshold, chain_losses, shared_threshold_loss
from dpviz.evaluation.point_audit import feature_names, features, point_cases
from dpviz.methods import METHODS, method, of_kind
from dpviz.methods.points.base import PointMethod, parameter
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.trees.decomposition import Decomposition
from tests.commands import as_json, fails

PRIVATE = [
    *(name for name, cls in sorted(METHODS.items()) if cls.kind != "roads" and cls().private),
    *settings("roads"),
]


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


SURE = 1 - 1e-6


@pytest.mark.slow
def test_a_mechanism_at_twice_the_rate_is_caught():
    """The bound of 1,500 trials is 1.52 on average, seven standard deviations above the claim."""
    result = audit(Half(factor=2.0), 1.0, trials=1500, confidence=SURE)
    assert result.violates
    assert 1.0 < result.epsilon_lower_bound <= 2.0
    assert "count" in result.event


@pytest.mark.slow
def test_a_mechanism_at_its_own_rate_is_not_refuted():
    result = audit(Half(), 1.0, trials=4000, confidence=SURE)
    assert not result.violates
    assert result.epsilon_lower_bound > 0.7  # the loss is exactly 1: the audit detects most of it


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_that_claims_epsilon_is_refuted(name):
    """An output that occurs on one neighbour only would give a bound of 1.3 or more."""
    assert not audit(small_method(name), 1.0, trials=100, confidence=SURE).violates


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("name", [name for name in settings() if small_builds(name).private])
def test_nothing_that_claims_epsilon_is_refuted_by_many_trials(name):
    """A thousand here; ``dpviz audit all --trials 20000`` takes about ten minutes."""
    assert not audit(small_builds(name), 1.0, trials=1_000, confidence=SURE, seed=1).violates


STEERING = ("axes", "switch")
"""Whole-number parameters that steer a method; the others, sizes, stay small."""

FAR = 100.0
"""A threshold beyond is never reached by an audit's records, and far below zero all is split."""


def extremes():
    """Every method that claims privacy, with one parameter at an end or at another choice."""
    for kind in ("points", "sequences", "areas"):
        for name, cls in sorted(of_kind(kind).items()):
            low = {"max_depth": 4} if kind == "points" and "max_depth" in cls().parameters() else {}
            for key, field in cls.parameter_fields().items():
                limits, value = field.metadata["parameter"], small_method(name).parameters()[key]
                whole = str(field.type).startswith("int")
                ends = list(limits.choices) or [limits.low, limits.high]
                if isinstance(value, bool):
                    ends = [False, True]
                elif not limits.choices and (key not in STEERING if whole else limits.high > FAR):
                    ends = [] if whole else [max(0.0, limits.low), FAR]
                elif key == "axes":
                    ends = [1, 2]
                for end in ends:
                    chosen = {**low, key: end}
                    if end != value and small_method(name, **chosen).private:
                        yield name, chosen


def test_every_method_has_extremes():
    every = list(extremes())
    assert len(every) > 50
    for case in (("ladder_tree", "sharing", False), ("markov", "mask", False)):
        assert case in [(name, key, chosen[key]) for name, chosen in every for key in chosen]


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize(("name", "chosen"), list(extremes()))
def test_nothing_that_claims_epsilon_is_refuted_at_its_extremes(name, chosen):
    assert not audit(
        small_method(name, **chosen), 1.0, trials=100, confidence=SURE, seed=2
    ).violates


def test_every_registered_method_and_every_preset_is_audited():
    words = settings()
    assert set(of_kind("points")) <= set(words)
    assert len(words) == len(set(words))
    audited = [small_builds(word) for word in words]
    for kind in of_kind("points").values():
        assert all(small_builds(preset) in audited for preset in kind.presets)


@pytest.mark.slow
@pytest.mark.campaign
def test_the_published_binary_sparse_vector_tree_is_refuted_by_its_runs():
    result = audit(small_builds("binary_svt_tree"), 2.0, trials=20_000)
    assert result.epsilon_lower_bound > 2.0
    assert "49 places" in result.neighbours
    assert result.structure_epsilon > result.epsilon_lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_published_binary_sparse_vector_tree_is_refuted_exactly(epsilon):
    """At its default parameters: nine levels below the root draw a bit of the record."""
    loss = shared_threshold_loss(method("binary_svt_tree").structure(epsilon, 2))
    assert loss > epsilon
    assert loss <= 10 * epsilon / 4  # ten bits of scale 4 / ε: no event can lose more


@pytest.mark.slow
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


@pytest.mark.slow
def test_audit_all_prints_a_table_with_refuted_methods_first(monkeypatch):
    from dpviz.evaluation import audits

    monkeypatch.setattr(audits, "SUBJECTS", ["points"])
    monkeypatch.setattr(audits, "settings", lambda kind: ["ugrid", "inln_dpsd"])
    words = ["audit", "all", "--trials", "200"]
    rows = as_json(*words)["audits"]
    assert {row["setting"]: row["violates"] for row in rows} == {"ugrid": False, "inln_dpsd": True}
    assert {"epsilon_lower_bound", "event", "structure_epsilon", "exact_epsilon"} <= set(rows[0])
    text = "\n".join(
        table([(word, audit(small_method(word), trials=200)) for word in audits.settings("")])
    )
    assert text.index("`inln_dpsd` | NOT PRIVATE") < text.index("`ugrid` | 1 |")
    assert "--set is for one method" in fails("audit", "all", "--set", "height=3")


@pytest.mark.slow
def test_the_secure_source_can_be_audited():
    result = audit(small_builds("ugrid"), 1.0, trials=100, confidence=SURE, secure=True)
    assert result.secure
    assert result.epsilon_lower_bound <= 1.0


@pytest.mark.parametrize("dims", [1, 2, 4])
def test_neighbours_differ_by_one_record_inside_the_domain(dims):
    domain = Domain((0.0,) * dims, (1.0,) * dims)
    cases = list(point_cases(method("privtree"), 0.5, domain))
    assert len({case.name for case in cases}) == len(cases) >= 8
    for case in cases:
        assert case.larger.total == case.smaller.total + 1
        assert (case.larger.cells < domain.side).all()
        box = case.target[None], case.target[None] + 1
        assert case.larger.box_counts(*box) == case.smaller.box_counts(*box) + 1


def test_the_deep_chain_leaves_one_record_at_every_level():
    domain = Domain((0.0, 0.0), (1.0, 1.0))
    (chain,) = (
        case for case in point_cases(method("privtree"), 2.0, domain) if "chain" in case.name
    )
    for level in range(12):
        shift = domain.bits - 1 - level
        cells = chain.smaller.cells
        together = (cells >> (shift + 1) == chain.target >> (shift + 1)).all(axis=1)
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


@pytest.mark.slow
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


def test_the_bound_on_epsilon_falls_with_delta():
    assert epsilon_bound(500, 100, 1000, 0.01, delta=0.2) < epsilon_bound(500, 100, 1000, 0.01)
    assert epsilon_bound(100, 0, 1000, 0.01, delta=0.2) == 0.0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_exact_loss_of_privtree_is_what_its_constant_promises(epsilon):
    """At most ε_tree; the supremum is 0.79 of it, and whole counts miss that by little."""
    adding, removing = chain_losses(method("privtree").structure(epsilon, 2))
    assert 0.6 * epsilon / 2 < adding <= epsilon / 2
    assert removing <= epsilon / 2


def test_the_exact_loss_equals_brute_force():
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
    losses = chain_losses(Structure(no_split, 0.0, depth, most, price=1, other_epsilon=0))
    assert losses == pytest.approx((best_adding, best_removing))


@pytest.mark.slow
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
        small_method("privtree", foo=1)
    with pytest.raises(ParameterError, match="unknown method ' '"):
        small_method(" ")


@pytest.mark.parametrize("name", ["ugrid", "markov", "basic", "areas"])
def test_an_audit_whose_inputs_would_not_fit_is_refused(name):
    with pytest.raises(ParameterError, match="epsilon=1e-300: an audit needs at least"):
        audit(small_method(name), 1e-300, trials=100)
