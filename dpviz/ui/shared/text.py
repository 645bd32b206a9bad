"""Words on the screen: data never become markup."""

from __future__ import annotations

import re

from dpviz.releases.header import Header


def plain(text: object) -> str:
    """Text with every Markdown and HTML sign escaped, for words that come from data or errors."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])", r"\\\1", str(text))


def badge(header: Header) -> str:
    """The release's guarantee as one Markdown badge."""
    if header.private and "records" in header.extra:  # true noise that nobody is hidden by
        return f":gray-badge[:material/public: {plain(header.guarantee)}]"
    if header.private:
        return f":green-badge[:material/verified_user: {plain(header.guarantee)}]"
    return f":red-badge[:material/warning: {plain(header.guarantee)}]"
