"""Release: what may be looked at, queried, saved and shared. Nothing right of it sees a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.errors import ReleaseError
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise

if TYPE_CHECKING:
    import geopandas

    from dpviz.releases.points.range_count import Answers

SCHEMA = 1
"""Version of the header and columns; a reader refuses a newer one and reads every older one."""


@dataclass(frozen=True)
class Header:
    """What a release says of itself.

    Attributes:
        method, parameters: how it was made, every parameter with its value.
        private: False for simulated noise and for methods without a guarantee.
        guarantee: the sentence to quote; in capitals where it is NOT PRIVATE.
        epsilon, delta: the price for one privacy unit.
        neighbouring: the neighbouring relation.
        unit: the privacy unit.
        budget: rows (purpose, epsilon, delta, mechanism, theorem) that add up to the price.
        source: the public name of the data set, as its owner gave it.
        noise: how the nodes' noise hangs together, see :mod:`dpviz.trees.haar`; empty where the
            variance of a sum of disjoint nodes is at most the sum of theirs.
    """

    method: str
    parameters: dict[str, Any]
    private: bool
    guarantee: str
    epsilon: float
    delta: float = 0.0
    neighbouring: str = "add or remove one record"
    unit: str = "one record"
    budget: tuple[dict[str, Any], ...] = ()
    source: str = ""
    noise: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "budget": [dict(row) for row in self.budget]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Header:
        """The inverse of :meth:`to_dict`; fields of later minor versions are kept in ``extra``."""
        known = {name for name in cls.__dataclass_fields__ if name != "extra"}
        missing = {"method", "parameters", "private", "guarantee", "epsilon"} - set(values)
        if missing:
            raise ReleaseError(f"header lacks {', '.join(sorted(missing))}")
        kept = {name: value for name, value in values.items() if name in known}
        kept["budget"] = tuple(kept.get("budget", ()))
        extra = {name: value for name, value in values.items() if name not in known}
        return cls(**kept, extra={**extra.pop("extra", {}), **extra})


@dataclass(frozen=True, eq=False)
class Release:
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

        See :mod:`dpviz.releases.points.region_count`; its ``read_regions`` reads a file.
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
