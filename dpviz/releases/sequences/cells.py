"""Cells of a public grid: the symbols of places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import DpvizError, ParameterError, ReleaseError
from dpviz.releases.header import Header
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.lattice import Float, Int

MIN_SIDE, MAX_SIDE = 2, 64
"""Cells per side of a grid."""


@dataclass(frozen=True)
class Cells:
    """A public grid of side × side cells over a rectangle, named ``column-row``.

    Cell 0-0 is in the south-west; cells are numbered column by column.

    Raises ParameterError: another side than 2 to 64.

    >>> Cells(Domain((0, 0), (1, 1)), 2).names
    ('0-0', '0-1', '1-0', '1-1')
    """

    domain: Domain
    side: int

    def __post_init__(self) -> None:
        if self.domain.dims != 2:
            raise ReleaseError(f"sequences of cells need a 2-D domain, not {self.domain.dims}-D")
        if not MIN_SIDE <= self.side <= MAX_SIDE:
            raise ParameterError(
                f"a grid of {self.side} cells per side: give {MIN_SIDE} to {MAX_SIDE}"
            )

    def __len__(self) -> int:
        return self.side**2

    @property
    def _corner(self) -> Int:
        """Column and row of each cell, int64 (k, 2)."""
        return np.column_stack(np.divmod(np.arange(len(self)), self.side))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the cells."""
        return tuple(f"{column}-{row}" for column, row in self._corner.tolist())

    def symbol(self, lattice: Int) -> Int:
        """Number of the cell of each place on the domain's lattice, int64 (n,)."""
        column, row = (lattice * self.side // self.domain.side).T
        return np.asarray(column * self.side + row)

    def alphabet(self, *, neighbours: bool) -> Alphabet:
        """The cells as symbols.

        ``neighbours``: whether a step leads to one of the eight cells around this one only: a
        public rule, at which records that break it are cut.
        """
        if not neighbours:
            return Alphabet(self.names)
        apart = np.abs(self._corner[:, None] - self._corner).max(axis=2)
        return Alphabet(self.names, apart == 1)

    @property
    def boxes(self) -> Float:
        """Boxes in the domain's CRS, float64 (k, 4)."""
        # The places with x · side // domain.side = i begin at ⌈i · domain.side / side⌉.
        limits = [-(-(self._corner + step) * self.domain.side // self.side) for step in (0, 1)]
        return np.hstack([self.domain.to_coordinates(each) for each in limits])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a header, as :func:`cells_of` reads them."""
        return {"side": self.side, "domain": self.domain.to_dict()}


def cells_of(header: Header | dict[str, Any]) -> Cells | None:
    """Cells of a release's symbols; None if the symbols are not places.

    ``header``: header of a sequence release, or the public facts of a handle.
    """
    values = (header.extra if isinstance(header, Header) else header).get("cells")
    if values is None:
        return None
    try:
        return Cells(Domain.from_dict(values["domain"]), int(values["side"]))
    except DpvizError as error:
        raise ReleaseError(f"the cells in the header are damaged: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ReleaseError("the cells in the header are damaged") from error
