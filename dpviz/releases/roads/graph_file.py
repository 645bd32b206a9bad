"""Read public road graphs from files or the built-in city, and public workloads.

A file may come from anywhere: a child process parses it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.checks import flag, require, require_path
from dpviz.datasets import city_graph
from dpviz.datasets.geography import CITY
from dpviz.domain.crs import DEGREES
from dpviz.errors import DataError, ParameterError
from dpviz.files import limits
from dpviz.files.foreign import parsing, readable, recognised, refuse_computing
from dpviz.files.sandbox import run_in_sandbox
from dpviz.lazy import nx, pa, pq, pv, pyogrio, shapely
from dpviz.releases.points.region_file import shapes_of
from dpviz.roads.generate import clustered_workload, corridor_workload
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths, paths_from_ids
from dpviz.roads.tables import agreed_crs, road_graph

WORKLOAD = "clustered:10"
"""Public queries that a release on roads serves where none are named."""

Columns = dict[str, list[Any]]
"""Cells by the name of their column: text, WKB, or None for a missing one."""

NODE, EDGE = "node", "edge"
"""The tables of a graph."""

NUMBERS = ("x", "y", "lon", "lat", "length")
NAMES = ("node", "osmid", "edge", "id", "fid", "u", "v", "key", "src", "dst", "query", *NUMBERS)
"""Columns that are read, beside the geometry."""


def read_graph(
    *sources: str | os.PathLike[str],
    crs: str = "",
    components: str = "refuse",
    directed: bool = False,
) -> RoadGraph:
    """Read a public road graph.

    Args:
        *sources: a table of nodes and a table of edges, in CSV or Parquet (columns as in
            :func:`dpviz.roads.tables.road_graph`), or one file: GraphML or GeoPackage, as of OSMnx,
            or lines in GeoJSON, GeoPackage, Shapefile or GeoParquet; or "city".
        crs: CRS of coordinates whose file states none; by default EPSG:4326 of longitude and
            latitude, and else, as by "none", a plane of their own.
        components: what to do with a disconnected graph; see :meth:`RoadGraph.connected`.
        directed: whether edges run from ``src`` to ``dst`` only, or as their lines are drawn.

    Raises:
        DataError: a file that cannot be read as a road graph.
        DomainError: the CRS is unknown, so that no release could be saved.
    """
    for each in sources:
        require_path(each, DataError, "source")
    require(crs, str, "crs", DataError)
    directed = flag(directed, "directed", DataError)
    if len(sources) == 1 and str(sources[0]) == CITY:
        agreed_crs(crs, DEGREES, "the built-in city")
        if directed:
            raise DataError("the built-in city's streets go both ways: leave out directed")
        return city()
    files = [graph_tables(_existing(source)) for source in sources]
    for source, (_, _, stated) in zip(sources, files, strict=True):
        crs = agreed_crs(crs, stated, Path(source).name)
    if len(files) == 2:
        nodes: Any = files[0][1]
    elif len(files) == 1:
        nodes = files[0][0]
    else:
        raise DataError(f"{len(files)} files for a road graph: give nodes and edges, or one file")
    edges = files[-1][1]
    if nodes is None and "geometry" not in edges:
        raise DataError(
            f"{Path(sources[0]).name}: one file must be GraphML, GeoJSON, GeoPackage, Shapefile or "
            "GeoParquet; give two tables, nodes then edges"
        )
    return road_graph(nodes, edges, crs=crs, components=components, directed=directed)


@lru_cache(maxsize=1)
def city() -> RoadGraph:
    """The built-in synthetic city's streets."""
    network = city_graph()
    nodes, edges = network.nodes_table(), network.edges_table()
    return road_graph(
        {name: nodes[name].to_numpy() for name in ("node", "lon", "lat")},
        {name: edges[name].to_numpy() for name in ("edge", "src", "dst", "length")},
        crs="EPSG:4326",
    )


def workload_of(text: str, graph: RoadGraph) -> Paths:
    """Public workload: ``clustered:LENGTH``, ``corridor``, or a file of ``query, edge`` rows.

    Raises:
        ParameterError: not one of these.
        DataError: a file that cannot be read as queries on this graph.
    """
    kind, _, number = text.partition(":")
    if kind == "clustered" and ((number.isdecimal() and number.isascii()) or not number):
        length = int(number or 10)
        return replace(clustered_workload(graph, length), name=f"clustered:{length}")
    if kind == "corridor" and not number:
        return replace(corridor_workload(graph), name="corridor")
    if not Path(text).is_file():
        raise ParameterError(
            f"workload {text!r}: give clustered:LENGTH, corridor, or a file of query and edge"
        )
    _, table, _ = graph_tables(Path(text))
    for name in ("query", "edge"):
        if name not in table:
            raise DataError(f"{Path(text).name} has no column {name!r}: a workload needs it")
    _, number_of = np.unique(table["query"], return_inverse=True)
    order = np.argsort(number_of, kind="stable")
    cuts = np.flatnonzero(np.diff(number_of[order])) + 1
    edges: Sequence[Any] = np.split(np.asarray(table["edge"])[order], cuts)
    return paths_from_ids(graph, edges, "query")


