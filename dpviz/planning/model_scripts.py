"""Code that makes a release of trips along roads, or of sequences. From public facts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpviz.datasets.geography import CITY
from dpviz.lists import listed, words
from dpviz.planning.code import FILE, WORKLOAD, Code, arguments, options_of, shell
from dpviz.planning.script import Script, dataset_of, settings_of, unit_of
from dpviz.releases.counts import RoadRelease, is_areas, is_points, is_roads
from dpviz.releases.release import Release
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease

GRAPH, CELLS, TIME = "GRAPH", "RELEASE", "TIME"
"""Where the name of a graph's files, of a release whose leaves are cells, or of a column is not
known."""

SIDE, GAP = 8, 12.0
"""Defaults of the built-in sequences."""


@dataclass(frozen=True, kw_only=True)
class ModelScript(Code):
    """Command and Python that build a release of trips or sequences.

    Attributes:
        kind: "roads" or "sequences".
        options: of the command, beyond those that every kind has.
        frame: lines of Python before the records are read.
        domain: what the records are read in, Python; of the built-in city nothing.
        reading: further arguments of :func:`dpviz.load`.
        building: of :func:`dpviz.build`, Python.
        question: Python that asks the release something.
    """

    kind: str
    question: str
    options: Sequence[tuple[str, Any]] = ()
    flags: Sequence[str] = ()
    frame: Sequence[str] = ()
    domain: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    building: Sequence[str] = ()

    def command(self, output: str = "release.parquet") -> str:
        """The build, as a shell takes it."""
        options = [
            *self.options,
            *options_of(self._notation),
            *self._method_options(),
            *self._noise_options(),
        ]
        options.append(("--output", output))
        flags = [*self.flags, *(["--public"] if self.public else [])]
        return shell(["dpviz", "build", self.source or FILE], options, flags)

    def _lines(self) -> list[str]:
        reading = (
            dict(self.reading)
            | self._notation
            | ({"public": True} if self.public else {})
            | self._paid_as
        )
        named = [f"kind={self.kind!r}"] if self.builtin else [self.domain]
        words = [repr(self.source or FILE), *named, *arguments(reading)]
        data = f"data = dpviz.load({', '.join(words)})"
        return [*self.frame, data, self._built(self.building, {})]

    @property
    def _question(self) -> str:
        return self.question


def script_of(
    release: Release,
    source: str | None = None,
    seed: int | None = None,
    areas: str | None = None,
    graph: str | None = None,
) -> Code:
    """Return the command and Python that made a release of any kind, from its header.

    Args:
        release: which.
        source: its records, where the reader knows them.
        seed: of a simulation, where the reader knows it.
        areas: the file of its areas, where the reader knows it.
        graph: the files of its road graph, between commas, where the reader knows them.

    Raises:
        ReleaseError: seeded though it is not simulated, a part of another release, or of cells that
            its header does not say.
        ParameterError: a header that names a method or a parameter that there is not.
    """
    if is_points(release) or is_areas(release):
        return Script.of(release, source, seed, areas)
    header = release.header
    settings = settings_of(header, release.kind, seed)
    builtin = header.source == CITY and header.synthetic
    if is_roads(release):
        kind = _of_roads(release, builtin, graph)
    else:
        assert isinstance(release, SequenceRelease)
        kind = _of_sequences(release, builtin)
    return ModelScript(
        kind=release.kind,
        source=CITY if builtin else source,
        dataset=None if header.synthetic else dataset_of(header, source),
        builtin=builtin,
        public="records" in header.extra and not builtin,
        notation=header.extra.get("notation", {}),
        **settings,
        **kind,
    )


def _of_roads(release: RoadRelease, builtin: bool, graph: str | None) -> dict[str, Any]:
    extra = release.header.extra
    workload = extra.get("workload", WORKLOAD)
    workload = workload if isinstance(workload, str) else WORKLOAD
    unit = {} if builtin else unit_of(release.header)
    options: list[tuple[str, Any]] = [("--workload", workload)]
    streets = release.frame.graph
    flags = ["--directed"] if streets.directed else []
    reading: dict[str, Any] = {}
    columns = extra.get("columns")
    if isinstance(columns, list) and all(isinstance(each, str) for each in columns):
        options.append(("--columns", listed(columns)))
        reading["columns"] = tuple(columns)
    if extra.get("drop_unknown") is True:
        flags, reading = [*flags, "--drop-unknown"], reading | {"drop_unknown": True}
    time = release.steps.stated() if release.steps is not None else {}
    options += options_of(time)
    frame, crs = [], streets.crs
    if builtin:
        options = [("--graph", CITY), *options]
    else:
        options = [("--graph", graph or GRAPH), *([("--crs", crs)] if crs else []), *options]
        options += options_of(unit)
        how: dict[str, Any] = {"crs": crs} | ({"directed": True} if streets.directed else {})
        if streets.n_components > 1:
            options.append(("--components", "all"))
            how["components"] = "all"
        names = ", ".join(repr(each) for each in words(graph or GRAPH, "--graph"))
        frame = [f"graph = dpviz.read_graph({names}, {', '.join(arguments(how))})"]
    return {
        "options": options,
        "flags": flags,
        "frame": frame,
        "domain": "graph",
        "reading": {**reading, **unit, **time},
        "building": [f"workload={workload!r}"],
        "question": f"release.count(dpviz.workload_of({workload!r}, data.graph))",
    }


def _of_sequences(release: SequenceRelease, builtin: bool) -> dict[str, Any]:
    header, alphabet = release.header, release.alphabet
    cells, session = cells_of(header, alphabet.names), header.extra.get("session")
    session = session if isinstance(session, dict) else {}
    unit = {} if builtin else unit_of(header)
    options: list[tuple[str, Any]] = []
    reading: dict[str, Any] = dict(unit)
    frame, flags = [], []
    domain = f"dpviz.Alphabet({alphabet.names!r})"
    if cells is None:
        alone = "," if len(alphabet) == 1 else ""  # without it a word is the name of a file
        options.append(("--alphabet", listed(alphabet.names) + alone))
        column = header.extra.get("column")
        if isinstance(column, str):
            options.append(("--column", column))
            reading["columns"] = (column,)
        if header.extra.get("drop_unknown") is True:
            flags, reading = ["--drop-unknown"], reading | {"drop_unknown": True}
    else:
        side = cells.origin.get("side")
        if side is not None:
            options.append(("--side", side))
            reading |= {"side": side} if side != SIDE else {}
        else:
            options += [("--leaves", CELLS), ("--cells", len(alphabet))]
            frame = ["from dpviz.build import leaf_cells", ""]
            frame.append(f"cells = leaf_cells(dpviz.read({CELLS!r}), {len(alphabet)})")
            domain = "cells.domain, cells=cells"
        gap = session.get("gap", GAP)
        options += [("--gap", gap)] if gap != GAP else []
        reading |= {"gap": gap} if gap != GAP else {}
        if alphabet.follows is not None:
            flags, reading = ["--steps"], reading | {"neighbours": True}
        if not builtin:
            time = session.get("time", TIME)
            bounds = list(cells.domain.bounds)
            options.append(("--time", time))
            options += [("--bounds", ",".join(map(repr, bounds)))] if side is not None else []
            reading |= {"time": time, "kind": "sequences"}
            domain = f"dpviz.Domain.from_bounds({bounds!r})" if side is not None else domain
    options += options_of(unit)
    return {
        "options": options,
        "flags": flags,
        "frame": frame,
        "domain": domain,
        "reading": reading,
        "question": f"release.count([{list(alphabet.names[:2])!r}])",
    }
