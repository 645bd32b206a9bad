"""Save and read releases of any kind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, overload

from dpviz.checks import require, require_path
from dpviz.errors import ReleaseError
from dpviz.lazy import pa
from dpviz.releases import axis
from dpviz.releases.areas.partition import Areas
from dpviz.releases.axis import Axis
from dpviz.releases.counts import AreaRelease, PointRelease, RoadRelease
from dpviz.releases.files import KEY, header_of, metadata_of, opened, reading
from dpviz.releases.flows.frame import Flows
from dpviz.releases.flows.release import FlowRelease
from dpviz.releases.frame import Frame
from dpviz.releases.header import Header
from dpviz.releases.points.box import Box
from dpviz.releases.release import Release
from dpviz.releases.roads.streets import Streets
from dpviz.releases.sequences import columns as sequences
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.releases.split import count_release

FRAMES: dict[str, type[Frame]] = {each.kind: each for each in (Box, Areas, Flows, Streets)}
"""Frames of releases of counts, by the kind that a file's header states."""

NEEDED = {kind: (*axis.NEEDED, *each.NEEDED) for kind, each in FRAMES.items()}
NEEDED["sequences"] = sequences.NEEDED
"""Columns that reading needs, of those that a file has."""


@overload
def read(path: str | os.PathLike[str], kind: Literal["points"]) -> PointRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["roads"]) -> RoadRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["sequences"]) -> SequenceRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["areas"]) -> AreaRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: Literal["flows"]) -> FlowRelease: ...
@overload
def read(path: str | os.PathLike[str], kind: None = None) -> Any: ...
def read(path: str | os.PathLike[str], kind: str | None = None) -> Release:
    """Read a release.

    Args:
        path: path of a file that :func:`save` wrote.
        kind: that it must be of: "points", "areas", "flows", "roads" or "sequences"; any by
            default.

    Raises:
        ReleaseError: not a release, damaged, too large, of another schema, or of another kind.
    """
    require_path(path, ReleaseError)
    if kind is not None and kind not in tuple(NEEDED):
        raise ReleaseError(f"kind={kind!r}: give one of {', '.join(NEEDED)}")
    release: Release = from_arrow(opened(path, NEEDED), Path(path).name)
    if kind not in (None, release.kind):
        raise ReleaseError(
            f"{Path(path).name}: a release of {release.kind}: give a release of {kind}"
        )
    return release


def kind_in(path: str | os.PathLike[str]) -> str | None:
    """Kind of the release in a file, from its header only; None for any other file."""
    try:
        return stated_kind(path)
    except ReleaseError:
        return None


def stated_kind(path: str | os.PathLike[str]) -> str | None:
    """Kind of the release in a file, as :func:`kind_in`, but a damaged release raises."""
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
    """Make a release from a table: the inverse of :meth:`Release.to_arrow`."""
    kind, stated = header_of(table.schema.metadata, name)
    with reading(name):
        if kind == "sequences":
            return SequenceRelease(*sequences.from_columns(table, stated), Header.from_dict(stated))
        return _count_release(FRAMES[kind], table, stated)


def _count_release(kind: type[Frame], table: pa.Table, stated: dict[str, Any]) -> Release:
    """Make a release of counts from its columns and its header."""
    by = Axis.popped(stated)
    trees: list[Any] = []
    for block in [table] if by is None else by.blocks(table):
        trees.append(kind.from_columns(block, stated, trees[0][0] if trees else None))
    header = {name: value for name, value in stated.items() if name not in kind.FACTS}
    return count_release(by, trees, Header.from_dict(header))
