"""Commands as tests run them: in this process, and seen from outside."""

import json
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from dpviz import Ledger
from dpviz.cli import app, main

PROGRESS = re.compile(r": +\d+ %$")
"""A line of progress, which a command prints if it takes longer than a second."""


def without_progress(text):
    """Standard error without its lines of progress, which a busy machine adds."""
    return "".join(line for line in text.splitlines(True) if not PROGRESS.search(line))


def run(*words):
    """Run a command in this process; returns exit code, standard output, standard error.

    Lines of progress are left out.
    """
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, without_progress(result.stderr)


def as_json(*words):
    """JSON that a command prints with ``--json``; it must exit 0."""
    code, out, err = run(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def seen(*words):
    """Run a command as a user does; returns exit code, standard output, standard error."""
    with (
        patch.object(sys, "argv", ["dpviz", *map(str, words)]),
        patch.object(sys.modules["__main__"], "__package__", None),  # as by ``python -m pytest``
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        pytest.raises(SystemExit) as caught,
    ):
        main()
    return caught.value.code, out.getvalue(), err.getvalue()


def fails(*words):
    """Run a command as a user does; it must exit 2 with one line, which is returned."""
    code, out, err = seen(*words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return without_progress(err)


def refused(folder, words, line):
    """A command is refused in one line, and no file of a folder or ledger differs or is new."""

    def files():
        every = {*folder.rglob("*"), *Ledger().files}
        return {each: each.is_dir() or each.read_bytes() for each in every if each.exists()}

    before = files()
    (error,) = fails(*words).splitlines()
    assert line in error
    assert files() == before


def blocks(language, page):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def run_commands(page):
    """Run the commands of a page, one after another; returns what each prints."""
    lines = "".join(blocks("sh", page)).replace("\\\n", "").splitlines()
    printed = []
    for words in [shlex.split(line)[3:] for line in lines if "run dpviz" in line]:
        code, out, err = seen(*words)
        assert code == 0, (words, err)
        printed.append(out)
    return printed
