"""Cells of a public grid: the symbols of places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DpvizError, ParameterError, ReleaseError
from dpviz.releases.header import Header
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.lattice import Float, Int

MOST_SIDE = 64
"""Maximum number of cells per side: each context has a count per cell."""


@dataclass(frozen=True)
class Cells:
    """Cells of a public grid of side × side, named ``column-row`` from the south-west.

    Args:
        domain: the public rectangle, 2-D.
        side: number of cells per side, 2 to :data:`MOST_SIDE`.

    Raises:
        ReleaseError: a domain that is not 2-D.
        ParameterError: another side.

    >>> Cells(Domain((0, 0), (1, 1)), 2).names
    ('0-0', '0-1', '1-0', '1-1')
    """

    domain: Domain
    side: int

    def __post_init__(self) -> None:
        if self.domain.dims != 2:
            raise ReleaseError(
                f"sequences of cells in a {self.domain.dims}-D domain: give a 2-D domain"
            )
        if not 2 <= self.side <= MOST_SIDE:
            raise ParameterError(f"a grid of {self.side} cells per side: give 2 to {MOST_SIDE}")

    def __len__(self) -> int:
        return self.side**2

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the cells, in order of column and row."""
        return tuple(f"{column}-{row}" for column, row in self._corners.tolist())

    @property
    def _corners(self) -> Int:
        """Column and row of each cell, int64 (k, 2)."""
        return np.column_stack(np.divmod(np.arange(len(self)), self.side))

    @property
    def lo(self) -> Int:
        """Lower limits of the cells on the domain's lattice, int64 (k, 2)."""
        return self._lines(self._corners)

    @property
    def hi(self) -> Int:
        """Upper limits of the cells, exclusive, int64 (k, 2)."""
        return self._lines(self._corners + 1)

    def _lines(self, numbers: Int) -> Int:
        """Lattice lines between cells: places with x · side // domain.side = i begin at line i."""
        return -(-numbers * self.domain.side // self.side)

    def symbol(self, lattice: Int) -> Int:
        """Cell of each place on the lattice (n, 2), int64 (n,)."""
        column, row = (lattice * self.side // self.domain.side).T
        return np.asarray(column * self.side + row)

    def alphabet(self, *, neighbours: bool) -> Alphabet:
        """The cells as symbols.

        Args:
            neighbours: allow only steps to a cell that touches this one: a public rule, at which
                records that break it are cut.
        """
        return Alphabet(self.names, _touching(self.lo, self.hi) if neighbours else None)

    @property
    def boxes(self) -> Float:
        """Boxes in the domain's CRS, float64 (k, 4)."""
        low, high = self.domain.to_coordinates(self.lo), self.domain.to_coordinates(self.hi)
        return np.hstack([low, high])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a header, from which :func:`cells_of` makes the cells."""
        return {"side": self.side, "domain": self.domain.to_dict()}


def cells_of(header: Header | dict[str, Any], names: tuple[str, ...]) -> Cells | None:
    """Cells of a release's symbols; None if the symbols are not places.

    Args:
        header: of a sequence release, or the public facts of a handle.
        names: of its alphabet.

    Raises:
        ReleaseError: the header is damaged.
    """
    values = (header.extra if isinstance(header, Header) else header).get("cells")
    if values is None:
        return None
    try:
        cells = Cells(Domain.from_dict(values["domain"]), int(values["side"]))
    except DpvizError as error:
        raise ReleaseError(f"the cells in the header are damaged: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ReleaseError("the cells in the header are damaged") from error
    if cells.names != names:
        raise ReleaseError("the cells in the header are damaged: they are not the symbols")
    return cells


def _touching(lo: Int, hi: Int) -> NDArray[np.bool_]:
    """Pairs of boxes that share an edge or a corner, bool (k, k)."""
    near = (lo[:, None] <= hi[None]) & (lo[None] <= hi[:, None])
    return np.asarray(near.all(axis=2) & ~np.eye(len(lo), dtype=np.bool_))
