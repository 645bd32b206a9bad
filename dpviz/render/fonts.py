"""Fonts for texts that others wrote: the usual one, and another for what that lacks."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

BOX = "□"
"""Stands for a letter that no font has."""


def drawn(figure: Any, kind: str, **options: Any) -> bytes:
    """A figure, all texts of it legible, as a file of a kind."""
    legible(figure)
    file = io.BytesIO()
    figure.savefig(file, format=kind, **options)
    return file.getvalue()


def legible(figure: Any) -> None:
    """Give each text of a figure fonts that have its letters, and a box for those that none has."""
    from matplotlib.font_manager import findfont
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        words = text.get_text()
        if _lacked(words, findfont(text.get_fontproperties())):
            families, missing = fonts("".join(sorted(set(words))))
            text.set_text(words.translate(dict.fromkeys(map(ord, missing), BOX)))
            text.set_fontfamily([*text.get_fontfamily(), *families])
            text.set_fontweight("normal")  # the one that every family has


@lru_cache(maxsize=256)
def fonts(letters: str) -> tuple[tuple[str, ...], str]:
    """Families of fonts for letters that the usual one lacks, and the letters that none has."""
    from matplotlib import get_data_path
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    missing = _lacked(letters, findfont(FontProperties()))
    # Matplotlib's own others are for formulas: their letters stand for symbols, or are boxes.
    fitted = [
        (each.name, each.fname)
        for each in fontManager.ttflist
        if (each.style, each.variant, each.stretch) == ("normal",) * 3
        and each.weight in (400, "normal")
        and not each.fname.startswith(get_data_path())
    ]
    families = []
    for name, file in sorted(fitted, key=lambda each: ("Sans" not in each[0], each)):
        if not missing:
            break
        rest = _lacked(missing, file)
        families += [name] if rest != missing else []
        missing = rest
    return tuple(families), missing


def _lacked(letters: str, file: str) -> str:
    """Letters that a font lacks; all, of one that cannot be read."""
    try:
        had = _letters(file)
    except (OSError, RuntimeError):
        return letters
    return "".join(letter for letter in letters if ord(letter) not in had and letter != "\n")


@lru_cache(maxsize=4)
def _letters(file: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(file).get_charmap())
