"""Code that makes a release, of any kind: what its command, Python and notebook have in common."""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from dpviz.harmless import harmless, markdown
from dpviz.lists import listed

FILE, WORKLOAD = "FILE", "WORKLOAD"
"""Where the name of the source, or of the file of queries, is not known."""

NOTATION = ("decimal", "thousands", "time_format", "order")
"""Arguments that say how text is read."""


@dataclass(frozen=True, kw_only=True)
class Code(ABC):
    """Settings of a build, written as a shell command and as Python.

    Attributes:
        method, parameters: those that are not the method's own defaults.
        epsilon: for one privacy unit.
        source: a file or a built-in name; None where it is not known.
        builtin: the source is built in.
        public: the records are declared public.
        simulated: the noise is simulated.
        seed: of a simulation.
        neighbours: "add-remove" or "replace".
        dataset: the ledger's name of the records, where it is not the file's; None if not known.
        notation: how text is read, as :func:`dpviz.load` takes it.
    """

    method: str
    epsilon: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None
    builtin: bool = False
    public: bool = False
    simulated: bool = False
    seed: int | None = None
    neighbours: str = "add-remove"
    dataset: str | None = None
    notation: Mapping[str, Any] = field(default_factory=dict)

    @abstractmethod
    def command(self, output: str = "release.parquet") -> str:
        """The command, as a shell takes it."""

    @abstractmethod
    def _lines(self) -> list[str]:
        """The Python that makes ``release``, without imports."""

    @property
    @abstractmethod
    def _question(self) -> str:
        """Python that asks the release something."""

    @property
    def _notation(self) -> dict[str, Any]:
        """The notation; as others may have written a header, of known names only."""
        columns = tuple(map(str, self.notation.get("columns", ())))
        forms = {name: str(self.notation[name]) for name in NOTATION if name in self.notation}
        return ({"columns": columns} if columns else {}) | forms

    def _method_options(self) -> list[tuple[str, Any]]:
        """The options of a command that say what is built at which price."""
        options: list[tuple[str, Any]] = [("--method", self.method)]
        options += [("--set", f"{name}={value}") for name, value in self.parameters.items()]
        return [*options, ("--epsilon", f"{self.epsilon!r}")]

    @property
    def _paid_as(self) -> dict[str, str]:
        """The ledger's name of the records as :func:`dpviz.load` takes it, if it must be named."""
        return {"name": self.dataset} if self.dataset else {}

    def _noise_options(self) -> list[tuple[str, Any]]:
        """Options for the ledger's data set, the neighbouring relation and the source of noise."""
        options: list[tuple[str, Any]] = [("--dataset", self.dataset)] if self.dataset else []
        if self.neighbours != "add-remove":
            options.append(("--neighbours", self.neighbours))
        if self.seed is not None:
            options.append(("--seed", self.seed))
        elif self.simulated:
            options.append(("--noise", "simulated"))
        return options

    def _built(self, words: Sequence[str], given: Mapping[str, Any]) -> str:
        """The Python that builds ``release``, with words and named arguments of this kind."""
        named: dict[str, Any] = dict(self.parameters)
        if self.neighbours != "add-remove":
            named["neighbours"] = self.neighbours
        named |= given
        if self.seed is not None:
            named["seed"] = self.seed
        elif self.simulated:
            named["simulate"] = True
        words = [repr(self.epsilon), *words, *arguments(named)]
        return f"release = dpviz.build(data, {self.method!r}, {', '.join(words)})"

    def python(self, output: str = "release.parquet") -> str:
        """The same in Python."""
        return "\n".join(["import dpviz", "", *self._lines(), f"release.save({output!r})"])

    def notebook(self, title: str, sentences: Sequence[str] = ()) -> str:
        """A notebook (nbformat 4.5, JSON) that builds the release and looks at it.

        Args:
            title: its heading.
            sentences: below it.
        """
        heading = "\n\n".join([f"# {markdown(title)}", *map(markdown, sentences)])
        # Indented: no text in the command can end the block, as it could a fence.
        shell = f"On the command line:\n\n{indent(harmless(self.command()), '    ')}"
        cells = [
            ("markdown", f"{heading}\n\n{shell}"),
            ("code", "\n".join(["import dpviz", "", *self._lines()])),
            ("code", "release.header.guarantee"),
            ("code", self._question),
            ("code", "release.save('release.parquet')"),
            ("code", "release"),
        ]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        return json.dumps(
            {
                "cells": [_cell(row, kind, text) for row, (kind, text) in enumerate(cells)],
                "metadata": {"kernelspec": kernel},
                "nbformat": 4,
                "nbformat_minor": 5,
            },
            indent=1,
            ensure_ascii=False,
        )


def _cell(row: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"id": f"cell-{row}", "cell_type": kind, "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return {**cell, "source": text.splitlines(keepends=True)}


def arguments(given: Mapping[str, Any]) -> list[str]:
    """Named arguments of a call in Python."""
    return [f"{name}={value!r}" for name, value in given.items()]


def options_of(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The options of a command that are called as arguments are; several values in one text.

    >>> options_of({"max_per_unit": 3, "kinds": ("bike", "bus, tram"), "clip": (0.0, 9.5)})
    [('--max-per-unit', 3), ('--kinds', 'bike,"bus, tram"'), ('--clip', '0.0,9.5')]
    """
    return [(f"--{name.replace('_', '-')}", _in_one(value)) for name, value in given.items()]


def _in_one(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return listed(each if isinstance(each, str) else repr(each) for each in value)


def shell(
    words: Sequence[str], options: Sequence[tuple[str, Any]], flags: Sequence[str] = ()
) -> str:
    """A command; a value that begins with a minus is tied to its option, a file to its folder."""
    words = [f"./{word}" if word.startswith("-") else word for word in words]
    tied: list[str] = []
    for name, value in options:
        tied += [f"{name}={value}"] if str(value).startswith("-") else [name, str(value)]
    return shlex.join([*words, *tied, *flags])
