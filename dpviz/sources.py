"""The door of the vault for app and commands: what opens data gives handles and public frames only.

Records stay behind it: a handle has no public attribute that holds one.
"""

from dpviz.private.load.cellquery import CellQuery, checked_bits, checked_dialect
from dpviz.private.load.cellquery import table as quoted_table
from dpviz.private.load.cells import Cells, cells_of, grid_cells, leaf_cells
from dpviz.private.load.roads import CITY, city_trips, read_graph, read_trips, workload_of
from dpviz.private.load.sequences import (
    HOUR,
    alphabet_of,
    city_sequences,
    read_places,
    read_sequences,
)
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData

__all__ = [
    "CITY",
    "HOUR",
    "CellQuery",
    "Cells",
    "RoadData",
    "SequenceData",
    "alphabet_of",
    "cells_of",
    "checked_bits",
    "checked_dialect",
    "city_sequences",
    "city_trips",
    "grid_cells",
    "leaf_cells",
    "quoted_table",
    "read_graph",
    "read_places",
    "read_sequences",
    "read_trips",
    "workload_of",
]
