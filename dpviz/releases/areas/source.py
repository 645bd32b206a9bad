"""Areas by a source text: a file of polygons, H3 hexagons, or rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.lazy import shapely
from dpviz.lists import number
from dpviz.releases.areas.area_file import read_areas
from dpviz.releases.areas.hexagons import hexagons
from dpviz.releases.areas.partition import Areas

H3 = "h3:"
"""Prefix of an H3 resolution."""

RECT = "rect="
"""Prefix of a rectangle's sides, as in a wish; semicolons separate several rectangles."""

RECTANGLE = "rectangle"
"""The level of rectangles; each is named by its sides."""


@dataclass(frozen=True)
class ChosenAreas:
    """Public areas and the source text that recreates them.

    Attributes:
        source: ``h3:`` and a resolution, or the name of a file.
        levels: columns of the file that name the areas of each level, the finest last.
        key: key of the file, which tells two of one name apart; its ``repr`` says all of a choice.
        every: step of time of the table, such as ``1d``; None without time.
    """

    source: str
    levels: tuple[str, ...] = ()
    key: str = ""
    every: str | None = None
    areas: Areas = field(kw_only=True, repr=False, compare=False)

    @property
    def uploaded(self) -> bool:
        """True if the areas come from a visitor's file."""
        return not self.source.startswith(H3)


def areas_of(
    source: str,
    domain: Domain | None = None,
    *,
    levels: Sequence[str] = (),
    name_column: str | None = None,
    crs: str = "EPSG:4326",
) -> Areas:
    """Areas from a path, from ``h3:`` and a resolution, or from ``rect=W,S,E,N;rect=…``.

    See :func:`read_areas` for the rest.

    Raises:
        ParameterError: no resolution, hexagons or rectangles without a box or with columns, or
            rectangles that overlap.
        DomainError: a rectangle outside the box.
    """
    if source.lower().startswith(RECT):
        if levels or name_column is not None:
            raise ParameterError("rectangles are named by their sides: leave out --levels, --name")
        if domain is None:
            raise ParameterError(f"areas {source}: state the public box: give --bounds=W,S,E,N")
        return _rectangles(source, domain)
    if not source.lower().startswith(H3):
        return read_areas(source, domain, levels=levels, name_column=name_column, crs=crs)
    if levels or name_column is not None:
        raise ParameterError(f"areas {source}: H3 names its cells: leave --levels and --name out")
    if domain is None:
        raise ParameterError(f"areas {source}: hexagons cover a public box: give --bounds=W,S,E,N")
    text = source[len(H3) :]
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(f"areas {source}: give a resolution from 0 to 15, as in h3:8")
    return hexagons(int(text), domain)


def words_of(areas: Areas) -> str | None:
    """Source text of hexagons or rectangles for :func:`areas_of`; None for areas of a file."""
    if areas.resolution is not None:
        return f"{H3}{areas.resolution}"
    if areas.levels != (RECTANGLE,) or any(name.count(",") != 3 for name in areas.names):
        return None
    return ";".join(f"{RECT}{name}" for name in areas.names)


def _rectangles(source: str, domain: Domain) -> Areas:
    """Rectangles as areas; their sides are rounded to the lattice like those of queries."""
    words = [part.strip().removeprefix(RECT) for part in source.split(";")]
    try:
        sides = [[number(side) for side in part.split(",")] for part in words]
    except ValueError:
        sides = [[]]
    if any(len(each) != 4 for each in sides):
        raise ParameterError(f"areas {source}: a rect is four numbers, rect=west,south,east,north")
    low, high = domain.boxes(sides)
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    overlap = np.triu((shared > 0).all(axis=2), 1)
    if overlap.any():
        one, other = np.argwhere(overlap)[0]
        raise ParameterError(f"rectangles {words[one]} and {words[other]} overlap: leave out one")
    if (low == high).any():
        raise ParameterError(f"areas {source}: a rectangle has no surface: give wider ones")
    corners = np.concatenate([domain.to_coordinates(low), domain.to_coordinates(high)], axis=1)
    shapes = np.asarray(shapely.box(*corners.T), dtype=object)
    return Areas(domain, (RECTANGLE,), tuple(words), np.full(len(words), -1), shapes)
