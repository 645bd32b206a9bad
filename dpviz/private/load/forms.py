"""Form of a text: its letters and digits masked, so that a message shows how it is written."""

from __future__ import annotations

import re


def form_of(text: str) -> str:
    """Form of a time: D for digits of a date, h, m and s of a clock, A for letters.

    >>> form_of("01/31/2010 08:30 PM"), form_of("2010-01-31T08:30:00Z"), form_of("soon")
    ('DD/DD/DDDD hh:mm AA', 'DDDD-DD-DDThh:mm:ssZ', 'AAAA')
    """
    return _PART.sub(_masked, text.strip()[:40])


_PART = re.compile(
    r"(?P<clock>[0-9]{1,2}(?::[0-9]{2}){1,2})|(?P<D>[0-9])|(?P<mark>(?<=[0-9])[TZ](?![^\W\d_]))"
    r"|(?P<A>[^\W\d_])|(?P<other>[^\s./:,+-])"
)


def _masked(part: re.Match[str]) -> str:
    """Letters that stand for a clock, a digit, a letter or another sign."""
    clock = "hh:mm:ss"[: 2 + 3 * part[0].count(":")]
    kind = str(part.lastgroup)
    return {"clock": clock, "mark": part[0], "other": "?"}.get(kind, kind)
