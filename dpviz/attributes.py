"""What a record is beside its place: its kind. Public lists, chosen without looking at records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DomainError

OTHER = "other"
"""The kind of records whose kind is not listed, where it is in the list itself."""

MOST_KINDS = 64
MOST_LETTERS = 100
"""Limits of a list of kinds: how many, and how long the name of one is."""


@dataclass(frozen=True)
class Kinds:
    """A public list of kinds: each record is of one of them, so that they are disjoint.

    Attributes:
        column: that says the kind of each record.
        names: of the kinds; ``other`` is the kind of the records whose kind is not listed.

    Raises:
        DomainError: no name, one that is empty, too long or given twice, or too many.
    """

    column: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise DomainError("a list of kinds without their column: name it")
        if not 1 <= len(self.names) <= MOST_KINDS:
            raise DomainError(f"{len(self.names)} kinds: give 1 to {MOST_KINDS}")
        for name in self.names:
            if not (isinstance(name, str) and name and len(name) <= MOST_LETTERS):
                raise DomainError(f"kind {name!r}: give a text of 1 to {MOST_LETTERS} letters")
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise DomainError(f"kind {twice!r} is listed twice: list it once")

    def number(self, name: str) -> int:
        """The place of a kind in the list.

        Raises:
            DomainError: it is not listed.
        """
        if name not in self.names:
            raise DomainError(f"no kind {name!r}: choose one of {', '.join(self.names)}")
        return self.names.index(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a release header."""
        return {"column": self.column, "names": list(self.names)}

    @classmethod
    def of(cls, column: str | None, names: Iterable[str] | None) -> Kinds | None:
        """From a column and a list, both or neither.

        Raises:
            DomainError: one without the other, or no such list.
        """
        if column is None and names is None:
            return None
        if column is None or names is None:
            raise DomainError("a column of kinds and their public list go together: give both")
        if isinstance(names, str):
            raise DomainError(f"kinds {names!r}: give a list of texts")
        return cls(column, tuple(names))
