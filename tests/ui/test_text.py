"""Text from outside is shown as it is."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import DomainError
from dpviz.escape import escape_controls
from dpviz.ui.shared.area_form import box_of
from dpviz.ui.shared.text import plain

UI = Path(__file__).parents[2] / "dpviz" / "ui"


@pytest.mark.parametrize("text", ["<b>x</b>", "[a](b)", "![](x)", ":red[x]", "$x$", "`x`", "a\nb"])
def test_nothing_is_markup(text):
    shown = plain(text)
    for sign in "<>[]()!$`:":
        assert shown.count(sign) == shown.count(f"\\{sign}")


@given(st.text())
def test_no_letter_is_lost(text):
    assert plain(text).replace("\\", "") == escape_controls(text).replace("\\", "")


def test_a_name_turns_no_words_around_and_hides_none():
    shown = plain("plan\u202egpj.exe\x00 \u2066\u2069\u200c")
    assert (
        shown.replace("\\", "") == "planu202egpj.exex00 u2066u2069\u200c"
    )  # the last one is needed in Persian


def test_no_page_renders_html_of_its_own():
    for file in UI.rglob("*.py"):
        text = file.read_text()
        assert "unsafe_allow_html" not in text, file.name
        assert ("st.html(" in text) == (file.name in ("frame.py", "steps.py")), file.name


NO_TEXT = re.compile(
    r"bbox=\S+|width[:=]\W?100%|±5%|at 95%|from 50% to 99\.9%|below 100%|NO_BREAK}%|replace\(.%.+\)"
)
"""Addresses, style, the grammar of wishes, which one types without a space, and a space by name."""


def test_per_cent_stands_after_a_space():
    """No format ends in %, and no digit stands right before the sign."""
    tight = re.compile(r":[^{}'\"\s]*%\}|[\"~]\.?[0-9]?~?%[\"']|[0-9}]%")
    places = [
        f"{file.name}:{number}"
        for room in ("ui", "cli", "render", "exports", "releases", "notebook")
        for file in (UI.parent / room).rglob("*.py")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if tight.search(NO_TEXT.sub("", line))
    ]
    assert places == []


@pytest.mark.parametrize("text", ["48.8°N 2.2°E 48.9°N 2.4°E", "10.8W 49.4N 2.1E 60.9N"])
def test_letters_in_place_of_signs_are_one_clear_line(text):
    with pytest.raises(DomainError, match="west is negative"):
        box_of(text)
