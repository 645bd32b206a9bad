"""The owner's exact facts are the same by any engine as by NumPy."""

import numpy as np
import pytest

from dpviz.private.load.check import check_source
from tests.private.load.engines.cases import CASES

pytestmark = pytest.mark.slow


def test_every_engine_counts_the_same_records(source):
    case, (place, table) = CASES["texts"], source("texts")
    columns = None if table and table.endswith("_points") else case.domain.columns
    facts, words = check_source(
        place, case.domain, columns=columns, unit="who", max_per_unit=3, table=table
    )
    _, inside = case.domain.to_lattice(case.points)
    within = inside & np.array([who is not None for who in case.table["who"].to_pylist()])
    chosen = len(case.chosen(3))
    assert facts.facts == {
        "records read": len(within),
        "outside the area or period, or without a place, time, category, value or id: dropped": (
            ~within
        ).sum(),
        "over the bound of their unit: dropped": within.sum() - chosen,
        "kept": chosen,
    }
    assert words == f"places: {', '.join(columns or ['geom'])}"
