"""Form of a text: its letters and digits masked, so that a message shows how it is written."""

from __future__ import annotations

import re

MASKS = {"9": "9: any digit", "x": "x: any letter"}
"""Meaning of the masks of a form."""


def form_of(text: str) -> str:
    """Form of a time: 9 for digits, x for letters; AM stands for PM too.

    >>> form_of("01/31/2010 08:30 PM"), form_of("2010-01-31T08:30:00Z"), form_of("soon")
    ('99/99/9999 99:99 AM', '9999-99-99T99:99:99Z', 'xxxx')
    """
    return _PART.sub(_masked, text.strip()[:40])


def masks_of(form: str) -> str:
    """Meaning of the masks that a form has; empty without one.

    >>> form_of("3 Mar 2024"), masks_of("9 xxx 9999"), masks_of("empty")
    ('9 xxx 9999', ' (9: any digit, x: any letter)', '')
    """
    known = [words for mask, words in MASKS.items() if mask in form]
    return f" ({', '.join(known)})" if known else ""


def explained(text: str) -> str:
    """Form of a time, with the meaning of its masks.

    >>> explained("01/31/2010")
    '99/99/9999 (9: any digit)'
    """
    form = form_of(text)
    return f"{form}{masks_of(form)}"


_PART = re.compile(
    r"(?P<AM>(?<![^\W\d_])[AaPp][Mm](?![^\W\d_]))|(?P<digit>[0-9])"
    r"|(?P<mark>(?<=[0-9])[TZ](?![^\W\d_]))|(?P<letter>[^\W\d_])|(?P<other>[^\s./:,+-])"
)


def _masked(part: re.Match[str]) -> str:
    """Mask of half a day, a digit, a letter or another sign."""
    kind = str(part.lastgroup)
    return {"digit": "9", "letter": "x", "mark": part[0], "other": "?"}.get(kind, kind)
