"""The owner's exact facts are the same whichever engine counts them: those that NumPy counts."""

import numpy as np

from dpviz.private.load.check import check_points
from tests.private.load.engines.cases import CASES


def test_every_engine_counts_the_same_fates(source):
    case, (place, table) = CASES["texts"], source("texts")
    columns = None if table and table.endswith("_points") else case.domain.columns
    facts, words = check_points(
        place, case.domain, columns=columns, unit="who", max_per_unit=3, table=table
    )
    points = case.points
    readable = (np.abs(points) <= 1e300).all(axis=1)  # as far as a decimal may lie
    _, inside = case.domain.to_lattice(points)
    nameless = np.array([who is None for who in case.table["who"].to_pylist()])
    chosen = len(case.chosen(3))
    assert facts == {
        "records read": len(points),
        "without a readable place: dropped": np.count_nonzero(~readable),
        "outside the domain: dropped": np.count_nonzero(readable & ~inside),
        "without the id of a privacy unit: dropped": np.count_nonzero(inside & nameless),
        "over the bound of their unit: dropped": np.count_nonzero(inside & ~nameless) - chosen,
        "kept": chosen,
    }
    assert words == f"places: {', '.join(columns or ['geom'])}"
