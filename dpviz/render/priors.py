"""Map of a public prior: its density in cells of about equal mass, on a release's ground."""

from __future__ import annotations

import numpy as np

from dpviz.domain import Domain
from dpviz.render.colors import CELL_ALPHA
from dpviz.render.legend import Legend, scale_labels
from dpviz.render.marks import polygons
from dpviz.render.projection import areas, rings_of, to_degrees
from dpviz.render.scale import scale_of
from dpviz.render.scene import Camera, Row, Scene
from dpviz.render.view import domain_scene
from dpviz.trees.guided import prior_cells
from dpviz.trees.prior import Prior


def prior_scene(prior: Prior, domain: Domain, camera: Camera) -> Scene:
    """Density of a prior, per km², in a two-dimensional domain."""
    nodes = prior_cells(prior, domain.side)
    corners = [domain.to_coordinates(column[nodes.leaf]) for column in (nodes.lo, nodes.hi)]
    boxes, mass = to_degrees(np.hstack(corners), domain.crs), nodes.count[nodes.leaf]
    density = mass / areas(boxes)
    scale = scale_of(density, mass)
    colors, labels, drawn = scale.colors(), scale_labels(scale), density >= scale.bounds[0]
    cells = polygons(
        "prior",
        list(rings_of(boxes[drawn])),
        color=scale.paint(density[drawn], colors, int(255 * CELL_ALPHA)),
        rows=(Row("weight (public)", "mass"), Row("per km²", "density")),
        extra={"mass": mass[drawn], "density": density[drawn]},
    )
    title, blank = "Public prior: weight per km²", f"blank: under {labels[0]}"
    legend = Legend(title=title, colors=colors, labels=labels, blank=blank)
    return domain_scene(domain, [cells], legend, "Map of a public prior", camera=camera)
