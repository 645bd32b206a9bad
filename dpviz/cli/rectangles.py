"""Rectangles from a CSV file, in the order of ``--rect``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.lists import number

PLACE = ("x", "lon"), ("y", "lat")
"""Names that 2-D axes may have, beside the column names of a release."""

SIDES = ("west", "south", "east", "north")


def rectangles(path: str, *axes: Sequence[str]) -> list[list[float]]:
    """Read rectangles from a CSV file.

    Its header names every side, in any order and among other columns: west, south, east and north,
    or ``<column>_min`` and ``<column>_max`` as ``dpviz export`` writes them. Without a header the
    sides are in the order of ``--rect``.

    Args:
        path: of the file.
        *axes: their columns; several, such as with time and without, where either may be meant.

    Raises:
        DataError: no such file, none in it, a header that names not every side once, or a row of
            another length or without a number for each side.
    """
    if not Path(path).is_file():  # reading a device may never end
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
        length = len(rows[0][1]) if rows and len(rows[0][1]) in lengths else lengths[0]
        sides = [*range(length)]
    if not rows:
        raise DataError(f"{path} holds no rectangle: write one in each row")
    for line, row in rows:
        if len(row) != length or not all(_is_number(row[at]) for at in sides):
            raise DataError(
                f"{path}: line {line} is not {length} cells with {len(sides)} numbers: correct it"
            )
    return [[number(row[at]) for at in sides] for _, row in rows]


def _places(path: str, header: Sequence[str], axes: Sequence[Sequence[str]]) -> list[int]:
    """Column of each side in a header, in the order of ``--rect``."""
    names = [_letters(name) for name in header]
    if {*names} >= {"t0", "t1"}:  # exported cells with times
        axes = axes[:1]
    for columns in axes:
        places = [[at for at, each in enumerate(names) if each in side] for side in _sides(columns)]
        if all(len(each) == 1 for each in places):
            return [at for (at,) in places]
    wanted = [f"{name}_{end}" for end in ("min", "max") for name in axes[0]]
    raise DataError(
        f"{path}: the header {','.join(header)!r} does not name each side once: name them "
        f"{', '.join(SIDES if len(axes[0]) == 2 else wanted)}"
    )


def _sides(columns: Sequence[str]) -> list[set[str]]:
    """Allowed names of each side, in the order of ``--rect``."""
    sides = []
    for half, end in enumerate(("min", "max")):
        for axis, column in enumerate(columns):
            beside = set(PLACE[axis]) - {*columns} if len(columns) == 2 else set()
            names = {f"{_letters(name)}{end}" for name in {column} | beside}
            sides.append(names | {SIDES[2 * half + axis]} if len(columns) == 2 else names)
    return sides


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _is_number(word: str) -> bool:
    try:
        number(word)
    except ValueError:
        return False
    return True
