"""Printed size of a release of each kind, as JSON values and as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.cli.root import escaped_line

if TYPE_CHECKING:
    from dpviz.releases.counts import AreaRelease, PointRelease, RoadRelease
    from dpviz.releases.flows.release import FlowRelease
    from dpviz.releases.sequences.release import SequenceRelease

Facts = tuple[dict[str, Any], list[str]]


def point_facts(release: PointRelease) -> Facts:
    """Size of a release of points."""
    nodes = release.joined_nodes
    facts = {"nodes": len(nodes), "leaves": int(nodes.leaf.sum()), "depth": nodes.depth}
    size = f"{facts['nodes']:,} nodes, {facts['leaves']:,} leaves, depth {facts['depth']}"
    header = release.header
    return facts | {"epsilon": header.epsilon, "guarantee": header.guarantee}, [size]


def area_facts(release: AreaRelease) -> Facts:
    """Number of areas on each level.

    Names of levels are unique: they are columns of one file.
    """
    areas = release.frame
    sizes = [part.stop - part.start for part in areas.slices]
    levels = dict(zip(areas.levels, sizes, strict=True))
    words = (f"{size:,} on level {escaped_line(name)}" for name, size in levels.items())
    facts: dict[str, Any] = {"areas": len(areas), "levels": levels}
    times, more = _step_facts(release)
    return facts | times, ["areas: " + ", ".join(words), *more]


def flow_facts(release: FlowRelease) -> Facts:
    """Number of measured pairs on each level, and of all pairs."""
    nodes, flows = release.parts[0].nodes, release.frame
    sizes = [part.stop - part.start for part in nodes.levels]
    levels = dict(zip(flows.levels, sizes, strict=False))
    one, two = flows.shape
    words = ", ".join(f"{size:,} on level {escaped_line(name)}" for name, size in levels.items())
    times, more = _step_facts(release)
    facts = {"pairs": len(nodes), "levels": levels, "areas": [one, two], **times}
    return facts, [f"pairs of {one:,} and {two:,} areas: measured {words}", *more]


def _step_facts(release: AreaRelease | FlowRelease) -> Facts:
    """Steps of time; empty without any."""
    steps = release.steps
    if steps is None:
        return {}, []
    first, last = steps.step_limits(0)[0], steps.step_limits(len(steps) - 1)[1]
    line = f"{len(steps):,} steps of {steps.every} from {first} to {last} {steps.zone}"
    return {"time": steps.to_dict(), "steps": len(steps)}, [line]


def road_facts(release: RoadRelease) -> Facts:
    """Size of a release of trips."""
    facts = {
        "edges": len(release.frame.graph),
        "subdomains": len(release.frame.domains.start) - 1,
        "nodes": len(release.nodes),
        "depth": release.nodes.depth,
        "limit": release.limit,
    }
    edges, subdomains, nodes = facts["edges"], facts["subdomains"], facts["nodes"]
    line = f"{edges:,} edges, {subdomains:,} sub-domains, {nodes:,} nodes"
    if len(release.parts) > 1:
        facts["steps"] = len(release.parts)
        line += f" in each of {facts['steps']:,} steps of time"
    return facts, [line]


def sequence_facts(release: SequenceRelease) -> Facts:
    """Size of a release of sequences."""
    from dpviz.releases.sequences.columns import MODELS

    facts: dict[str, Any] = {
        "symbols": len(release.alphabet),
        "model": MODELS[type(release.model)],
        "rows": len(release.model),
    }
    return facts, [f"{facts['model']}, {facts['rows']:,} over {facts['symbols']:,} symbols"]


SIZES: dict[str, Any] = {
    "points": point_facts,
    "areas": area_facts,
    "flows": flow_facts,
    "roads": road_facts,
    "sequences": sequence_facts,
}
"""Size of a release by its kind: JSON values, and lines of text."""
