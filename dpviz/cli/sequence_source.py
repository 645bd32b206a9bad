"""Where the commands on sequences get them: the options, and the one way to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.root import numbers, public_box
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.build import Cells, SequenceData

Source = Annotated[
    str, typer.Argument(help="A file of sequences, of places with --time, or 'city'.")
]
AlphabetText = Annotated[
    str | None,
    typer.Option("--alphabet", help="The public symbols: a,b,c or 1..17, or a file of lines."),
]
Column = Annotated[str | None, typer.Option("--column", help="The list column of symbols.")]
Box = Annotated[str | None, typer.Option("--bounds", help="Places: the public box, W,S,E,N.")]
TimeColumn = Annotated[str | None, typer.Option("--time", help="Places: the column of the time.")]
Side = Annotated[int, typer.Option("--side", help="Places: cells per side of the public grid.")]
Leaves = Annotated[
    str | None,
    typer.Option(
        "--leaves", help="Places: a release whose leaves are the cells, in place of a grid."
    ),
]
MostCells = Annotated[
    int, typer.Option("--cells", help="With --leaves: most cells; fuller nodes are opened first.")
]
Steps = Annotated[
    bool,
    typer.Option("--steps", help="Places: only steps to a touching cell; cut at others."),
]
Gap = Annotated[
    float,
    typer.Option(
        "--gap", help="Places: session gap, in hours; a longer one begins a new sequence."
    ),
]
DropUnknown = Annotated[
    bool, typer.Option("--drop-unknown", help="Leave out symbols that the alphabet lacks.")
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a source: the options above, as they were given."""

    alphabet: str | None = None
    column: str | None = None
    unit: str | None = None
    max_per_unit: int = 1
    bounds: str | None = None
    time: str | None = None
    side: int = 8
    leaves: str | None = None
    most_cells: int = 256
    steps: bool = False
    gap: float = 12.0
    drop_unknown: bool = False
    public: bool = False
    dataset: str | None = None


def read_source(source: str, how: Reading) -> SequenceData:
    """The sequences of a source: built in, places in time, or symbols.

    Raises:
        ParameterError: an option that this source needs is missing.
        DataError: the file cannot be read so.
    """
    from dpviz import load
    from dpviz.build import CITY, alphabet_of

    cells = None if how.leaves is None else _leaves(how.leaves, how.most_cells)
    if source == CITY:
        return load(
            CITY,
            kind="sequences",
            side=how.side,
            gap=how.gap,
            neighbours=how.steps,
            cells=cells,
        )
    if how.time is not None:
        if how.unit is None or (how.bounds is None and cells is None):
            raise ParameterError(
                "--time needs --unit, the person, and --bounds (public) or --leaves RELEASE"
            )
        bounds = numbers(how.bounds, "--bounds") if how.bounds else None
        return load(
            source,
            cells.domain if cells and not bounds else public_box(bounds or ()),
            kind="sequences",
            cells=cells,
            neighbours=how.steps,
            unit=how.unit,
            time=how.time,
            side=how.side,
            gap=how.gap,
            max_per_unit=how.max_per_unit,
            public=how.public,
            name=how.dataset,
        )
    if cells is not None:
        raise ParameterError("--leaves is for places: name the column of the time with --time")
    if how.alphabet is None:
        raise ParameterError(
            "--alphabet is missing: the public symbols must be chosen without looking at the "
            "sequences, for instance --alphabet a,b,c"
        )
    return load(
        source,
        alphabet_of(how.alphabet),
        columns=None if how.column is None else (how.column,),
        unit=how.unit,
        max_per_unit=how.max_per_unit,
        drop_unknown=how.drop_unknown,
        public=how.public,
        name=how.dataset,
    )


def _leaves(path: str, most: int) -> Cells:
    from dpviz.build import leaf_cells
    from dpviz.releases.store import read

    return leaf_cells(read(path), most)
