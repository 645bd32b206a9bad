"""Contract of every method on all kinds of data: points, areas, roads, sequences."""

from functools import cache

import numpy as np
import pytest

import dpviz
from dpviz.errors import PrivacyError
from dpviz.methods import METHODS, names
from dpviz.methods import method as find
from dpviz.methods.request import DEFAULT_METHODS
from dpviz.private import driver
from dpviz.private.areas import AreaData
from dpviz.private.flows import FlowData
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.roads.generate import commuter_trips
from dpviz.roads.paths import Paths
from dpviz.sequences.alphabet import Alphabet
from tests.roads.conftest import grid
from tests.strategies import watched_noise

from .cases import CASES, handle, quick, skewed_points

COMBINED = ("min+opt+tru", "tru+best+min", "random+boost", "hm+tru", "min+opt")
KINDS = ("areas", "flows", "roads", "sequences")
EVERY = [*CASES, *((name, kind) for kind in KINDS for name in names(kind))]
EVERY += [(name, "roads") for name in COMBINED]
every = pytest.mark.parametrize(
    ("name", "kind"), EVERY, ids=[f"{name}-{kind}" for name, kind in EVERY]
)


@cache
def street_trips():
    graph = grid(6)
    return graph, commuter_trips(graph, 200, mean_edges=4, hubs=9, seed=3)


def records(kind, *, turned=False, none=False, public=True, name="test", **unit):
    """A few hundred records of a kind, or in a number of dimensions; in another order; none."""
    how = {"public": public, **unit}
    if kind == "sequences":
        rows = [] if none else [[0, 1, 2, 0], [0, 1], [2], [1, 1, 1]] * 40
        alphabet = Alphabet(("a", "b", "c"))
        return SequenceData(name, alphabet, Sequences.of(rows[::-1] if turned else rows), **how)
    if kind == "roads":
        graph, trips = street_trips()
        order = np.random.default_rng(0).permutation(0 if none else len(trips))
        return RoadData(name, graph, trips.take(order if turned else np.sort(order)), **how)
    if kind == "flows":
        flows = dpviz.Flows(dpviz.hexagons(1, dpviz.Domain((0.0, 0.0), (1.0, 1.0))))
        cells = np.random.default_rng(0).integers(0, flows.shape[0], (0 if none else 400, 3))
        return FlowData(name, flows, (cells[::-1] if turned else cells) * [0, 1, 1], **how)
    dims = 2 if kind == "areas" else kind
    points = np.empty((0, dims)) if none else skewed_points(400, dims)
    points = handle(points[::-1] if turned else points, dims, **how)
    return points if kind != "areas" else AreaData(points, dpviz.hexagons(1, points.domain))


def built(name, kind, epsilon=1.0, *, seed=7, neighbours="add-remove", **data):
    how = {"workload": Paths.of([[0, 1, 2], [3, 4]])} if kind == "roads" else {}
    how |= quick(name, kind) if name and isinstance(kind, int) else {}
    return dpviz.build(
        records(kind, **data), name, epsilon, seed=seed, neighbours=neighbours, **how
    )


@cache
def usual(name, kind):
    return built(name, kind)


@every
def test_the_order_of_records_changes_nothing(name, kind):
    assert built(name, kind, turned=True).to_arrow().equals(usual(name, kind).to_arrow())


@every
def test_rows_of_the_budget_add_up_to_epsilon_and_name_their_theorem(name, kind):
    header = usual(name, kind).header
    spent = sum(row["epsilon"] for row in header.budget)
    assert spent == pytest.approx(1.0 if find(name).private else spent)
    assert spent <= 1.0
    assert all(row["theorem"] for row in header.budget)
    assert not header.private  # its noise is simulated
    assert set(header.parameters) == set(find(name).parameter_fields())


@pytest.mark.parametrize(("name", "kind"), [case for case in EVERY if case[1] in KINDS])
def test_empty_data_are_released_like_any_other(name, kind):
    """Points: with one record, too, in test_contract.py."""
    assert built(name, kind, 0.1, none=True).header.epsilon == 0.1


@every
def test_a_saved_release_is_read_back_identical(name, kind, tmp_path):
    release = usual(name, kind)
    again = dpviz.read(release.save(tmp_path / "release.parquet"))
    assert again.header == release.header
    assert again.to_arrow().equals(release.to_arrow())


@every
def test_methods_without_a_guarantee_say_so_and_refuse_sensitive_data(name, kind):
    with pytest.raises(PrivacyError, match="NOT PRIVATE"):
        built(name, kind, public=False)
    if find(name).private:
        assert built(name, kind, public=False, seed=None).header.private
        return
    with pytest.raises(PrivacyError, match="NO PRIVACY GUARANTEE"):
        built(name, kind, public=False, seed=None)
    assert usual(name, kind).header.guarantee.startswith("NOT PRIVATE")
    cls = METHODS[find(name).name]
    assert cls.guarantee != "none" or "NOT PRIVATE" in cls.__doc__


@every
def test_noise_is_drawn_by_mechanisms_only(name, kind, monkeypatch):
    """Every draw of a method happens in a mechanism, and no mechanism draws without a share."""
    noise, callers = watched_noise()
    monkeypatch.setattr(driver, "SimulatedNoise", lambda _: noise)
    built(name, kind)
    allowed = ("dpviz.private.mechanisms.", "dpviz.private.roads")  # trips are cut at random
    assert all(caller.startswith(allowed) for caller in callers)


@pytest.mark.parametrize(("name", "kind"), [case for case in EVERY if find(case[0]).private])
def test_replacing_a_unit_of_three_records_costs_six_times_as_much(name, kind):
    """ε for one unit is ε/(2 · 3) for one record: the same draws as at that price."""
    dear = built(name, kind, 6.0, neighbours="replace", max_per_unit=3, unit="one person")
    assert "replace one person" in dear.header.neighbouring
    assert sum(row["epsilon"] for row in dear.header.budget) == pytest.approx(6.0)
    for one, other in zip(
        dear.to_arrow().columns, usual(name, kind).to_arrow().columns, strict=True
    ):
        if str(one.type) == "double":
            np.testing.assert_allclose(one, other, rtol=1e-6)
        else:
            assert one.equals(other)


@pytest.mark.parametrize("kind", [1, 2, 3, 4, *KINDS])
def test_the_default_method_works_on_every_kind_of_data_in_every_dimension(kind):
    release = built(None, kind)
    assert release.header.method == DEFAULT_METHODS["points" if kind in (1, 2, 3, 4) else kind]
