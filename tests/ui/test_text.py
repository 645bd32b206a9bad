"""Text from outside is shown as it is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.ui.shared.text import plain

UI = Path(__file__).parents[2] / "dpviz" / "ui"


@pytest.mark.parametrize("text", ["<b>x</b>", "[a](b)", "![](x)", ":red[x]", "$x$", "`x`", "a\nb"])
def test_nothing_is_markup(text):
    shown = plain(text)
    for sign in "<>[]()!$`:":
        assert shown.count(sign) == shown.count(f"\\{sign}")


@given(st.text())
def test_no_letter_is_lost(text):
    assert plain(text).replace("\\", "") == text.replace("\\", "")


def test_no_page_renders_html_of_its_own():
    for file in UI.rglob("*.py"):
        text = file.read_text()
        assert "unsafe_allow_html" not in text, file.name
        calls = text.count("st.html(")
        assert calls == (1 if file.name == "shell.py" else 0), file.name
