"""Words of a stranger, shown so that they steer nothing."""

import re

_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal, or turns the text around: names in a stranger's file may hold it."""


def harmless(text: str) -> str:
    r"""A text with its line breaks, and with escapes in place of what steers a terminal or a page.

    >>> harmless("Ward 1\x1b[2J\n")
    'Ward 1\\x1b[2J\n'
    """
    return _STEERS.sub(lambda match: ascii(match[0])[1:-1], text)
