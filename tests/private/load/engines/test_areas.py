"""A record on a border of areas is in the same area whichever engine reads it."""

import dpviz
from dpviz.private.areas import AreaData
from dpviz.releases.areas.source import areas_of
from tests.private.load.engines.cases import CASES


def test_a_record_on_a_border_of_areas_is_in_the_same_one_in_every_engine(source):
    """Four areas that meet in lines through records, on the lattice itself."""
    case = CASES["plane1"]
    (west, south), (east, north) = case.domain.lower, case.domain.upper
    x, y = float(case.points[20, 0]), float(case.points[21, 1])
    corners = [(west, south, x, y), (x, south, east, y), (west, y, x, north), (x, y, east, north)]
    boxes = ";".join("rect=" + ",".join(map(repr, map(float, each))) for each in corners)
    areas = areas_of(boxes, case.domain)
    records = dpviz.from_points(case.points, case.domain, public=True)
    wanted = AreaData(records, areas)._counts
    assert (wanted > 0).all()
    assert wanted.sum() == records._index.total
    place, table = source("plane1")
    columns = None if table and table.endswith("_points") else case.domain.columns
    read = dpviz.load(place, case.domain, table=table, columns=columns, bits=26, public=True)
    assert AreaData(read, areas)._counts.tolist() == wanted.tolist()
