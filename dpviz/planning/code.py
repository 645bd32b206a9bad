"""Code of a release, as a shell command, as Python and as a notebook."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from dpviz.escape import escape_controls, escape_markdown
from dpviz.lists import join_list

FILE = "FILE"
"""Placeholder for an unknown source file."""

OPTIONS = {"value": "sum", "name": "dataset", "name_column": "name", "wishes": "want"}
"""Arguments whose command-line option has another name."""

FLAGS = {"neighbours": ["--steps"], "simulate": ["--seed", "0"]}
"""Command-line flags for arguments that are True."""


NO_DELTA = "Its delta asks to count persons; none of it is spent: the release is pure ε-DP."
"""Note on code whose delta costs nothing."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """One call of :func:`dpviz.load` and one of :func:`dpviz.build`.

    Attributes:
        source: a file or a built-in name.
        frame: Python that defines the public domain, before the records are read.
        domain: further arguments of load, as Python.
        reading: arguments of load that are also options of the command.
        reading_only: arguments of load only.
        after: Python between load and build.
        words: arguments of build, as Python.
        building: arguments of build that are also options of the command.
        options: options of the command only.
        question: Python that queries the release.
        note: sentence to show beside the code.
    """

    method: str
    epsilon: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None
    frame: Sequence[str] = ()
    domain: Sequence[str] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    reading_only: Mapping[str, Any] = field(default_factory=dict)
    after: Sequence[str] = ()
    words: Sequence[str] = ()
    building: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    note: str = ""

    def command(self, output: str = "release.parquet") -> str:
        """``dpviz build`` as a shell command; a file that starts with a minus gets ``./``."""
        source = self.source or FILE
        set_to = [f"{name}={value}" for name, value in self.parameters.items()]
        made = {"method": self.method, "set": set_to, "epsilon": repr(self.epsilon)}
        given = [*self.options.items(), *self.reading.items(), *made.items()]
        given += [*self.building.items(), ("output", output)]
        typed = [word for name, value in given for word in option_words(name, value)]
        return shlex.join(
            ["dpviz", "build", f"./{source}" if source.startswith("-") else source, *typed]
        )

    def _lines(self) -> list[str]:
        read = [repr(self.source or FILE), *self.domain]
        read += arguments({**self.reading_only, **self.reading})
        made = ["data", repr(self.method), repr(self.epsilon), *self.words]
        made += arguments({**self.parameters, **self.building})
        loaded, built = (f"dpviz.{n}({', '.join(w)})" for n, w in (("load", read), ("build", made)))
        return [*self.frame, f"data = {loaded}", *self.after, f"release = {built}"]

    def python(self, output: str = "release.parquet") -> str:
        """The same in Python."""
        return "\n".join(["import dpviz", "", *self._lines(), f"release.save({output!r})"])

    def notebook(self, title: str, sentences: Sequence[str] = ()) -> str:
        """Notebook (nbformat 4.5, JSON) that builds the release and shows it."""
        heading = "\n\n".join([f"# {escape_markdown(title)}", *map(escape_markdown, sentences)])
        # Indented: no text in the command can end the block, as it could end a fenced one.
        shell = f"On the command line:\n\n{indent(escape_controls(self.command()), '    ')}"
        build = "\n".join(["import dpviz", "", *self._lines()])
        code = [build, "release.header.guarantee", self.question]
        code += ["release.save('release.parquet')", "release"]
        texts = [("markdown", f"{heading}\n\n{shell}"), *(("code", text) for text in code)]
        cells: list[dict[str, Any]] = [
            {"id": f"cell-{row}", "cell_type": kind, "metadata": {}}
            | ({"execution_count": None, "outputs": []} if kind == "code" else {})
            | {"source": text.splitlines(keepends=True)}
            for row, (kind, text) in enumerate(texts)
        ]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        facts = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps({"cells": cells} | facts, indent=1, ensure_ascii=False)


def option_words(name: str, value: Any) -> list[str]:
    """Argument as words of a command; a value that starts with a minus is joined by =.

    >>> option_words("max_per_unit", 3), option_words("kinds", ("bike", "bus, tram"))
    (['--max-per-unit', '3'], ['--kinds', 'bike,"bus, tram"'])
    """
    if isinstance(value, list):
        return [word for each in value for word in option_words(name, each)]
    if value is True:
        return FLAGS.get(name, [f"--{name.replace('_', '-')}"])
    if isinstance(value, tuple):
        value = join_list(each if isinstance(each, str) else repr(each) for each in value)
    option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
    return [f"{option}={value}"] if str(value).startswith("-") else [option, str(value)]


def arguments(given: Mapping[str, Any]) -> list[str]:
    """Named arguments of a call in Python."""
    return [f"{name}={value!r}" for name, value in given.items()]
