"""Page with a map of flows, road trips or moves between places; it answers no queries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from dpviz.errors import DpvizError
from dpviz.exports.facts import label_of
from dpviz.exports.html import (
    name_records,
    viewer_page,
    viewer_spec,
)
from dpviz.exports.pack import Packer
from dpviz.exports.page import page
from dpviz.exports.presentation import PLAIN, Presentation
from dpviz.exports.words import words_of_page
from dpviz.releases.counts import RoadRelease, is_roads
from dpviz.releases.flows.release import is_flows
from dpviz.releases.release import Release
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.flow_legends import move_legend
from dpviz.render.flows import move_marks, places_scene, standing
from dpviz.render.nearby import cell_names
from dpviz.render.pairs import flow_scene
from dpviz.render.projection import to_degrees
from dpviz.render.roads import street_legend, street_marks, street_scale, streets_scene
from dpviz.render.scene import Scene
from dpviz.sequences.moves import frequent, visit_sd, visits
from dpviz.trees.lattice import Float

MAX_EDGES = 20_000
"""Most streets on a page: about 1 MB."""

MAX_ARROWS = 60
"""Number of moves drawn, the most frequent ones."""


def scene_page(release: Release, presentation: Presentation = PLAIN, *, table: bool = True) -> str:
    """Self-contained HTML page; of a release without a map, or with too large a one, tables.

    Args:
        release: a release of roads, of sequences, or of another kind without a map.
        presentation: title, subtitle, noun and notes of the page.
        table: False for an empty page in place of one without a map.
    """
    scene = release_scene(release, presentation.noun)
    label = label_of(release)
    words = words_of_page([release], [label], (), presentation)
    if scene is None and not table:
        return ""
    if scene is None:
        return page("report.html", pictures=[], categories=[], charts=[], statements=[], **words)
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


def release_scene(release: Release, noun: str = "") -> Scene | None:
    """Map of flows, streets or moves; None of others, without places, or if it is too large.

    Args:
        release: of any kind.
        noun: plural of what is counted on streets; the release's own word by default.
    """
    if is_flows(release):
        return flow_scene(release, release.frame.levels[-1])
    if is_roads(release):
        return _streets(release, noun)
    return _moves(release) if isinstance(release, SequenceRelease) else None


def _streets(release: RoadRelease, noun: str) -> Scene | None:
    """Streets by noisy count."""
    if len(release.frame.graph) > MAX_EDGES:
        return None
    scale = street_scale(release)
    legend = street_legend(scale, noun or release.records)
    return streets_scene(release, street_marks(release, scale), legend)


def _moves(release: SequenceRelease) -> Scene | None:
    """Places by noisy visits and the most frequent moves between them."""
    model = release.model
    cells = cells_of(release.header)
    if cells is None:
        return None
    places = to_degrees(cells.boxes, cells.domain.crs)
    counts: Float | None = None
    noise: Float | None = None
    with suppress(DpvizError):  # a model that only ranks strings has no counts
        counts, noise = visits(model), visit_sd(model)
    names = cell_names(release)
    moves, hidden = standing(frequent(model, MAX_ARROWS, 2, 2), len(names))
    most = None if counts is None else max(float(counts.max()), 1.0)
    marks, legend = move_marks(places, names, moves), move_legend(moves, hidden, most)
    return places_scene(release, places, names, (counts, noise), marks, legend=legend)
