"""A folder in which commands run."""

import pytest

import dpviz


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Records of points and a release of them; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text("lon,lat\n0.1,0.2\n0.3,0.4\n0.6,0.7\n")
    data = dpviz.load("points.csv", dpviz.Domain((0, 0), (1, 1)), public=True)
    dpviz.save(dpviz.build(data, "ugrid", cells=2, seed=0), "r.parquet")
    return tmp_path
