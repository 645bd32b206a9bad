"""The code that builds a release of flows between areas, from its header."""

from __future__ import annotations

from typing import Any

from dpviz.planning.code import arguments
from dpviz.releases.areas.area_file import NUMBERED
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.source import H3, words_of
from dpviz.releases.flows.release import FlowRelease

START, END = ("START_X", "START_Y"), ("END_X", "END_Y")
"""Placeholders for unknown columns."""


def code_for_flows(
    release: FlowRelease, areas: str, to: str, stated: dict[str, Any]
) -> dict[str, Any]:
    """Fields of :class:`~dpviz.planning.code.Code` that state the areas, columns and steps.

    Args:
        areas: placeholder for the file of areas.
        to: placeholder for the file of areas of destination.
        stated: options of the domain, with the kinds.
    """
    frame, columns = release.frame, release.header.extra.get("columns")
    if not isinstance(columns, list) or len(columns) not in (2, 4):
        columns = [*START, *END]
    half = len(columns) // 2
    names = tuple(map(str, columns))
    options: dict[str, Any] = {"bounds": frame.domain.bounds, **stated}
    options |= {"areas": words_of(frame.origins) or areas, **_levels(frame.origins)}
    options |= {"from": names[:half], "to": names[half:]}
    box = ", ".join([repr(list(frame.domain.bounds)), *arguments(stated)])
    lines = [
        f"domain = dpviz.Domain.from_bounds({box})",
        f"areas = {_reading_call(frame.origins, areas)}",
    ]
    if frame.to is not None:
        options["to_areas"] = words_of(frame.to) or to
        lines.append(f"to = {_reading_call(frame.to, to)}")
    steps = {} if release.steps is None else release.steps.options()
    return {
        "options": options,
        "frame": lines,
        "domain": [f"dpviz.Flows({'areas' if frame.to is None else 'areas, to'})"],
        "reading": steps,
        "reading_only": {"columns": names},
        "question": "release.count([(None, None)])",
    }


def _levels(areas: Areas) -> dict[str, Any]:
    """Options that name the areas of a file."""
    if words_of(areas) is not None or areas.levels == (NUMBERED,):
        return {}
    return {"levels": areas.levels} if areas.levels[1:] else {"name_column": areas.levels[0]}


def _reading_call(areas: Areas, file: str) -> str:
    """Python call that reads the areas in the domain."""
    if areas.resolution is not None:
        return f"dpviz.hexagons({(words_of(areas) or '').removeprefix(H3)}, domain)"
    return f"dpviz.read_areas({', '.join([repr(file), 'domain', *arguments(_levels(areas))])})"
