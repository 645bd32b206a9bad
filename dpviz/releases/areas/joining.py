"""Join an analyst's own file of areas with the counts of a release."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np

from dpviz.errors import DataError
from dpviz.files.foreign import file_of
from dpviz.lazy import geopandas, shapely
from dpviz.releases.counts import AreaRelease
from dpviz.releases.points.region_file import attributes_of, label

ADDED = ("count", "low", "high")
"""Columns that a join adds."""


def joined(
    release: AreaRelease, path: str | os.PathLike[str], key: str, level: str | None = None
) -> geopandas.GeoDataFrame:
    """All rows and columns of a file, with ``count``, ``low`` and ``high`` of the named area.

    Args:
        release: of areas.
        path: of the file, in any format that areas are read from.
        key: its column that holds the areas' names.
        level: of the areas; the finest by default.

    Returns:
        The file's rows in their order; counts are missing where a row names no area.

    Raises:
        DataError: the file cannot be read, has no such column or one of the added names, names an
            area twice, or none at all; or a name that several areas of the level have.
    """
    file, _ = file_of(path)
    table = attributes_of(path)
    titles = [name for name in table.column_names if name != "geometry"]
    if key not in titles:
        raise DataError(f"{file.name} has no column {key!r}: choose another key")
    for name in ADDED:
        if name in titles:
            raise DataError(f"{file.name} has a column {name!r} already: rename it")
    keys = [label(value) for value in table[key].to_pylist()]
    part = release.frame.rows_of(level)
    names = release.frame.names[part]
    for words, what in ((keys, f"{file.name} names the area"), (names, "the release has the area")):
        twice = [word for word, times in Counter(words).items() if times > 1 and word]
        if twice:
            raise DataError(f"{what} {twice[0]!r} twice: join on a key that is unique")
    row = dict(zip(names, range(part.start, part.stop), strict=True))
    at = np.array([row.get(each, -1) for each in keys])
    if not (at >= 0).any():
        raise DataError(
            f"no row of {file.name} names an area of the release by {key!r}: the areas are called "
            f"{names[0]!r} and the like"
        )
    answers = release.answers
    columns = {name: np.where(at >= 0, getattr(answers, name)[at], np.nan) for name in ADDED}
    crs = (table.schema.metadata or {}).get(b"crs", b"").decode() or None
    shapes = shapely.from_wkb(table["geometry"].to_pylist())
    frame = table.select(titles).to_pandas().assign(**columns)
    return geopandas.GeoDataFrame(frame, geometry=shapes, crs=crs)