def _existing(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if not path.is_file():
        raise DataError(f"no file {path.name or os.fspath(source)!r}: check the name")
    return path


def graph_tables(path: Path) -> tuple[Columns | None, Columns, str]:
    """Nodes, edges and CRS in one file; a plain table holds edges only.

    Nodes are None if the file has none; the CRS is "" if it states none.

    Raises DataError: it cannot be read, or has more than the limits.
    """
    size = path.stat().st_size
    limits.FILE.check(size, path.name)
    graphml = path.suffix.lower() == ".graphml"
    task = "network" if graphml else "lines"
    needs = ("pyarrow", "networkx" if graphml else "shapely", "pyogrio.raw")
    call, place = f"{__name__}:{task}", str(path.absolute())
    table = run_in_sandbox(call, place, where=path.name, size=size, needs=needs)
    (row,) = table.to_pylist()
    nodes, edges = (
        {
            name.partition(" ")[2]: cells
            for name, cells in row.items()
            if name.startswith(f"{what} ")
        }
        for what in (NODE, EDGE)
    )
    return nodes or None, edges, table.schema.metadata[b"crs"].decode()


def lines(place: str) -> Any:
    """Run in the sandbox: return one row of lists, the columns of lines and any nodes.

    A plain table is one of edges, whose lines, if any, are text or bytes.
    """
    path = Path(place)
    kind = _head(path)
    if kind == "text" or (kind == "Parquet" and not _states_lines(path)):
        with parsing(path.name, "a table"):
            table = _plain(path, kind)
            return _row({EDGE: table}, None, table.pop("geometry", None))
    with parsing(path.name, "lines of streets"):
        layers = _layers(path)
        shapes, words, crs = shapes_of(path, layers.get(EDGE), limits.STREETS)
        nodes = shapes_of(path, layers[NODE], limits.STREETS)[1] if NODE in layers else {}
        limits.STREETS.check(len(shapes), path.name)
        if not len(shapes):
            raise DataError(f"{path.name} has no lines: give at least one street")
        read = {
            what: {name: cells for name, cells in table.items() if name in NAMES}
            for what, table in ((NODE, nodes), (EDGE, words))
        }
        return _row(read, crs, shapely.to_wkb(shapes).tolist())


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return recognised(file.read(1024))


def _states_lines(path: Path) -> bool:
    with parsing(path.name, "Parquet"), pq.ParquetFile(path) as file:
        return b"geo" in (file.metadata.metadata or {})


def _plain(path: Path, kind: str) -> Columns:
    """Columns of a plain table; with semicolons between fields, a comma is a decimal point."""
    semicolons = False
    if kind == "Parquet":
        table = pq.read_table(path)
    else:
        with path.open(encoding="utf-8-sig") as file:
            line = file.readline()
        mark = max(",;\t", key=line.count)
        semicolons = mark == ";"
        names = next(csv.reader([line], delimiter=mark))
        convert = pv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        )
        options = pv.ParseOptions(delimiter=mark)
        table = pv.read_csv(path, parse_options=options, convert_options=convert)
    limits.STREETS.check(table.num_rows, path.name)
    limits.COLUMNS.check(table.num_columns, path.name)
    columns: Columns = {name: table[name].to_pylist() for name in table.column_names}
    for name in columns.keys() & {*NUMBERS} if semicolons else ():
        columns[name] = [each and each.replace(",", ".") for each in columns[name]]
    return columns


def _layers(path: Path) -> dict[str, str]:
    """The edge layer of a GeoPackage, and its node layer, if any."""
    if _head(path) != "GeoPackage":
        return {}
    refuse_computing(path, path.name)
    layers = dict(pyogrio.list_layers(readable(path)).tolist())
    of_lines = [layer for layer, kind in layers.items() if "Point" not in str(kind)]
    edges = ["edges"] if "edges" in layers else of_lines
    if len(edges) != 1:
        raise DataError(f"{path.name} has {len(edges)} layers of lines: call the one meant 'edges'")
    nodes = {NODE: "nodes"} if "nodes" in layers and edges == ["edges"] else {}
    return {EDGE: edges[0], **nodes}


def network(place: str) -> Any:
    """Run in the sandbox: return one row of lists, the columns of GraphML's nodes and edges."""
    name, content = Path(place).name, Path(place).read_bytes()
    limits.XML_ELEMENTS.check(content.count(b"<") - content.count(b"</"), name)
    if b"<!ENTITY" in content:
        raise DataError(f"{name} declares entities, which compute: write plain GraphML")
    with parsing(name, "GraphML"):
        graph: Any = nx.read_graphml(place, force_multigraph=True)
        nodes, edges = list(graph.nodes(data=True)), list(graph.edges(keys=True, data=True))
        of_nodes, of_edges = (
            {
                each: [row[-1].get(each) for row in rows]
                for each in (*NAMES, "geometry")
                if any(each in row[-1] for row in rows)
            }
            for rows in (nodes, edges)
        )
        of_nodes["node"] = [row[0] for row in nodes]
        of_edges |= {
            each: [row[at] for row in edges] for at, each in enumerate(("src", "dst", "key"))
        }
        wkt = of_edges.pop("geometry", None)
        return _row({NODE: of_nodes, EDGE: of_edges}, graph.graph.get("crs"), wkt)


def _row(tables: dict[str, Columns], crs: Any, geometry: Any) -> Any:
    """One row of lists of text, with the geometry unchanged."""
    columns: dict[str, Any] = {
        f"{what} {name}": pa.array([[_text(cell) for cell in cells]])
        for what, table in tables.items()
        for name, cells in table.items()
    }
    if geometry is not None:
        columns[f"{EDGE} geometry"] = pa.array([geometry])
    return pa.table(columns).replace_schema_metadata({"crs": str(crs or "")})


def _text(value: Any) -> str | None:
    """A cell as text; whole floats lose their fraction.

    Formats write whole numbers as floats if one in the column is missing.
    """
    if value is None or value != value:
        return None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
