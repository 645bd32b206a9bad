"""Check public bounds before records are read: area of use of the CRS, likely mistakes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpviz.datasets.basemap import base_map
from dpviz.domain import Domain
from dpviz.domain.crs import DEGREES, known_crs, transformation
from dpviz.domain.rectangles import limits_text
from dpviz.errors import DomainError

Box = tuple[float, float, float, float]


def require_area(domain: Domain) -> None:
    """Require that the public box lies where its CRS is used; no record is read.

    The area of use of a CRS is known in degrees; the box is compared with it, once in 2-D, at each
    end in 4-D. Degrees in a CRS of metres, or latitude before longitude, mostly lie outside.
    """
    for box in _boxes(domain):
        crs, limits = known_crs(domain.crs), _area(domain.crs)
        if limits is None:
            return
        west, south, east, north = limits
        if box[0] > east or box[2] < west or box[1] > north or box[3] < south:
            unit = crs.axis_info[0].unit_name if crs.axis_info else "its unit"
            raise DomainError(
                f"bounds {limits_text(box)} lie outside the area of use of "
                f"{domain.crs}, {','.join(f'{side:.6g}' for side in limits)}: give west,south,"
                f"east,north in its unit ({unit})"
            )


def likely_mistake(domain: Domain) -> str:
    """Warning about a likely mistake in bounds that :func:`require_area` accepts, or ''.

    Bounds are public, so that no record is read; the caller may go on. Four mistakes are detected:
    degrees in a CRS that counts metres; a box that reaches far beyond the area of use, for example
    by one digit too many; a box across the meridian of 180°, beyond which most files write degrees
    west; and, if the box holds no land (Antarctica apart), latitude before longitude.
    """
    for west, south, east, north in _boxes(domain):
        crs = known_crs(domain.crs)
        described = f"bounds {limits_text((west, south, east, north))}"
        small = max(abs(west), abs(east)) <= 180 and max(abs(south), abs(north)) <= 90
        if crs.is_projected and small:
            return (
                f"{described} look like degrees, but {domain.crs} counts in "
                f"{crs.axis_info[0].unit_name}s: give them so, or name {DEGREES} as their CRS"
            )
        if _exceeds_area_of_use(domain.crs, (west, south, east, north)):
            return (
                f"{described} reach far beyond the area of use of {domain.crs}: check their digits"
            )
        in_degrees = crs.is_geographic and crs.axis_info[0].unit_name == "degree"
        if in_degrees and (west < -180 or east > 180):
            beyond = f"-180 to {east - 360:g}" if east > 180 else f"{west + 360:g} to 180"
            return (
                f"{described} reach over the meridian of 180°: longitudes are taken as they are "
                f"written, so that those of {beyond} are left out; write all of them alike, or "
                "choose a projected CRS"
            )
        swapped = (south, west, north, east)
        may_be = crs.is_geographic and max(abs(west), abs(east)) <= 90
        if may_be and not _has_land((west, south, east, north)) and _has_land(swapped):
            return (
                f"{described} hold no land, but would with latitude and longitude swapped: "
                "the order is west,south,east,north"
            )
    return ""


def _boxes(domain: Domain) -> list[Box]:
    """West, south, east, north of each end: one in 2-D, two in 4-D; none in other dimensions."""
    low, high = domain.without_time.lower, domain.without_time.upper
    ends = range(0, len(low), 2) if len(low) % 2 == 0 else ()
    return [(low[x], low[x + 1], high[x], high[x + 1]) for x in ends]


@lru_cache(maxsize=64)
def _has_land(box: tuple[float, float, float, float]) -> bool:
    """Return whether a box in degrees touches land north of 60° S."""
    west, south, east, north = box
    if north <= -60:
        return False
    around = (west, max(south, -60.0), east, north)
    kinds = {each["properties"]["kind"]: each for each in base_map(around, 0.0)["features"]}
    return bool(kinds["land"]["geometry"]["coordinates"])


def _exceeds_area_of_use(name: str, box: Box) -> bool:
    """Return whether a box reaches far beyond the area of use of its CRS.

    That is by more than the area's own width or height; in degrees beyond ±360 or a pole.
    """
    area = _area(name)
    if area is None:
        return False
    wide, high = (180.0, 0.0) if known_crs(name).is_geographic else np.subtract(area[2:], area[:2])
    west, south, east, north = np.add(area, (-wide, -high, wide, high)).tolist()
    return not (west <= box[0] and south <= box[1] and box[2] <= east and box[3] <= north)


@lru_cache(maxsize=64)
def _area(name: str) -> Box | None:
    """West, south, east, north of a CRS's area of use in its own unit; None if unknown."""
    crs = known_crs(name)
    area = crs.area_of_use
    if area is None or area.west > area.east:  # across the date line: the box is ambiguous
        return None
    if crs.is_geographic:
        return area.west, area.south, area.east, area.north
    to_crs = transformation(DEGREES, name)
    west, south, east, north = to_crs.transform_bounds(*area.bounds, densify_pts=21)
    if not all(abs(side) < 1e12 for side in (west, south, east, north)):
        return None
    return west, south, east, north
