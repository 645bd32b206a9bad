"""Rectangles from a CSV file, in the order of ``--rect``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.lists import number

PLACES = ("lon", "lat"), ("x", "y")
"""Column names that ``dpviz export`` gives to 2-D coordinates."""

SIDES = ["west", "south", "east", "north"]


def rectangles(path: str, *axes: Sequence[str]) -> list[list[float]]:
    """Read rectangles from a CSV file with a header.

    The header names every side, in any order and among other columns: west, south, east and north,
    or ``COLUMN_min`` and ``COLUMN_max`` as ``dpviz export`` writes them.

    ``*axes``: column names of the release; several if rectangles with or without time may be meant.
    Returns all lower limits, then all upper limits of each rectangle. Raises DataError: no such
    file, no rectangle, a header that does not name each side once, or a row without a number for
    each side.
    """
    if not Path(path).is_file():  # reading a device may never end
        raise DataError(f"no file {path!r}: check the name")
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            header = [name.strip().casefold() for name in reader.fieldnames or []]
            reader.fieldnames = header
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as CSV: write it in UTF-8") from error
    sides = _sides(path, header, axes)
    boxes = []
    for line, row in rows:
        try:
            if None in row:  # more cells than the header has
                raise ValueError
            boxes.append([number(row[side] or "") for side in sides])
        except ValueError:
            raise DataError(
                f"{path}: line {line}: give {len(header)} cells, with numbers for "
                f"{', '.join(sides)}"
            ) from None
    if not boxes:
        raise DataError(f"{path} holds no rectangle: write one in each row")
    return boxes


def _sides(path: str, header: Sequence[str], axes: Sequence[Sequence[str]]) -> list[str]:
    """Names of the sides in a header, in the order of ``--rect``."""
    if {*header} >= {"t0", "t1"}:  # exported cells with times
        axes = axes[:1]
    choices = []
    for columns in axes:
        flat = len(columns) == 2
        choices += [SIDES] if flat else []
        for names in dict.fromkeys([tuple(columns), *(PLACES if flat else ())]):
            choices.append([f"{name.casefold()}_{end}" for end in ("min", "max") for name in names])
    for sides in choices:
        if all(header.count(side) == 1 for side in sides):
            return sides
    raise DataError(
        f"{path}: header {','.join(header)!r}: name each side once: {', '.join(choices[0])}"
    )
