"""Code that builds a release, from its header or from choices made before the build.

A header never holds a seed or the name of a file: placeholders stand for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from dpviz.datasets import DATASETS
from dpviz.datasets.geography import CITY
from dpviz.domain import Domain, calendar, default_columns
from dpviz.domain.crs import DEGREES
from dpviz.domain.zones import ZONE
from dpviz.errors import ReleaseError
from dpviz.lists import join_list
from dpviz.methods import method_with
from dpviz.methods.points.declared import Declared
from dpviz.planning.code import NO_DELTA, Code, arguments
from dpviz.planning.flows import code_for_flows
from dpviz.private.budget import SUMS
from dpviz.private.ledger import account_key
from dpviz.private.ledger.names import clean_name
from dpviz.queries.wishes import parse_all
from dpviz.releases.areas.area_file import NUMBERED
from dpviz.releases.areas.source import words_of
from dpviz.releases.areas.table_steps import record_domain
from dpviz.releases.counts import (
    AreaRelease,
    PointRelease,
    RoadRelease,
    is_areas,
    is_points,
    is_roads,
)
from dpviz.releases.flows.release import is_flows
from dpviz.releases.header import Header
from dpviz.releases.points.promises import KEY as PROMISES
from dpviz.releases.release import Release
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.trees.prior import LAND

WORKLOAD, AREAS, GRAPH, TIME, PRIOR = "WORKLOAD", "AREAS", "GRAPH", "TIME", "PRIOR"
DESTINATIONS = "DESTINATIONS"
"""Placeholders for unknown names: files of queries, of areas and of a graph, and a column."""

NOTATION = ("decimal", "thousands", "time_format", "order")
"""Arguments for the notation of text."""

_RECORD = "(?:record|sequence|trip|event)"
_BOUNDED = re.compile(
    rf"one (?:'({_RECORD})'|(.+?))(?:'s records of one (day|week|month))?"
    rf" with at most ([0-9]{{1,18}}) (?:{_RECORD}|slot)s?"
)
"""The unit in a header; a column named like the words for a record is quoted."""


def code_of(release: Release, source: str | None = None) -> Code:
    """Return the code that made a release of any kind, from its header.

    Raises:
        ReleaseError: a part of another release, or cells that its header does not state.
        ParameterError: the header names an unknown method or parameter.
    """
    header = release.header
    if {"marginal", "period", "kind"} & set(header.extra):
        raise ReleaseError("a part of a release has no code: ask for the code of the whole release")
    simulated = header.guarantee.startswith("NOT PRIVATE")
    chosen = method_with(header.method, release.kind, header.parameters)
    # Areas have no workload; a road workload is a word.
    workload = Declared.from_dict(header.extra.get("workload")) if is_points(release) else None
    defaults = type(chosen)().parameters()
    follow = {} if workload is None else workload.following(header.method, {})
    parameters = {
        name: value
        for name, value in chosen.parameters().items()
        if value != defaults[name] or name in follow
    }
    building: dict[str, Any] = {}
    if header.neighbouring.startswith("replace"):
        building["neighbours"] = "replace"
    if type(header.extra.get("asked_delta")) is float:
        building["delta"] = header.extra["asked_delta"]
    if header.extra.get("weighted") is True:
        building["weighted"] = True
    if simulated:
        building["simulate"] = True
    free = "delta" in building and header.private and not header.delta
    made: dict[str, Any] = {
        "note": NO_DELTA if free else "",
        "method": header.method,
        "epsilon": header.epsilon,
        "parameters": parameters,
    }
    reading = _reading(header)
    if is_points(release) or is_areas(release):
        return _code_for_places(release, source, workload, reading, building, made)
    builtin = header.source == CITY and header.synthetic
    if is_roads(release):
        given = _code_for_roads(release, builtin)
    elif is_flows(release):
        kinds = None if release.by is None else release.by.kinds
        stated = _domain_options(replace(release.domain, kinds=kinds))
        given = code_for_flows(release, AREAS, DESTINATIONS, stated)
    else:
        assert isinstance(release, SequenceRelease)
        given = _code_for_sequences(release, builtin)
    given["building"] = {**given.get("building", {}), **building}
    if not builtin:
        account = {} if header.synthetic else _account(header, source)
        given["reading"] = {**given.get("reading", {}), **reading, **account}
    return Code(source=CITY if builtin else source, **made, **given)


def _reading(header: Header) -> dict[str, Any]:
    """Arguments of load from an untrusted header; only known names are used."""
    stated = notation_of(header.extra.get("notation", {})) | unit_of(header)
    if "records" in header.extra:
        stated["public"] = True
    return stated | {name: True for name in ["drop_unknown"] if header.extra.get(name) is True}


def notation_of(notation: Mapping[str, Any]) -> dict[str, Any]:
    """Columns and text notation, as arguments of :func:`dpviz.load`."""
    columns = tuple(map(str, notation.get("columns", ())))
    forms = {name: str(notation[name]) for name in NOTATION if name in notation}
    return ({"columns": columns} if columns else {}) | forms


def unit_of(header: Header) -> dict[str, Any]:
    """Privacy unit column and its bound, from the header; empty without a unit."""
    match = _BOUNDED.fullmatch(header.unit)
    if match is None:
        return {}
    per = {"per": match[3]} if match[3] else {}
    return {"unit": match[1] or match[2], "max_per_unit": int(match[4]), **per}


def _account(header: Header, source: str | None) -> dict[str, str]:
    """Argument ``name`` of load, if the records' ledger name differs from their file's name.

    Without it the build would be paid from a second account, named after the file.
    """
    if source is None or not header.source:
        return {}
    file = PurePath(source).name
    keys = {account_key(clean_name(each)) for each in (file, header.source)}
    return {} if file and len(keys) == 1 else {"name": header.source}


def _code_for_places(
    release: PointRelease | AreaRelease,
    source: str | None,
    workload: Declared | None,
    reading: dict[str, Any],
    building: dict[str, Any],
    made: dict[str, Any],
) -> Code:
    header, extra = release.header, release.header.extra
    known = DATASETS.get(header.source) if header.synthetic else None
    source = header.source if source is None and known is not None else source
    builtin = known is not None and known.domain == release.domain
    levels: Sequence[str] = ()
    areas = None
    if is_areas(release):
        inline = words_of(release.frame)
        if inline is None and release.frame.levels != (NUMBERED,):
            levels = release.frame.levels
        areas = AREAS if inline is None else inline
    promised = extra.get(PROMISES)
    if isinstance(promised, list) and promised and all(isinstance(wish, str) for wish in promised):
        building["wishes"] = list(map(str, parse_all(promised)))
    if prices := [row["epsilon"] for row in header.budget if row["purpose"].startswith(SUMS)]:
        building["sum_share"] = round(math.fsum(prices) / header.epsilon, 6)
    if builtin:
        reading.pop("public", None)
    elif type(extra.get("bits")) is int:
        reading["bits"] = extra["bits"]
    domain, every = release.domain, None
    if is_areas(release) and release.steps is not None:
        domain = record_domain(domain, release.steps, domain.kinds, domain.values)
        every = release.steps.every
    return code_of_places(
        domain,
        every=every,
        source=source,
        builtin=builtin,
        reading=reading | _account(header, source),
        areas=areas,
        levels=levels,
        workload=workload,
        prior=extra.get("prior"),
        building=building,
        **made,
    )


def code_of_places(
    domain: Domain,
    *,
    every: str | None = None,
    source: str | None = None,
    builtin: bool = False,
    reading: Mapping[str, Any] | None = None,
    areas: str | None = None,
    levels: Sequence[str] = (),
    workload: Declared | None = None,
    prior: Mapping[str, Any] | None = None,
    building: Mapping[str, Any] | None = None,
    **made: Any,
) -> Code:
    """Return the code that builds a release of points or areas.

    Args:
        every: step of time of a table of areas; None without time.
        areas: a file of areas to count instead of cells, or ``h3:8`` or ``rect=W,S,E,N``.
        levels: columns of that file that name its areas, the finest last; one without a hierarchy.
        workload: the declared workload; a placeholder stands for the file of queries.
        prior: what a header states of a public prior; a placeholder stands for a file.
    """
    bounds, stated = domain.without_time.bounds, _domain_options(domain)
    options: dict[str, Any] = {} if builtin else {"bounds": bounds, **stated}
    given, after, typed = dict(building or {}), list[str](), list[str]()
    if every is not None:
        options["every"] = every
        typed.append(f"every={every!r}")
    if areas is not None and not levels:
        given["areas"] = areas
    elif areas is not None:
        named = {"levels": tuple(levels)} if levels[1:] else {"name_column": levels[0]}
        options |= {"areas": areas, **named}
        (columns,) = arguments(named)
        box = (
            "data.domain.without_time.counts_only"
            if domain.counts_only != domain.without_time
            else "data.domain"
        )
        after.append(f"areas = dpviz.read_areas({areas!r}, {box}, {columns})")
        typed.append("areas=areas")
    if workload is not None and workload.text is None:
        options["workload"] = WORKLOAD
        rectangles = f"np.loadtxt({WORKLOAD!r}, delimiter=',', skiprows=1, ndmin=2)"
        after += ["import numpy as np", f"queries = {rectangles}"]
        typed.append("workload=queries")
    elif workload is not None:
        given["workload"] = workload.text
    if prior is not None and "weight" in prior:
        options |= {"prior": PRIOR, "prior_weight": prior["weight"]}
        typed.append(f"prior=dpviz.prior({PRIOR!r}, data.domain, {prior['weight']!r})")
    elif prior is not None:
        given["prior"] = LAND if prior.get("kind") == LAND else PRIOR
    frame = ", ".join([repr(list(bounds)), *arguments(stated)])
    return Code(
        source=source,
        frame=[] if builtin else [f"domain = dpviz.Domain.from_bounds({frame})"],
        domain=[] if builtin else ["domain"],
        reading=reading or {},
        after=after,
        words=typed,
        building=given,
        options=options,
        question=f"release.count({list(domain.bounds)!r})",
        **made,
    )


def _domain_options(domain: Domain) -> dict[str, Any]:
    """Domain options other than bounds and defaults, for :meth:`Domain.from_bounds`."""
    place = domain.without_time
    defaults = {"columns": default_columns(place.dims), "crs": DEGREES, "zone": ZONE}
    stated: dict[str, Any] = {"columns": place.columns, "crs": place.crs}
    if domain.time is not None:
        period = domain.period if domain.span is None else domain.span
        spoken = map(calendar.Calendar(domain.zone).text, period)
        stated |= {"time": domain.time, "period": tuple(spoken), "zone": domain.zone}
        every = calendar.step_text(domain.step) if domain.step else None
        stated |= {"cycle": domain.cycle, "every": every}
    if domain.kinds is not None:
        stated |= {"kind": domain.kinds.column, "kinds": domain.kinds.names}
    if domain.values is not None:
        clip = domain.values.low, domain.values.high
        stated |= {"value": domain.values.column, "clip": clip, "grid": domain.values.grid}
    return {name: each for name, each in stated.items() if each not in (None, defaults.get(name))}


def _code_for_roads(release: RoadRelease, builtin: bool) -> dict[str, Any]:
    """Frame of a road release: its graph's files, its workload and steps of time."""
    extra, streets = release.header.extra, release.frame.graph
    stated, columns = extra.get("workload"), extra.get("columns")
    workload = stated if isinstance(stated, str) else WORKLOAD
    reading: dict[str, Any] = {}
    if release.steps is not None:
        reading |= release.steps.options()
    if isinstance(columns, list) and all(isinstance(each, str) for each in columns):
        reading = {"columns": tuple(columns), **reading}
    how: dict[str, Any] = {"crs": streets.crs} if streets.crs else {}
    how |= {"directed": True} if streets.directed else {}
    how |= {"components": "all"} if streets.n_components > 1 else {}
    given = ", ".join([repr(GRAPH), *arguments(how)])
    return {
        "options": {"graph": CITY} if builtin else {"graph": GRAPH, **how},
        "frame": [] if builtin else [f"graph = dpviz.read_graph({given})"],
        "domain": ["kind='roads'"] if builtin else ["graph"],
        "reading": reading,
        "building": {"workload": workload},
        "question": f"release.count(dpviz.workload_of({workload!r}, data.graph))",
    }


