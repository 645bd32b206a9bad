"""Options that several commands share, in groups: a command takes one object for each group."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from dpviz.cli.root import Epsilon, Json, LedgerFile, numbers, public_box, words
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.build import RoadData, SequenceData
    from dpviz.domain import Domain
    from dpviz.roads.graph import RoadGraph

Bits = Annotated[
    int | None,
    typer.Option("--bits", help="Public grid of 2^bits steps per axis that records are moved to."),
]
TableName = Annotated[
    str | None,
    typer.Option("--table", help="With a database's URL: table, schema.table, or a Spark path."),
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are groups stand for the options in them.

    Below the decorator that registers the command; see :class:`Places` for a group.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if dataclasses.is_dataclass(parameter.annotation)
    }
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        for each in _options(groups[name]) if name in groups else (parameter,):
            if each.name in options:
                raise TypeError(f"{command.__name__} has the option {each.name} twice")
            options[each.name] = each.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        objects = {
            name: group(
                **{field.name: values.pop(field.name) for field in dataclasses.fields(group)}
            )
            for name, group in groups.items()
        }
        command(**values, **objects)

    run.__signature__ = signature.replace(parameters=list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in options.items()}
    del run.__wrapped__
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty
            if field.default is dataclasses.MISSING
            else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]


@dataclass(frozen=True, kw_only=True)
class Places:
    """The public box, and which columns of a source are the coordinates."""

    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", help="The public box: all lower, then all upper limits (2-D W,S,E,N)."
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", help="Coordinates in order, between commas; in 2-D also one of points."
        ),
    ] = None
    x: Annotated[str | None, typer.Option("--x", help="The x (longitude) column, with --y.")] = None
    y: Annotated[str | None, typer.Option("--y", help="The y (latitude) column, with --x.")] = None
    crs: Annotated[
        str | None,
        typer.Option("--crs", help="CRS of the bounds, and of plain coordinate columns."),
    ] = None

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
        return (
            (self.x, self.y) if self.x is not None and self.y is not None else words(self.columns)
        )

    def domain(self, source: str, clock: Clock | None = None) -> Domain | None:
        """The public domain; None leaves it to a source that states its own.

        Raises:
            ParameterError: no bounds, and a source that states none.
        """
        from dpviz.build import stated_domain

        axis = {} if clock is None else clock.axis()
        if self.bounds is None:
            if stated_domain(source) is not None:
                if axis:
                    raise ParameterError("--period is missing its box: give --bounds too")
                return None
            raise ParameterError(
                "--bounds is missing: the public box must be chosen without looking at the records "
                "(2-D: --bounds=W,S,E,N)"
            )
        limits, names = numbers(self.bounds, "--bounds"), self.names
        if len(names) == 1 and len(limits) == 4:  # a column of points: it names no coordinates
            names = ()
        return public_box(limits, names, self.crs or "EPSG:4326", axis)

    def reading(self) -> dict[str, Any]:
        """What :func:`dpviz.load` takes of them beside the domain."""
        return {"columns": self.names or None, "crs": self.crs}


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The third axis: the public period, and the column of the time."""

    time: Annotated[
        str | None,
        typer.Option("--time", help="Column of the time, the third axis; with --period."),
    ] = None
    period: Annotated[
        str | None,
        typer.Option(
            "--period", help="The public period A,B in ISO 8601, UTC; B itself is outside."
        ),
    ] = None
    every: Annotated[
        str | None,
        typer.Option("--every", help="A public step such as 1h: times are moved to its middle."),
    ] = None

    def axis(self) -> dict[str, str]:
        """The axis of time, as :meth:`Domain.from_bounds` takes it; empty where there is none.

        Raises:
            ParameterError: one option without the others that it needs.
        """
        if (self.time is None) != (self.period is None):
            raise ParameterError("--time and --period go together: give both, or neither")
        if self.time is None or self.period is None:
            if self.every is not None:
                raise ParameterError("--every is a step of time: give --time and --period too")
            return {}
        step = {} if self.every is None else {"every": self.every}
        return {"time": self.time, "period": self.period, **step}


