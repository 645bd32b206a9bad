"""Names of data sets in the ledger: visible characters only, one account per name.

A name holds letters, digits, spaces and ``. _ -``. Letters of other scripts that look like Latin
ones are other letters: the owner names the accounts, and the ledger lists them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from dpviz.errors import BudgetError

MAX_LENGTH = 200
MARKS = " ._-"
SHAPELESS = {"FILLER", "BLANK"}
"""Words in the Unicode names of invisible letters."""

ENDING = re.compile(
    r"(?<=\S)\s*\.(csv|tsv|txt|tab|json|jsonl|ndjson|geojson|geojsonl|geojsons|parquet|geoparquet|"
    r"pq|gpkg|shp|xlsx|xlsm|xls|ods|duckdb|zip|gz|xz|zst|fgb|gpx|kml|kmz|feather|arrow|sensitive)$",
    re.IGNORECASE,
)
"""File endings, which are not part of a data set's name."""


def checked_name(dataset: str) -> str:
    """Check a typed name and return its displayed form (NFKC, single spaces).

    Raises BudgetError: no text, no name, a long one, or one with other characters.
    """
    if not isinstance(dataset, str):
        raise BudgetError(f"data set name {dataset!r}: give a text")
    name = _normal(dataset)
    other = next((each for each in name if not _allowed(each)), None)
    if other is not None:
        raise BudgetError(
            f"data set name {dataset!a} has U+{ord(other):04X}: name it with letters, "
            "digits, spaces and . _ - only"
        )
    if not 1 <= len(name) <= MAX_LENGTH:
        raise BudgetError(f"data set name {name[:20]!r}: give 1 to {MAX_LENGTH} characters")
    return name


def clean_name(text: str) -> str:
    """Account name from a file or table name; runs of other characters become ``_``.

    >>> clean_name("visits (3)"), clean_name("")
    ('visits _3_', 'unnamed')
    """
    runs = groupby(_normal(text), _allowed)
    return "".join("".join(run) if fine else "_" for fine, run in runs)[:MAX_LENGTH] or "unnamed"


def stem(file: str) -> str:
    """File name without its known endings.

    >>> stem("days.csv.gz"), stem("days.2030.ZIP"), stem(".csv")
    ('days', 'days.2030', '.csv')
    """
    bare = ENDING.sub("", file)
    return file if bare == file else stem(bare)


def account_key(dataset: str) -> str:
    """Account key of a name; case, width, runs of spaces and file endings are ignored.

    >>> account_key(" Visits.CSV") == account_key("ｖｉｓｉｔｓ") == "visits"
    True
    """
    # Case folding may produce characters that are composed differently, hence twice.
    return stem(_normal(_normal(checked_name(dataset).casefold()).casefold()))


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _allowed(letter: str) -> bool:
    if letter.isascii():
        return letter.isalnum() or letter in MARKS
    return letter.isalnum() and SHAPELESS.isdisjoint(unicodedata.name(letter, "").split())
