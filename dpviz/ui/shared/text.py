"""Words on the screen: data never become markup."""

from __future__ import annotations

import re

from dpviz.releases.header import Header


def plain(text: object) -> str:
    """Text with every Markdown and HTML sign escaped, for words that come from data or errors."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])", r"\\\1", str(text))


def badge(header: Header) -> str:
    """The release's guarantee as one Markdown badge; red for what has no guarantee at all."""
    records = str(header.extra.get("records", ""))
    if header.private and records:  # true noise that nobody is hidden by
        return f":gray-badge[:material/public: {plain(header.guarantee)}]"
    if header.private:
        return f":green-badge[:material/verified_user: {plain(header.guarantee)}]"
    if "simulated noise" not in header.guarantee:
        return f":red-badge[:material/warning: {plain(header.guarantee)}]"
    price = plain(f"noise as at ε = {header.epsilon:g}")
    if records.startswith("synthetic"):
        return f":blue-badge[:material/science: Demo · synthetic people · {price}]"
    return f":gray-badge[:material/public: Public records · simulated {price}, not private]"
