"""From a release to a picture: pydeck layers with Arrow columns, colours, legends, words.

This room sees releases only, never a record, and knows nothing of the page that shows its scenes.
"""

from dpviz.render.cells import cells, scale_ends
from dpviz.render.colors import PALETTES
from dpviz.render.legend import Legend, Swatch, density_legend
from dpviz.render.marks import arcs, boxes, paths, points, trips
from dpviz.render.numbers import rounded, short, with_noise
from dpviz.render.scene import Camera, Clock, Mark, Row, Scene

__all__ = [
    "PALETTES",
    "Camera",
    "Clock",
    "Legend",
    "Mark",
    "Row",
    "Scene",
    "Swatch",
    "arcs",
    "boxes",
    "cells",
    "density_legend",
    "paths",
    "points",
    "rounded",
    "scale_ends",
    "short",
    "trips",
    "with_noise",
]
