"""Fonts for texts that others wrote: the usual one, and another for what that lacks."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

BOX = "□"
"""Stands for a letter that no font has."""


def render_figure(figure: Any, kind: str, **options: Any) -> bytes:
    """A figure, all texts of it legible, as a file of a kind."""
    legible(figure)
    file = io.BytesIO()
    figure.savefig(file, format=kind, **options)
    return file.getvalue()


def legible(figure: Any) -> None:
    """Give each text of a figure fonts that have its letters, and a box for those that none has."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        words = text.get_text()
        families, missing = fonts("".join(sorted(set(words))))
        if families or missing:
            text.set_text(words.translate(dict.fromkeys(map(ord, missing), BOX)))
            text.set_fontfamily([*text.get_fontfamily(), *families])
            text.set_fontweight("normal")  # every family has this weight


@lru_cache(maxsize=256)
def fonts(letters: str) -> tuple[tuple[str, ...], str]:
    """Families of fonts for letters that the usual one lacks, and the letters that none has."""
    from matplotlib import get_data_path
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    missing = set(letters) - _letters(findfont(FontProperties())) - {"\n"}
    families = []
    for each in sorted(fontManager.ttflist, key=lambda font: ("Sans" not in font.name, font.name)):
        # Matplotlib's other fonts are for formulas: their letters are symbols or boxes.
        plain = (each.style, each.variant, each.stretch) == ("normal",) * 3
        if (
            not plain
            or each.weight not in (400, "normal")
            or each.fname.startswith(get_data_path())
        ):
            continue
        if missing and missing & (known := _letters(each.fname)):
            families.append(each.name)
            missing -= known
    return tuple(families), "".join(sorted(missing))


@lru_cache(maxsize=4)
def _letters(file: str) -> frozenset[str]:
    """Letters that a font has; none, of one that cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(file).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()
