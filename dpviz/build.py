"""The one driver: a data handle, a method and a budget in; a release out."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from dpviz.crs import known_crs
from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods.points import PointMethod
from dpviz.methods.points import method as find_method
from dpviz.private.budget import Budget, per_record, positive_epsilon
from dpviz.private.driver import header_of, noise_for, relation
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.ledger import Account, Ledger, account_key
from dpviz.private.load.counts import save_counts
from dpviz.private.load.names import recognised_columns
from dpviz.private.load.points import columns as source_columns
from dpviz.private.load.sources import from_frame, load, public_extent, stated_domain
from dpviz.private.payment import USER_LEDGER, Accountable, payment, require_public
from dpviz.progress import Progress
from dpviz.releases.points.release import PointRelease

__all__ = [
    "Account",
    "Accountable",
    "DataHandle",
    "Ledger",
    "account_key",
    "build",
    "from_frame",
    "from_points",
    "load",
    "public_extent",
    "recognised_columns",
    "require_public",
    "save_counts",
    "source_columns",
    "stated_domain",
]


def from_points(
    points: ArrayLike, domain: Domain, *, public: bool = False, name: str = "points"
) -> DataHandle:
    """A handle on coordinates in memory, shape (n, dims), in the domain's CRS.

    Points outside the domain are dropped and not counted anywhere.
    """
    return DataHandle(name, domain, PointIndex.from_points(domain, points), public=public)


def build(
    handle: DataHandle,
    method: str | PointMethod = "privtree",
    epsilon: float = 1.0,
    *,
    delta: float | None = None,
    simulate: bool = False,
    seed: int | None = None,
    ledger: Ledger | None = USER_LEDGER,
    purpose: str = "",
    declare_public: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> PointRelease:
    """Spend epsilon on one release.

    Args:
        handle: from :func:`dpviz.load` or :func:`from_points`.
        method: a registered name or alias, or a method instance.
        epsilon: the whole price for one privacy unit.
        delta: the whole delta; the least that the method needs by default.
        simulate: fast NumPy noise, NOT PRIVATE; accepted only for public data.
        seed: makes a simulation repeatable; implies ``simulate``.
        ledger: pays for a release of sensitive data under the handle's names, on disk before any
            noise is drawn; this user's by default. With None the caller keeps the account, and the
            release says so. Public data cost nothing.
        purpose: what the release is for, in the ledger's words.
        declare_public: insist that data are public that the ledger knows as sensitive.
        progress: called with (fraction, what); may raise to cancel. What is paid stays paid.
        **parameters: knobs of the method.

    Raises:
        ParameterError: an unknown method or parameter, or a value out of range.
        PrivacyError: simulated noise, or a method without a guarantee, on sensitive data; or data
            declared public that the ledger knows as sensitive.
        BudgetError: the ledger has not enough left. Nothing was spent.
        LedgerError: the ledger cannot be read or written. Nothing was spent.
    """
    chosen = find_method(method, **parameters) if isinstance(method, str) else method
    epsilon = positive_epsilon(epsilon)
    if handle.domain.dims not in chosen.dims:
        able = " or ".join(f"{dims}-D" for dims in chosen.dims)
        raise ParameterError(
            f"method {chosen.name} works in {able}, the data is {handle.domain.dims}-D: "
            "choose another method"
        )
    chosen.check(handle.domain)
    if handle.domain.dims == 2:  # the release's file states the CRS of its rectangles
        known_crs(handle.domain.crs)
    noise = noise_for(handle, chosen, simulate=simulate, seed=seed, progress=progress)
    delta = _checked_delta(chosen, delta)
    # Group privacy: at ε/k for one record, k records of one unit cost ε wherever they fall.
    group = handle.max_per_unit
    step = per_record(epsilon, group)
    growth = group_growth(step, group)
    budget = Budget(step, delta / growth)
    with payment(
        ledger, handle, chosen.name, epsilon, delta, purpose, declare_public=declare_public
    ) as receipt:
        nodes = chosen.build(handle._index, budget, noise)
        header = header_of(
            handle,
            chosen,
            noise,
            budget,
            epsilon=epsilon,
            delta=delta,
            neighbouring=relation("add-remove", handle.unit),
            steps=group,
            growth=growth,
            noise=chosen.noise_model(nodes),
            extra=receipt,
        )
        return PointRelease(handle.domain, nodes, header)


def group_growth(epsilon: float, group: int) -> float:
    """How many times the delta of one record a group of k records costs: Σ_{i<k} e^{iε}.

    A mechanism that is (ε, δ)-DP for one record is (kε, δ(e^{kε} − 1)/(e^ε − 1))-DP for k: each
    step along a chain of k neighbours adds δ, and the later steps multiply it by e^ε.

    >>> group_growth(0.5, 1), round(group_growth(0.5, 3), 6)
    (1.0, 5.367003)
    """
    if group == 1:
        return 1.0
    # The quotient's relative error is a few units in the last place: rounded up by more than that.
    try:
        return math.expm1(group * epsilon) / math.expm1(epsilon) * (1.0 + 2.0**-48)
    except OverflowError:
        return math.inf


def _checked_delta(method: PointMethod, delta: float | None) -> float:
    needed = method.delta
    if delta is None:
        return needed
    if bool(needed) != bool(delta):
        kind = "needs a delta above 0" if needed else "is pure ε-DP: leave delta out"
        raise ParameterError(f"delta={delta!r}: {method.name} with these parameters {kind}")
    return delta
