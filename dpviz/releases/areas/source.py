"""Areas as a word says where they come from: a file of polygons, or hexagons of H3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.releases.areas.area_file import read_areas
from dpviz.releases.areas.hexagons import hexagons
from dpviz.releases.areas.partition import Areas

H3 = "h3:"
"""What a resolution of H3 stands behind."""


@dataclass(frozen=True)
class ChosenAreas:
    """Public areas, and the words that make them again.

    Attributes:
        source: ``h3:`` and a resolution, or the name of a file.
        levels: columns of the file that name the areas of each level, the finest last.
        key: of the file, which tells two of one name apart; its ``repr`` says all of a choice.
        areas: as they were read.
    """

    source: str
    levels: tuple[str, ...] = ()
    key: str = ""
    areas: Areas = field(kw_only=True, repr=False, compare=False)

    @property
    def uploaded(self) -> bool:
        """Whether they are of a visitor's file."""
        return not self.source.startswith(H3)


def areas_of(
    source: str,
    domain: Domain | None = None,
    *,
    levels: Sequence[str] = (),
    name_column: str | None = None,
    crs: str = "EPSG:4326",
) -> Areas:
    """Areas from a path, or from ``h3:`` and a resolution; see :func:`read_areas` for the rest.

    Raises:
        ParameterError: no resolution, hexagons without a box, or columns of hexagons.
        DataError: the file cannot be read as areas.
    """
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
