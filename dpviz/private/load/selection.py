"""Public choices for reading a source, made without reading its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.units import ChargedPeriod, TimeUnits
from dpviz.errors import DataError, ParameterError
from dpviz.private.handle import DataHandle, checked_most, unit_in_words
from dpviz.private.index import Layers
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.progress import Progress

MAX_PER_UNIT = 1_000_000
"""Largest bound per unit: noise grows with it, so that larger bounds give useless results."""


GRID_BITS = {1: 24, 2: 16, 3: 12, 4: 10}
"""Steps per axis are 2^bits, by number of dimensions: public, and never changed by the data."""


@dataclass(frozen=True)
class Selection:
    """The arguments of :func:`dpviz.load`, passed to every reader as one object."""

    domain: Domain | None = None
    columns: Sequence[str] | None = None
    crs: str | None = None
    unit: str | None = None
    max_per_unit: int = 1
    public: bool | None = None
    name: str | None = None
    table: str | None = None
    bits: int | None = None
    progress: Progress | None = None
    notation: Notation = PLAIN
    time: str | None = None  # time column, if the domain has none
    checking: bool = False  # the owner asked for the outcome of each record
    per: str | None = None  # unit of time: the bound holds for a unit's records in each

    def __post_init__(self) -> None:
        checked_bound(self.unit, self.max_per_unit)
        if self.per is not None and self.unit is None:
            raise DataError(f"per={self.per!r}: name the column of persons too (unit, --unit)")

    def box(self, source: str) -> Domain:
        """The domain."""
        if self.domain is None:
            raise DataError(
                f"{source}: give a domain, the public box, chosen without looking at the records"
            )
        return self.domain

    def of_counts(self, source: str) -> None:
        """Refuse options that a source of counts, not records, cannot serve.

        Raises DataError: a check is asked for, or a notation or a bound per unit of time declared.
        """
        if self.checking:
            raise DataError(
                f"{source} holds counts per cell, not records: check the records in the engine "
                "that counted them"
            )
        declared = {**self.notation.declared, **({} if self.per is None else {"per": self.per})}
        for option, value in declared.items():
            raise DataError(
                f"{source} holds counts: {option}={value!r} applies to records only: leave it out"
            )

    def grid_bits(self, domain: Domain) -> int:
        """Bits of a grid coarser than the lattice: as given, or the default."""
        return checked_bits(self.bits, domain)

    @property
    def charged(self) -> ChargedPeriod | None:
        """The units of time that bound the records, with their period; None without ``per``."""
        if self.per is None:
            return None
        domain = self.box("records")
        if domain.time is None:
            raise DataError(
                f"per={self.per!r}: name the column of times and the public period too (time and "
                "period, --time and --period)"
            )
        ends = domain.period if domain.cycle is None or domain.span is None else domain.span
        return ChargedPeriod(TimeUnits(self.per, domain.zone), domain.time, *ends)

    @property
    def most(self) -> int:
        """Largest number of records kept per privacy unit."""
        return 1 if self.unit is None else self.max_per_unit

    def handle(self, layers: Layers, name: str, bits: int | None) -> DataHandle:
        """A handle on indexed records.

        ``bits``: bits per axis of the records' grid; None for the domain's lattice.
        """
        handle = DataHandle(
            self.name or name,
            self.box(name),
            layers,
            public=bool(self.public),
            unit=unit_in_words(self.unit, self.most, "records", self.per),
            max_per_unit=self.most,
            bits=bits,
        )
        handle.charged = self.charged
        return handle


def checked_bound(unit: str | None, most: int) -> int:
    """Check the bound on records of one unit, before anything is read.

    Raises DataError: no whole number, out of range, or a bound without a unit.
    """
    most = checked_most(most, "records", MAX_PER_UNIT)
    if unit is None and most != 1:
        raise DataError(
            f"at most {most} records per unit, but no unit: name its column too (unit, --unit)"
        )
    return most


def checked_bits(bits: int | None, domain: Domain) -> int:
    """Grid bits per axis, the default for the domain's dimensions if None."""
    if bits is None:
        return GRID_BITS[domain.dims]
    whole = isinstance(bits, (int, np.integer)) and not isinstance(bits, bool)
    if not whole or not 1 <= bits <= domain.bits:
        raise ParameterError(f"bits={bits}: give 1 to {domain.bits} grid bits per axis")
    return int(bits)
