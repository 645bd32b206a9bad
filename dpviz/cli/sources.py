"""How a source becomes trips or sequences: groups of options, as those of ``options``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.groups import option
from dpviz.cli.root import complain, numbers, public_box
from dpviz.errors import DomainError, ParameterError
from dpviz.lists import words

if TYPE_CHECKING:
    from dpviz.build import RoadData, SequenceData
    from dpviz.roads.graph import RoadGraph

STEPS = ("time", "period", "every", "zone", "cycle")
"""What steps of time are made of."""


NOTATION = ("decimal", "thousands", "time_format", "order")
"""How text is read."""


@dataclass(frozen=True, kw_only=True)
class Streets:
    """The public road graph of trips."""

    graph: str | None = option(
        help="Public graph: NODES,EDGES tables, or one GraphML, GeoPackage or GeoJSON file."
    )
    components: str = option(
        "--components",
        "--parts",
        default="refuse",
        help="A disconnected graph: refuse it, keep largest or all.",
    )
    crs: str = option(
        default="",
        help="CRS of a graph whose file states none and whose columns are not lon and lat; none "
        "for a plane of its own.",
    )
    directed: bool = option(
        "--directed", default=False, help="Edges are one-way, from src to dst or as drawn."
    )
    columns: str | None = option(
        "--columns",
        help="Events: their coordinates, such as lon,lat, in the graph's CRS. Trips in JSON: "
        "edges, nodes, or trip,edge.",
    )

    def opened(self) -> RoadGraph:
        """The graph.

        Raises:
            ParameterError: none was named.
        """
        if self.graph is None:
            raise ParameterError("--graph is missing: give NODES,EDGES tables, or one file")
        names = words(self.graph, "--graph")
        graph = dpviz.read_graph(
            *names, crs=self.crs, components=self.components, directed=self.directed
        )
        _check_places(graph)
        return graph

    def load(self, source: str, **how: Any) -> RoadData:
        """The trips of a source on their graph; the built-in city brings its own."""
        from dpviz.build import CITY

        if source == CITY:
            _not_built_in(
                graph=self.graph,
                dataset=how.pop("name", None),
                table=how.pop("table", None),
                crs=self.crs,
                columns=self.columns,
                components=self.components != "refuse",
                unit=how.pop("unit", None),
                max_per_unit=how.pop("max_per_unit", 1) != 1,
                drop_unknown=how.pop("drop_unknown", False),
                **{each: how.pop(each, None) for each in NOTATION},
            )
            dpviz.read_graph(CITY, directed=self.directed)
            time: dict[str, Any] = {k: v for k, v in how.items() if k in STEPS}
            made: RoadData = dpviz.load(CITY, kind="roads", **time)
            return made
        columns = words(self.columns, "--columns") or None
        return dpviz.load(source, self.opened(), columns=columns, **how)


def _check_places(graph: RoadGraph) -> None:
    """Hold the coordinates of a graph against its CRS, as those of a box are.

    Raises:
        DomainError: they lie outside its area of use.
    """
    from dpviz.domain import Domain
    from dpviz.planning.bounds import doubt, require_area

    low, high = graph.line_xy.min(axis=0), graph.line_xy.max(axis=0)
    if not graph.crs or not (low < high).all():  # a plane of its own, or no box
        return
    box = Domain.from_bounds([*low.tolist(), *high.tolist()], crs=graph.crs)
    try:
        require_area(box)
    except DomainError as error:
        raise DomainError(f"the graph's {error}") from None
    if line := doubt(box):
        complain(f"warning: the graph's {line}")


LEAVES = 256
"""Most cells that are leaves of a release, where nobody says how many."""

OF_SYMBOLS: tuple[str, ...] = ("alphabet", "column", "drop_unknown")
"""Options of sequences of symbols."""

OF_PLACES: tuple[str, ...] = ("bounds", "columns", "side", "leaves", "cells", "steps", "gap")
"""Options of places in time, beside the column of the time."""


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """How a source becomes sequences: of symbols, or of cells that places are in."""

    alphabet: str | None = option(
        "--alphabet", help="The public symbols: a,b,c or 1..17, or a file of lines."
    )
    column: str | None = option("--column", help="The list column of symbols; needed in JSON.")
    bounds: str | None = option("--bounds", help="Places: the public box, W,S,E,N.")
    columns: str | None = option(
        "--columns", help="Places: the columns of the coordinates, such as lon,lat; needed in JSON."
    )
    time: str | None = option("--time", help="Places: the column of the time.")
    side: int | None = option(help="Places: cells per side of the public grid; 8 by default.")
    leaves: str | None = option(
        "--leaves", help="Places: a release whose leaves are the cells, in place of a grid."
    )
    cells: int | None = option(
        help="With --leaves: most cells, 256 by default; fuller nodes are opened first."
    )
    steps: bool = option(
        "--steps", default=False, help="Places: only steps to a touching cell; cut at others."
    )
    gap: float | None = option(
        help="Places: session gap, in hours, 12 by default; a longer one begins a new sequence."
    )
    drop_unknown: bool = option(
        "--drop-unknown", default=False, help="Leave out symbols that the alphabet lacks."
    )

    def load(self, source: str, *, unit: str | None = None, **how: Any) -> SequenceData:
        """The sequences of a source: built in, places in time, or symbols.

        Raises:
            ParameterError: an option that this source needs is missing, or one is of another.
            DataError: the file cannot be read so.
        """
        from dpviz.build import CITY, alphabet_of, leaf_cells

        if source != CITY:
            self._check()
        if self.cells is not None and self.leaves is None:
            raise ParameterError("--cells is of --leaves: give both, or leave it out")
        if self.leaves is not None and self.side is not None:
            raise ParameterError("--leaves are in place of the grid of --side: give one of them")
        if self.leaves is None:
            cells = None
        else:
            most = LEAVES if self.cells is None else self.cells
            cells = leaf_cells(dpviz.read(self.leaves, "points"), most)
        cutting: dict[str, Any] = {
            "side": self.side,
            "gap": self.gap,
            "neighbours": self.steps or None,
            "cells": cells,
        }
        if source == CITY:
            _not_built_in(
                **{
                    each: getattr(self, each) for each in (*OF_SYMBOLS, "bounds", "columns", "time")
                },
                unit=unit,
                max_per_unit=how["max_per_unit"] != 1,
                dataset=how.get("name"),
                table=how.get("table"),
                **{each: how.get(each) for each in NOTATION},
            )
            city: SequenceData = dpviz.load(CITY, kind="sequences", **cutting)
            return city
        how["unit"] = unit
        if self.time is None:
            columns = None if self.column is None else (self.column,)
            how |= {"columns": columns, "drop_unknown": self.drop_unknown}
            return dpviz.load(source, alphabet_of(self.alphabet or ""), **how)
        if unit is None or (self.bounds is None and cells is None):
            raise ParameterError(
                "--time needs --unit, the person, and --bounds (public) or --leaves RELEASE"
            )
        how["columns"] = words(self.columns, "--columns") or None
        bounds = numbers(self.bounds, "--bounds") if self.bounds else None
        box = cells.domain if cells and not bounds else public_box(bounds or ())
        places: SequenceData = dpviz.load(
            source, box, kind="sequences", time=self.time, **cutting, **how
        )
        return places

    def _check(self) -> None:
        """Refuse what would be left aside, before anything is read or paid for."""
        unfit, why = OF_PLACES, "is for places: name the column of the time with --time"
        if self.time is not None:
            unfit, why = OF_SYMBOLS, "is for symbols, --time for places: leave one of them out"
        for each in unfit:
            if getattr(self, each) is not None and getattr(self, each) is not False:
                raise ParameterError(f"--{each.replace('_', '-')} {why}")
        if self.time is None and self.alphabet is None:
            raise ParameterError(
                "--alphabet is missing: the public symbols must be chosen without looking at the "
                "sequences, for instance --alphabet a,b,c"
            )


def _not_built_in(**given: Any) -> None:
    """Refuse options that the built-in data have no use for."""
    for name, value in given.items():
        if value:
            raise ParameterError(
                f"--{name.replace('_', '-')} is not for the built-in data: leave it out"
            )
