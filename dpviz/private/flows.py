"""FlowData: an opaque handle on records that begin in one public area and end in another.

Each record is in one pair of finest areas, one step of time and one kind, or in none: cells that
are disjoint. One record more or less moves one of them by one, and so one pair of each coarser
level; of a unit up to K records move, wherever they are.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpviz.private.handle import Handle
from dpviz.releases.axis import Axis
from dpviz.releases.flows.frame import Flows
from dpviz.releases.flows.release import FlowRelease
from dpviz.trees.lattice import Int


class FlowData(Handle[FlowRelease]):
    """A handle on records between public areas; only mechanisms see its counts.

    ``by``: the kinds and the steps of time of the records; None without any.
    """

    kind: ClassVar[str] = "flows"

    def __init__(
        self,
        name: str,
        flows: Flows,
        cells: Int,
        *,
        by: Axis | None = None,
        public: bool = False,
        unit: str = "one record",
        max_per_unit: int = 1,
    ) -> None:
        super().__init__(name, public=public, unit=unit, max_per_unit=max_per_unit)
        self.flows = flows
        self.by = by
        self.__cells, self.__counts = np.unique(cells.reshape(-1, 3), axis=0, return_counts=True)

    @property
    def parts(self) -> int:
        """Kinds times steps; 1 without either."""
        return 1 if self.by is None else len(self.by)

    @property
    def _counted(self) -> tuple[Int, Int]:
        """Part, origin and destination of the occupied cells, (k, 3), and their records, (k,)."""
        return self.__cells, self.__counts

    @property
    def _frame(self) -> str:
        return f"{self.flows!r}" + ("" if self.by is None else f", {self.parts:,} parts")


def exact_flows(data: FlowData) -> tuple[Int, Int]:
    """Part, origin and destination of the occupied cells, and their records: public data only."""
    data.require_public()
    return data._counted
