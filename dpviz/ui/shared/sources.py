"""What a page holds of a chosen source: an opaque handle and its key; files are read once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from dpviz.ui.shared.account import charge_visitor
from dpviz.ui.shared.memory import remembered

H = TypeVar("H")


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSource:
    """Data behind an opaque handle, and a key that changes with the choice.

    ``backdrop``: built in, so that all visitors share its releases.
    """

    data: Any
    key: str
    backdrop: bool = False

    @property
    def public(self) -> bool:
        """Whether its owner declares every record public."""
        return bool(self.data.public)

    @property
    def account(self) -> str:
        """The name of its account in the ledger."""
        return str(self.data.names[0])


@dataclass(frozen=True, eq=False)
class NoRecords:
    """In place of a handle, where a release was opened: nothing of any record."""

    public: bool = False
    name: str = ""
    names: tuple[str, ...] = ("",)


def read_once(prefix: str, key: str, read: Callable[[], H]) -> H:
    """A file is read again only when something about it changes."""

    def make() -> H:
        with st.spinner("Reading the file …"):
            handle: H = charge_visitor(read())
            return handle

    return remembered(f"{prefix}.upload", key, make)
