"""The helpers of page tests detect a page that fails."""

import pytest
from streamlit.testing.v1 import AppTest


def test_a_page_that_ends_in_a_traceback_fails_whatever_its_test_looks_at():
    app = AppTest.from_string("import streamlit as st\nassert not st.button('odd'), 'odd'").run()
    with pytest.raises(AssertionError, match="encountered an error"):
        app.button[0].click().run()
