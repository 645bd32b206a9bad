"""Page with a map of road trips or of moves between places; it answers no queries."""

from __future__ import annotations

from contextlib import suppress

from dpviz.errors import DpvizError
from dpviz.exports.facts import method_title, statement
from dpviz.exports.html import default_title, viewer_page, viewer_spec
from dpviz.exports.pack import Packer
from dpviz.releases.counts import RoadRelease, is_roads
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.flow_legends import move_legend
from dpviz.render.flows import move_marks, places_scene
from dpviz.render.projection import to_degrees
from dpviz.render.roads import street_legend, street_marks, streets_scene, top_count
from dpviz.render.scene import Scene
from dpviz.sequences.moves import frequent, visit_sd, visits
from dpviz.trees.lattice import Float

EDGES = 20_000
"""Most streets on a page: about 1 MB."""

ARROWS = 60
"""Number of moves drawn, the most frequent ones."""


def scene_page(release: RoadRelease | SequenceRelease) -> str:
    """Self-contained HTML page; empty if the release has nothing to map, or too much."""
    scene = _streets(release) if is_roads(release) else _moves(release)
    if scene is None:
        return ""
    packer = Packer()
    packer.add_tables(scene.tables)
    header = release.header
    kind, words = header.standing
    label = f"{method_title(header.method)} · ε = {header.epsilon:g}"
    spec = viewer_spec(scene, packer, [release]) | {
        "names": [label],
        "domainBox": {"lower": scene.domain and scene.domain[:2], "upper": []},
        "side": 1,
    }
    facts = {
        "label": label,
        "header": header,
        "kind": kind,
        "standing": words,
        "statement": statement(header),
    }
    title = default_title([release])
    return viewer_page("scene.html", spec, packer.block(), title=title, facts=[facts])


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
