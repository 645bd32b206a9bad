"""Steps of time of a table of areas, and the domain in which its records are read.

A record is read on a lattice, so each step must be a whole number of the lattice's steps of time:
then the step of a record follows from its cell, and is exactly that of its moment.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.attributes import Kinds, Values
from dpviz.domain.calendar import step_text
from dpviz.errors import DomainError
from dpviz.roads.steps import Steps


def record_domain(
    box: Domain,
    steps: Steps | None = None,
    kinds: Kinds | None = None,
    values: Values | None = None,
) -> Domain:
    """The domain of records that are counted by area, step of time and kind, and added up.

    Its time step is the longest one that divides all steps.

    Raises:
        DomainError: steps that do not begin on whole seconds, or too many seconds for the lattice.

    >>> box = Domain((0.0, 0.0), (1.0, 1.0))
    >>> steps = Steps.of("time", "2024-01-01,2024-04-01", "1mo", "Europe/Berlin")
    >>> record_domain(box, steps).step  # Berlin's March has a day of 23 hours
    3600.0
    """
    domain = replace(box.without_time.counts_only, kinds=kinds, values=values)
    if steps is None:
        return domain
    lengths = np.diff(steps.edges)
    if not (lengths == np.rint(lengths)).all():
        raise DomainError(f"steps of {steps.every}: begin the period on a whole second")
    start, end = steps.period
    timed = Domain(
        (*domain.lower, start),
        (*domain.upper, end),
        (*domain.columns, steps.column),
        domain.crs,
        float(math.gcd(*lengths.astype(np.int64).tolist())),
        kinds,
        values,
        steps.zone,
        steps.cycle,
        None if steps.cycle is None else steps.span,
    )
    _require_whole(timed, steps)
    return timed


def table_steps(domain: Domain, every: str | None = None) -> Steps | None:
    """The steps by which records of a domain are counted; None without time.

    ``every``: a step, such as ``1d`` or ``1mo``; by default that of the domain. Raises DomainError:
    a step without time, time without a step, or a step that cuts one of the domain's.
    """
    if domain.time is None:
        if every is not None:
            raise DomainError(f"every={every!r}: these records have no time: leave every out")
        return None
    if every is None and not domain.step:
        raise DomainError("records with time: give the step of the table too, such as every='1d'")
    every = step_text(domain.step or 0.0) if every is None else every
    steps = Steps(domain.time, domain.period, every, domain.zone, domain.cycle, domain.span)
    _require_whole(domain, steps)
    return steps


def _require_whole(domain: Domain, steps: Steps) -> None:
    """Refuse steps that cut a step of the domain's lattice of time."""
    start, end = domain.period
    finest = (end - start) / domain.side
    quantum = domain.step or finest
    times = (steps.edges - start) / quantum
    if quantum < finest or not (times == np.rint(times)).all():
        raise DomainError(
            f"steps of {steps.every}: times are read in steps of {quantum:g} s, and some lie "
            "in two of them: begin the period on a whole day, or read a shorter period or step"
        )
