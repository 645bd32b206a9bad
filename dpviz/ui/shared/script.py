"""The script that Streamlit runs for every page."""

from dpviz.ui.shared.shell import run

if __name__ == "__main__":
    run()
