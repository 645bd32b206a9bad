"""Map of a public prior: drawn as a release that holds it without noise."""

from __future__ import annotations

from dataclasses import replace

from dpviz.releases.counts import PointRelease
from dpviz.render.scene import Camera, Scene
from dpviz.render.view import release_scene
from dpviz.trees.guided import prior_cells
from dpviz.trees.prior import Prior


def prior_scene(prior: Prior, release: PointRelease, camera: Camera, name: str) -> Scene:
    """Density of a prior, per km², on the ground of a release."""
    nodes = prior_cells(prior, release.domain.side)
    scene = release_scene([replace(release, nodes=nodes)], camera=camera)
    assert scene.legend is not None
    legend = replace(scene.legend.counting("units of weight"), title="Public prior: weight per km²")
    title = f"Public prior: {name}"
    return replace(scene, legend=legend, title=title, description="Map of a public prior")
