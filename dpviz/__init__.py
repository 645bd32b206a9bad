"""dpviz: private locations in, a differentially private map out.

>>> import dpviz, numpy as np
>>> domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
>>> points = np.random.default_rng(0).beta(2, 5, size=(10_000, 2))
>>> release = dpviz.build(dpviz.from_points(points, domain), method="privtree", epsilon=1.0)
>>> answer = release.count([0.1, 0.1, 0.5, 0.5])
>>> bool(answer.low[0] < answer.count[0] < answer.high[0])
True
"""

from dpviz.build import Ledger, build, from_points, load, save_counts
from dpviz.decomposition import Decomposition
from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.files import export, read, save
from dpviz.methods import METHODS
from dpviz.query import Answers
from dpviz.release import Header, Release

__all__ = [
    "METHODS",
    "Answers",
    "Decomposition",
    "Domain",
    "DpvizError",
    "Header",
    "Ledger",
    "Release",
    "build",
    "export",
    "from_points",
    "load",
    "read",
    "save",
    "save_counts",
]
