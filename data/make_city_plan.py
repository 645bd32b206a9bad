"""Make the plan of page Roads that comes with the package: ``python data/make_city_plan.py``.

Trees on the built-in city's streets for its usual queries; see dpviz/roads/prepared.py.
"""

import numpy as np

from dpviz.releases.roads.graph_file import WORKLOAD, city, workload_of
from dpviz.roads.decompose import min_cut
from dpviz.roads.prepared import FILE, digest
from dpviz.roads.trees import best, workload_variance


def main() -> None:
    """Write the file."""
    graph = city()
    workload = workload_of(WORKLOAD, graph)
    forest = best(min_cut(graph, workload), workload)
    rows = {"order": forest.domains.order, "start": forest.domains.start}
    rows |= {"lo": forest.lo, "hi": forest.hi, "parent": forest.parent}
    np.savez_compressed(
        FILE,
        **{name: column.astype(np.int32) for name, column in rows.items()},
        relative_scale=forest.relative_scale,
        variance=workload_variance(forest, workload),
        digest=digest(graph, workload, "min", "best"),
    )


if __name__ == "__main__":
    main()
