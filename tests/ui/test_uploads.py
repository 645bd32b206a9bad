"""Nothing of an upload outlives its use, however the server ends."""

import gc
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import geopandas
import pandas as pd
import pytest

import dpviz
from dpviz.ui.shared import uploads

DOMAIN = dpviz.Domain.from_bounds([10.0, 50.0, 12.0, 51.0])
ROWS = pd.DataFrame({"lon": [10.5, 11.0, 11.5], "lat": [50.2, 50.5, 50.8]})
linux = pytest.mark.skipif(not uploads.IN_MEMORY, reason="nameless files in memory are Linux's")


class Uploaded:
    """As ``st.file_uploader`` gives it."""

    def __init__(self, path, file_id="1"):
        self.name, self.file_id, self._content = path.name, file_id, path.read_bytes()

    def getbuffer(self):
        return memoryview(self._content)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A temporary folder and a visit of this test's own."""
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.setattr(uploads.st, "session_state", {})
    monkeypatch.setattr(uploads, "private_folder", uploads.private_folder.__wrapped__)
    return shared


def points(path):
    frame = geopandas.GeoDataFrame(
        {"a": ["x"] * 3}, geometry=geopandas.points_from_xy(ROWS.lon, ROWS.lat), crs="EPSG:4326"
    )
    if path.suffix == ".csv":
        ROWS.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        ROWS.to_parquet(path)
    elif path.suffix == ".zip":
        frame.to_file(path.with_suffix(".shp"))
        with zipfile.ZipFile(path, "w") as archive:
            for part in path.parent.glob("points.[!z]*"):
                archive.write(part, part.name)
    else:
        frame.to_file(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "geojson", "gpkg", "zip"])
def test_every_format_is_read_from_memory(suffix, tmp_path, folder):
    path = uploads.upload_path("place", Uploaded(points(tmp_path / f"points.{suffix}")))
    assert path.name == f"place.{suffix}"
    assert uploads.upload_columns(path) is uploads.upload_columns(path)
    data = dpviz.load(path, DOMAIN, public=True)
    assert dpviz.build(data, epsilon=1e6, seed=1).count(DOMAIN.bounds).count[0] == pytest.approx(3)
    gc.collect()
    named = [each for each in folder.rglob("*") if each.is_file() and not each.is_symlink()]
    assert not named or not uploads.IN_MEMORY


@pytest.mark.parametrize(
    "name",
    ["v.\0", "v.|layername=", "v.\ud800", "v.b\nc", "v.\u0664", "v.abcdefghijkl", "v", ".csv"],
)
def test_an_ending_that_is_none_never_becomes_part_of_a_path(name, tmp_path):
    file = Uploaded(points(tmp_path / "points.csv"))
    file.name = name
    path = uploads.upload_path("place", file)
    assert path.name == "place"
    assert len(uploads.upload_columns(path)) == 2


def test_only_this_user_may_look(tmp_path, folder):
    path = uploads.upload_path("place", Uploaded(points(tmp_path / "points.csv")))
    for each in folder.rglob("*"):
        assert each.is_symlink() or each.stat().st_mode & 0o077 == 0
    assert path.read_text().startswith("lon,lat")


@pytest.mark.parametrize("in_memory", [pytest.param(True, marks=linux), False])
def test_replaced_and_left_uploads_are_deleted(in_memory, tmp_path, folder, monkeypatch):
    monkeypatch.setattr(uploads, "IN_MEMORY", in_memory)
    first = uploads.upload_path("place", Uploaded(points(tmp_path / "points.csv")))
    assert uploads.upload_path("place", Uploaded(tmp_path / "points.csv")) == first
    second = uploads.upload_path("place", Uploaded(tmp_path / "points.csv", "2"))
    assert not first.exists()
    assert second.stat().st_size > 0
    target = second.readlink() if in_memory else second
    uploads.st.session_state.clear()  # as when the visitor leaves
    gc.collect()
    assert not second.is_symlink()
    assert not target.exists()


DYING = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from dpviz.ui.shared import uploads
uploads.st.session_state = {}
content = memoryview(Path(sys.argv[1]).read_bytes())
file = SimpleNamespace(name="records.csv", file_id="1", getbuffer=lambda: content)
print(uploads.upload_path("place", file), flush=True)
time.sleep(600)
"""


@linux
def test_a_killed_server_leaves_no_upload(tmp_path, folder):
    source = tmp_path / "records.csv"
    source.write_text("lon,lat\n" + "10.5,50.5\n" * 100_000)
    process = subprocess.Popen(
        [sys.executable, "-c", DYING, str(source)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        path = Path(process.stdout.readline().strip())
        assert path.stat().st_size == source.stat().st_size
    finally:
        process.kill()
        process.wait(120)
        process.stdout.close()
    assert not path.exists()
