"""Pictures of releases: pydeck layers with Arrow columns, colours, legends, words.

This room sees releases only, never a record, and knows nothing of the page that shows its scenes.
"""

from dpviz.render.cells import cells, density_legend, density_scale
from dpviz.render.colors import PALETTES, Themed
from dpviz.render.difference import difference_scene, error_scene
from dpviz.render.legend import Legend, Swatch
from dpviz.render.marks import boxes, paths, points, trips
from dpviz.render.numbers import half_width_words, interval_words, rounded, short, with_noise
from dpviz.render.scene import Animation, Camera, Mark, Row, Scene

__all__ = [
    "PALETTES",
    "Animation",
    "Camera",
    "Legend",
    "Mark",
    "Row",
    "Scene",
    "Swatch",
    "Themed",
    "boxes",
    "cells",
    "density_legend",
    "density_scale",
    "difference_scene",
    "error_scene",
    "half_width_words",
    "interval_words",
    "paths",
    "points",
    "rounded",
    "short",
    "trips",
    "with_noise",
]
