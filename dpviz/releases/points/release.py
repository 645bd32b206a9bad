"""Release: what may be looked at, queried, saved and shared. Nothing right of it sees a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.errors import ReleaseError
from dpviz.releases.header import Header
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise

if TYPE_CHECKING:
    import geopandas

    from dpviz.releases.points.range_count import Answers


@dataclass(frozen=True, eq=False)
class PointRelease:
    """A decomposition, its public domain and its header."""

    domain: Domain
    nodes: Decomposition
    header: Header

    def __post_init__(self) -> None:
        if self.nodes.dims != self.domain.dims:
            raise ReleaseError(f"{self.nodes.dims}-D nodes in a {self.domain.dims}-D domain")
        if (self.nodes.lo < 0).any() or (self.nodes.hi > self.domain.side).any():
            raise ReleaseError("nodes outside the domain's lattice")
        _ = self.noise  # a header that does not fit the nodes is refused here

    @cached_property
    def noise(self) -> HaarNoise | None:
        """The exact noise of sums of nodes, where the header states one."""
        return HaarNoise.stated(self.header.noise, self.domain.side, self.nodes.lo, self.nodes.hi)

    def count(self, rects: ArrayLike) -> Answers:
        """Range counts; see :func:`dpviz.releases.points.range_count.range_count`."""
        from dpviz.releases.points.range_count import range_count

        return range_count(self, rects)

    def count_regions(self, shapes: Sequence[Any]) -> Answers:
        """Counts in polygons (2-D), shapely geometries in the domain's CRS.

        See :mod:`dpviz.releases.points.region_count`; ``region_file`` reads a file.
        """
        from dpviz.releases.points.region_count import region_count, regions_of

        return region_count(self, regions_of(shapes, self.domain))

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """One row per node with its rectangle (2-D); see :mod:`dpviz.releases.points.files`."""
        from dpviz.releases.points.files import to_geopandas

        return to_geopandas(self)

    def save(self, path: str) -> None:
        """Write a GeoParquet file; see :func:`dpviz.releases.points.files.save`."""
        from dpviz.releases.points.files import save

        save(self, path)
