"""Map of a public prior: its density in cells of about equal mass, on a release's ground."""

from __future__ import annotations

import numpy as np

from dpviz.domain import Domain
from dpviz.render.legend import Legend, scale_labels
from dpviz.render.marks import polygons
from dpviz.render.projection import areas, rings_of, to_degrees
from dpviz.render.scale import scale_of
from dpviz.render.scene import Camera, Row, Scene
from dpviz.render.view import domain_scene
from dpviz.trees.lattice import Codes, Float, Int, unmorton
from dpviz.trees.prior import FINEST_LEVEL, Prior

CELLS = 1_000
"""A cell with more than this part of the whole mass is drawn as its four quarters."""

OPAQUE = 235
"""Opacity, 0–255."""


def prior_scene(prior: Prior, domain: Domain, camera: Camera) -> Scene:
    """Density of a prior, per km², in a two-dimensional domain."""
    low, high, mass = _cells(prior, domain.bits)
    corners = np.hstack([domain.to_coordinates(low), domain.to_coordinates(high)])
    boxes = to_degrees(corners, domain.crs)
    density = mass / areas(boxes)
    scale = scale_of(density, mass)
    drawn = np.flatnonzero(density >= scale.bounds[0])
    cells = polygons(
        "prior",
        list(rings_of(boxes[drawn])),
        color=scale.paint(density[drawn], scale.colors(), OPAQUE),
        rows=(Row("weight (public)", "mass"), Row("per km²", "density")),
        extra={"mass": mass[drawn], "density": density[drawn]},
    )
    legend = Legend(
        title="Public prior: weight per km²",
        colors=scale.colors(),
        labels=scale_labels(scale),
        blank=f"blank: under {scale_labels(scale)[0]}",
    )
    return domain_scene(domain, [cells], legend, "Map of a public prior", camera=camera)


def _cells(prior: Prior, bits: int) -> tuple[Int, Int, Float]:
    """Lower and upper corners on the lattice, (n, 2), and masses of cells of about equal mass."""
    code: Codes = np.zeros(1, dtype=np.uint64)
    whole = float(prior.before[-1])
    found = []
    for level in range(FINEST_LEVEL + 1):
        mass = prior.masses(code, level)
        split = (mass > whole / CELLS) & (level < FINEST_LEVEL)
        size = 1 << (bits - level)
        low = unmorton(code[~split] << np.uint64(2 * (bits - level)), 2)
        found.append((low, low + size, mass[~split]))
        code = ((code[split, None] << np.uint64(2)) | np.arange(4, dtype=np.uint64)).ravel()
    low, high, mass = (np.concatenate(each) for each in zip(*found, strict=True))
    return low, high, mass
