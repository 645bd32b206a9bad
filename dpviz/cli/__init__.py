"""The command line: one small file per group of commands, found by name.

With ``--json`` a command prints one JSON object on standard output and nothing else; progress goes
to standard error. It exits 0, or 2 with one line that names the thing, the value and the remedy.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

from dpviz.cli.root import app
from dpviz.errors import DpvizError

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of ``dpviz``: errors that input causes become one line and exit code 2."""
    try:
        app()
    except DpvizError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("cancelled", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
