"""What every visitor's touch runs: the page that they are on."""

from dpviz.ui.shared.garbage import sweep_if_due
from dpviz.ui.shared.shell import run

if __name__ == "__main__":  # as Streamlit runs it, and not whoever imports it
    try:
        run()
    finally:
        sweep_if_due()
