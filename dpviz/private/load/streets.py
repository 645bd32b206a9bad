"""Columns of public road graphs from any file. A child process parses what is more than lines."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.foreign import readable, recognised, refuse_computing
from dpviz.files.sandbox import confined
from dpviz.lazy import nx, pa, pyogrio, shapely
from dpviz.private.load.tables.base import parsing, pick
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.words import texts
from dpviz.releases.points.region_file import shapes_of

Columns = dict[str, list[Any]]
"""Cells by the name of their column: text, WKB, or None for a missing one."""

NODE, EDGE = "node", "edge"
"""The tables of a graph."""

NAMES = (
    *("node", "osmid", "x", "y", "lon", "lat"),
    *("edge", "id", "fid", "u", "v", "key", "src", "dst", "length"),
)
"""Columns that are read, beside the geometry."""


NUMBERS = ("x", "y", "lon", "lat", "length")


def graph_tables(path: Path) -> tuple[Columns | None, Columns, str]:
    """Nodes, edges and the CRS of one file; None where the ends of lines are the nodes.

    The CRS is "" where the file states none.

    Raises:
        DataError: no graph, nodes without coordinates, or more than the limits.
    """
    size = path.stat().st_size
    limits.FILE.check(size, path.name)
    task, library = ("lines", "shapely")
    if path.suffix.lower() == ".graphml":
        task, library = "network", "networkx"
    elif _head(path) == "text":
        raise DataError(
            f"{path.name}: one file must be GraphML, GeoJSON, GeoPackage, Shapefile or GeoParquet; "
            "give two tables, nodes then edges"
        )
    needs = ("pyarrow", "pyogrio.raw", library)
    call, place = f"{__name__}:{task}", str(path.absolute())
    table = confined(call, place, where=path.name, size=size, needs=needs)
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


def table_columns(
    path: Path, needed: Callable[[Container[str]], Sequence[str]]
) -> tuple[Columns, str]:
    """The needed columns of a PUBLIC table, and the CRS that it states, "" for none.

    Args:
        path: of a plain table, or of lines.
        needed: gives the columns to read, of the names of those that there are.

    Raises:
        DataError: a missing column, or a file that is no table.
    """
    shapes = _head(path) in ("GeoJSON", "GeoPackage", "Shapefile")
    table = None if shapes else open_table(path)
    if table is None or any(column.kind == "geometry" for column in table.columns):
        _, edges, crs = graph_tables(path)
        return edges, crs
    wanted = list(dict.fromkeys(needed([column.name for column in table.columns])))
    pick(table.columns, wanted, table.name)
    columns: Columns = {name: [] for name in wanted}
    for block in table.blocks(wanted):
        for name in wanted:
            cells = texts(block.columns[name], name).to_pylist()
            if name != "geometry":
                cells = [each and each.decode(errors="replace") for each in cells]
            if table.semicolons and name in NUMBERS:  # whose decimals may have commas
                cells = [each and each.replace(",", ".") for each in cells]
            columns[name] += cells
    return columns, ""


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return recognised(file.read(1024))


def lines(place: str) -> Any:
    """Run in the sandbox: return one row of lists, the columns of the lines and any nodes."""
    path = Path(place)
    with parsing(path.name, "lines of streets"):
        layers = _layers(path)
        shapes, words, crs = shapes_of(path, layers.get(EDGE), limits.STREETS)
        nodes = shapes_of(path, layers[NODE], limits.STREETS)[1] if NODE in layers else {}
        limits.STREETS.check(len(shapes), path.name)
        if not len(shapes):
            raise DataError(f"{path.name} has no lines: give at least one street")
        return _row({NODE: nodes, EDGE: words}, crs, shapely.to_wkb(shapes).tolist())


def _layers(path: Path) -> dict[str, str]:
    """The layer of edges of a GeoPackage, and that of their nodes, if any."""
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
    """One row of lists of text, and the geometry as it is."""
    columns: dict[str, Any] = {
        f"{what} {name}": pa.array([[_text(cell) for cell in cells]])
        for what, table in tables.items()
        for name, cells in table.items()
        if name in NAMES
    }
    if geometry is not None:
        columns[f"{EDGE} geometry"] = pa.array([geometry])
    return pa.table(columns).replace_schema_metadata({"crs": str(crs or "")})


def _text(value: Any) -> str | None:
    """A cell as text: formats write whole numbers as floats where one of a column is missing."""
    if value is None or value != value:
        return None
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