def _code_for_sequences(release: SequenceRelease, builtin: bool) -> dict[str, Any]:
    """Frame of a sequence release: an alphabet, or cells that visits are made of."""
    header, alphabet = release.header, release.alphabet
    cells, session = cells_of(header), header.extra.get("session")
    session = session if isinstance(session, dict) else {}
    question = f"release.count([{list(alphabet.names[:2])!r}])"
    if cells is None:
        alone = "," if len(alphabet) == 1 else ""  # a single text would be read as a file name
        column = header.extra.get("column")
        named = [column] if isinstance(column, str) else []
        return {
            "options": {
                "alphabet": join_list(alphabet.names) + alone,
                **({"column": column} if named else {}),
            },
            "domain": [f"dpviz.Alphabet({alphabet.names!r})"],
            "reading_only": {"columns": tuple(named)} if named else {},
            "question": question,
        }
    bounds = cells.domain.bounds
    reading = {"side": cells.side}
    reading |= {"gap": session["gap"]} if "gap" in session else {}
    reading |= {"neighbours": True} if alphabet.follows is not None else {}
    reading |= {} if builtin else {"time": session.get("time", TIME)}
    return {
        "options": {} if builtin else {"bounds": bounds},
        "domain": [] if builtin else [f"dpviz.Domain.from_bounds({list(bounds)!r})"],
        "reading": reading,
        "reading_only": {"kind": "sequences"},
        "question": question,
    }
