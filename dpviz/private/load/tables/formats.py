"""The formats of files: each is a module of this folder that declares itself in ``FORMATS``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpviz.files.foreign import recognised
from dpviz.private.load.tables.base import Table


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format, and the table that a file of it is.

    Attributes:
        title: in messages; as :func:`dpviz.files.foreign.recognised` calls its first bytes, if it
            does.
        endings: of files' names, the usual one first.
        opened: from the path, the name in messages, and a layer or sheet where there are several.
        needs: libraries of the child process that parses it; none for one that is parsed here.
        magic: the first bytes, where nothing else knows them.
        lines: a record is a line, so the first bytes are a record's and decide nothing.
        geometry: whether a file may hold places that are no plain columns.
        tables: names of the layers or sheets of a file that may hold records, where it may hold
            several.
        packed: a file is an archive: the limits of its child grow with what it may unpack to.
    """

    title: str
    endings: tuple[str, ...]
    opened: Callable[[Path, str, str | None], Table]
    needs: tuple[str, ...] = ()
    magic: bytes = b""
    lines: bool = False
    geometry: bool = False
    tables: Callable[[Path], list[str]] | None = None
    packed: bool = False


@cache
def formats() -> dict[str, Format]:
    """Every format by its title."""
    rooms = importlib.import_module(__package__)
    modules = [
        importlib.import_module(f"{__package__}.{each.name}")
        for each in pkgutil.iter_modules(rooms.__path__)
    ]
    return {each.title: each for module in modules for each in getattr(module, "FORMATS", ())}


def format_of(path: Path) -> Format | None:
    """The format that a file's name promises; None where its ending is no format's."""
    ending = path.suffix.lower()
    return next((each for each in formats().values() if ending in each.endings), None)


def looks_like(head: bytes) -> str:
    """Return the format of a file by its first bytes: a format's title, an archive, or text."""
    known = (
        each.title for each in formats().values() if each.magic and head.startswith(each.magic)
    )
    return next(known, "") or recognised(head)


def may_hold_places(path: Path) -> bool:
    """True if a file of this name may hold geometry besides plain columns."""
    known = format_of(path)
    return path.suffix.lower() != ".gz" if known is None else known.geometry
