"""Handles: the app and the command line hold handles instead of records."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from dpviz.checks import flag
from dpviz.domain import Domain
from dpviz.domain.units import ChargedPeriod, unit_of_time
from dpviz.errors import DataError, PrivacyError
from dpviz.private.index import Layers, PointIndex
from dpviz.private.ledger.names import clean_name
from dpviz.releases.counts import PointRelease
from dpviz.trees.lattice import Int, unmorton

if TYPE_CHECKING:
    from dpviz.private.load.tally import Tally

R = TypeVar("R")
"""Type of the release that a build of the data returns."""


def bound_words(most: int, records: str) -> str:
    """Words for the bound on the records of a unit, to append to the unit's name."""
    return f" with at most {most} {records if most > 1 else records.removesuffix('s')}"


def unit_in_words(column: str | None, most: int, records: str, per: str | None = None) -> str:
    """The privacy unit in words, with its bound; "one record" where no column names a unit.

    A unit column called ``record`` is quoted, so that its words differ from those of data without
    a unit column, where one record is the unit.

    >>> unit_in_words(None, 1, "records"), unit_in_words("person", 10, "records")
    ('one record', 'one person with at most 10 records')
    >>> unit_in_words("record", 10, "records")
    "one 'record' with at most 10 records"
    >>> unit_in_words("person", 1, "records", "day")
    "one person's records of one day with at most 1 record"
    """
    name = unit_named(column, records)
    name = name if per is None else unit_of_time(name, per)
    return name + ("" if column is None else bound_words(most, records))


def unit_named(column: str | None, records: str) -> str:
    """The privacy unit in words, without its bound, as the ledger accounts for it."""
    record = records.removesuffix("s")
    if column is None:
        return f"one {record}"
    return f"one {column!r}" if column == record else f"one {column}"


def checked_most(most: Any, records: str, limit: int | None = None) -> int:
    """Check the largest number of records kept per unit: a whole number from 1.

    With 1.5, two records would be kept and only 1.5 paid for.
    """
    whole = isinstance(most, (int, np.integer)) and not isinstance(most, bool)
    if not whole or most < 1 or (limit is not None and most > limit):
        up_to = "" if limit is None else f", up to {limit:,}"
        what = "" if whole else "a whole number, "
        raise DataError(f"at most {most} {records} per unit: give {what}1 or more{up_to}")
    return int(most)


class Handle(ABC, Generic[R]):
    """An opaque handle on a data set of any kind: its public facts, never written or sent.

    Attributes:
        kind: kind of data: "points", "sequences", "roads", "areas" or "flows".
        records: plural noun for the records in messages, such as ``trips``.
        name: public name of the data set, under which the ledger accounts for it.
        account: name of the ledger account that pays for builds; ``name`` by default.
        public: True if the owner declares every record public.
        synthetic: True for synthetic records of this project, which describe no real person.
        has_persons: True if slots can be counted by person, see :mod:`dpviz.private.slots`.
        unit: the privacy unit in words.
        max_per_unit: most records of one privacy unit, 1 where a record is the unit.
        facts: further public facts for a release's header, plain values.
        tally: counts of the records by outcome of reading; None unless they are public.
        charged: the units of time by which records are bounded, and the period that they are read
            from; None if a unit is bounded over all its records.
    """

    kind: ClassVar[str]
    records: str = "records"
    synthetic: bool = False
    has_persons: bool = False
    tally: Tally | None = None
    charged: ChargedPeriod | None = None

    def __init__(self, name: str, *, public: bool, unit: str, max_per_unit: int) -> None:
        if not isinstance(name, str):
            raise DataError(f"name={name!r}: give a text")
        self.name = self.account = clean_name(name)
        self.public = public is not None and flag(public, "public", DataError)
        self.unit = unit
        self.max_per_unit = checked_most(max_per_unit, self.records)
        self.facts: dict[str, Any] = {}

    @property
    def accounted_unit(self) -> str:
        """The privacy unit without its bound: spends add up whatever the bound is."""
        return self.unit.removesuffix(bound_words(self.max_per_unit, self.records))

    def require_public(self) -> None:
        """Refuse exact answers on sensitive data; called before each of them."""
        if not self.public:
            raise PrivacyError(
                "exact answers are NOT PRIVATE, only for data declared public: query a release"
            )

    def __repr__(self) -> str:
        kind = "public" if self.public else "sensitive"
        return f"{type(self).__name__}({self.name!r}, {kind}, {self._frame})"

    @property
    @abstractmethod
    def _frame(self) -> str:
        """The public frame in a few words."""

    def __reduce__(self) -> Any:
        raise TypeError(
            "a data handle holds private records: it cannot be pickled or copied; load them again"
        )


class DataHandle(Handle[PointRelease]):
    """A handle on points; only the vault can open its index.

    Attributes:
        domain: its public frame.
        bits: the records are on a public grid of 2^bits steps per axis; the lattice's by default.
        columns: names of the coordinate columns that were read; empty for counts by cell.
    """

    kind: ClassVar[str] = "points"
    columns: str = ""

    def __init__(
        self,
        name: str,
        domain: Domain,
        index: PointIndex | Layers,
        *,
        public: bool = False,
        unit: str = "one record",
        max_per_unit: int = 1,
        bits: int | None = None,
    ) -> None:
        super().__init__(name, public=public, unit=unit, max_per_unit=max_per_unit)
        counts, sums, persons = index if isinstance(index, Layers) else Layers((), ())
        if domain.kinds is not None and len(counts) != len(domain.kinds.names):
            raise DataError(f"{name} does not say the kind of a record: leave the kinds out")
        if domain.values is not None and not sums:
            raise DataError(f"{name} does not say the value of a record: leave the sum out")
        self.domain = domain
        self.bits = domain.bits if bits is None else bits
        one_record = max_per_unit == 1 and unit != unit_named(None, self.records)
        self.has_persons = persons is not None or one_record
        self.__index = index if isinstance(index, Layers) else Layers((index,))

    @property
    def _index(self) -> PointIndex:
        return PointIndex.of_all(self.__index.counts)

    @property
    def _layers(self) -> Layers:
        """The indexes of all kinds of records."""
        return self.__index

    def _by_person(self, edges: Sequence[Int], bound: int) -> Layers:
        """Records of persons: one in each cell of a grid, in at most ``bound`` cells of each.

        ``edges``: lattice lines of the grid, one array per dimension.
        """
        persons, plain = self.__index.persons, self.domain.counts_only
        if persons is None:  # a unit has one record
            return self.__index
        shape = [len(line) - 1 for line in edges]
        drop = np.uint64(plain.dims * (plain.bits - self.bits))
        codes = persons.codes >> drop << drop
        cells = unmorton(codes, plain.dims)
        at = [
            np.searchsorted(line, cells[:, axis], side="right") - 1
            for axis, line in enumerate(edges)
        ]
        rows = persons.one_in_each(np.ravel_multi_index(at, shape), math.prod(shape), bound)
        kind = np.zeros(len(rows)) if persons.kind is None else persons.kind[rows]
        each = [codes[rows[kind == number]] for number in range(len(self.__index.counts))]
        return Layers(tuple(PointIndex.from_codes(plain, part) for part in each))

    @property
    def _frame(self) -> str:
        return f"{self.domain.dims}-D"
