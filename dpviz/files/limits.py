"""All limits on the size of untrusted input.

Limits apply to the decoded content of a file and are checked before memory is allocated for it: a
small file may decode to a large table. An error names the limit and the remedy, never the measured
size: the number of records is private.
"""

from __future__ import annotations

from typing import NamedTuple

from dpviz.errors import DataError


class Limit(NamedTuple):
    """A bound on one thing, with what to do beyond it."""

    most: int
    what: str
    remedy: str

    def check(self, amount: float, where: str) -> None:
        """Raise unless `amount` is within the limit."""
        if not amount <= self.most:
            raise DataError(f"{where} has more than {self}: {self.remedy}")

    def __str__(self) -> str:
        return f"{self.most:,} {self.what}"


MEBI = 2**20

FILE = Limit(4 * 2**30, "bytes", "give a folder of Parquet, which DuckDB counts")
ROWS = Limit(200_000_000, "rows", "give a folder of Parquet, which DuckDB counts")
DECODED = Limit(4 * 2**30, "bytes when decoded", "give a folder of Parquet, which DuckDB counts")
SMALL = Limit(256 * MEBI, "bytes when decoded", "write it again without runs of one value")
GROWTH = Limit(16, "times its size when decoded", SMALL.remedy)
COLUMNS = Limit(4_096, "columns", "keep those that are read")
LAYERS = Limit(1_000, "layers or sheets", "write the layer or sheet to a separate file")
NAME = Limit(200, "characters in a name", "use short names")
SYMBOLS = Limit(4_096, "symbols in an alphabet", "use a coarser one")
ALPHABET_FILE = Limit(SYMBOLS.most * 4 * (NAME.most + 2), "bytes", "give one short symbol a line")
JSON_VALUES = Limit(12_000_000, "values", "write it as GeoParquet")
JSON_OBJECTS = Limit(4_000_000, "objects", "write it as GeoParquet")
XML_ELEMENTS = Limit(4_000_000, "elements", "give tables of nodes and edges")
STREETS = Limit(5_000_000, "streets or nodes", "cut the network to the area")
VERTICES = Limit(2_000_000, "vertices", "simplify the shapes")
CORNERS = Limit(500, "corners of a drawn polygon", "draw a simpler one")
CUTS = Limit(30_000_000, "vertices to cut by cells", "simplify the shapes, or give fewer")
REGIONS = Limit(100_000, "regions", "give fewer at a time")
MEMBERS = Limit(1_000, "members in an archive", "zip one file or Shapefile only")

CHILD_SECONDS = Limit(8, "seconds of reading", "simplify it, or write it in another format")
CHILD_SPEED = Limit(5 * MEBI, "bytes for each further second", CHILD_SECONDS.remedy)
CHILD_MEMORY = Limit(700 * MEBI, "bytes of memory to read a small file", CHILD_SECONDS.remedy)
ENGINE_SECONDS = Limit(120, "seconds of counting in DuckDB", "give Parquet files of records only")
ENGINE_SPEED = Limit(MEBI, "bytes for each further second", ENGINE_SECONDS.remedy)

UPLOADS = Limit(4, "of the largest uploads in one visit", "remove a file, or reload the page")


def decoded(size: int, file: int, where: str) -> None:
    """Refuse a file that decodes to too much: beyond :data:`SMALL`, in proportion to itself.

    ``size``: bytes when decoded: rows × width of the columns that are read.

    >>> decoded(100 * MEBI, 1_000, "small.parquet")
    >>> decoded(3_000 * MEBI, MEBI, "bomb.parquet")
    Traceback (most recent call last):
        ...
    dpviz.errors.DataError: bomb.parquet has more than 16 times its size when decoded: write it ...
    """
    DECODED.check(size, where)
    if size > SMALL.most:
        GROWTH.check(size / max(file, 1), where)


def unpacked(file: int) -> int:
    """Most bytes that an archive of this size may decode to: the limit of any file."""
    return max(SMALL.most, GROWTH.most * file)


def page() -> str:
    """The limits as a Markdown table, for the documentation."""
    rows = [
        f"| `{name}` | {limit.most:,} | {limit.what} | {limit.remedy} |"
        for name, limit in globals().items()
        if isinstance(limit, Limit)
    ]
    head = ["| limit | at most | of | beyond it |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"
