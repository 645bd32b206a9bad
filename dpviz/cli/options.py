"""Options that several commands share, in groups: a command takes one object for each group."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.cli.groups import given, option
from dpviz.cli.root import Epsilon, Json, LedgerFile, NoiseSeed, numbers, public_box
from dpviz.errors import ParameterError
from dpviz.lists import split_list

if TYPE_CHECKING:
    from dpviz.domain import Domain

Bits = Annotated[
    int | None,
    typer.Option("--bits", help="Snap records to a public grid of 2^bits steps per axis."),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        help="Table to read: table, schema.table or a Spark path of a database; a layer or sheet "
        "of a file.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Places:
    """The public box, and the columns of the coordinates."""

    bounds: str | None = option("Public box: all lower, then all upper limits (2-D: W,S,E,N).")
    columns: str | None = option(
        "Coordinate columns, separated by commas, x before y; or one column of 2-D points."
    )
    crs: str | None = option("CRS of the bounds, and of coordinates whose file states none.")

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinate columns; empty if they are to be recognised by name."""
        return split_list(self.columns, "--columns")

    def domain(self, source: str | None, *beside: TimeOptions | Attributes) -> Domain | None:
        """The public domain; None leaves it to a source that states its own.

        ``source``: source of the records; None if the command reads none.
        """
        from dpviz.private.load.sources import stated_domain

        axis: dict[str, Any] = {}
        for each in beside:
            axis |= each.axis()
        if self.bounds is None:
            if source is not None and stated_domain(source) is not None and not axis:
                return None
            raise ParameterError(
                "--bounds is missing: the public box must be chosen without looking at the records "
                "(2-D: --bounds=W,S,E,N)"
            )
        limits, names = numbers(self.bounds, "--bounds"), self.names
        if len(names) == 1 and len(limits) == 4:  # one column of points: no coordinate names
            names = ()
        return public_box(limits, names, self.crs or "EPSG:4326", axis, source)

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` for columns and CRS."""
        return {"columns": self.names or None, "crs": self.crs}


@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """The time axis: the public period, and the time column."""

    time: str | None = option("Time column, the third axis; requires --period or --cycle.")
    period: str | None = option("Public period A,B in ISO 8601; B itself is outside.")
    zone: str | None = option(
        "Time zone of times that state none, such as Europe/Berlin (default: UTC)."
    )
    cycle: str | None = option(
        "Count by hour of the 'day' or 'week' instead of by date; with or without --period."
    )
    every: str | None = option("Public time step such as 1h; times are moved to its middle.")

    def axis(self) -> dict[str, str]:
        """Time arguments of :meth:`Domain.from_bounds`; empty without time.

        Raises ParameterError: a column of times without a period or cycle, or the reverse.
        """
        if (self.time is None) != (self.period is None and self.cycle is None):
            raise ParameterError(
                "--time requires --period or --cycle, and they require --time: give both, or "
                "neither; for sequences of places give --side too"
            )
        return given(self)

    def steps(self) -> dict[str, str]:
        """Time steps of trips and of tables of areas; empty without time."""
        axis = self.axis()
        if axis and self.every is None:
            raise ParameterError("--every is missing: the public time step, such as 1h")
        return axis


@dataclass(frozen=True, kw_only=True)
class TextFormats:
    """Formats of numbers, times and points in text."""

    decimal: str | None = option(
        "Decimal mark of numbers in text: a point or a comma (default: a point)."
    )
    thousands: str | None = option(
        "Mark between groups of three digits, such as a comma (default: none)."
    )
    time_format: str | None = option(
        "Format of times: iso, us (03/31/2024 10:00 PM, or 22:00), eu (31/03/2024), seconds, "
        "milliseconds, excel, or a pattern such as %d.%m.%Y (default: iso)."
    )
    order: str | None = option("Order within one column of points in text: lat,lon or lon,lat.")

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` for the declared text formats."""
        return given(self)


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """Attributes of a record: a kind from a public list, and a value."""

    kind: str | None = option("Column of a record's kind (its category); requires --kinds.")
    kinds: str | None = option(
        "Public list of kinds a,b,c; records of other kinds are dropped, or counted as "
        "'other' if that is listed."
    )

    sum: str | None = option("Column of values to sum; requires --clip.")
    clip: str | None = option(
        "Public limits LO,HI of the --sum column; values are clipped to them."
    )
    grid: float | None = option("Public step that values of the --sum column are rounded to.")

    def axis(self) -> dict[str, Any]:
        """Arguments of :meth:`Domain.from_bounds` for kinds and values; empty without them."""
        axis = given(self)
        if self.kinds is not None:
            axis["kinds"] = split_list(self.kinds, "--kinds")
        if self.clip is not None:
            axis["clip"] = numbers(self.clip, "--clip")
        if self.sum is not None:
            axis["value"] = axis.pop("sum")
        return axis


@dataclass(frozen=True, kw_only=True)
class Units:
    """The privacy unit, and the max contributions per unit."""

    unit: str | None = option(
        "Column of the privacy unit, such as a person's id (default: each record)."
    )
    max_per_unit: int = option("Maximum records per --unit; more are dropped at random.", default=1)
    per: str | None = option(
        "Bound and charge each --unit per 'day', 'week' or 'month' of --period, for a data set "
        "with a calendar (dpviz ledger calendar); weaker for longer times."
    )

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` for the privacy unit."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Options of every build."""

    output: str = option("Release file to write (.parquet).", "-o", default=MISSING)
    epsilon: Epsilon = 1.0
    parameters: list[str] | None = option("Method parameter, key=value; repeatable.", "--set")
    neighbours: str = option("Neighbouring relation: add-remove or replace.", default="add-remove")
    public: bool = option("Declare the records public: nothing is paid.", default=False)
    seed: int | None = option("Seed of repeatable simulated noise, NOT PRIVATE; requires --public.")
    declare_public: bool = option(
        "Allow --public for data that the ledger records as sensitive.", default=False
    )
    dataset: str | None = option("Name of the data set in the ledger (default: the file's name).")
    purpose: str = option("Purpose of the release, a note in the ledger.", default="")
    ledger: LedgerFile = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """Options of every evaluation; None means the default for the kind of data."""

    output: str = option("Result table to write (.csv).", "-o", default=MISSING)
    methods: str = option(
        "Methods, separated by commas, with parameters as in quadtree:height=6:prune=0 "
        "(default: privtree,ugrid; for trips those of the paper; for sequences "
        "markov,ngram,topk_em,truncate)."
    )
    epsilons: str = option("Epsilons, separated by commas.")
    repeats: int = option(
        "Repetitions with fresh noise (default: 5; 10 for trips and sequences).", min=1
    )
    seed: NoiseSeed = None
    public: bool = option("Declare the records public; required for a file.", default=False)
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Options for queries and measures of an evaluation, by kind of data."""

    sizes: str = option(
        "Query sizes, for points: small, medium, large, huge, hot, hot-0, or sides in the "
        "bounds' units such as 15x0.2.",
        default="small,medium,large",
    )
    queries: int = option("Range queries per size, for points.", default=10_000, max=1_000_000)
    sanity: float = option("Sanity bound as a share of the records, for points.", default=0.001)
    nonempty: bool = option(
        "Use only queries whose exact answer is not zero, for points.", default=False
    )
    workload: str | None = option(
        "Expected queries, for points, as in 'dpviz build': a word or a CSV file; each result"
        " row names the parameters that follow from them."
    )
    lengths: str = option("Query lengths in edges, for trips.", default="2,10,20,30,40,50")
    tops: str = option(
        "Numbers of most frequent strings to compare, for sequences.", default="50,100,150,200"
    )
    l_top: int = option("Public maximum length of a sequence.", default=20)
    samples: int = option(
        "Number of synthetic sequences whose lengths are compared.", default=200_000
    )
    plot: str | None = option(
        "Chart to write (.png, .svg, .pdf): error against epsilon, for points and sequences."
    )
