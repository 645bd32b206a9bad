"""A release of areas in the app: its map level by level, a rectangle, its table."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.render.areas import areas_scene
from dpviz.ui.server import OPENED
from tests.ui.test_explore import APP
from tests.ui.test_releases import words


@pytest.fixture(scope="module")
def release():
    domain = dpviz.Domain.from_bounds([14.4, -24.1, 14.6, -23.9])
    points = np.random.default_rng(0).uniform([14.4, -24.1], [14.5, -24.0], (5_000, 2))
    data = dpviz.from_points(points, domain, public=True, name="hexagons")
    return dpviz.build(data, "areas", 1.0, areas=dpviz.hexagons(6, domain), seed=0)


def test_the_map_has_a_polygon_for_every_area_of_a_level(release):
    assert release.areas.levels == ("h3:5", "h3:6")
    for level in release.areas.levels:
        scene = areas_scene(release, level)
        part = release.areas.rows(level)
        drawn = scene.tables["districts"]
        assert set(drawn["name"].to_pylist()) == set(release.areas.names[part])
        counts = dict(zip(drawn["name"].to_pylist(), drawn["count"].to_pylist(), strict=True))
        assert counts == dict(
            zip(release.areas.names[part], release.counts[part].tolist(), strict=True)
        )
        assert scene.legend.title == "Records per km² by area"


def test_a_release_of_areas_opens_in_the_app(release, tmp_path, monkeypatch):
    path = release.save(tmp_path / "hexagons.parquet")
    monkeypatch.setenv(OPENED, str(path))
    app = AppTest.from_file(APP, default_timeout=120).run()
    assert not app.exception
    assert "**Draw a rectangle**" in words(app)
    assert app.get("bidi_component")
    metrics = {each.label: each.value for each in app.metric}
    assert metrics["Areas"] == f"{release.areas.leaves:,}"
    app.session_state["explore.rect"] = (14.4, -24.1, 14.5, -24.0)
    app.session_state["explore.level.h3:5|h3:6"] = "h3:5"
    app.run()
    assert not app.exception
    assert "Error from cut cells" in words(app)
    (table,) = [each.value for each in app.dataframe if "area" in each.value]
    assert release.areas.names[0] in table["area"].to_list()
