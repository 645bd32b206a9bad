"""Write synthetic sequences as text, CSV or Parquet files that can be read back."""

from __future__ import annotations

import os
import re
from itertools import chain
from pathlib import Path

from dpviz.errors import ReleaseError
from dpviz.files.writing import csv_text, destination, write_bytes, write_file
from dpviz.lazy import pa, pq
from dpviz.releases.sequences.release import SequenceRelease

UNREADABLE = {
    ".txt": (re.compile(r"[\s,;]|\A\ufeff", re.ASCII), "write .csv or .parquet"),
    ".csv": (re.compile(r"[\r\n]"), "write .parquet"),
    ".parquet": (re.compile(r"\A\Z|[\ud800-\udfff]"), "no file holds it"),
}
"""Characters that symbols must not contain, by file ending, and the remedy. Symbols in text are
separated by spaces, commas or semicolons, and a CSV record is one line."""


def save_sequences(
    release: SequenceRelease,
    path: str | os.PathLike[str],
    n: int = 1_000,
    seed: int | None = None,
) -> int:
    """Write synthetic sequences, and return how many.

    A text file has a line for each; CSV a row for each symbol, beside the number of its sequence;
    Parquet a row for each, with a list of its symbols.

    Raises ReleaseError: another ending, a format in which a symbol of the alphabet cannot be read
    again, or as :func:`dpviz.files.writing.write_file`.
    """
    path = Path(path)
    ending = path.suffix.lower()
    destination(path)
    if ending not in UNREADABLE:
        raise ReleaseError(f"cannot write {ending or 'no ending'}: use {', '.join(UNREADABLE)}")
    for each in dict.fromkeys([".parquet", ending]):
        unreadable, remedy = UNREADABLE[each]
        for name in filter(unreadable.search, release.alphabet.names):
            raise ReleaseError(
                f"{path.name}: symbol {name!r} cannot be read from {each} again: {remedy}"
            )
    drawn = release.sample(n, seed)
    if ending == ".parquet":
        table = pa.table({"sequence": pa.array(drawn, pa.list_(pa.string()))})
        write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))
    elif ending == ".csv":
        rows = chain.from_iterable(((at, name) for name in row) for at, row in enumerate(drawn))
        write_bytes(path, csv_text(("sequence", "symbol"), rows).encode())
    else:
        write_bytes(path, "".join(" ".join(row) + "\n" for row in drawn).encode())
    return len(drawn)
