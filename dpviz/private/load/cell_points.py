"""Places of records that name a cell: the centre of an H3 cell or of a geohash, in degrees.

The name of the column alone decides the grid, and a cell's place follows from its id: stability 1.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dpviz.files import arrow
from dpviz.lazy import h3, pc
from dpviz.private.load.columns import is_text, plain
from dpviz.private.load.words import texts
from dpviz.trees.lattice import Float

_NAME = re.compile(r"(h3|geohash)(_?(index|cell|id|res_?\d+|\d+))?")
_LETTERS = {letter: at for at, letter in enumerate("0123456789bcdefghjkmnpqrstuvwxyz")}
_MAX_LETTERS = 12
"""Letters of the longest geohash: 4 cm."""

_NOWHERE = (np.nan, np.nan)


def grid_of(name: str) -> str | None:
    """Grid whose cells a column of this name holds: "h3" or "geohash"; None for other names.

    >>> grid_of("h3_9"), grid_of("Geohash"), grid_of("h3n2_cases")
    ('h3', 'geohash', None)
    """
    match = _NAME.fullmatch(name.strip().casefold())
    return match[1] if match else None


def cell_points(column: Any, name: str) -> Float:
    """Longitude and latitude (n, 2) of the centres of cells; NaN for what is no cell.

    ``column``: H3 ids in hexadecimal text or as numbers, or geohashes.
    """
    number = not isinstance(column, list) and not is_text(plain(column).type)
    cells = pc.dictionary_encode(texts(column, name))
    centre = geohash_centre if grid_of(name) == "geohash" else h3_centre
    base = 10 if number else 16
    known = [
        _NOWHERE if each is None else centre(each, base) for each in cells.dictionary.to_pylist()
    ]
    at = arrow.number_array(cells.indices, null=-1).astype(np.int64)
    return np.array([*known, _NOWHERE])[at]


def h3_centre(cell: bytes, base: int = 16) -> tuple[float, float]:
    """Centre of an H3 cell.

    >>> [round(each, 3) for each in h3_centre(b"89283082803ffff")], h3_centre(b"moon")
    ([-122.418, 37.774], (nan, nan))
    """
    try:
        number = int(cell, base)
        lat, lon = h3.cell_to_latlng(number) if h3.is_valid_cell(number) else _NOWHERE
    except (ValueError, OverflowError):
        return _NOWHERE
    return lon, lat


def geohash_centre(cell: bytes, base: int = 16) -> tuple[float, float]:
    """Centre of a geohash, bits of longitude and latitude in turn.

    >>> [round(each, 3) for each in geohash_centre(b"u33dc0")], geohash_centre(b"moon")
    ([13.409, 52.517], (nan, nan))
    """
    values = [_LETTERS.get(letter) for letter in cell.decode(errors="replace").casefold()]
    if not 0 < len(values) <= _MAX_LETTERS or None in values:
        return _NOWHERE
    bits = "".join(f"{value:05b}" for value in values)
    lon, lat = (
        (int(each, 2) + 0.5) / 2 ** len(each) if each else 0.5 for each in (bits[::2], bits[1::2])
    )
    return 360.0 * lon - 180.0, 180.0 * lat - 90.0
