"""Sources of data on a page: an opaque handle and a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSource:
    """Data behind an opaque handle, with a key that changes with the choice.

    ``title`` is for people; ``backdrop``: built in, so that all visitors share its releases;
    ``link``: parameters in an address, besides the choice of data.
    """

    data: Any
    key: str
    title: str
    backdrop: bool = False
    link: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def public(self) -> bool:
        """True if the data owner declares every record public."""
        return bool(self.data.public)

    @property
    def account(self) -> str:
        """Name of the data set's account in the ledger."""
        return str(self.data.account)


@dataclass(frozen=True, eq=False)
class NoRecords:
    """Placeholder for the handle of an opened release, without any record."""

    public: bool = False
    name: str = ""
    names: tuple[str, ...] = ("",)
