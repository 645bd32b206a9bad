"""Words on the screen: data never become markup."""

from __future__ import annotations

import re

from dpviz.releases.header import Header


def plain(text: object) -> str:
    """Text with every Markdown and HTML sign escaped, for words that come from data or errors."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])", r"\\\1", str(text))


def badge(header: Header) -> str:
    """The release's guarantee as one Markdown badge; red for what has no guarantee at all."""
    kind, words = header.standing
    if kind == "open":
        return f":red-badge[:material/warning: {plain(words)}]"
    if kind == "private" and header.extra.get("records"):  # noise that nobody is hidden by
        return f":gray-badge[:material/public: {plain(words)}]"
    if kind == "private":
        return f":green-badge[:material/verified_user: {plain(words)}]"
    if words.startswith("Demo"):
        return f":blue-badge[:material/science: {plain(words)}]"
    return f":gray-badge[:material/public: {plain(words)}]"
