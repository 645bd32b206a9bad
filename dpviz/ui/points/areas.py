"""Areas that everybody knows: countries, states and cities by name, a bounding box as text."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from dpviz.datasets.basemap import named_areas
from dpviz.errors import DomainError
from dpviz.lazy import pyproj
from dpviz.render.scene import Bounds

_STATE = re.compile(r"(India|Ukraine) - ([A-Z][\w ]+)")
"""A state that the base map does not know, as the PROJ database names it."""


@cache
def areas() -> dict[str, Bounds]:
    """West, south, east and north by name: of countries, states and towns of the base map.

    And of the states of India and Ukraine: areas of use in the PROJ database, which is installed
    with pyproj.
    """
    boxes = dict(named_areas())
    file = Path(pyproj.datadir.get_data_dir()) / "proj.db"
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT name, west_lon, south_lat, east_lon, north_lat FROM extent")
        for name, west, south, east, north in rows:
            if state := _STATE.fullmatch(name):
                box = float(west), float(south), float(east), float(north)
                boxes.setdefault(f"{state[2]}, {state[1]}", box)
    return boxes


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
        raise DomainError(f"not four numbers but {len(numbers)}: paste west, south, east, north")
    west, south, east, north = numbers
    if west >= east or south >= north:
        raise DomainError("this box has no area: give west, south, east, north in this order")
    return west, south, east, north
