"""dpviz: private locations in, a differentially private map out.

>>> import dpviz, numpy as np
>>> domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
>>> points = np.random.default_rng(0).beta(2, 5, size=(10_000, 2))
>>> people = dpviz.from_points(points, domain, name="people")
>>> release = dpviz.build(people, method="privtree", epsilon=1.0)  # the ledger pays
>>> answer = release.count([0.1, 0.1, 0.5, 0.5])
>>> bool(answer.low[0] < answer.count[0] < answer.high[0])
True
"""

from typing import TYPE_CHECKING, Any

from dpviz.build import (
    Ledger,
    build,
    cell_counts,
    cell_sql,
    from_counts,
    from_points,
    load,
    read_graph,
    save_counts,
    workload_of,
)
from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.methods import METHODS, method
from dpviz.notebook.frame import frame
from dpviz.planning.search import Plan, plan
from dpviz.releases.answers import Answers
from dpviz.releases.areas.area_file import read_areas
from dpviz.releases.areas.hexagons import hexagons
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.release import AreaRelease
from dpviz.releases.export import export
from dpviz.releases.header import Header
from dpviz.releases.points.matching import Matching, match
from dpviz.releases.points.range_count import RangeAnswers
from dpviz.releases.points.release import PointRelease
from dpviz.releases.points.timeline import Timeline
from dpviz.releases.points.window import during
from dpviz.releases.release import Release
from dpviz.releases.roads.path_count import PathAnswers
from dpviz.releases.roads.release import RoadRelease
from dpviz.releases.roads.timed import RoadTimeline, TimedRoadRelease
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.releases.store import read, save
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.decomposition import Decomposition

if TYPE_CHECKING:
    from dpviz.notebook.widget import Map

__all__ = [
    "METHODS",
    "Alphabet",
    "Answers",
    "AreaRelease",
    "Areas",
    "Decomposition",
    "Domain",
    "DpvizError",
    "Header",
    "Ledger",
    "Map",
    "Matching",
    "PathAnswers",
    "Paths",
    "Plan",
    "PointRelease",
    "RangeAnswers",
    "Release",
    "RoadGraph",
    "RoadRelease",
    "RoadTimeline",
    "SequenceRelease",
    "TimedRoadRelease",
    "Timeline",
    "build",
    "cell_counts",
    "cell_sql",
    "export",
    "from_counts",
    "from_points",
    "hexagons",
    "load",
    "match",
    "method",
    "plan",
    "read",
    "read_areas",
    "read_graph",
    "save",
    "save_counts",
    "workload_of",
]

Release.frame = frame
PointRelease.during = during


def __getattr__(name: str) -> Any:
    """``dpviz.Map``, once it is asked for: widgets are slow to import."""
    if name != "Map":
        raise AttributeError(f"module 'dpviz' has no attribute {name!r}")
    try:
        from dpviz.notebook.widget import Map
    except ModuleNotFoundError as error:
        raise ImportError("dpviz.Map needs anywidget: pip install 'dpviz[notebook]'") from error
    return Map
