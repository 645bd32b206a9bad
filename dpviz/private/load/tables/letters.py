"""Letters that no XML may have, for one of which a reader refuses all that stands in its part.

Programs write them nevertheless: bytes below a space, as they are or as a reference such as
``&#1;``, and bytes that are no letter of the part's encoding. Each becomes a mark, so that a cell
with one is missing.
"""

from __future__ import annotations

import codecs
import io
import re
from contextlib import suppress
from typing import IO
from xml.parsers.expat import ExpatError, ParserCreate

MARK = "\ufdd0"
"""In place of each, or of several: XML may have it, and Unicode gives it to no letter."""

_PIECE = 1 << 20
_HEAD = 1 << 10
"""Bytes in which a part says its encoding."""
_REFERENCE = 32
"""Letters of a reference from which on zeros, and digits after the first eight others, are left
out of it where it stands across the end of a piece."""
_RAW = "\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
_AS_IT_IS, _END = "<![CDATA[", "]]>"
_NONE = re.compile(f"[{_RAW}]+")
_LACKING = re.compile(
    rf"[{_RAW}]+|&#(?:([0-9]+)|x([0-9a-fA-F]+));|{re.escape(_AS_IT_IS)}|{re.escape(_END)}"
)
_OPEN = re.compile(
    r"&(?:(#x?)0*([0-9a-fA-F]*))?|<(?:!(?:\[(?:C(?:D(?:A(?:T(?:A)?)?)?)?)?)?)?|\]\]?"
)
"""What may go on as one of these in the next piece."""
_STATED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")
_DECLARATION = re.compile(r"\ufeff?(?:<\?xml\s[^>]*\?>)?")


class Plain:
    """Whether a part is XML in UTF-8, and without the mark: what every reader reads alike."""

    def __init__(self) -> None:
        self._parser, self._utf8 = ParserCreate(namespace_separator="}"), True
        self._parser.XmlDeclHandler = self._declared

    def _declared(self, _version: str, encoding: str | None, _alone: int) -> None:
        self._utf8 = encoding is None or encoding.lower() == "utf-8"

    def goes_on(self, text: bytes, *, last: bool = False) -> bool:
        """Whether it is so far, with what comes next: whole lines or elements."""
        try:
            self._parser.Parse(text, last)
        except (ExpatError, LookupError, ValueError):  # the last two of its encoding
            return False
        return self._utf8 and MARK.encode() not in text and b"\0" not in text


class Marked(io.RawIOBase):
    """The bytes of a part in UTF-8, without a declaration, and with a mark for each letter that
    XML or the part's encoding lacks. What says that it is in no encoding that is known, or in one
    that it cannot be in, is taken for UTF-8. An end of letters that are to be taken as they are is
    text where none have begun.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._rest, self._ready = source, "", b""
        self._as_it_is = False
        self._head = source.read(_HEAD)
        self._decode = codecs.getincrementaldecoder(_encoding(self._head))("dpviz.mark").decode

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Some of the bytes; none at the end."""
        while not self._ready:
            head, self._head = self._head, b""
            piece = head or self._source.read(_PIECE)
            self._ready = self._of(piece, first=bool(head))
            if not piece:
                break
        given = self._ready[: len(buffer)]
        self._ready = self._ready[len(given) :]
        buffer[: len(given)] = given
        return len(given)

    def _of(self, piece: bytes, *, first: bool) -> bytes:
        """What can be said of the letters so far; a reference may go on in the next piece."""
        text = self._rest + self._decode(piece, not piece)
        if first and (declared := _DECLARATION.match(text)) is not None:
            text = text[declared.end() :]
        found = _unfinished(text) if piece else None
        self._rest = "" if found is None else _shortened(found)
        whole = text if found is None else text[: found.start()]
        return _LACKING.sub(self._letter, whole).encode()

    def _letter(self, found: re.Match[str]) -> str:
        """What stands for one; a reference to a letter that XML has stays as it is."""
        if found.lastindex is not None:
            return found[0] if self._as_it_is else _referred(found)
        if found[0] == _END:
            begun, self._as_it_is = self._as_it_is, False
            return _END if begun else "]]&gt;"
        if found[0] == _AS_IT_IS:
            self._as_it_is = True
            return _AS_IT_IS
        return MARK


def known_encoding(name: str) -> str | None:
    """The codec of this name, if letters of ASCII are the same in it."""
    letters = bytes(range(128))
    with suppress(LookupError, ValueError):
        if letters.decode(name) == letters.decode("ascii"):
            return codecs.lookup(name).name
    return None


def _encoding(head: bytes) -> str:
    """Of a part that begins so."""
    if head[:2] in (b"\xff\xfe", b"<\0"):
        return "utf-16-le"
    if head[:2] in (b"\xfe\xff", b"\0<"):
        return "utf-16-be"
    stated = _STATED.match(head)
    return (stated and known_encoding(stated[1].decode("ascii", "replace"))) or "utf-8"


def _unfinished(text: str) -> re.Match[str] | None:
    """What may go on in the next piece."""
    start = max(map(text.rfind, "&<]"))
    if start > 0 and text[start - 1 :] == "]]":
        start -= 1
    return None if start < 0 else _OPEN.fullmatch(text, start)


def _shortened(found: re.Match[str]) -> str:
    """The beginning of a reference, so short that many of them can be put together."""
    if len(found[0]) <= _REFERENCE:
        return found[0]
    return f"&{found[1]}0{found[2][:8]}"


def _referred(found: re.Match[str]) -> str:
    digits = found[found.lastindex or 0].lstrip("0")
    if len(digits) > 7:
        return MARK
    number = int(digits or "0", 10 if found.lastindex == 1 else 16)
    letters = number < 0xD800 or 0xE000 <= number < 0x110000
    return found[0] if letters and not _NONE.match(chr(number)) else MARK


codecs.register_error("dpviz.mark", lambda error: (MARK, getattr(error, "end", 0)))
