"""A zipped Shapefile, unpacked with suspicion: no path tricks, no links, no bombs."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from dpviz.errors import DataError
from dpviz.private.load.tables.base import MAX_BYTES, parsing

MAX_RATIO = 200
"""Refuse members that grow more than this when unpacked; real Shapefiles stay under 30."""
MAX_MEMBERS = 1_000
_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
_CHUNK = 1 << 20
_SMALL = 1 << 20  # ratios of tiny members say nothing


def unpack_shapefile(path: Path, folder: Path) -> Path:
    """The parts of the one Shapefile in a zip, written to `folder` as `points.*`; returns the .shp.

    Raises:
        DataError: a hostile or damaged archive, or one without exactly one Shapefile.
    """
    with parsing(path.name, "a zip archive"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise DataError(
                f"{path.name} holds over {MAX_MEMBERS:,} members: zip one Shapefile only"
            )
        for member in members:
            _refuse_tricks(member, path.name)
        shapes = [m for m in members if _suffix(m) == ".shp" and "__MACOSX" not in m.filename]
        if len(shapes) != 1:
            raise DataError(
                f"{path.name} holds {len(shapes)} Shapefiles: zip exactly one "
                "(.shp, .shx, .dbf, .prj)"
            )
        stem = PurePosixPath(shapes[0].filename).with_suffix("")
        left = MAX_BYTES
        for member in members:
            inner = PurePosixPath(member.filename)
            if inner.with_suffix("") == stem and _suffix(member) in _PARTS:
                with archive.open(member) as source, _target(folder, member).open("wb") as target:
                    left -= _copy(source, target, min(left, _allowed(member)), path.name)
    return folder / "points.shp"


def _refuse_tricks(member: zipfile.ZipInfo, name: str) -> None:
    parts = PurePosixPath(member.filename.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or ":" in member.filename:
        raise DataError(f"{name} holds a path that leaves its folder: zip the Shapefile again")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise DataError(f"{name} holds a symbolic link: zip the files themselves")
    if member.flag_bits & 0x1:
        raise DataError(f"{name} is encrypted: unpack it first")


def _allowed(member: zipfile.ZipInfo) -> int:
    return max(_SMALL, MAX_RATIO * member.compress_size)


def _copy(source: IO[bytes], target: IO[bytes], limit: int, name: str) -> int:
    """Copy until the end; sizes in the archive's directory are not believed."""
    size = 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise DataError(f"{name} unpacks to far more than it should: unpack it first")
        target.write(chunk)
    return size


def _target(folder: Path, member: zipfile.ZipInfo) -> Path:
    return folder / f"points{_suffix(member)}"


def _suffix(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename).suffix.lower()
