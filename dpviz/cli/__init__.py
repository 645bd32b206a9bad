"""The command line: one small module per group of commands, imported automatically.

With ``--json`` a command prints one JSON object on standard output and nothing else; progress goes
to standard error. Exit codes: 0; 2 with one line that names the thing, the value and the remedy;
130 with the line "cancelled" after Ctrl-C, SIGTERM or a closed terminal.
"""

from __future__ import annotations

import importlib
import logging
import os
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from dpviz.cli import interrupts
from dpviz.cli.root import app, prepare_standard_files, print_stderr
from dpviz.cli.usage import USAGE_ERROR, require_current, require_values, system_line, usage_line
from dpviz.errors import DpvizError

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["app", "commands", "main", "program"]


def commands() -> dict[str, str]:
    """First sentence of every command's help, by the command's name.

    >>> commands()["dpviz info"]
    'Show how a release was made, its guarantee, budget and size.'
    """

    def helps(command: Any, path: str) -> Iterator[tuple[str, str]]:
        children = getattr(command, "commands", None)
        if children is None:
            yield path, " ".join(command.help.split("\n\n")[0].split())
        else:
            for name, child in children.items():
                yield from helps(child, f"{path} {name}")

    return dict(helps(typer.main.get_command(app), "dpviz"))


def main() -> None:
    """Run a command in this process; report user errors in one line, with exit code 2."""
    prepare_standard_files()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # warns if the home folder is read-only
    os.environ["PROJ_NETWORK"] = "OFF"  # no downloads of PROJ grids
    interrupts.install_handlers()
    try:
        require_current(sys.argv[1:])
        require_values(sys.argv[1:])
        sys.exit(typer.main.get_command(app)(standalone_mode=False) or 0)
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command
            error.show()
        else:
            print_stderr(f"error: {usage_line(error, commands())}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except MemoryError:  # Python's message may reveal the number of records
        print_stderr("error: not enough memory: ask for less at a time, or use a larger machine")
        sys.exit(2)
    except (DpvizError, KeyboardInterrupt, SystemExit, OSError) as ended:
        # Typer turns Ctrl-C into a silent exit. Ctrl-C after completion is ignored.
        if interrupts.interrupted() and getattr(ended, "code", 1) != 0:
            print_stderr("cancelled")
            sys.exit(130)
        if not isinstance(ended, (DpvizError, OSError)):
            raise
        line = system_line(ended) if isinstance(ended, OSError) else str(ended)
        print_stderr(f"error: {' '.join(line.split())}")
        sys.exit(2)


def program() -> None:
    """Run :func:`main`, and exit without the interpreter's slow teardown."""
    try:
        main()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            interrupts.exit_process(ended.code)
        raise
