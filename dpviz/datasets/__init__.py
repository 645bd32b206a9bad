"""Built-in data and the offline base map. All of it is public and synthetic or public domain."""

from dpviz.datasets.basemap import ATTRIBUTION, base_map, city_backdrop
from dpviz.datasets.catalogue import DATASETS, Dataset, dataset
from dpviz.datasets.streets import StreetNetwork, city_graph

__all__ = [
    "ATTRIBUTION",
    "DATASETS",
    "Dataset",
    "StreetNetwork",
    "base_map",
    "city_backdrop",
    "city_graph",
    "dataset",
]
