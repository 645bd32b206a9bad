"""Names of accounts: all spellings that people take for one name are one account."""

from __future__ import annotations

import unicodedata
from functools import cache

from dpviz.errors import BudgetError

ENDINGS = (
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".geojson", ".parquet", ".geoparquet", ".pq"),
    *(".gpkg", ".shp", ".xlsx", ".xlsm", ".xls", ".ods", ".duckdb", ".zip", ".gz", ".sensitive"),
)
"""Endings of files, which are no part of the name of what is in them."""


def checked_name(dataset: str) -> str:
    """A name as it is shown.

    Raises:
        BudgetError: no name, a long one, or one with characters that cannot be seen.
    """
    if not dataset.strip() or len(dataset) > 200 or not dataset.isprintable():
        raise BudgetError("a data set needs a name of 1 to 200 printable characters")
    return dataset.strip()


def account_key(dataset: str) -> str:
    """What the spellings of a name have in common: two names with one key are one account.

    Compatible forms of a character (full width, ligatures), upper and lower case, runs of spaces
    and endings of files do not count; a letter that looks like a Latin one counts as that
    (https://www.unicode.org/reports/tr39/#Confusable_Detection).

    >>> account_key(" Visits.CSV") == account_key("ｖｉｓｉｔｓ") == "visits"
    True
    """
    folded = _folded(" ".join(checked_name(dataset).split()))
    while True:
        ending = next((each for each in ENDINGS if folded.endswith(each)), "")
        bare = folded[: len(folded) - len(ending)].rstrip()
        if not ending or not bare:
            return folded
        folded = bare


def _folded(text: str) -> str:
    # Case folding may bring forth characters that are composed differently, hence thrice.
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFKC", "".join(map(_latin, folded)).casefold())


@cache
def _latin(letter: str) -> str:
    """The ASCII letter, digit or dash that a letter or its capital looks like, or itself."""
    if letter.isascii():
        return letter
    from confusable_homoglyphs.confusables import confusables_data

    for form in (letter, letter.upper()):
        for twin in confusables_data.get(form, ()):
            alike: str = twin["c"]
            if len(alike) == 1 and alike.isascii() and (alike.isalnum() or alike == "-"):
                return alike.lower()
    return letter
