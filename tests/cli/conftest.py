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


@pytest.fixture
def streets(tmp_path):
    """Trips along two public streets, ``walks.csv``; the option that names the streets."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("node,x,y\na,0,0\nb,1,0\nc,2,0\n")
    edges.write_text("edge,src,dst,length\n1,a,b,1\n2,b,c,1\n")
    (tmp_path / "walks.csv").write_text("trip,edge\n1,1\n1,2\n2,2\n")
    return f"--graph={nodes},{edges}"
