"""The front door of the app: ``uv run streamlit run app.py``."""

from dpviz.ui.shared.shell import run

run()
