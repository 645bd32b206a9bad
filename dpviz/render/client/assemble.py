"""Joins the map's small JavaScript modules into the one script that a host takes.

The files under ``js`` are ordinary ES modules, so editors and linters read them as such: ``core``
(the map's parts, state and camera), ``input`` (what a visitor does), ``draw``, ``answer`` (the
engine's arithmetic) and ``hosts`` (one entry point each). Joined in the order of their imports they
need no `import` lines and no `export` words; only an entry point keeps its `export default`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath

FOLDER = Path(__file__).parent / "js"
ENTRIES = ("hosts/streamlit.js", "hosts/overlay.js", "hosts/file.js", "hosts/widget.js")
"""One per host, and in Streamlit one for each part of a map."""

IMPORT = re.compile(r"^import \{[^}]*\} from '(\.{1,2}/[\w./]+)';\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


@cache
def script(entry: str) -> str:
    """One of the :data:`ENTRIES` with all it imports, as one ES module."""
    done: dict[str, str] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"circular import: {' → '.join([*above, name])}")
        if name in done:
            return
        text = (FOLDER / name).read_text(encoding="utf-8")
        for needed in IMPORT.findall(text):
            add(normpath(f"{dirname(name)}/{needed}"), (*above, name))
        done[name] = EXPORT.sub("", IMPORT.sub("", text))

    add(entry, ())
    return "\n".join(f"// --- {name}\n{text}" for name, text in done.items())


@cache
def style() -> str:
    """The component's style sheet."""
    return FOLDER.with_name("style.css").read_text(encoding="utf-8")
