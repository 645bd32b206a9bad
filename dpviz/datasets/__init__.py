"""Built-in synthetic data, and the offline base map."""

from dpviz.datasets.basemap import base_map
from dpviz.datasets.catalogue import DATASETS, Dataset, dataset
from dpviz.datasets.streets import StreetNetwork, city_graph

__all__ = [
    "DATASETS",
    "Dataset",
    "StreetNetwork",
    "base_map",
    "city_graph",
    "dataset",
]
