"""Save and read a release of any kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, overload

from dpviz.checks import require, require_path
from dpviz.errors import ReleaseError
from dpviz.lazy import pa
from dpviz.releases.areas import columns as areas
from dpviz.releases.areas.release import AreaRelease
from dpviz.releases.files import KEY, header_of, metadata_of, opened, reading
from dpviz.releases.header import Header
from dpviz.releases.points import columns as points
from dpviz.releases.points.kinds import release_of
from dpviz.releases.points.release import PointRelease
from dpviz.releases.release import Release
from dpviz.releases.roads import columns as roads
from dpviz.releases.roads.release import RoadRelease
from dpviz.releases.roads.timed import road_release_of
from dpviz.releases.sequences import columns as sequences
from dpviz.releases.sequences.release import SequenceRelease

ROOMS = {"points": points, "roads": roads, "sequences": sequences, "areas": areas}
RELEASES: dict[str, Callable[..., Release]] = {
    "points": release_of,
    "roads": road_release_of,
    "sequences": SequenceRelease,
    "areas": AreaRelease,
}


@overload
def read(path: str | os.PathLike[str], kind: Literal["points"]) -> PointRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["roads"]) -> RoadRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["sequences"]) -> SequenceRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["areas"]) -> AreaRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: None = None) -> Any: ...
def read(path: str | os.PathLike[str], kind: str | None = None) -> Release:
    """Read a release.

    Args:
        path: of a file that :func:`save` wrote.
        kind: that it must be of: "points", "sequences", "roads" or "areas"; any by default.

    Raises:
        ReleaseError: not a release, damaged, too large, of another schema, or of another kind.
    """
    require_path(path, ReleaseError)
    if kind is not None and kind not in tuple(ROOMS):
        raise ReleaseError(f"kind={kind!r}: give one of {', '.join(ROOMS)}")
    needed = {each: room.NEEDED for each, room in ROOMS.items()}
    release: Release = from_arrow(opened(path, needed), Path(path).name)
    if kind not in (None, release.kind):
        raise ReleaseError(
            f"{Path(path).name}: a release of {release.kind}: give a release of {kind}"
        )
    return release


def kind_in(path: str | os.PathLike[str]) -> str | None:
    """The kind of release that a file holds; None for any other file. Reads its header only."""
    try:
        return stated_kind(path)
    except ReleaseError:
        return None


def stated_kind(path: str | os.PathLike[str]) -> str | None:
    """The same, for who must tell a release that cannot be read from what is none.

    Raises:
        ReleaseError: a header that is damaged, or of another schema.
    """
    metadata = metadata_of(path)
    if KEY not in metadata:
        return None
    return header_of(metadata, Path(path).name)[0]


def save(release: Release, path: str | os.PathLike[str]) -> Path:
    """Write a release as a Parquet file that :func:`read` reads.

    Raises:
        ReleaseError: it cannot be written, or another release that was paid for is there.
    """
    require(release, Release, "release", ReleaseError)
    return release.save(path)


def from_arrow(table: pa.Table, name: str = "table") -> Any:
    """The release that a table holds: the inverse of :meth:`Release.to_arrow`.

    Raises:
        ReleaseError: as :func:`read`.
    """
    kind, stated = header_of(table.schema.metadata, name)
    with reading(name):
        content = ROOMS[kind].from_columns(table, stated)
        return RELEASES[kind](*content, Header.from_dict(stated))
