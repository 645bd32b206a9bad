"""Texts in pictures that the usual font lacks letters of; a warning would fail each test."""

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

import dpviz
from dpviz.render.fonts import BOX, fonts, legible
from tests.commands import run

EAST, WEST = "\U000f0e00", "\U000f0e01"
"""Of private use, so that no font of a machine has them."""


@pytest.fixture
def eastern(tmp_path, monkeypatch):
    """The family of a font that has one of them."""
    pen = TTGlyphPen(None)
    for move, point in ((pen.moveTo, (0, 0)), (pen.lineTo, (500, 0)), (pen.lineTo, (0, 700))):
        move(point)
    pen.closePath()
    font = FontBuilder(1000)
    font.setupGlyphOrder([".notdef", "east"])
    font.setupCharacterMap({ord(EAST): "east"})
    font.setupGlyf({".notdef": pen.glyph(), "east": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (600, 0), "east": (600, 0)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "East", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "east.ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(tmp_path / "east.ttf")
    fonts.cache_clear()
    yield "East"
    fonts.cache_clear()


def test_a_letter_is_drawn_by_a_font_that_has_it_and_a_box_where_none_has(
    eastern, tmp_path, caplog
):
    figure = Figure()
    text = figure.text(0.5, 0.5, f"To {EAST} and {WEST}", weight="bold")
    plain = figure.text(0.5, 0.2, "To São Paulo")
    legible(figure)
    assert text.get_text() == f"To {EAST} and {BOX}"
    assert text.get_fontfamily()[-1] == eastern
    assert eastern not in plain.get_fontfamily()
    figure.savefig(tmp_path / "text.svg")
    assert caplog.text == ""


@pytest.mark.slow
def test_a_picture_says_in_one_line_what_no_font_has(tmp_path):
    release = dpviz.build(dpviz.load("city-50k"), "ugrid", seed=1, cells=4)
    path, image = release.save(tmp_path / "r.parquet"), tmp_path / "map.png"
    code, _, err = run("picture", path, "-o", image, "--title", f"West {WEST}")
    assert (code, image.exists()) == (0, True)
    assert err == f"note: no font of this machine has {WEST}: a box is drawn for each\n"
