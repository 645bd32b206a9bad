"""Archives, unpacked with suspicion: no path tricks, no links, no bombs."""

from __future__ import annotations

import gzip
import io
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.foreign import SHAPEFILE_PARTS, require_shapefile
from dpviz.private.load.tables.base import parsing

MAX_RATIO = 200
"""Refuse parts of a Shapefile that grow more than this when unpacked; real ones stay under 30."""
_SMALL = 1 << 20  # ratios of tiny members say nothing
LINE = 16
"""Bytes that a line takes in memory beside its text: two coordinates."""
_TEXTS = (".csv", ".tsv", ".txt")


def zipped_text(path: Path) -> str | None:
    """The name of the one file of text in a zip; None where there is none, or a Shapefile.

    Raises:
        DataError: a hostile or damaged archive.
    """
    with parsing(path.name, "a zip archive"), zipfile.ZipFile(path) as archive:
        member = _text_member(archive, path.name)
        return None if member is None else member.filename


def opened_zip(path: Path) -> IO[bytes]:
    """The one file of delimited text in a zip, as a stream that ends where a bomb begins."""
    archive = zipfile.ZipFile(path)
    member = _text_member(archive, path.name)
    if member is None:
        raise DataError(f"{path.name} holds no text")
    return io.BufferedReader(_Limited(archive.open(member), _most(path), path.name, LINE))


def opened_gzip(path: Path) -> IO[bytes]:
    """A gzipped file, as a stream that ends where a bomb begins."""
    return io.BufferedReader(_Limited(gzip.open(path), _most(path), path.name, LINE))


def _most(path: Path) -> int:
    """Bytes that an archive may unpack to; what its own directory says of sizes is not believed."""
    return limits.unpacked(path.stat().st_size)


class _Limited(io.RawIOBase):
    """A stream that refuses to give more than it should: bytes, and so many more for each line."""

    def __init__(self, stream: Any, limit: int, name: str, line: int = 0) -> None:
        self._stream, self._left, self._name, self._line = stream, limit, name, line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        self._left -= len(chunk) + (self._line and self._line * chunk.count(b"\n"))
        if self._left < 0:
            raise DataError(f"{self._name} unpacks to far more than it should: unpack it first")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _text_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    files = [m for m in _members(archive, name) if not m.is_dir() and not _of_mac(m)]
    texts = [m for m in files if _suffix(m) in _TEXTS]
    if any(_suffix(m) == ".shp" for m in files) or not texts:
        return None
    if len(texts) > 1:
        raise DataError(f"{name} holds {len(texts)} files of text: zip exactly one")
    return texts[0]


def unpack_shapefile(path: Path, folder: Path) -> Path:
    """The parts of the one Shapefile in a zip, written to `folder` as `points.*`; returns the .shp.

    Raises:
        DataError: a hostile or damaged archive, one without exactly one Shapefile, or a .shp that
            is none.
    """
    with parsing(path.name, "a zip archive"), zipfile.ZipFile(path) as archive:
        members = _members(archive, path.name)
        shapes = [m for m in members if _suffix(m) == ".shp" and not _of_mac(m)]
        if not shapes:
            raise DataError(
                f"{path.name} is a zip archive with no CSV file and no Shapefile: zip one of them "
                "(.csv; or .shp, .shx, .dbf and .prj), or save it in another format"
            )
        if len(shapes) > 1:
            raise DataError(f"{path.name} holds {len(shapes)} Shapefiles: zip exactly one")
        stem = PurePosixPath(shapes[0].filename).with_suffix("")
        left = min(limits.FILE.most, _most(path))
        for member in members:
            inner = PurePosixPath(member.filename)
            if inner.with_suffix("") == stem and _suffix(member) in SHAPEFILE_PARTS:
                most = min(left, max(_SMALL, MAX_RATIO * member.compress_size))
                part = folder / f"points{_suffix(member)}"
                with archive.open(member) as source, part.open("wb") as target:
                    shutil.copyfileobj(_Limited(source, most, path.name), target)
                    left -= target.tell()
    shape = folder / "points.shp"
    with shape.open("rb") as file:
        require_shapefile(file.read(4), path.name)
    return shape


def _members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """Members of an archive; refuse links, encryption and paths outside its folder."""
    members = archive.infolist()
    limits.MEMBERS.check(len(members), name)
    for member in members:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in member.filename:
            raise DataError(f"{name} holds a path that leaves its folder: zip the Shapefile again")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise DataError(f"{name} holds a symbolic link: zip the files themselves")
        if member.flag_bits & 0x1:
            raise DataError(f"{name} is encrypted: unpack it first")
    return members


def _of_mac(member: zipfile.ZipInfo) -> bool:
    return "__MACOSX" in member.filename


def _suffix(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename).suffix.lower()
