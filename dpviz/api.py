"""Public names of ``import dpviz``; the package imports this module on first use."""

from dpviz.build import build, from_points
from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.evaluation.replicates import replicated
from dpviz.exports.export import export
from dpviz.measurement import as_measurement
from dpviz.methods import METHODS, method
from dpviz.notebook.frame import frame
from dpviz.planning.search import Plan, plan
from dpviz.private.ledger import Ledger
from dpviz.private.load.cell_counts import cell_counts, cell_sql, from_counts
from dpviz.private.load.data import load
from dpviz.private.load.priors import prior
from dpviz.releases.answers import Answers, RangeAnswers, Timeline
from dpviz.releases.areas.area_file import read_areas
from dpviz.releases.areas.hexagons import hexagons
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import CountRelease
from dpviz.releases.flows.frame import Flows
from dpviz.releases.header import Header
from dpviz.releases.joint import Estimate
from dpviz.releases.points.matching import Matching, match
from dpviz.releases.points.window import during
from dpviz.releases.release import Release
from dpviz.releases.roads.graph_file import read_graph, workload_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.releases.series import Series, read_series
from dpviz.releases.split import SplitRelease
from dpviz.releases.store import read, save
from dpviz.releases.subset import Subset
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.prior import Prior

Release.html = frame
CountRelease.map_during = during
