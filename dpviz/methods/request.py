"""Checks of a build's arguments (areas, method, workload, promises) before any ε is spent.

Each check compares arguments with public facts of the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Number
from typing import Any

from dpviz.checks import require
from dpviz.domain.crs import known_crs
from dpviz.errors import ParameterError
from dpviz.methods.points.base import PointMethod
from dpviz.methods.points.declared import Declared
from dpviz.methods.registry import METHODS, Method, method_with
from dpviz.private.areas import AreaData
from dpviz.private.flows import FlowData
from dpviz.private.handle import DataHandle, Handle
from dpviz.private.load.priors import prior as read_prior
from dpviz.private.roads import RoadData
from dpviz.queries.wishes import parse_all
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.source import areas_of
from dpviz.releases.points.promises import KEY as PROMISES
from dpviz.releases.roads.graph_file import WORKLOAD, workload_of
from dpviz.roads.paths import Paths, require_paths, require_workload
from dpviz.trees.prior import Prior

DEFAULT_METHODS = {
    "points": "ladder_tree",
    "roads": "event-histogram",
    "sequences": "markov",
    "areas": "areas",
    "flows": "pairs",
}
"""Default method of each kind of data; that of points works in 1 to 4 dimensions."""


def by_area(data: Handle[Any], areas: Areas | str, every: str | None = None) -> AreaData:
    """Points as data that are counted by area."""
    if not isinstance(data, DataHandle):
        raise ParameterError(f"areas= is for points, the data are {data.kind}: leave it out")
    if isinstance(areas, str):
        areas = areas_of(areas, data.domain.without_time.counts_only)
    return AreaData(data, areas, every)


def chosen_method(
    data: Handle[Any],
    method: str | Method | None,
    workload: Any,
    parameters: dict[str, Any],
    prior: Prior | str | os.PathLike[str] | None = None,
) -> tuple[Any, Paths, dict[str, Any]]:
    """The method, the public paths that it is tuned for, and what the header says of a workload."""
    declared = None
    if isinstance(data, DataHandle) and workload is not None and not isinstance(workload, Number):
        declared, workload = Declared.of(workload, data.domain), None
    if isinstance(method, Method):
        if parameters:
            raise ParameterError(
                f"parameters {', '.join(parameters)} and a method instance: set them on the "
                f"instance"
            )
        chosen: Any = method
    else:
        name = method or DEFAULT_METHODS[data.kind]
        if workload is not None and data.kind != "roads":
            parameters, workload = {**parameters, "workload": workload}, None
        if data.kind == "points" and name.lower() == DEFAULT_METHODS["areas"]:
            raise ParameterError(f"method {name} needs its areas: give areas=… (--areas)")
        if declared is None:
            chosen = method_with(name, data.kind, parameters)
        else:
            chosen = declared.method(name, parameters)
    if prior is not None:
        chosen = with_prior(data, chosen, prior)
    if chosen.kind != data.kind:
        raise ParameterError(
            f"method {chosen.name} works on {chosen.kind}, the data are {data.kind}: choose "
            "another method"
        )
    if isinstance(data, DataHandle):
        if data.domain.dims not in chosen.dims:
            able = " or ".join(f"{dims}-D" for dims in chosen.dims)
            raise ParameterError(
                f"method {chosen.name} works in {able}, the data is {data.domain.dims}-D: "
                f"choose another method, such as {DEFAULT_METHODS[data.kind]}"
            )
        chosen.check(data.domain)
    # A release's file states the CRS of its rectangles and lines.
    if isinstance(data, DataHandle) and data.domain.without_time.dims == 2:
        known_crs(data.domain.crs)
    elif isinstance(data, AreaData):
        known_crs(data.areas.domain.crs)
    elif isinstance(data, FlowData):
        chosen.check(data.flows, data.parts)
        known_crs(data.flows.domain.crs)
    elif isinstance(data, RoadData) and data.graph.crs:
        known_crs(data.graph.crs)
    queries = _paths(data, chosen, workload)
    if queries.name:
        return chosen, queries, {"workload": queries.name}
    facts = {} if declared is None else {"workload": declared.to_dict()}
    return chosen, queries, facts


def with_prior(data: Handle[Any], method: Method, prior: Prior | str | os.PathLike[str]) -> Method:
    """The method with a public prior, or the file of one."""
    if not (isinstance(method, PointMethod) and method.takes_prior):
        able = [name for name, cls in METHODS.items() if cls.takes_prior]
        raise ParameterError(
            f"method {method.name} takes no prior: leave it out, or choose {' or '.join(able)}"
        )
    if not isinstance(data, DataHandle):
        raise ParameterError(f"a prior is for points, the data are {data.kind}: leave it out")
    return method.with_prior(prior if isinstance(prior, Prior) else read_prior(prior, data.domain))


def promises(data: Handle[Any], wishes: Iterable[str]) -> dict[str, list[str]]:
    """Header entry with the promised wishes; empty if there are none."""
    if not (texts := list(wishes)):
        return {}
    asked = parse_all(texts)
    if isinstance(data, AreaData):
        if any(wish.square for wish in asked):
            raise ParameterError(
                "a release of areas can promise areas and rectangles only: leave squares out"
            )
    elif not isinstance(data, DataHandle) or data.domain.dims != 2:
        raise ParameterError("wishes need a release of points in two dimensions: leave them out")
    domain = data.areas.domain if isinstance(data, AreaData) else data.domain
    for wish in asked:
        if wish.rect:
            domain.boxes(wish.rect)
    return {PROMISES: [str(wish.public()) for wish in asked]}


def _paths(data: Handle[Any], method: Method, workload: Any) -> Paths:
    """The queries of a workload, each a path of the data's graph; none where none are given."""
    if not isinstance(data, RoadData):
        if workload is not None:
            raise ParameterError(f"method {method.name} takes no workload: leave it out")
        return Paths.of([])
    workload = WORKLOAD if workload is None else workload
    given = workload_of(workload, data.graph) if isinstance(workload, str) else workload
    require(given, Paths, "workload", ParameterError)
    paths: Paths = given
    require_workload(paths)
    require_paths(data.graph, paths)
    return paths
