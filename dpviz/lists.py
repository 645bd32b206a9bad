"""Lists as one text: words separated by commas, quoted as in CSV if needed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import TypeVar

from dpviz.errors import ParameterError

T = TypeVar("T", bound=Hashable)

_WORD = re.compile(r'\s*"((?:[^"]|"")*)"\s*,|([^",]*),')
"""A word and the comma after it: in quotes, with doubled quotes inside, or plain."""


def split_list(text: str | None, what: str) -> tuple[str, ...]:
    '''Split a text at commas; strip spaces around unquoted words; None gives an empty tuple.

    Args:
        text: words in the notation of :func:`join_list`.

    Raises:
        ParameterError: an unclosed quote, or one inside a word.

    >>> split_list('bike, "bus, tram" ,"5"""', "--kinds")
    ('bike', 'bus, tram', '5"')
    '''
    if not text:
        return ()
    matches = list(_WORD.finditer(f"{text},"))
    if sum(len(match[0]) for match in matches) <= len(text):
        raise ParameterError(
            f"{what} {text!r}: unmatched quotation mark: write a word with a quotation mark as in "
            'CSV, in quotes and with the mark doubled ("5""")'
        )
    return tuple(
        match[2].strip() if match[1] is None else match[1].replace('""', '"') for match in matches
    )


def distinct(values: Iterable[T]) -> tuple[T, ...]:
    """Distinct values, in the order of first occurrence.

    >>> distinct(["small", "large", "small"])
    ('small', 'large')
    """
    return tuple(dict.fromkeys(values))


def join_list(names: Iterable[str]) -> str:
    """Join words into one text that :func:`split_list` reads.

    >>> join_list(["bike", "bus, tram", " walk"])
    'bike,"bus, tram"," walk"'
    """
    return ",".join(map(_quoted, names))


def _quoted(word: str) -> str:
    plain = word and word == word.strip() and not {",", '"'} & set(word)
    return word if plain else '"' + word.replace('"', '""') + '"'


def number(text: str) -> float:
    """Parse a decimal number in ASCII digits; 1_0 and digits of other scripts are refused.

    >>> number("1e-6"), number(" -0.5")
    (1e-06, -0.5)
    """
    if not text.isascii() or "_" in text:
        raise ValueError("no number in decimal notation")
    return float(text)
