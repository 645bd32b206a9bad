"""Exported files: an offline map in HTML, a page to print, a picture.

All files are made from releases only, and need no server and no network.

>>> import dpviz, numpy as np
>>> from dpviz.exports import Presentation, map_page
>>> points = np.random.default_rng(0).beta(2, 5, size=(1_000, 2))
>>> data = dpviz.from_points(points, dpviz.Domain((0, 0), (1, 1)))
>>> release = dpviz.build(data, epsilon=1.0)
>>> page = map_page([release], presentation=Presentation("A <town>"))
>>> "<h1>A &lt;town&gt;</h1>" in page
True
"""

from dpviz.exports.html import map_page
from dpviz.exports.presentation import Note, Presentation
from dpviz.exports.release import release_page
from dpviz.exports.report import report_page
from dpviz.exports.stills import has_picture, release_picture

__all__ = [
    "Note",
    "Presentation",
    "has_picture",
    "map_page",
    "release_page",
    "release_picture",
    "report_page",
]
