"""The server of the app with ``failing.py`` as its page."""

from pathlib import Path

from streamlit import App

from dpviz.ui import server

SCRIPT = Path(__file__).with_name("failing.py")

app = App(
    SCRIPT,
    middleware=server.MIDDLEWARE,
    lifespan=server.lifespan,
    routes=server.routes(),
)
