"""Reading public priors: every kind of source, and what is refused."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from dpviz.errors import DataError
from dpviz.planning.calls import code_of
from dpviz.private.load import priors
from tests.commands import as_json, fails, refused, run
from tests.strategies import UNIT_SQUARE

SIDE = 1 << UNIT_SQUARE.bits

PLACES = np.array([[0.1, 0.1], [0.2, 0.1], [0.1, 0.9], [0.9, 0.9]])
WEIGHTS = [2.0, 0.5, 4.0, 1.0]
QUARTERS = [2.5, 4.0, 0.0, 1.0]
"""Mass of each quarter, in the order of Morton codes: axis 0 first."""


def quarters(public, level=1):
    """Masses of the first four cells of a level."""
    size = SIDE**2 >> 2 * level
    return public.masses(np.arange(4) * size, size)


def squares(*rows):
    """GeoJSON of squares (x, y, side, weight)."""
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"name": f"{x} {y}", "people": weight},
                "geometry": {
                    "type": "Polygon",
                    "coordinates": [
                        [[x, y], [x + s, y], [x + s, y + s], [x, y + s], [x, y]],
                    ],
                },
            }
            for x, y, s, weight in rows
        ],
    }


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame({"x": PLACES[:, 0], "y": PLACES[:, 1], "people": WEIGHTS})
    frame.to_parquet(tmp_path / "cells.parquet")
    return tmp_path / "cells.parquet"


def test_a_table_of_cells_a_frame_and_an_array_say_the_same(table):
    read = dpviz.prior(table, UNIT_SQUARE, "people")
    assert read.facts["kind"] == "cells"
    sources = (read, dpviz.prior(PLACES, UNIT_SQUARE, WEIGHTS))
    for public in (*sources, dpviz.prior(pd.read_parquet(table), UNIT_SQUARE, "people")):
        np.testing.assert_allclose(quarters(public), QUARTERS)
    points = dpviz.prior(table, UNIT_SQUARE)
    assert points.facts["kind"] == "points"
    np.testing.assert_allclose(quarters(points), [2, 1, 0, 1])


def test_the_hash_is_that_of_the_file(table):
    import hashlib

    facts = dpviz.prior(table, UNIT_SQUARE, "people").facts
    assert facts["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()


def test_weights_of_polygons_are_spread_evenly_inside(tmp_path):
    path = tmp_path / "wards.geojson"
    path.write_text(json.dumps(squares((0, 0, 0.5, 8), (0.5, 0.25, 0.5, 6), (0.2, 0.2, 1e-5, 3))))
    public = dpviz.prior(path, UNIT_SQUARE, "people")
    assert public.facts["kind"] == "polygons"
    np.testing.assert_allclose(quarters(public), [11, 0, 3, 3])
    np.testing.assert_allclose(quarters(public, 2), [5, 2, 2, 2], atol=1e-9)
    np.testing.assert_allclose(quarters(dpviz.prior(path, UNIT_SQUARE)), [2, 0, 0.5, 0.5])
    path.write_text(
        json.dumps({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]})
    )
    half = quarters(dpviz.prior(path, UNIT_SQUARE))
    np.testing.assert_allclose(half, [0.5, 0.25, 0.25, 0], atol=0.02)  # in 12 × 12 cells 0.55


def test_a_release_is_its_leaves(tmp_path):
    data = dpviz.from_points(np.repeat(PLACES, 500, axis=0), UNIT_SQUARE, public=True)
    release = dpviz.build(data, epsilon=20.0, seed=1)
    release.save(tmp_path / "map.parquet")
    for source in (release, tmp_path / "map.parquet"):
        public = dpviz.prior(source, UNIT_SQUARE)
        assert public.facts["kind"] == "release"
        np.testing.assert_allclose(quarters(public), [1000, 500, 0, 500], atol=10)
    # A prior for the half of the box that another domain covers.
    half = dpviz.Domain((0, 0), (0.5, 1), columns=("x", "y"))
    assert dpviz.prior(release, half).before[-1] == pytest.approx(1500, abs=20)


def test_coordinates_are_moved_to_the_crs_of_the_domain(tmp_path):
    box = dpviz.Domain((-1, -1), (1, 1))
    frame = pd.DataFrame({"lon": [50_000.0, -50_000.0], "lat": [50_000.0, 60_000.0]})
    frame.to_parquet(tmp_path / "metres.parquet")
    public = dpviz.prior(tmp_path / "metres.parquet", box, crs="EPSG:3857")
    np.testing.assert_allclose(quarters(public), [0, 1, 0, 1])
    with pytest.raises(DataError, match="no mass inside the bounds"):
        dpviz.prior(tmp_path / "metres.parquet", box)


def test_the_crs_of_a_file_is_read_or_it_is_refused(tmp_path):
    """A page has no selector for it."""
    london = dpviz.Domain((520_000, 150_000), (570_000, 200_000), crs="EPSG:27700")
    point = {"type": "Point", "coordinates": [0, 51.5]}
    feature = {"type": "Feature", "properties": {}, "geometry": point}
    path = tmp_path / "points.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    np.testing.assert_allclose(quarters(dpviz.prior(path, london)), [0, 1, 0, 0])
    path = tmp_path / "points.parquet"
    pq.write_table(pa.table({"geometry": [shapely.to_wkb(shapely.Point(0, 51.5))]}), path)
    with pytest.raises(DataError, match="their order and CRS"):
        dpviz.prior(path, london)


def test_records_on_land_follow_the_bundled_shapes(tmp_path):
    """The Strait of Dover: France in the south-east, England in the north-west, sea between."""
    points = np.random.default_rng(0).uniform([1.7, 50.7], [2.5, 50.95], (3_000, 2))
    np.savetxt(tmp_path / "records.csv", points, "%.5f", ",", header="lon,lat", comments="")
    words = ["build", tmp_path / "records.csv", "--bounds=1,50.7,2.5,51.3", "--public"]
    code, _, err = run(*words, "--epsilon=1", "--prior=land", "-o", tmp_path / "map.parquet")
    assert code == 0, err
    release = dpviz.read(tmp_path / "map.parquet")
    assert release.header.extra["prior"]["kind"] == "land"
    assert "prior='land'" in code_of(release).python()
    public = dpviz.prior("land", release.domain)
    share = quarters(public) / quarters(public, 0)[0]
    assert 0.1 < share[1] < 0.4 < share[2]
    assert share[3] < 0.2
    with pytest.raises(DataError, match="no mass inside"):
        dpviz.prior("land", dpviz.Domain((-40, 30), (-39, 31)))


@pytest.mark.parametrize(
    ("source", "weight", "message"),
    [
        (PLACES + 7, None, "no mass inside"),
        (PLACES, [0, 0, 0, 0], "no mass inside"),
        (PLACES, [1, 1, 1, -1], "negative or missing"),
        (PLACES, [1, 1, 1, np.nan], "negative or missing"),
        (PLACES, [1, 1], "one number for each"),
        (PLACES, "people", "one number for each"),
        ("no.csv", None, "no.csv"),
    ],
)
def test_an_invalid_prior_is_refused(source, weight, message):
    with pytest.raises(DataError, match=message):
        dpviz.prior(source, UNIT_SQUARE, weight)


def test_files_that_are_no_prior_are_refused(table, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="inhabitants"):
        dpviz.prior(table, UNIT_SQUARE, "inhabitants")
    missing = pd.read_parquet(table).assign(people=[1.0, None, 1.0, 1.0])
    with pytest.raises(DataError, match="negative or missing"):
        dpviz.prior(missing, UNIT_SQUARE, "people")
    path = tmp_path / "wards.geojson"
    path.write_text(json.dumps(squares((0, 0, 0.5, None))))
    with pytest.raises(DataError, match="negative or missing"):
        dpviz.prior(path, UNIT_SQUARE, "people")
    release = dpviz.build(dpviz.from_points(PLACES, UNIT_SQUARE, public=True), seed=1)
    with pytest.raises(DataError, match="own weights"):
        dpviz.prior(release, UNIT_SQUARE, "people")
    monkeypatch.setattr(priors, "MAX_CELLS", 3)
    for source in (table, PLACES):
        with pytest.raises(DataError, match="more than 3 cells"):
            dpviz.prior(source, UNIT_SQUARE)


def test_the_command_takes_a_prior_and_refuses_the_records_themselves(table, tmp_path):
    points = np.random.default_rng(0).random((400, 2))
    records = tmp_path / "records.parquet"
    pd.DataFrame(points, columns=["x", "y"]).to_parquet(records)
    words = ["build", records, "--bounds=0,0,1,1", "--columns=x,y", "--epsilon=1"]
    output = ["-o", tmp_path / "map.parquet"]
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(records.read_bytes())
    for same in (records, copy):
        refused(tmp_path, [*words, "--prior", same, *output], "holds the records themselves")
    refused(tmp_path, [*words, "--prior-weight=people", *output], "requires --prior")
    refused(tmp_path, [*words, "--prior=no.csv", *output], "no.csv")
    ugrid = [*words, "--method=ugrid", "--prior", table, *output]
    refused(tmp_path, ugrid, "takes no prior")
    assert "--prior" in fails(*words, "--prior", table, "--areas=h3:8", *output)
    expected = ["expect", "--bounds=0,0,1,1", "--records=2000"]
    rows = as_json(*expected, "--prior", table, "--prior-weight=people")["expected"]
    assert all(row["at_best"] > 0 for row in rows)
    assert "requires --prior" in fails(*expected, "--prior-weight=people")
    code, _, err = run(*words, "--public", "--prior", table, "--prior-weight=people", *output)
    assert code == 0, err
    assert dpviz.read(tmp_path / "map.parquet").header.extra["prior"]["kind"] == "cells"
