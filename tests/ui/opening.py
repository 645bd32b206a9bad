"""Pages opened without a browser."""

from functools import partial
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest, local_script_runner

APP = str(Path(__file__).parents[2] / "dpviz" / "ui" / "shared" / "script.py")
PATIENCE = 120
"""Seconds that a run of a page may take."""


def app_of(page=""):
    """The app, or a page of it alone."""
    if not page:
        return AppTest.from_file(APP, default_timeout=PATIENCE)
    script = f"from dpviz.ui.pages.{page} import page\npage()\n"
    return AppTest.from_string(script, default_timeout=PATIENCE)


def opened_page(page="", tab=None, **address):
    """The same after its first run, at an address, with this tab open.

    ``a__b`` is the parameter ``a.b``; numbers, also of pairs as those of a ring, stand with commas.
    """
    app = app_of(page)
    for name, value in address.items():
        written = value if isinstance(value, str) else ",".join(map(str, np.ravel(value)))
        app.query_params[name.replace("__", ".")] = written
    return open_tab(app, tab, page or "explore")


def open_tab(app, title, page="explore"):
    """A page after a run with this tab open; the first one, if none is named."""
    if title is not None:
        app.session_state[f"{page}.tab"] = title
    return app.run()


def app_to_leave(page):
    """A page alone, which ``there_and_back`` leaves for the page Help."""
    script = f"import streamlit as st\nfrom dpviz.ui.pages import help, {page}\n"
    script += f"(help if st.session_state.get('away') else {page}).page()\n"
    return AppTest.from_string(script, default_timeout=PATIENCE)


def there_and_back(app):
    """Leaves the page and comes back to it."""
    app.session_state["away"] = True
    app.query_params.clear()  # as the navigation does
    app.run()
    app.session_state["away"] = False
    return app.run()


def run_of_first_part(app, monkeypatch):
    """The app after a run of its first fragment alone, as a browser asks for at a touch of it.

    A plain run of ``AppTest`` is one of the whole page.
    """
    (part, *_) = app._fragment_storage._fragments
    asked = partial(local_script_runner.RerunData, fragment_id_queue=[part])
    with monkeypatch.context() as patched:
        patched.setattr(local_script_runner, "RerunData", asked)
        return app.run()


def metrics(app):
    """The numbers of a page by their labels."""
    return {metric.label: metric.value for metric in app.metric}


def texts(app):
    """All texts of a page, except tables and options."""
    words = (app.header, app.markdown, app.caption, app.metric)
    boxes = (app.info, app.success, app.warning, app.error)
    return "\n".join(str(each.value) for kind in (*words, *boxes) for each in kind)


def tables(app, *columns):
    """The tables that have these columns."""
    return [each.value for each in app.dataframe if {*columns} <= {*each.value}]


def table(app, *columns):
    """The only one of them."""
    (found,) = tables(app, *columns)
    return found


def named(elements, label):
    """The one of these elements that has this label."""
    (found,) = [each for each in elements if each.label == label]
    return found
