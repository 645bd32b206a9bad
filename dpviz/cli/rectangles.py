"""Rectangles in a CSV file, as options of commands name one."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.lists import number

PLACE = ({"x", "lon", "lng", "long", "longitude"}, {"y", "lat", "latitude"})
"""What the axes of two dimensions are called beside the columns of a release."""

SIDES = ("west", "south", "east", "north")

TIMES = {"t0", "t1"}
"""Columns of ``dpviz export`` that say when each cell is, of a release with time."""


def rectangles(path: str, *axes: Sequence[str]) -> list[list[float]]:
    """Rectangles from a CSV file, with or without a header row.

    Sides that a header names are known by it, in any order and among other columns: west, south,
    east and north, or an axis with min and max, such as lon_min, minlon or ``dpviz export``'s
    ``<column>_min``. In other dimensions than two a header may also name none, before sides in the
    order of ``--rect``.

    Args:
        path: of the file.
        *axes: their columns; where they may be these or those, such as with time or without, those
            are meant that the first row fits.

    Raises:
        DataError: no such file, none in it, a header that names not every side once, or a row of
            another length or without a number for each side.
    """
    if not Path(path).is_file():  # a device may never end
        raise DataError(f"no file {path!r}: check the name")
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=";" if ";" in first and "," not in first else ",")
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as CSV") from error
    columns = _meant(rows[0][1] if rows else [], axes)
    sides: Sequence[int] = range(2 * len(columns))
    length = len(sides)
    if rows and not any(map(_is_number, rows[0][1])):
        header = rows.pop(0)[1]
        sides, length = _places(path, header, columns), len(header)
    if not rows:
        raise DataError(f"{path} holds no rectangle: write one in each row")
    for line, row in rows:
        if len(row) != length:
            raise DataError(f"{path}: line {line} has {len(row)} cells, not {length}: mend it")
        if not all(_is_number(row[at]) for at in sides):
            raise DataError(f"{path}: the rectangle in line {line} is not {len(sides)} numbers")
    return [[number(row[at]) for at in sides] for _, row in rows]


def _meant(first: Sequence[str], axes: Sequence[Sequence[str]]) -> Sequence[str]:
    """The axes whose sides the first row of a file names, or else is as long as; the first ones
    where it fits none.
    """
    names = {_letters(name) for name in first}
    if not names >= TIMES:  # cells that have each a time of their own are none of places alone
        for columns in axes:
            if all(names & side for side in _side_names(columns)):
                return columns
    return next((each for each in axes if 2 * len(each) == len(first)), axes[0])


def _places(path: str, header: Sequence[str], columns: Sequence[str]) -> Sequence[int]:
    """Where a header has each side, in the order of ``--rect``."""
    names, places = [_letters(name) for name in header], []
    for side in _side_names(columns):
        named = [at for at, name in enumerate(names) if name in side]
        if len(named) > 1:
            one, other = (header[at].strip() for at in named[:2])
            raise DataError(f"{path}: the columns {one!r} and {other!r} are one side: keep one")
        places += named
    if len(places) == 2 * len(columns):
        return places
    if len(columns) == 2 or places or len(header) < 2 * len(columns):
        wanted = (
            SIDES
            if len(columns) == 2
            else [f"{name}_{end}" for end in ("min", "max") for name in columns]
        )
        raise DataError(
            f"{path}: the header {','.join(header)!r} does not name each side: name them "
            f"{', '.join(wanted)}"
        )
    return range(2 * len(columns))


def _side_names(columns: Sequence[str]) -> list[set[str]]:
    """What each side may be called, in the order of ``--rect``."""
    axes = [{_letters(name)} for name in columns]
    if len(axes) == 2:
        x, y = axes
        axes = [x | (PLACE[0] - y), y | (PLACE[1] - x)]
    sides = [
        {each for name in axis for each in (f"{name}{end}", f"{end}{name}")}
        for end in ("min", "max")
        for axis in axes
    ]
    if len(axes) == 2:
        sides = [names | {side} for names, side in zip(sides, SIDES, strict=True)]
    return sides


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _is_number(word: str) -> bool:
    try:
        number(word)
    except ValueError:
        return False
    return True
