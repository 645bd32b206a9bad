"""Text in a zip, gzip, xz or zstd file, as a stream with a size limit, in memory only."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.lazy import pa
from dpviz.private.load.tables.base import parsing
from dpviz.private.load.tables.formats import FORMATS, title_of

MAX_XZ_MEMORY = 128 * limits.MEBI
"""Bytes of memory that an xz file may ask for; its strongest preset asks for half."""

LINE_BYTES = 16
"""Bytes per line in memory besides its text: two coordinates."""


def zipped_text(path: Path) -> str | None:
    """Name of the only text file in a zip; None if the zip holds a Shapefile.

    Raises:
        DataError: a damaged or encrypted archive, or one that holds neither, or several texts.
    """
    with parsing(path.name, "a zip archive"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    limits.MEMBERS.check(len(members), path.name)
    if any(each.flag_bits & 1 for each in members):
        raise DataError(f"{path.name} is encrypted: unpack it first")
    names = [each.filename for each in members if "__MACOSX" not in each.filename]
    if any(name.lower().endswith(".shp") for name in names):
        return None
    texts = [name for name in names if _is_text(name)]
    if not texts:
        raise DataError(
            f"{path.name} is a zip archive with no CSV file and no Shapefile: zip one of them "
            "(.csv; or .shp, .shx, .dbf and .prj), or save it in another format"
        )
    if len(texts) > 1:
        raise DataError(f"{path.name} holds {len(texts)} files of text: zip exactly one")
    return texts[0]


def _is_text(name: str) -> bool:
    title = title_of(Path(name))
    return title is not None and FORMATS[title].text is not None


def opened_zip(path: Path, member: str) -> IO[bytes]:
    """A file in a zip, as a stream."""
    return _limited(zipfile.ZipFile(path).open(member), path)


COMPRESSED: dict[str, Callable[[Path], Any]] = {
    "gzip": gzip.open,
    "xz": lambda path: _Xz(path),
    "zstd": lambda path: pa.input_stream(str(path), compression="zstd"),
}
"""Openers of formats that compress one file."""


def opened_compressed(path: Path, title: str) -> IO[bytes]:
    """A file compressed by one of :data:`COMPRESSED`, as a stream."""
    return _limited(COMPRESSED[title](path), path)


def _limited(stream: Any, path: Path) -> IO[bytes]:
    """Limit a stream by its real size; sizes stated in an archive are not trusted."""
    return io.BufferedReader(_Limited(stream, limits.unpacked(path.stat().st_size), path.name))


class _Xz(io.RawIOBase):
    """Stream of an xz file; one that asks for much memory to be read is an error."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._part = self._next()

    def _next(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while True:
            given = b""
            if self._part.eof or self._part.needs_input:
                given = self._part.unused_data or self._file.read(1 << 16)
                if not given and self._part.eof:
                    return b""
                if not given:
                    raise EOFError("cut short")
                if self._part.eof:
                    self._part = self._next()
            if content := self._part.decompress(given, size):
                return content

    def close(self) -> None:
        self._file.close()
        super().close()


class _Limited(io.RawIOBase):
    """Stream that fails beyond a limit, which counts bytes and an overhead per line."""

    def __init__(self, stream: Any, limit: int, name: str) -> None:
        self._stream, self._left, self._name = stream, limit, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        self._left -= len(chunk) + LINE_BYTES * chunk.count(b"\n")
        if self._left < 0:
            raise DataError(f"{self._name} unpacks to far more than it should: unpack it first")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()
