"""The front door of the app: ``uv run streamlit run app.py``."""

from streamlit import App

from dpviz.ui import server

server.check_settings()
app = App(
    server.SCRIPT,
    middleware=server.MIDDLEWARE,
    lifespan=server.lifespan,
    routes=server.routes(),
)
