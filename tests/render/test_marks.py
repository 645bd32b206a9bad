"""Marks: columns and bindings as the map reads them."""

import numpy as np
import pytest

from dpviz.render import Camera, Scene, boxes, paths, points, trips
from dpviz.render.marks import count_column
from dpviz.render.scene import Row, layers_json, tables


def test_a_constant_is_a_property_and_an_array_is_a_column():
    one = points("one", [[0, 0], [1, 1]], color=(1, 2, 3), radius=5)
    each = points("each", [[0, 0], [1, 1]], color=[[1, 2, 3], [4, 5, 6]], radius=[5, 6])
    layers = {layer["id"]: layer for layer in layers_json([one, each])["layers"]}
    assert layers["one"]["getFillColor"] == [1, 2, 3, 255]
    assert layers["one"]["getRadius"] == 5
    assert "getFillColor" not in layers["each"]
    bind = layers_json([each])["bind"]["each"]
    assert bind == {
        "getPosition": "each.position",
        "getFillColor": "each.color",
        "getRadius": "each.radius",
    }
    assert each.table["color"].to_pylist() == [[1, 2, 3, 255], [4, 5, 6, 255]]


def test_boxes_are_closed_rings():
    table = boxes("box", [[0, 1, 2, 3]]).table
    assert table["path"].to_pylist() == [[[0, 1], [2, 1], [2, 3], [0, 3], [0, 1]]]


def test_colours_of_paths_are_repeated_along_them():
    mark = paths("p", [[[0, 0], [1, 1]], [[2, 2], [3, 3], [4, 4]]], color=[[1, 1, 1], [2, 2, 2]])
    lengths = [len(row) for row in mark.table["color"].to_pylist()]
    assert lengths == [2, 3]
    assert mark.table["path"].to_pylist()[1] == [[2, 2], [3, 3], [4, 4]]


def test_trips_carry_a_time_per_point():
    mark = trips("t", [[[0, 0], [1, 1]]], [[0, 9]], trail=2)
    assert mark.table["time"].to_pylist() == [[0, 9]]
    (layer,) = layers_json([mark])["layers"]
    assert layer["trailLength"] == 2
    assert layer["@@type"] == "TripsLayer"


def test_wrong_number_of_colours_is_named():
    with pytest.raises(ValueError, match="2 values of color for 3 objects"):
        points("p", np.zeros((3, 2)), color=[[1, 2, 3], [4, 5, 6]])


def test_text_is_quoted_not_evaluated():
    mark = points("a", [[0, 0]], side="left", extra={"name": ["<b>x</b>"]})
    (layer,) = layers_json([mark])["layers"]
    assert layer["side"] == "left"
    assert layer["radiusUnits"] == "pixels"
    assert mark.table["name"].to_pylist() == ["<b>x</b>"]


@pytest.mark.parametrize(
    ("count", "sd", "kind"),
    [
        ([250_427.0, -3.0], 9.5, "float"),
        ([16_777_217.0, 1.0], 9.5, "double"),  # 2**24 + 1
        ([123_456_827.0, 1.0], 1e4, "float"),  # an error of 3 ± 20,000 is invisible
        ([1_234_567.3, 1.0], 0.1, "double"),  # a float32 would hold 1,234,567.25
    ],
)
def test_a_count_has_as_many_bits_as_its_noise_leaves_digits(count, sd, kind):
    noise = np.full(2, sd)
    rows = (Row("records", "count", noise_sd="sd"),)
    mark = points("p", np.zeros((2, 2)), rows=rows, extra={"count": count, "sd": noise})
    for column in (count_column(count, noise), mark.table["count"]):
        assert str(column.type) == kind
        assert column.to_pylist() == pytest.approx(count, abs=0.01 * sd, rel=0)
    assert str(mark.table["sd"].type) == "float"


def test_a_scene_refuses_two_marks_of_one_id():
    twice = [points("p", [[0, 0]]), points("p", [[1, 1]])]
    with pytest.raises(ValueError, match="share an id"):
        Scene(marks=twice, camera=Camera())


def test_tables_arrive_in_one_chunk():
    import pyarrow as pa

    mark = points("p", [[0, 0]])
    split = pa.concat_tables([mark.table, mark.table])
    (table,) = tables([type(mark)(layer=mark.layer, table=split, bind=mark.bind)]).values()
    assert table.column(0).num_chunks == 1
    assert len(table) == 2
