"""Styles of an exported map: QML for QGIS, SLD for GeoServer, a chart for Vega-Lite.

Colours are those of our own map: classes of records per km², or of the count of lines. What cannot
be told from none, below twice its noise, is not drawn.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from dpviz.lazy import shapely
from dpviz.render.colors import Color
from dpviz.render.legend import compact
from dpviz.render.scale import LINE_WIDTHS, Scale, line_colors, lines_scale, scale_of

DENSITY = "per_km2"
"""Column of records per km²."""

PARTS = ["kind", "start", "end", "t0", "t1"]
"""Columns that name the part of a row, by kind and by step of time."""

TABLE = "layer_styles"
"""Table of a GeoPackage in which QGIS looks for the style of a layer."""

COLUMNS = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, f_table_catalog TEXT, f_table_schema TEXT, "
    "f_table_name TEXT, f_geometry_column TEXT, styleName TEXT, styleQML TEXT, styleSLD TEXT, "
    "useAsDefault BOOLEAN, description TEXT, owner TEXT, ui TEXT, update_time DATETIME"
)
OGC = "http://www.opengis.net/ogc"
SLD = "http://www.opengis.net/sld"


@dataclass(frozen=True)
class Style:
    """Classes of one column.

    Attributes:
        column: the column that is shown.
        scale: its classes.
        colors: one for each class.
        lines: True for lines, whose width grows with the class too.
        title: title of the layer: the guarantee.
    """

    column: str
    scale: Scale
    colors: tuple[Color, ...]
    lines: bool
    title: str

    def classes(self) -> Iterator[tuple[float, float | None, str, Color, float]]:
        """Lower and upper bound, label, colour and width of each class."""
        bounds = self.scale.bounds
        ends = (*bounds[1:], None)
        for at, (low, high) in enumerate(zip(bounds, ends, strict=True)):
            label = f"{compact(low)} to {compact(high)}" if high else f"{compact(low)} or more"
            yield low, high, label, self.colors[at], LINE_WIDTHS[at % len(LINE_WIDTHS)]


def style_of(rows: Any, title: str) -> Style:
    """Style of exported rows: of areas and cells by density if it is known, of lines by count."""
    count = rows["count"].to_numpy(float)
    clear = count >= 2.0 * rows["noise_sd"].to_numpy(float)
    if set(rows.geom_type.dropna().unique()) <= {"LineString", "MultiLineString"}:
        return Style("count", lines_scale(count[clear]), line_colors().light, True, title)
    column = DENSITY if DENSITY in rows else "count"
    scale = scale_of(rows[column].to_numpy(float), np.where(clear, count, 0.0))
    return Style(column, scale, scale.colors().light, False, title)


def qml(style: Style) -> str:
    """Style for QGIS."""
    root = ElementTree.Element("qgis", version="3.28", styleCategories="Symbology")
    shown = f'CASE WHEN "count" >= 2 * "noise_sd" THEN "{style.column}" END'
    kind = "line" if style.lines else "fill"
    renderer = ElementTree.SubElement(root, "renderer-v2", type="graduatedSymbol", attr=shown)
    ranges = ElementTree.SubElement(renderer, "ranges")
    symbols = ElementTree.SubElement(renderer, "symbols")
    for at, (low, high, label, color, width) in enumerate(style.classes()):
        ends = {"lower": f"{low:.15g}", "upper": "1e+300" if high is None else f"{high:.15g}"}
        ElementTree.SubElement(ranges, "range", ends, label=label, symbol=f"{at}", render="true")
        symbol = ElementTree.SubElement(symbols, "symbol", type=kind, name=f"{at}", alpha="1")
        layer = ElementTree.SubElement(symbol, "layer", enabled="1", locked="0")
        layer.set("class", "SimpleLine" if style.lines else "SimpleFill")
        options = ElementTree.SubElement(layer, "Option", type="Map")
        paint = ",".join(map(str, (*color, 255)))
        values = {"color": paint, "style": "solid", "outline_style": "no"}
        if style.lines:
            values = {"line_color": paint, "line_width": f"{width:g}", "line_width_unit": "Pixel"}
        for name, value in values.items():
            ElementTree.SubElement(options, "Option", type="QString", name=name, value=value)
    return ElementTree.tostring(root, encoding="unicode")


def sld(style: Style) -> str:
    """Style of the OGC, version 1.0."""
    root = ElementTree.Element("StyledLayerDescriptor", version="1.0.0", xmlns=SLD)
    root.set("xmlns:ogc", OGC)
    layer = ElementTree.SubElement(root, "NamedLayer")
    ElementTree.SubElement(layer, "Name").text = "dpviz"
    user = ElementTree.SubElement(layer, "UserStyle")
    ElementTree.SubElement(user, "Title").text = style.title
    rules = ElementTree.SubElement(user, "FeatureTypeStyle")
    for low, high, label, color, width in style.classes():
        rule = ElementTree.SubElement(rules, "Rule")
        ElementTree.SubElement(rule, "Title").text = label
        every = ElementTree.SubElement(ElementTree.SubElement(rule, "ogc:Filter"), "ogc:And")
        clear = ElementTree.SubElement(every, "ogc:PropertyIsGreaterThanOrEqualTo")
        ElementTree.SubElement(clear, "ogc:PropertyName").text = "count"
        noise = ElementTree.SubElement(clear, "ogc:Mul")
        ElementTree.SubElement(noise, "ogc:Literal").text = "2"
        ElementTree.SubElement(noise, "ogc:PropertyName").text = "noise_sd"
        for test, bound in (("GreaterThanOrEqualTo", low), ("LessThan", high)):
            if bound is not None:
                part = ElementTree.SubElement(every, f"ogc:PropertyIs{test}")
                ElementTree.SubElement(part, "ogc:PropertyName").text = style.column
                ElementTree.SubElement(part, "ogc:Literal").text = f"{bound:.15g}"
        paint = "#{:02x}{:02x}{:02x}".format(*color)
        kind, how, values = "Polygon", "Fill", {"fill": paint}
        if style.lines:
            kind, how, values = "Line", "Stroke", {"stroke": paint, "stroke-width": f"{width:g}"}
        drawn = ElementTree.SubElement(ElementTree.SubElement(rule, f"{kind}Symbolizer"), how)
        for name, value in values.items():
            ElementTree.SubElement(drawn, "CssParameter", name=name).text = value
    return ElementTree.tostring(root, encoding="unicode")


def vega_lite(rows: Any, style: Style) -> dict[str, Any]:
    """A map in Vega-Lite with its data, in degrees or on a plane; of several parts with a menu.

    Rings are clockwise: on a sphere the others are all that is outside of them.
    """
    plane, split = rows.crs is None, [name for name in PARTS if name in rows]
    labels = rows[split].astype(str)
    rows = rows.assign(**labels, part=labels.agg(" ".join, axis=1)) if split else rows
    turned = rows.set_geometry(shapely.orient_polygons(rows.geometry, exterior_cw=True))
    field, hexes = (
        f"properties.{style.column}",
        ["#{:02x}{:02x}{:02x}".format(*each) for each in style.colors],
    )
    names = [name for name in ("name", "kind", "count", "half_width", DENSITY) if name in rows]
    first, *bounds = style.scale.bounds
    clear = f"datum.properties.count >= 2 * datum.properties.noise_sd && datum.{field} >= {first!r}"
    color = {
        "field": field,
        "type": "quantitative",
        "title": style.column,
        "scale": {"type": "threshold", "domain": bounds, "range": hexes},
    }
    tooltip = [{"field": f"properties.{name}", "title": name} for name in names]
    menu: dict[str, Any] = {}
    if split:
        options = rows["part"].unique().tolist()
        bound = {"input": "select", "options": options, "name": "shown: "}
        menu = {"params": [{"name": "shown", "value": options[0], "bind": bound}]}
        clear = f"datum.properties.part == shown && {clear}"
    return menu | {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": {"text": "dpviz", "subtitle": style.title},
        "width": 720,
        "height": 540,
        "data": {"values": json.loads(turned.to_json())["features"]},
        "transform": [{"filter": clear}],
        "projection": {"type": "identity", "reflectY": True} if plane else {"type": "mercator"},
        "mark": {"type": "geoshape", "filled": not style.lines},
        "encoding": {("stroke" if style.lines else "fill"): color, "tooltip": tooltip},
    }


def add_style(geopackage: str, style: Style) -> None:
    """Add a style to a GeoPackage with the layer ``dpviz``, as QGIS saves it there."""
    names = (
        "f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML, "
    )
    names += "styleSLD, useAsDefault, description"
    values = ("", "", "dpviz", "geom", "dpviz", qml(style), sld(style), 1, style.title)
    try:
        with closing(sqlite3.connect(geopackage)) as file, file:
            file.execute(f"CREATE TABLE {TABLE} ({COLUMNS})")
            file.execute(f"INSERT INTO {TABLE} ({names}) VALUES ({'?, ' * 8}?)", values)
    except sqlite3.Error as error:
        raise OSError(f"its style cannot be added ({error}): check the free disk space") from error
