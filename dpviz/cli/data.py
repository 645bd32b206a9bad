"""Options that describe the records; the public frame among them decides their kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import dpviz
from dpviz.cli.groups import flag, given, option
from dpviz.cli.options import Attributes, Places, TableName, TextFormats, TimeOptions, Units
from dpviz.cli.root import numbers, print_stderr, public_box
from dpviz.errors import DomainError, ParameterError
from dpviz.lists import split_list

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.releases.areas.partition import Areas
    from dpviz.releases.flows.frame import Flows
    from dpviz.roads.graph import RoadGraph

POINTS, AREAS, FLOWS, TRIPS = "points", "areas", "flows", "trips"
SYMBOLS, PLACES = "symbols", "places in time"
CITY_TRIPS, CITY_PLACES = "the built-in trips", "the built-in sequences"

RELEASES = {POINTS: "points", AREAS: "areas", FLOWS: "flows", TRIPS: "roads", CITY_TRIPS: "roads"}
RELEASES |= dict.fromkeys((SYMBOLS, PLACES, CITY_PLACES), "sequences")
"""The kind of release that each kind of data becomes."""

_FILES = "unit max_per_unit table dataset"
_PLACES = f"{_FILES} columns crs decimal thousands time_format order"
_BOX = f"{_PLACES} bounds"
_STEPS = "time period zone cycle every"
_ENDS = "bounds crs decimal thousands time_format"
_CELLS = "side steps gap"
OPTIONS_OF = {
    POINTS: f"{_BOX} {_STEPS} per bits kind kinds sum clip grid sum_share want workload delta"
    " prior prior_weight",
    AREAS: f"{_BOX} {_STEPS} per bits kind kinds sum clip grid sum_share want delta"
    " areas levels name weighted",
    FLOWS: f"{_FILES} {_ENDS} {_STEPS} from_ to to_areas areas levels name kind kinds",
    TRIPS: f"{_PLACES} {_STEPS} graph directed components drop_unknown workload",
    SYMBOLS: f"{_FILES} alphabet column drop_unknown",
    PLACES: f"{_BOX} {_CELLS} time",
    CITY_TRIPS: f"{_STEPS} graph directed workload",
    CITY_PLACES: _CELLS,
}
"""The options of each kind of data."""

FRAMES = {
    "areas": AREAS,
    "graph": TRIPS,
    "alphabet": SYMBOLS,
    **dict.fromkeys(_CELLS.split(), PLACES),
}
"""Options that decide the kind of data; without any of them the data are points."""


@dataclass(frozen=True, kw_only=True)
class FrameOptions:
    """Public options for records other than points in a box: areas, trips, sequences."""

    areas: str | None = option(
        "Count by area: a public file of polygons, h3:8 for hexagons, or "
        "'rect=W,S,E,N;rect=…' for rectangles."
    )
    levels: str | None = option(
        "Columns of the --areas file that name its levels, coarsest first: country,district,ward."
    )
    name: str | None = option("Column of the --areas file that names its areas.")
    from_: str | None = option(
        "Count flows from area to area: columns X,Y of the start, or one of area names; requires "
        "--areas and --to."
    )
    to: str | None = option("Columns X,Y of the end, or one of area names, for flows.")
    to_areas: str | None = option(
        "Areas of destination, for flows: as --areas, with the same --levels (default: --areas)."
    )
    graph: str | None = option(
        "Public road graph, for trips: two tables NODES,EDGES, or one GraphML, GeoPackage or "
        "GeoJSON file; 'city' is the built-in one."
    )
    components: str = option(
        "Treatment of a disconnected road graph: refuse it, or keep its largest part or all.",
        default="refuse",
    )
    directed: bool = option(
        "Treat edges of the road graph as one-way, from src to dst or as drawn.", default=False
    )
    alphabet: str | None = option(
        "Public symbols, for sequences: a,b,c or 1..17, or a file with one per line."
    )
    column: str | None = option(
        "List column that holds the symbols of a sequence (required for JSON)."
    )
    side: int | None = option(
        "Cells per side of the public grid, such as 8, for sequences of places in time."
    )
    steps: bool = option(
        "Allow only steps to a neighbouring cell; sequences are cut at other steps.", default=False
    )
    gap: float | None = option(
        "Session gap in hours; a longer one begins a new sequence (default: 12)."
    )
    drop_unknown: bool = option(
        "Skip edges that are not in the graph, or symbols that are not in the alphabet.",
        default=False,
    )

    def road_graph(self, crs: str | None) -> RoadGraph:
        """Read the road graph, and check its coordinates against its CRS."""
        from dpviz.domain import Domain
        from dpviz.planning.bounds import likely_mistake, require_area

        graph = dpviz.read_graph(
            *split_list(self.graph, "--graph"),
            crs=crs or "",
            components=self.components,
            directed=self.directed,
        )
        low, high = graph.line_xy.min(axis=0), graph.line_xy.max(axis=0)
        if not graph.crs or not (low < high).all():  # a local plane, or an empty box
            return graph
        box = Domain.from_bounds([*low.tolist(), *high.tolist()], crs=graph.crs)
        try:
            require_area(box)
        except DomainError as error:
            raise DomainError(f"the graph's {error}") from None
        if line := likely_mistake(box):
            print_stderr(f"warning: the graph's {line}")
        return graph


@dataclass(frozen=True, kw_only=True)
class Data:
    """All options that describe the records of a source and how to read them."""

    places: Places
    units: Units
    formats: TextFormats
    clock: TimeOptions
    attributes: Attributes
    frame: FrameOptions
    table: TableName = None

    def kind(self, source: str) -> str:
        """The kind of the data: a key of :data:`OPTIONS_OF`.

        Raises ParameterError: two frames are given, or a required one is missing.
        """
        from dpviz.datasets.geography import CITY

        stated = given(self.frame)
        frames = {kind: name for name, kind in FRAMES.items() if name in stated}
        if flows := [name for name in ("from_", "to", "to_areas") if name in stated]:
            if not {"from_", "to", "areas"} <= stated.keys():
                raise ParameterError(
                    f"{flag(flows[0])} is for flows: give --areas, --from and --to"
                )
            frames = {FLOWS if kind == AREAS else kind: name for kind, name in frames.items()}
        if len(frames) > 1:
            one, other, *_ = frames.values()
            raise ParameterError(
                f"--{one} and --{other} are for different kinds of data: give one of them"
            )
        kind = next(iter(frames), POINTS)
        if source != CITY:
            return kind
        if kind not in (TRIPS, PLACES):
            raise ParameterError(
                "city holds trips and sequences: give --graph city for trips, or --side 8 for "
                "sequences"
            )
        if kind == TRIPS and self.frame.graph != CITY:
            raise ParameterError(
                f"--graph {self.frame.graph!r}: the built-in trips need --graph city"
            )
        return CITY_TRIPS if kind == TRIPS else CITY_PLACES

    @property
    def files(self) -> list[str | None]:
        """Files that are read in addition to the source."""
        frame = self.frame
        files = [frame.areas, frame.to_areas, frame.alphabet]
        return [*files, *split_list(frame.graph, "--graph")]

    def arguments(self, source: str) -> tuple[Any, dict[str, Any]]:
        """The public frame, and the other arguments of :func:`dpviz.load`.

        Raises ParameterError: an option that this kind of data needs is missing.
        """
        from dpviz.sequences.alphabet import alphabet_of

        kind, frame = self.kind(source), self.frame
        cutting = {"side": frame.side, "gap": frame.gap, "neighbours": frame.steps or None}
        if kind == CITY_TRIPS:
            frame.road_graph(None)
            return None, {"kind": "roads", **self.clock.steps()}
        if kind == CITY_PLACES:
            return None, {"kind": "sequences", **cutting}
        how = {**vars(self.units), **given(self.formats), "table": self.table}
        if kind == TRIPS:
            how |= {"columns": self.places.names or None, "drop_unknown": frame.drop_unknown}
            return frame.road_graph(self.places.crs), how | self.clock.steps()
        if kind == SYMBOLS:
            columns = None if frame.column is None else (frame.column,)
            how |= {"columns": columns, "drop_unknown": frame.drop_unknown}
            return alphabet_of(frame.alphabet or ""), how
        if kind == FLOWS:
            ends = split_list(frame.from_, "--from"), split_list(frame.to, "--to")
            if len(ends[0]) != len(ends[1]):
                raise ParameterError("--from and --to: give one column of names each, or X,Y each")
            how |= {"columns": sum(ends, ()), "crs": self.places.crs, **self.clock.steps()}
            return self.flows(source), how
        how |= self.places.reading()
        if kind == AREAS:
            return self.areas(source), how
        if kind == POINTS:
            return self.places.domain(source, self.clock, self.attributes), how
        how |= {"kind": "sequences", "time": self.person_time()}
        return self.place_box(), how | cutting

    def load(
        self, source: str, *, public: bool | None, name: str | None = None, **points: Any
    ) -> Any:
        """Load a source, and return its handle."""
        from dpviz.private.areas import AreaData

        kind = self.kind(source)
        domain, how = self.arguments(source)
        if kind not in (CITY_TRIPS, CITY_PLACES):
            how |= {"public": public, "name": name}
        if kind in (POINTS, AREAS):
            how |= points
        if kind == AREAS:
            box = self.record_domain(domain)
            how["bits"] = how.get("bits") or box.bits  # cells of a coarser grid lie in several
            return AreaData(dpviz.load(source, box, **how), domain, self.clock.every)
        return dpviz.load(source, domain, **how)

    def record_domain(self, areas: Areas) -> Domain:
        """The domain of records that are counted by area, with their time, kinds and values.

        Raises ParameterError: time without a step, or a step without time.
        """
        from dpviz.domain.attributes import Kinds, Values
        from dpviz.releases.areas.table_steps import record_domain
        from dpviz.roads.steps import Steps

        stated = self.attributes.axis()
        kinds = Kinds.of(stated.get("kind"), stated.get("kinds"))
        steps = Steps.of(**{"time": None, **self.clock.steps()})
        values = Values.of(stated.get("value"), stated.get("clip"), stated.get("grid"))
        return record_domain(areas.domain, steps, kinds, values)

    def person_time(self) -> str:
        """The time column of places in time; requires a unit (the person) too."""
        if self.clock.time is None or self.units.unit is None:
            raise ParameterError(
                "sequences of places in time: give --time, --unit (the person) and --bounds"
            )
        return self.clock.time

    def place_box(self) -> Domain:
        """The public box of places in time, with the default column names."""
        self.person_time()
        if self.places.bounds is None:
            raise ParameterError("--bounds is missing: the public box of the places, W,S,E,N")
        limits = numbers(self.places.bounds, "--bounds")
        return public_box(limits, (), self.places.crs or "EPSG:4326")

    def flows(self, source: str) -> Flows:
        """The pairs of areas, with the kinds of the records."""
        from dpviz.domain.attributes import Kinds
        from dpviz.releases.areas.source import H3, RECT, areas_of
        from dpviz.releases.flows.frame import Flows

        stated = self.attributes.axis()
        kinds = Kinds.of(stated.get("kind"), stated.get("kinds"))
        origins = self.areas(source)
        origins = replace(
            origins, domain=replace(origins.domain.without_time.counts_only, kinds=kinds)
        )
        to = self.frame.to_areas
        if to is None:
            return Flows(origins)
        if to.lower().startswith((H3, RECT)):
            return Flows(origins, areas_of(to, origins.domain.without_time.counts_only))
        return Flows(origins, self.areas(source, to))

    def areas(self, source: str, file: str | None = None) -> Areas:
        """Read the areas, in the declared box, or in the areas' own extent.

        ``file``: file of the areas; --areas by default.
        """
        from dpviz.private.load.sources import stated_domain
        from dpviz.releases.areas.source import areas_of

        places, frame = self.places, self.frame
        stated = places.bounds is not None or stated_domain(source) is not None
        domain = places.domain(source) or stated_domain(source) if stated else None
        return areas_of(
            frame.areas or "" if file is None else file,
            domain,
            levels=split_list(frame.levels, "--levels"),
            name_column=frame.name,
            crs=places.crs or "EPSG:4326",
        )
