"""What ``import dpviz`` gives, once any of it is asked for: see the package's door."""

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
