"""Options that several commands share, in groups: a command takes one object for each group."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpviz.cli.groups import option
from dpviz.cli.root import Epsilon, Json, LedgerFile, NoiseSeed, numbers, public_box
from dpviz.errors import ParameterError
from dpviz.lists import words

if TYPE_CHECKING:
    from dpviz.domain import Domain

Bits = Annotated[
    int | None,
    typer.Option("--bits", help="Public grid of 2^bits steps per axis that records are moved to."),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        help="Of a database: table, schema.table, or a Spark path. Of a file: a layer or a sheet.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Places:
    """The public box, and which columns of a source are the coordinates."""

    bounds: str | None = option(
        "--bounds", help="The public box: all lower, then all upper limits (2-D W,S,E,N)."
    )
    columns: str | None = option(
        "--columns", help="Coordinates in order, between commas; in 2-D also one of points."
    )
    x: str | None = option("--x", help="The x (longitude) column, with --y.")
    y: str | None = option("--y", help="The y (latitude) column, with --x.")
    crs: str | None = option(
        "--crs", help="CRS of the bounds, and of coordinates whose file states none."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinate columns; none if they are to be recognised.

        Raises:
            ParameterError: named twice, or one without the other.
        """
        if (self.x is None) != (self.y is None):
            raise ParameterError("--x and --y go together: give both, or --columns")
        if self.columns is not None and self.x is not None:
            raise ParameterError("--columns and --x/--y say the same thing: give one of them")
        if self.x is not None and self.y is not None:
            return self.x, self.y
        return words(self.columns, "--columns")

    def domain(self, source: str | None, *beside: Clock | Attributes) -> Domain | None:
        """The public domain; None leaves it to a source that states its own.

        Args:
            source: of the records; None where they are elsewhere.
            *beside: what the domain is made of beside the box.

        Raises:
            ParameterError: no bounds, and a source that states none.
        """
        from dpviz.private.load.sources import stated_domain

        axis: dict[str, Any] = {}
        for each in beside:
            axis |= each.axis()
        if self.bounds is None:
            if source is not None and stated_domain(source) is not None:
                if axis:
                    last = [*axis][-1].replace("_", "-")
                    raise ParameterError(f"--{last} is missing its box: give --bounds too")
                return None
            raise ParameterError(
                "--bounds is missing: the public box must be chosen without looking at the records "
                "(2-D: --bounds=W,S,E,N)"
            )
        limits, names = numbers(self.bounds, "--bounds"), self.names
        if len(names) == 1 and len(limits) == 4:  # a column of points: it names no coordinates
            names = ()
        return public_box(limits, names, self.crs or "EPSG:4326", axis, source)

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` beside the domain: columns and CRS."""
        return {"columns": self.names or None, "crs": self.crs}


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The third axis: the public period, and the column of the time."""

    time: str | None = option("--time", help="Column of the time, the third axis; with --period.")
    period: str | None = option(
        "--period", help="The public period A,B in ISO 8601; B itself is outside."
    )
    zone: str | None = option(
        "--zone", help="Of times that state no zone, such as Europe/Berlin; UTC by default."
    )
    cycle: str | None = option(
        "--cycle", help="In place of dates: the hour of the day or week; with or without --period."
    )
    every: str | None = option(
        "--every", help="A public step such as 1h: times are moved to its middle."
    )
    hour_worth: str | None = option(
        "--hour-worth", help="How far is as much as an hour, such as 500m: the shape of cells."
    )

    @property
    def given(self) -> dict[str, str]:
        """The options that were given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def axis(self) -> dict[str, str]:
        """The axis of time, as :meth:`Domain.from_bounds` takes it; empty where there is none.

        Raises:
            ParameterError: one option without the others that it needs.
        """
        which = "--period" if self.cycle is None else "--cycle"
        if (self.time is None) != (self.period is None and self.cycle is None):
            raise ParameterError(
                f"--time and {which} go together: give both, or neither; for sequences of cells "
                "give --side"
            )
        given = self.given
        if given and self.time is None:
            first = next(iter(given)).replace("_", "-")
            raise ParameterError(f"--{first} is of time: give --time and --period too")
        return given

    def steps(self) -> dict[str, str]:
        """The steps of time of trips, as :func:`dpviz.load` takes them; empty without time.

        Raises:
            ParameterError: one option without the others that it needs.
        """
        given = self.axis()
        if given and self.every is None:
            raise ParameterError("--time needs --every too: the public step, such as 1h")
        return given


@dataclass(frozen=True, kw_only=True)
class TextForms:
    """Formats of numbers, times and points in text."""

    decimal: str | None = option(
        "--decimal", help="Decimal mark of numbers in text, . or a comma; a point by default."
    )
    thousands: str | None = option(
        "--thousands", help="Mark between groups of three digits, such as a comma; none by default."
    )
    time_format: str | None = option(
        "--time-format",
        help="Times: iso (by default), seconds, milliseconds, us (03/31/2024 10:00:00 PM), eu "
        "(31/03/2024 22:00:00), or a pattern such as %d.%m.%Y.",
    )
    order: str | None = option(
        "--order", help="With one column of points in text: lat,lon or lon,lat."
    )

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` for the formats that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """Attributes of a record beside its place: a kind from a public list, and a value."""

    kind: str | None = option("--kind", help="Column of the kind of a record; with --kinds.")
    kinds: str | None = option(
        "--kinds", help="The public kinds a,b,c; others are dropped, or counted as other if listed."
    )

    sum: str | None = option("--sum", help="Column of a value that is added up; with --clip.")
    clip: str | None = option("--clip", help="Its public limits LO,HI: values are cut to them.")
    grid: float | None = option("--grid", help="A public step that values are rounded to.")

    def axis(self) -> dict[str, Any]:
        """Arguments of :meth:`Domain.from_bounds` for the attributes; empty without any.

        Raises:
            ParameterError: one option without the other.
        """
        for one, other in (("kind", "kinds"), ("sum", "clip")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ParameterError(f"--{one} and --{other} go together: give both, or neither")
        axis: dict[str, Any] = {}
        if self.kind is not None:
            axis |= {"kind": self.kind, "kinds": words(self.kinds, "--kinds")}
        if self.sum is not None and self.clip is not None:
            axis |= {"value": self.sum, "clip": numbers(self.clip, "--clip")}
        if self.grid is not None:
            axis["grid"] = self.grid
        return axis

    def without_values(self) -> Attributes:
        """The same, for counts that another command adds up.

        Raises:
            ParameterError: there are values.
        """
        if self.sum is not None:
            raise ParameterError(
                "--sum: counts by cell hold no sums, leave it out; 'dpviz build' reads files, "
                "folders and tables with sums"
            )
        return self


@dataclass(frozen=True, kw_only=True)
class Units:
    """The privacy unit, and how many records of each are kept."""

    unit: str | None = option("--unit", help="Column of the privacy unit, for instance a person.")
    max_per_unit: int = option(
        "--max-per-unit", default=1, help="With --unit: how many of each are kept, at random."
    )

    def reading(self) -> dict[str, Any]:
        """Arguments of :func:`dpviz.load` for the privacy unit."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, kw_only=True)
class Order:
    """Options of every build, whatever the kind of data."""

    output: str = option("--output", "-o", default=MISSING, help="The release to write (.parquet).")
    epsilon: Epsilon = 1.0
    parameters: list[str] | None = option("--set", help="A parameter, key=value; repeat at will.")
    neighbours: str = option(
        default="add-remove", help="Neighbouring relation: add-remove or replace."
    )
    public: bool = option(
        "--public",
        default=False,
        help="You declare the data public: nothing is paid.",
    )
    seed: int | None = option(help="Repeatable simulated noise, NOT PRIVATE; with --public.")
    noise: Literal["exact", "simulated"] | None = option(
        "--noise", help="exact (the default); or, with --public, simulated: NOT PRIVATE."
    )
    declare_public: bool = option(
        "--declare-public",
        default=False,
        help="With --public: also what the ledger knows as sensitive.",
    )
    dataset: str | None = option(
        "--dataset", help="The ledger's name of the data set; by default the file's."
    )
    purpose: str = option("--purpose", default="", help="What for: a note in the ledger.")
    ledger: LedgerFile = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Run:
    """Options of every evaluation; None stands for the default of the kind of data."""

    output: str = option("--output", "-o", default=MISSING, help="The rows (.csv); resumed.")
    methods: str = option(
        "--methods",
        help="Between commas; with parameters: quadtree:height=6:prune=0. By default privtree and "
        "ugrid; of trips those of the paper; of sequences markov, ngram, topk_em and truncate.",
    )
    epsilons: str = option("--epsilons", help="Between commas.")
    repeats: int = option(
        "--repeats",
        min=1,
        help="Repetitions with fresh noise: 5 by default, 10 of trips and sequences.",
    )
    seed: NoiseSeed = None
    public: bool = option(
        "--public", default=False, help="The records are public: required for a file."
    )
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Options for the queries and measures that an evaluation uses, by kind of data."""

    sizes: str = option(
        "--sizes",
        default="small,medium,large",
        help="Points: small, medium, large, huge, hot, hot-0, or sides in the bounds' units: "
        "15x0.2.",
    )
    queries: int = option(
        "--queries", default=10_000, max=1_000_000, help="Points: range queries per size."
    )
    sanity: float = option(
        "--sanity", default=0.001, help="Points: sanity bound as a share of the records."
    )
    nonempty: bool = option(
        "--nonempty", default=False, help="Points: only queries whose exact answer is not zero."
    )
    workload: str | None = option(
        "--workload",
        help="Points: what releases are for, as for build: words or a CSV file; a row's method "
        "names the parameters that follow.",
    )
    processes: int = option("--processes", min=0, default=2, help="Points: worker processes.")
    lengths: str = option(
        "--lengths", default="2,10,20,30,40,50", help="Trips: query lengths, in edges."
    )
    tops: str = option(
        "--tops", default="50,100,150,200", help="Sequences: numbers of frequent strings."
    )
    l_top: int = option(
        "--l-top", default=20, help="Sequences: public bound on the events of a sequence."
    )
    samples: int = option(
        "--samples",
        default=200_000,
        help="Sequences: synthetic sequences whose lengths are compared.",
    )
    plot: str | None = option(
        "--plot", help="Points, sequences: a picture (.png, .svg, .pdf), error against epsilon."
    )
