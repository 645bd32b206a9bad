import json
import os
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz import Domain
from dpviz.errors import ReleaseError
from dpviz.releases import files
from dpviz.releases.header import SCHEMA
from dpviz.releases.store import from_arrow
from tests.headers import header_of, with_header


@pytest.fixture(scope="module")
def release():
    domain = Domain((-1.0, 50.0), (1.0, 52.0))
    points = np.random.default_rng(0).normal([0, 51], 0.2, size=(2000, 2))
    handle = dpviz.from_points(points, domain, public=True, name="normal")
    return dpviz.build(handle, "privtree", 1.0, seed=0)


def test_a_file_is_geoparquet_that_geopandas_opens(release, tmp_path):
    path = release.save(tmp_path / "r.parquet")
    frame = geopandas.read_parquet(tmp_path / "r.parquet")
    assert path is None or path.exists()
    assert frame.crs == "EPSG:4326"
    direct = release.to_geopandas()
    assert frame.geometry.geom_equals(direct.geometry).all()
    assert frame.geometry.is_valid.all()
    assert frame.geometry.iloc[0].bounds == release.domain.bounds
    for name in ("level", "parent", "first_child", "n_children", "leaf", "count", "variance"):
        assert name in frame.columns
    assert frame["leaf"].sum() == release.nodes.leaf.sum()
    assert dpviz.read(tmp_path / "r.parquet").header == release.header


def test_nothing_in_a_file_tells_seed_or_total(release, tmp_path):
    release.save(tmp_path / "r.parquet")
    packed = pq.read_schema(tmp_path / "r.parquet").metadata[b"dpviz"].decode()
    assert "seed" not in packed
    assert "2000" not in packed
    assert json.loads(packed)["schema"] == SCHEMA


def test_another_schema_is_refused(release):
    table = release.to_arrow()
    header = header_of(table)
    for schema in (99, 1):
        line = f"schema {schema}, this version reads {SCHEMA}: update dpviz, or build it again"
        with pytest.raises(ReleaseError, match=line):
            from_arrow(with_header(table, {**header, "schema": schema}), "r.parquet")
    for odd in (2.5, "2", None, True):
        with pytest.raises(ReleaseError, match="the header is damaged at 'schema'"):
            from_arrow(with_header(table, {**header, "schema": odd}))


def test_a_file_without_a_release_is_refused(release, tmp_path):
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"a": [1]}), plain)
    with pytest.raises(
        ReleaseError, match=r"plain\.parquet: Parquet without the header of a release"
    ):
        dpviz.read(plain)
    text = tmp_path / "text.parquet"
    text.write_text("hello")
    with pytest.raises(ReleaseError, match=r"text\.parquet: not a readable Parquet file"):
        dpviz.read(text)
    with pytest.raises(ReleaseError, match=r"absent\.parquet: no such file"):
        dpviz.read(tmp_path / "absent.parquet")
    with pytest.raises(ReleaseError, match="is a folder: give the file of a release"):
        dpviz.read(tmp_path)
    with pytest.raises(ReleaseError, match="null is no plain file: give the file of a release"):
        dpviz.read("/dev/null")
    table = release.to_arrow()
    with pytest.raises(ReleaseError, match="column 'variance' is missing"):
        from_arrow(table.drop_columns(["variance"]))


@pytest.mark.parametrize("ending", [".geojson", ".gpkg", ".csv"])
def test_exports_hold_the_leaves(release, tmp_path, ending):
    path = dpviz.export(release, tmp_path / f"out{ending}")
    leaves = int(release.nodes.leaf.sum())
    if ending == ".csv":
        assert len(path.read_text().splitlines()) == leaves + 1
        return
    layer = {"layer": "dpviz"} if ending == ".gpkg" else {}  # the other has its styles
    frame = geopandas.read_file(path, **layer)
    assert len(frame) == leaves
    assert frame["count"].sum() == pytest.approx(release.nodes.count[0])
    if ending == ".geojson":
        assert json.loads(path.read_text())["dpviz"]["guarantee"] == release.header.guarantee


def test_a_failed_write_leaves_the_old_file(release, tmp_path, monkeypatch):
    target = tmp_path / "r.parquet"
    target.write_text("old")

    def broken(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", broken)
    with pytest.raises(ReleaseError, match="cannot be written: No space left"):
        release.save(target)
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["r.parquet"]


def test_an_invalid_target_file_is_refused(release, tmp_path):
    with pytest.raises(ReleaseError, match="output folder does not exist"):
        release.save(tmp_path / "absent" / "r.parquet")
    with pytest.raises(ReleaseError, match=r"cannot export to \.exe: use \.geojson"):
        dpviz.export(release, tmp_path / "r.exe")


def test_left_over_files_of_killed_processes_are_swept(tmp_path):
    """Regression: files of others with such names were deleted, such as a ledger and its seal."""
    made = []
    files.write_file(tmp_path / "a.txt", lambda name: made.append(Path(name)) or made[0].touch())
    stale, beside = made[0], Path(f"{made[0]}-journal")
    other = "1" if stale.stem.endswith("0") else "0"
    busy = stale.with_name(f"{stale.stem[:-1]}{other}.txt")
    own = [
        tmp_path / f".dpviz-{name}" for name in ("ledger.sqlite", "ledger.sqlite.seal", "a.lock")
    ]
    for each in (stale, beside, busy, *own):
        each.touch()
    for each in (stale, beside, *own):
        os.utime(each, (0, 0))
    files.write_file(tmp_path / "a.txt", lambda name: Path(name).write_text("a"))
    stay = {busy.name, "a.txt", *(each.name for each in own)}
    assert {each.name for each in tmp_path.iterdir()} == stay


def test_a_geopackage_that_does_not_fit_on_the_disk_is_one_line(tmp_path):
    """GDAL has errors of its own, which were a traceback."""
    resource = pytest.importorskip("resource")
    domain = Domain((0, 0), (1, 1))
    release = dpviz.build(dpviz.from_points([[0.5, 0.5]], domain, public=True), "ugrid", cells=8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (4096, 65536):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            with pytest.raises(ReleaseError, match=r"^a\.gpkg: cannot be written: GDAL could"):
                dpviz.export(release, tmp_path / "a.gpkg")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
