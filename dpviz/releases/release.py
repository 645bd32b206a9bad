"""Release: the common interface of all kinds of releases."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from dpviz.checks import require_path
from dpviz.errors import ReleaseError
from dpviz.lazy import pa
from dpviz.releases import files
from dpviz.releases.answers import Answers
from dpviz.releases.header import Header

EXPORTS = (".geojson", ".gpkg", ".csv", ".pmtiles", ".qml", ".sld", ".vl.json")
"""Endings of the files for other tools that :func:`dpviz.export` writes."""


class Release(ABC):
    """A release of any kind.

    Attributes:
        header: its metadata: method, parameters, guarantee, budget.
        html: draws a release for a notebook; the package sets it, as the rooms that draw are
            imported later.
    """

    html: ClassVar[Callable[[Release], str] | None] = None
    header: Header

    @property
    @abstractmethod
    def kind(self) -> str:
        """Kind of the records: "points", "sequences", "roads", "areas" or "flows"."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.header.method!r}, {self.header.guarantee!r})"

    def _repr_html_(self) -> str | None:
        """Return the HTML that a notebook shows at the end of a cell; None for plain text."""
        html = type(self).html
        return None if html is None else html(self)

    @abstractmethod
    def count(self, queries: Any) -> Answers:
        """Estimated counts: of records in rectangles, of strings, of trips on paths."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes, with the header in its metadata."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a Parquet file for :func:`dpviz.read`; a failure leaves no partial file.

        Raises:
            ReleaseError: it cannot be written, another release that was paid for is there, or the
                file's ending is of another format.
        """
        require_path(path, ReleaseError)
        ending = Path(path).suffix.lower()
        if ending in EXPORTS:
            raise ReleaseError(
                f"a release is saved as Parquet: give a .parquet file, or write {ending} by "
                "dpviz.export(release, path)"
            )
        return files.write_table(path, self.to_arrow())
