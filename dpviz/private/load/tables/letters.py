"""Letters that no XML may have, for one of which a reader refuses all that stands in its part.

Programs write them nevertheless: bytes below a space, as they are or as a reference such as
``&#1;``, and bytes that are no UTF-8. Each becomes a mark, so that a cell with one is missing.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import IO

MARK = "\ufdd0"
"""In place of each: XML may have it, and Unicode gives it to no letter."""

_PIECE = 1 << 20
_REFERENCE = 32
"""Letters of the longest reference that may stand across the end of a piece."""
_RAW = "\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
_LACKING = re.compile(rf"[{_RAW}]|&#(?:([0-9]+)|x([0-9a-fA-F]+));")
_LACKING_BYTES = re.compile(
    rb"[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]|" + re.escape(MARK.encode())
)
_STATED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"'](?!utf-8[\"'])", re.IGNORECASE)


def are_plain(text: bytes, *, references: bool = True) -> bool:
    """Whether a text is UTF-8 of letters that XML has, and without the mark.

    Args:
        text: of whole lines or elements.
        references: whether those to letters may be among it.
    """
    if _LACKING_BYTES.search(text):
        return False
    try:
        letters = text.decode()
    except UnicodeDecodeError:
        return False
    return not references or "&#" not in letters or _marked(letters) == letters


class Marked(io.RawIOBase):
    """The bytes of a part, with a mark for each letter that XML lacks; as they are where the part
    says that it is not UTF-8.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._rest, self._ready = source, "", b""
        self._decode = codecs.getincrementaldecoder("utf-8")("dpviz.mark").decode
        self._head = source.read(256)
        head = self._head.removeprefix(codecs.BOM_UTF8)
        self._other = b"\0" in head[:4] or head[:1] in b"\xfe\xff" or _STATED.match(head)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Some of the bytes; none at the end."""
        while not self._ready:
            piece, self._head = self._head or self._source.read(_PIECE), b""
            self._ready = piece if self._other else self._of(piece)
            if not piece:
                break
        given = self._ready[: len(buffer)]
        self._ready = self._ready[len(given) :]
        buffer[: len(given)] = given
        return len(given)

    def _of(self, piece: bytes) -> bytes:
        """What can be said of the letters so far; a reference may go on in the next piece."""
        text = self._rest + self._decode(piece, not piece)
        cut = text.rfind("&", -_REFERENCE) if piece and len(text) else -1
        cut = len(text) if cut < 0 or ";" in text[cut:] else cut
        self._rest = text[cut:]
        return _marked(text[:cut]).encode()


def _marked(text: str) -> str:
    return _LACKING.sub(_letter, text)


def _letter(found: re.Match[str]) -> str:
    """A reference to a letter that XML has stays as it is."""
    if found.lastindex is None:
        return MARK
    digits = found[found.lastindex].lstrip("0")
    if len(digits) > 7:
        return MARK
    number = int(digits or "0", 10 if found.lastindex == 1 else 16)
    letters = number < 0xD800 or 0xE000 <= number < 0x110000
    return found[0] if letters and not re.match(f"[{_RAW}]", chr(number)) else MARK


codecs.register_error("dpviz.mark", lambda error: (MARK, getattr(error, "end", 0)))
