"""Escape control characters and Markdown in untrusted text."""

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, including those that change the text direction."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])")


def escape_controls(text: str) -> str:
    r"""Escape control characters in a text, except line breaks.

    >>> escape_controls("Ward 1\x1b[2J\n")
    'Ward 1\\x1b[2J\n'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def escape_markdown(text: object) -> str:
    r"""Escape a text for Markdown and HTML, including its control characters.

    >>> print(escape_markdown("plan\u202egpj.exe"))
    plan\\u202egpj\.exe
    """
    return _MARKDOWN.sub(r"\\\1", escape_controls(str(text)))
