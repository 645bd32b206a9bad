"""Areas that everybody knows: countries, states and cities by name, a bounding box as text.

The names and boxes are the areas of use in the PROJ database, which is installed with pyproj.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from dpviz.errors import DomainError
from dpviz.render.scene import Bounds

_ODD = re.compile(r"zone|SPCS|°|\d|between|north of|south of|east of|west of|offshore \(|/", re.I)
"""Areas of a map sheet or an oil field: names that nobody looks for."""


@cache
def areas() -> dict[str, Bounds]:
    """West, south, east and north of every area, by name."""
    import pyproj

    file = Path(pyproj.datadir.get_data_dir()) / "proj.db"
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "SELECT name, west_lon, south_lat, east_lon, north_lat FROM extent "
            "WHERE deprecated = 0 AND west_lon < east_lon AND south_lat < north_lat ORDER BY name"
        )
        boxes = {str(name): tuple(map(float, box)) for name, *box in rows if not _ODD.search(name)}
    return {name: (west, south, east, north) for name, (west, south, east, north) in boxes.items()}


def box_of(text: str) -> Bounds:
    """Four numbers in any notation: west, south, east, north.

    >>> box_of("[-10.83657, 49.38, 2.1, 60.9]")
    (-10.83657, 49.38, 2.1, 60.9)

    >>> box_of("bbox=.5%2C49.38%2C2.1%2C60.9")
    (0.5, 49.38, 2.1, 60.9)

    Raises:
        DomainError: not four numbers, or in another order, or with letters in place of signs.
    """
    text = unquote(text)
    if re.search(r"\d\s*°|\d[NSEW]\b", text):  # 10.8° W is -10.8, and often comes after 49.4° N
        raise DomainError(
            "give degrees as plain numbers: west, south, east, north; west is negative"
        )
    words = re.findall(r"[-−]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?", text)
    numbers = [float(word.replace("−", "-")) for word in words]
    if len(numbers) != 4:
        raise DomainError(f"{len(numbers)} numbers: paste four, west, south, east, north")
    west, south, east, north = numbers
    if west >= east or south >= north:
        raise DomainError("this box has no area: give west, south, east, north in this order")
    return west, south, east, north
