"""Rectangles in a CSV file, as options of commands name one."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.lists import number

PLACE = ("x", "lon"), ("y", "lat")
"""Names that 2-D axes may have, beside the column names of a release."""

SIDES = ("west", "south", "east", "north")

TIMES = {"t0", "t1"}
"""Columns of ``dpviz export`` that say when each cell is, of a release with time."""


def rectangles(path: str, *axes: Sequence[str]) -> list[list[float]]:
    """Rectangles from a CSV file.

    Its header names every side, in any order and among other columns: west, south, east and north,
    or ``<column>_min`` and ``<column>_max`` as ``dpviz export`` writes them. Without a header the
    sides are in the order of ``--rect``.

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
    if rows and not any(map(_is_number, rows[0][1])):
        header = rows.pop(0)[1]
        length, sides = len(header), _places(path, header, axes)
    else:
        lengths = [2 * len(columns) for columns in axes]
        given = len(rows[0][1]) if rows else 0
        length = given if given in lengths else lengths[0]
        sides = [*range(length)]
    if not rows:
        raise DataError(f"{path} holds no rectangle: write one in each row")
    for line, row in rows:
        if len(row) != length:
            raise DataError(f"{path}: line {line} has {len(row)} cells, not {length}: mend it")
        if not all(_is_number(row[at]) for at in sides):
            raise DataError(f"{path}: the rectangle in line {line} is not {len(sides)} numbers")
    return [[number(row[at]) for at in sides] for _, row in rows]


def _places(path: str, header: Sequence[str], axes: Sequence[Sequence[str]]) -> list[int]:
    """Where a header has each side, in the order of ``--rect``."""
    names = [_letters(name) for name in header]
    if {*names} >= TIMES:  # cells that have each a time of their own are none of places alone
        axes = axes[:1]
    for columns in axes:
        sides = [{f"{_letters(name)}{end}" for name in (column, *beside)} | {side} - {""}
                 for end, half in (("min", SIDES[:2]), ("max", SIDES[2:]))
                 for column, beside, side in _axes(columns, half)]  # fmt: skip
        places = [[at for at, name in enumerate(names) if name in side] for side in sides]
        for several in places:
            if len(several) > 1:
                one, other = (header[at].strip() for at in several[:2])
                raise DataError(f"{path}: the columns {one!r} and {other!r} are one side: keep one")
        if all(places):
            return [at for (at,) in places]
    columns = axes[0]
    wanted = [f"{name}_{end}" for end in ("min", "max") for name in columns]
    raise DataError(
        f"{path}: the header {','.join(header)!r} does not name each side: name them "
        f"{', '.join(SIDES if len(columns) == 2 else wanted)}"
    )


def _axes(columns: Sequence[str], sides: Sequence[str]) -> list[tuple[str, Sequence[str], str]]:
    """Each axis with what else it and one side of it are called."""
    if len(columns) != 2:
        return [(column, (), "") for column in columns]
    other = {_letters(column) for column in columns}
    beside = [[name for name in names if name not in other] for names in PLACE]
    return list(zip(columns, beside, sides, strict=True))


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _is_number(word: str) -> bool:
    try:
        number(word)
    except ValueError:
        return False
    return True
