"""Mutated files give records or one DataError, never another exception."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.load.points import columns, read_records
from tests.geojson import collection, feature

NYC = Domain((-74.30, 40.45), (-73.60, 41.00))
TABLE = pd.DataFrame(
    {"lon": [-74.0, -73.9, -73.8], "lat": [40.7, 40.8, 40.9], "who": ["a", None, "b"]}
)


def _parquet():
    buffer = io.BytesIO()
    TABLE.to_parquet(buffer)
    return buffer.getvalue()


def _geojson():
    rows = TABLE.itertuples()
    return collection(feature(shapely.Point(r.lon, r.lat), who=r.who) for r in rows).encode()


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """A small sound file of each format, as bytes."""
    import geopandas

    folder = tmp_path_factory.mktemp("seeds")
    places = geopandas.GeoDataFrame(
        TABLE[["who"]], geometry=geopandas.points_from_xy(TABLE["lon"], TABLE["lat"]), crs=4326
    )
    places.to_file(folder / "a.shp")
    places.to_file(folder / "a.gpkg")
    places.to_parquet(folder / "geo.parquet")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in ("shp", "shx", "dbf", "prj"):
            archive.write(folder / f"a.{part}", f"a.{part}")
    return {
        "csv": TABLE.to_csv(index=False).encode(),
        "parquet": _parquet(),
        "geoparquet": (folder / "geo.parquet").read_bytes(),
        "geojson": _geojson(),
        "zip": zipped.getvalue(),
        "gpkg": (folder / "a.gpkg").read_bytes(),
        "shp": (folder / "a.shp").read_bytes(),
    }


def mutate(data, content):
    """A few bytes changed, inserted, removed or cut, at places that Hypothesis chooses."""
    content = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        action = data.draw(st.sampled_from(["flip", "insert", "remove", "cut", "repeat"]))
        if action == "flip" and content:
            content[at] ^= data.draw(st.integers(1, 255))
        elif action == "insert":
            content[at:at] = data.draw(
                st.one_of(
                    st.binary(max_size=12),
                    st.sampled_from(
                        [b"\0", b'"', b"\n", b",", b"1e999", b"{", b"[" * 3_000, b"\xff"]
                    ),
                )
            )
        elif action == "remove":
            del content[at : at + data.draw(st.integers(1, 20))]
        elif action == "cut":
            del content[at:]
        else:
            content[at:at] = content[at : at + data.draw(st.integers(1, 40))]
    return bytes(content)


@pytest.mark.parametrize(
    ("form", "examples"),
    {
        "csv": 100,
        "parquet": 100,
        "geoparquet": 50,
        "geojson": 60,
        "zip": 60,
        "gpkg": 10,
        "shp": 20,
    }.items(),
)
def test_mutations(form, examples, seeds, tmp_path):
    path = tmp_path / f"a.{form}"

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.data())
    def run(data):
        path.write_bytes(mutate(data, seeds[form]))
        try:
            columns(path)
            records = read_records(path, NYC, unit="who")
        except DataError:
            return
        assert records.points.dtype == np.float64
        assert records.points.shape == (len(records.unit), 2)
        assert np.isfinite(records.points).all()

    run()