@dataclass(frozen=True, kw_only=True)
class Units:
    """The privacy unit, and how many records of each are kept."""

    unit: Annotated[
        str | None,
        typer.Option("--unit", help="Column of the privacy unit, for instance a person."),
    ] = None
    max_per_unit: Annotated[
        int,
        typer.Option("--max-per-unit", help="With --unit: how many of each are kept, at random."),
    ] = 1

    def reading(self) -> dict[str, Any]:
        """What :func:`dpviz.load` takes of them."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What every build takes, whatever the kind of data."""

    output: Annotated[str, typer.Option("--output", "-o", help="The release to write (.parquet).")]
    epsilon: Epsilon = 1.0
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, key=value; repeat at will.")
    ] = None
    neighbours: Annotated[
        str, typer.Option(help="Neighbouring relation: add-remove or replace.")
    ] = "add-remove"
    public: Annotated[
        bool,
        typer.Option(
            "--public", help="You declare the data public: simulated noise, nothing paid."
        ),
    ] = False
    seed: Annotated[
        int | None, typer.Option(help="Repeatable simulated noise, NOT PRIVATE; with --public.")
    ] = None
    secure_noise: Annotated[
        bool,
        typer.Option("--secure-noise", help="With --public: real noise in place of simulated."),
    ] = False
    sampler: Annotated[
        str | None,
        typer.Option(
            "--noise", help="Real noise: exact (the default), or opendp, the slow reference."
        ),
    ] = None
    declare_public: Annotated[
        bool,
        typer.Option(
            "--declare-public", help="With --public: also what the ledger knows as sensitive."
        ),
    ] = False
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="The ledger's name of the data set; by default the file's."),
    ] = None
    purpose: Annotated[str, typer.Option("--purpose", help="What for: a note in the ledger.")] = ""
    ledger: LedgerFile = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Streets:
    """The public road graph of trips."""

    graph: Annotated[
        str | None,
        typer.Option(help="Public graph: NODES,EDGES tables, or one GeoJSON or GraphML file."),
    ] = None
    components: Annotated[
        str,
        typer.Option(
            "--components", "--parts", help="A disconnected graph: refuse it, keep largest or all."
        ),
    ] = "refuse"
    crs: Annotated[
        str, typer.Option(help="CRS of plain node tables; none for a plane of its own.")
    ] = ""
    directed: Annotated[
        bool, typer.Option("--directed", help="Edges are one-way, from src to dst or as drawn.")
    ] = False

    def opened(self) -> RoadGraph:
        """The graph.

        Raises:
            ParameterError: none was named.
        """
        from dpviz import read_graph
        from dpviz.crs import known_crs

        if self.graph is None:
            raise ParameterError("--graph is missing: give NODES,EDGES tables, or one file")
        crs = "" if self.crs.strip().lower() == "none" else self.crs
        if crs:
            known_crs(crs)
        names = words(self.graph)
        return read_graph(*names, crs=crs, components=self.components, directed=self.directed)

    def load(self, source: str, **how: Any) -> RoadData:
        """The trips of a source on their graph; the built-in city brings its own."""
        from dpviz import load, read_graph
        from dpviz.build import CITY

        if source == CITY and self.graph is None:
            read_graph(CITY, directed=self.directed)
            return load(CITY, kind="roads")
        return load(source, self.opened(), **how)


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """How a source becomes sequences: of symbols, or of cells that places are in."""

    alphabet: Annotated[
        str | None,
        typer.Option("--alphabet", help="The public symbols: a,b,c or 1..17, or a file of lines."),
    ] = None
    column: Annotated[str | None, typer.Option("--column", help="The list column of symbols.")] = (
        None
    )
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="Places: the public box, W,S,E,N.")
    ] = None
    time: Annotated[str | None, typer.Option("--time", help="Places: the column of the time.")] = (
        None
    )
    side: Annotated[
        int, typer.Option("--side", help="Places: cells per side of the public grid.")
    ] = 8
    leaves: Annotated[
        str | None,
        typer.Option(
            "--leaves", help="Places: a release whose leaves are the cells, in place of a grid."
        ),
    ] = None
    cells: Annotated[
        int,
        typer.Option("--cells", help="With --leaves: most cells; fuller nodes are opened first."),
    ] = 256
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Places: only steps to a touching cell; cut at others."),
    ] = False
    gap: Annotated[
        float,
        typer.Option(
            "--gap", help="Places: session gap, in hours; a longer one begins a new sequence."
        ),
    ] = 12.0
    drop_unknown: Annotated[
        bool, typer.Option("--drop-unknown", help="Leave out symbols that the alphabet lacks.")
    ] = False

    def load(self, source: str, *, unit: str | None = None, **how: Any) -> SequenceData:
        """The sequences of a source: built in, places in time, or symbols.

        Raises:
            ParameterError: an option that this source needs is missing.
            DataError: the file cannot be read so.
        """
        from dpviz import load, read
        from dpviz.build import CITY, alphabet_of, leaf_cells

        cells = None if self.leaves is None else leaf_cells(read(self.leaves, "points"), self.cells)
        cutting: dict[str, Any] = {
            "side": self.side,
            "gap": self.gap,
            "neighbours": self.steps,
            "cells": cells,
        }
        if source == CITY:
            city: SequenceData = load(CITY, kind="sequences", **cutting)
            return city
        if self.time is not None:
            if unit is None or (self.bounds is None and cells is None):
                raise ParameterError(
                    "--time needs --unit, the person, and --bounds (public) or --leaves RELEASE"
                )
            bounds = numbers(self.bounds, "--bounds") if self.bounds else None
            box = cells.domain if cells and not bounds else public_box(bounds or ())
            how |= {"unit": unit, "time": self.time, **cutting}
            places: SequenceData = load(source, box, kind="sequences", **how)
            return places
        if cells is not None:
            raise ParameterError("--leaves is for places: name the column of the time with --time")
        if self.alphabet is None:
            raise ParameterError(
                "--alphabet is missing: the public symbols must be chosen without looking at the "
                "sequences, for instance --alphabet a,b,c"
            )
        return load(
            source,
            alphabet_of(self.alphabet),
            columns=None if self.column is None else (self.column,),
            unit=unit,
            drop_unknown=self.drop_unknown,
            **how,
        )
