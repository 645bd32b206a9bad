"""Page with a map of road trips or of moves between places; it answers no queries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.errors import DpvizError
from dpviz.exports.facts import method_title
from dpviz.exports.html import (
    PLAIN,
    ROWS,
    name_records,
    page,
    viewer_page,
    viewer_spec,
    words_of_page,
)
from dpviz.exports.pack import Packer
from dpviz.exports.presentation import Presentation
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import RoadRelease, is_roads
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.flow_legends import move_legend
from dpviz.render.flows import move_marks, places_scene
from dpviz.render.numbers import with_noise
from dpviz.render.projection import to_degrees
from dpviz.render.roads import street_legend, street_marks, streets_scene, top_count
from dpviz.render.scene import Scene
from dpviz.sequences.moves import frequent, visit_sd, visits
from dpviz.trees.lattice import Float

EDGES = 20_000
"""Most streets on a page: about 1 MB."""

ARROWS = 60
"""Number of moves drawn, the most frequent ones."""


def scene_page(
    release: RoadRelease | SequenceRelease,
    presentation: Presentation = PLAIN,
    *,
    table: bool = True,
) -> str:
    """Self-contained HTML page; of a release without a map, or with too large a one, a table.

    Args:
        release: a release of roads or sequences.
        presentation: title, subtitle, noun and notes of the page.
        table: False for an empty page in place of a table.
    """
    scene = _streets(release) if is_roads(release) else _moves(release)
    label = f"{method_title(release.header.method)} · ε = {release.header.epsilon:g}"
    words = words_of_page([release], [label], (), presentation)
    if scene is None and not table:
        return ""
    if scene is None:
        return page(
            "report.html",
            pictures=[],
            chart="",
            statements=[],
            **words | {"areas": _tables(release)},
        )
    packer = Packer()
    scene = replace(scene, marks=[*scene.marks, *presentation.marks()])
    packer.add_tables(scene.tables)
    spec = viewer_spec(scene, packer, [release]) | {
        "names": [label],
        "domainBox": {"lower": scene.domain and scene.domain[:2], "upper": []},
        "side": 1,
    }
    name_records(spec, presentation.noun)
    return viewer_page(spec, packer.block(), **words)


def _tables(release: RoadRelease | SequenceRelease) -> list[dict[str, Any]]:
    """The places or streets with the most records, with their counts in words."""
    counts: Float
    half: Float
    if is_roads(release):
        level, names = "Streets", [str(each) for each in release.frame.graph.edge_id.tolist()]
        counts, half = release.answers.count, INTERVAL_SDS * release.answers.noise_sd
    else:
        level, names = "Places", list(release.alphabet.names)
        try:
            counts, sd = visits(release.model), visit_sd(release.model)
        except DpvizError:  # a model that only ranks strings has no counts
            return []
        half = INTERVAL_SDS * (np.zeros(len(counts)) if sd is None else sd)
    order = np.argsort(-counts, kind="stable")
    rows = [(names[row], "", with_noise(counts[row], half[row])) for row in order[:ROWS].tolist()]
    return [{"level": level, "rows": rows, "of": len(order), "within": False}]


def _streets(release: RoadRelease) -> Scene | None:
    """Streets by noisy count."""
    if len(release.frame.graph) > EDGES:
        return None
    top = top_count(release)
    legend = street_legend(top, release.records)
    return streets_scene(release, street_marks(release, top), legend, key="domain")


def _moves(release: SequenceRelease) -> Scene | None:
    """Places by noisy visits and the most frequent moves between them."""
    names, model = release.alphabet.names, release.model
    cells = cells_of(release.header)
    if cells is None:
        return None
    places = to_degrees(cells.boxes, cells.domain.crs)
    counts: Float | None = None
    noise: Float | None = None
    with suppress(DpvizError):  # a model that only ranks strings has no counts
        counts, noise = visits(model), visit_sd(model)
    strings = frequent(model, ARROWS, 2, 2)
    most = None if counts is None else max(float(counts.max()), 1.0)
    marks, legend = move_marks(places, names, strings), move_legend(strings, most)
    return places_scene(release, places, (counts, noise), marks, key="domain", legend=legend)
