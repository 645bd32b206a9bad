"""Public names of ``import dpviz``; the package imports this module on first use."""

from dpviz.build import build as build, from_points as from_points
from dpviz.domain import Domain as Domain
from dpviz.errors import DpvizError as DpvizError
from dpviz.evaluation.replicates import replicated as replicated
from dpviz.exports.export import export as export
from dpviz.measurement import as_measurement as as_measurement
from dpviz.methods import METHODS as METHODS, method as method
from dpviz.notebook.frame import frame
from dpviz.planning.search import Plan as Plan, plan as plan
from dpviz.private.ledger import Ledger as Ledger
from dpviz.private.load.cell_counts import (
    cell_counts as cell_counts,
    cell_sql as cell_sql,
    from_counts as from_counts,
)
from dpviz.private.load.data import load as load
from dpviz.private.load.priors import prior as prior
from dpviz.releases.answers import (
    Answers as Answers,
    RangeAnswers as RangeAnswers,
    Timeline as Timeline,
)
from dpviz.releases.areas.area_file import read_areas as read_areas
from dpviz.releases.areas.hexagons import hexagons as hexagons
from dpviz.releases.areas.partition import Areas as Areas
from dpviz.releases.counts import CountRelease as CountRelease
from dpviz.releases.flows.frame import Flows as Flows
from dpviz.releases.header import Header as Header
from dpviz.releases.joint import Estimate as Estimate
from dpviz.releases.points.matching import Matching as Matching, match as match
from dpviz.releases.points.window import during
from dpviz.releases.release import Release as Release
from dpviz.releases.roads.graph_file import read_graph as read_graph, workload_of as workload_of
from dpviz.releases.sequences.release import SequenceRelease as SequenceRelease
from dpviz.releases.series import Series as Series, read_series as read_series
from dpviz.releases.split import SplitRelease as SplitRelease
from dpviz.releases.store import read as read, save as save
from dpviz.releases.subset import Subset as Subset
from dpviz.roads.graph import RoadGraph as RoadGraph
from dpviz.roads.paths import Paths as Paths
from dpviz.sequences.alphabet import Alphabet as Alphabet
from dpviz.trees.decomposition import Decomposition as Decomposition
from dpviz.trees.prior import Prior as Prior

Release.html = frame
CountRelease.map_during = during
