"""Frame: the public box, areas or streets that the nodes of a release divide.

A frame knows which nodes answer a question, how nodes are saved, and what their noise adds up to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ReleaseError
from dpviz.lazy import pa, pd
from dpviz.releases.answers import INTERVAL_SDS, Answers, interval
from dpviz.releases.points.range_count import Cover, sums_of
from dpviz.releases.points.sums import Sums
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float


class Frame(ABC):
    """A box of space and time, a partition into areas, or a network of streets.

    Attributes:
        kind: kind of its releases: "points", "areas", "flows" or "roads".
        NEEDED: columns of a file that reading needs where they are.
        FACTS: names of the header fields that state the frame.
    """

    kind: ClassVar[str]
    NEEDED: ClassVar[tuple[str, ...]]
    FACTS: ClassVar[tuple[str, ...]]
    domain: Domain

    @abstractmethod
    def check(self, nodes: Decomposition) -> None:
        """Refuse nodes that do not divide the frame."""

    @property
    def everything(self) -> Any:
        """The query for all records, as :meth:`questions` takes it."""
        return self.domain.without_time.bounds

    @abstractmethod
    def questions(self, queries: Any, period: Any = None) -> Any:
        """Convert a user's queries to the form that :meth:`cover` takes."""

    @abstractmethod
    def cover(self, nodes: Decomposition, questions: Any) -> Cover:
        """The nodes that answer questions, and how much of each counts."""

    def sums(self, nodes: Decomposition, noise: HaarNoise | None, questions: Any) -> Float:
        """Sums over the nodes that answer questions, float64 (q, 4), with noise variances."""
        return sums_of(nodes, noise, self.cover(nodes, questions), common=0.0)

    def noise(self, stated: dict[str, Any], nodes: Decomposition) -> HaarNoise | None:
        """Exact noise of sums of nodes, if the header states one; else None."""
        return None

    def answers(self, nodes: Decomposition, sds: float = INTERVAL_SDS) -> Answers:
        """The counts of all cells, areas or streets, with intervals of this many deviations."""
        return Answers(**interval(nodes.count, np.sqrt(nodes.variance), sds))

    def sum_frame(self, frames: Sequence[Self], alike: bool) -> Self:
        """Frame for the sum of all parts; called on the frame of the first part.

        ``alike``: True if the trees of all parts have the same boxes.
        """
        return self

    def common_nodes(self, release: Any) -> Decomposition:
        """Nodes for a map of a :class:`SplitRelease` whose parts have different nodes.

        Raises ReleaseError: parts of different areas.
        """
        raise ReleaseError("parts of a release are of different areas")

    @abstractmethod
    def columns(
        self, nodes: Decomposition, sums: Sums | None, *, first: bool = True
    ) -> dict[str, Any]:
        """The columns of a file, as Arrow arrays.

        ``first``: False for a later part of a release, whose shapes are those of the first.
        """

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the header fields that state the frame: plain values, keyed by :attr:`FACTS`."""

    @abstractmethod
    def geo(self) -> dict[str, bytes]:
        """GeoParquet metadata of the file; empty if it has no shapes."""

    @classmethod
    @abstractmethod
    def from_columns(
        cls, table: pa.Table, stated: dict[str, Any], first: Self | None = None
    ) -> tuple[Self, Decomposition, Sums | None]:
        """The inverse of :meth:`columns` and :meth:`facts`.

        ``first``: the frame of the first part; equal columns may be shared with it.
        """

    @abstractmethod
    def rows(self, release: Any, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per cell, area or street, for other tools.

        Args:
            level: level of areas, the name of one, or None for the finest; of cells None for
                leaves.
            shapes: as a GeoDataFrame; otherwise limits of cells, and no shapes of the others.
        """
