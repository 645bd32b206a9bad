"""The one driver: data of any kind, a method and a budget in; a release out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from dpviz.checks import NUMPY_ERRORS, flag, require, texts, whole
from dpviz.domain import Domain
from dpviz.errors import DataError, ParameterError
from dpviz.methods import Method
from dpviz.methods.areas.base import AreaMethod
from dpviz.methods.request import by_area, chosen_method, promises
from dpviz.methods.roads.base import Measured, RoadMethod, RoadTask
from dpviz.methods.sequences.base import SequenceTask
from dpviz.private.areas import AreaData
from dpviz.private.blocks import BlockNoise
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.driver import Price, header_of, noise_for
from dpviz.private.flows import FlowData
from dpviz.private.handle import DataHandle, Handle, R
from dpviz.private.index import PointIndex
from dpviz.private.layers import checked_share, measure_points
from dpviz.private.ledger import Ledger
from dpviz.private.ledger.names import checked_name
from dpviz.private.load.tables.memory import array_points
from dpviz.private.mechanisms.sources import Noise
from dpviz.private.parallel import in_parallel
from dpviz.private.payment import USER_LEDGER, payment
from dpviz.private.roads import DISJOINT_STEPS, RoadData
from dpviz.private.sequences import SequenceData
from dpviz.private.slots import SlotNoise
from dpviz.progress import Progress, Reports, listening
from dpviz.releases.areas.partition import Areas
from dpviz.releases.axis import Axis, common_extra
from dpviz.releases.counts import AreaRelease
from dpviz.releases.header import Header
from dpviz.releases.points.sums import Sums
from dpviz.releases.release import Release
from dpviz.releases.roads.streets import Streets
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.releases.split import count_release
from dpviz.roads.paths import Paths
from dpviz.trees.prior import Prior

Result = tuple[Callable[[Header], Release], dict[str, Any]]
"""Result of a method: a function from header to release, and entries for the header."""


@np.errstate(**NUMPY_ERRORS)
def from_points(
    points: ArrayLike, domain: Domain, *, public: bool = False, name: str = "points"
) -> DataHandle:
    """A handle on coordinates in memory, shape (n, dims), in the domain's CRS.

    Points outside the domain, and rows that are no numbers, are dropped and not counted anywhere. A
    time is in seconds since 1970 UTC, also where the domain's axis is a cycle.

    Raises:
        DataError: not an array of numbers, wrong number of columns, or not a Domain.
    """
    require(domain, Domain, "domain", DataError)
    public = flag(public, "public", DataError)
    if hasattr(points, "columns"):
        raise DataError("a table in memory is not an array: give it to dpviz.load(frame, domain)")
    name = checked_name(name)
    places = array_points(points, domain)
    if domain.cycle is not None:
        places = np.column_stack([places[:, :-1], domain.on_axis(places[:, -1])])
    return DataHandle(name, domain, PointIndex.from_points(domain, places), public=public)


@overload
def build(
    data: DataHandle,
    method: str | Method | None = None,
    epsilon: float = 1.0,
    *,
    areas: Areas | str,
    **options: Any,
) -> AreaRelease: ...
@overload
def build(
    data: Handle[R],
    method: str | Method | None = None,
    epsilon: float = 1.0,
    *,
    areas: None = None,
    **options: Any,
) -> R: ...
@np.errstate(**NUMPY_ERRORS)
def build(
    data: Handle[Any],
    method: str | Method | None = None,
    epsilon: float = 1.0,
    *,
    areas: Areas | str | None = None,
    every: str | None = None,
    delta: float | None = None,
    weighted: bool = False,
    workload: Any = None,
    prior: Prior | str | os.PathLike[str] | None = None,
    neighbours: str = "add-remove",
    simulate: bool = False,
    seed: int | None = None,
    ledger: Ledger | None = USER_LEDGER,
    purpose: str = "",
    declare_public: bool = False,
    wishes: Iterable[str] = (),
    sum_share: float | None = None,
    progress: Progress | None = None,
    conclude: bool = True,
    **parameters: Any,
) -> Any:
    """Spend epsilon on one release.

    Args:
        data: points, flows, sequences or trips along roads, from :func:`dpviz.load`.
        method: a registered name or alias, or a method instance; by default ``ladder_tree`` on
            points, ``markov`` on sequences, ``event-histogram`` on roads, ``areas`` with areas,
            ``pairs`` on flows.
        epsilon: the whole price for one privacy unit.
        areas: public areas to count points in, instead of cells: from :func:`dpviz.read_areas` or
            :func:`dpviz.hexagons`, or a file's path, ``h3:8`` or ``rect=W,S,E,N;rect=…``. Points
            with time or kinds are counted per area, step and kind, at the same price.
        every: with ``areas``, the step of time, such as ``1d`` or ``1mo``; by default that of the
            domain.
        delta: the whole delta; by default the least that the method needs. With a larger one,
            tables of areas, ``ugrid`` with ``cells`` and ``quadtree`` with ``top`` count persons
            instead of records: each in at most ``max_per_unit`` slots (a cell or area, in a step,
            of a kind), once in each. Noise is Gaussian where that is smaller than pure noise;
            otherwise the release is ε-DP and costs no delta. See ``dpviz expect``. Other pure
            methods count each person once in each of up to this number of kinds
            (:mod:`dpviz.private.blocks`).
        weighted: with a delta, for areas: a person of n > K slots adds √(K/n) to each of them,
            instead of 1 to K of them (:func:`dpviz.private.load.persons.weights`).
        workload: purpose of the release, never drawn from the records. On roads, public paths that
            some methods are tuned for, or as in :func:`dpviz.workload_of`. On points "uniform",
            "hot", "districts", or public rectangles: a public rule
            (:mod:`dpviz.methods.points.declared`) then sets the parameters that are not given, and
            the header records them; a method instance keeps its own. For ``dawa`` also a number:
            queries of each size.
        prior: PUBLIC data about the same place, from :func:`dpviz.prior`, or their file:
            ``ladder_tree`` follows them where the noisy counts agree with them. They cost nothing.
        neighbours: "add-remove" of a record, or "replace" one: at half the ε, since replacing is
            removing and adding.
        simulate: fast NumPy noise, NOT PRIVATE; accepted only for public data.
        seed: makes a simulation repeatable; implies ``simulate``.
        ledger: pays for a release of sensitive data under the handle's names, on disk before any
            noise is drawn; this user's by default. With None the caller keeps the account, and the
            release says so. Public data cost nothing.
        purpose: note in the ledger on what the release is for; for sensitive data.
        declare_public: allow public records whose name the ledger records as sensitive.
        wishes: accuracy targets of a release of points, see :func:`dpviz.plan`: its header states
            them as promises. They change nothing else.
        sum_share: share of epsilon for the sums of values, of points or areas; half by default.
        progress: called with (fraction, what); may raise to cancel. A payment is not refunded.
        conclude: mark the release as released in the ledger before returning; with False the
            caller does so, by :meth:`Ledger.record_outcome`, once it is on disk.
        **parameters: parameters of the method.

    Raises:
        ParameterError: an unknown method, parameter or relation, a value out of range, a method on
            another kind of data, a workload that is missing or not taken, an invalid wish, or a
            value of the wrong type.
        DataError: data not from :func:`dpviz.load`, or a query of the workload that is not a path.
        PrivacyError: simulated noise, or a method without a guarantee, on sensitive data; or data
            declared public that the ledger knows as sensitive.
        BudgetError: the ledger has not enough left. Nothing was spent.
        LedgerError: the ledger cannot be read or written. Nothing was spent.
    """
    require(data, Handle, "data", ParameterError)
    require(method, str | Method | None, "method", ParameterError)
    require(areas, Areas | str | None, "areas", ParameterError)
    require(every, str | None, "every", ParameterError)
    require(prior, Prior | str | os.PathLike | None, "prior", ParameterError)
    require(ledger, Ledger | None, "ledger", ParameterError)
    require(progress, Callable | None, "progress", ParameterError)
    simulate = flag(simulate, "simulate", ParameterError)
    declare_public = flag(declare_public, "declare_public", ParameterError)
    weighted = flag(weighted, "weighted", ParameterError)
    seed = None if seed is None else whole(seed, "seed", ParameterError)
    wishes = texts(wishes, "wishes", ParameterError)
    if purpose and data.public:
        raise ParameterError(
            f"purpose={purpose!r}: public data are not entered in the ledger: leave purpose out"
        )
    if declare_public and (data.synthetic or not data.public):
        raise ParameterError(
            "declare_public=True is for records loaded with public=True: give both, or neither"
        )
    if areas is not None:
        data = by_area(data, areas, every)
    elif every is not None:
        raise ParameterError(f"every={every!r} is the step of a table: give areas too")
    chosen, queries, declared = chosen_method(data, method, workload, parameters, prior)
    epsilon = positive_epsilon(epsilon)
    stated = promises(data, wishes)
    price = Price.of(data, chosen, epsilon, delta, neighbours, weighted)
    reports = None if progress is None else Reports(progress)
    noise = noise_for(data, chosen, simulate=simulate, seed=seed, progress=reports)
    budget = price.budget()
    if isinstance(data, DataHandle | AreaData):
        least = chosen.least_part(data.areas) if isinstance(data, AreaData) else 1.0
        sum_share = checked_share(data.domain, chosen, budget.epsilon, sum_share, least)
    elif sum_share is not None:
        raise ParameterError(
            f"sum_share={sum_share!r}: these data have no values: leave sum_share out"
        )
    with (
        listening(reports),
        payment(
            ledger,
            data,
            chosen.name if price.slots is None else f"{chosen.name} ({price.slots.words})",
            price.epsilon,
            price.delta,
            purpose,
            neighbours=neighbours,
            declare_public=declare_public,
            conclude=conclude,
            rho=getattr(price.slots, "rho", None),
        ) as receipt,
    ):
        release, facts = _measured(
            data, chosen, budget, noise, queries, reports, sum_share, price.slots
        )
        facts["extra"] = facts.get("extra", {}) | data.facts | declared | stated | receipt
        return release(header_of(data, chosen, noise, budget, price, **facts))


def _measured(
    data: Handle[Any],
    method: Any,
    budget: Budget,
    noise: Noise,
    workload: Paths,
    progress: Progress | None,
    sum_share: float | None,
    slots: SlotNoise | BlockNoise | None,
) -> Result:
    """Spend the budget; the only function that distinguishes the kinds of data."""
    if isinstance(data, DataHandle):
        layers = data._layers
        if slots is not None:
            layers = data._by_person(method.grid(data.domain.counts_only), slots.bound)
        release, facts = measure_points(data.domain, layers, method, budget, noise, sum_share)
        if data.bits != data.domain.bits:
            facts = {**facts, "extra": {**facts.get("extra", {}), "bits": data.bits}}
        return release, facts
    if isinstance(data, AreaData):
        return _measured_areas(data, method, budget, noise, sum_share, slots)
    if isinstance(data, FlowData):
        nodes, each = method.build(data.flows, data.parts, *data._counted, budget, noise)
        pairs = [(data.flows, nodes.replace(count=row), None) for row in each]
        return lambda header: count_release(data.by, pairs, header), {}
    if isinstance(data, RoadData):
        return _measured_roads(data, method, budget, noise, workload, progress)
    if not isinstance(data, SequenceData):
        raise ParameterError(
            f"data of kind {data.kind!r} cannot be built from: give a handle of dpviz.load"
        )
    model = method.build(SequenceTask(data._sequences, data.alphabet, budget, noise))
    return lambda header: SequenceRelease(data.alphabet, model, header), {}


def _measured_areas(
    data: AreaData,
    method: AreaMethod,
    budget: Budget,
    noise: Noise,
    sum_share: float | None,
    slots: SlotNoise | BlockNoise | None,
) -> Result:
    """Counts of all areas in all parts; with values their sums too, which are paid for first."""
    areas, values, sums = data.areas, data.domain.values, list[Sums]()
    if values is not None and sum_share is not None:
        total, spread = method.build_sums(areas, data._sums, values, budget, noise, sum_share)
        sums = [Sums(row, spread) for row in np.atleast_2d(total)]
    exact = data._counts if slots is None else data._by_person(slots.bound, slots.weighted)
    counts, variance = method.build(areas, exact, budget, noise)
    each = np.atleast_2d(counts)
    first = areas.nodes(each[0], variance)
    trees = [(areas, first.replace(count=row), one) for row, one in zip_longest(each, sums)]
    return lambda header: count_release(data.by, trees, header), {}


def _measured_roads(
    data: RoadData,
    method: RoadMethod,
    budget: Budget,
    noise: Noise,
    workload: Paths,
    progress: Progress | None,
) -> Result:
    """Histogram of all trips; with time, one per time step (parallel composition)."""

    def histogram(trips: Paths, alone: Budget) -> Measured:
        how = workload, alone, noise, progress, data.longest
        return method.build(RoadTask(data.graph, trips, *how))

    if data.steps is None:
        each = [histogram(data._trips, budget)]
        extra = each[0].extra
    else:
        purpose = "the histogram of each step"
        each = in_parallel(budget, data._by_step, histogram, purpose=purpose, why=DISJOINT_STEPS)
        extra = common_extra([measured.extra for measured in each])
    by = None if data.steps is None else Axis(steps=data.steps)
    trees = [
        (
            Streets(data.graph, measured.domains),
            measured.nodes.replace(measured=measured.variance),
            None,
        )
        for measured in each
    ]
    return lambda header: count_release(by, trees, header), {"extra": extra}
