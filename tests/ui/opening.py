"""Pages opened without a browser."""

from functools import partial
from pathlib import Path

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


def opened_page(page="", **address):
    """The same after its first run, at an address; ``a__b`` is the parameter ``a.b``."""
    app = app_of(page)
    app.query_params.update({name.replace("__", "."): each for name, each in address.items()})
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
    """What a page says, but for its headings, tables and numbers."""
    every = [*app.markdown, *app.caption, *app.info, *app.warning, *app.error]
    return "\n".join(str(each.value) for each in every)
