"""The map of flows: circles, arrows and their legend."""

import numpy as np
import pytest

import dpviz
from dpviz.private.flows import FlowData
from dpviz.render.pairs import WAYS, flow_scene, pairs_of, trips_of
from tests.wards import voronoi


@pytest.fixture(scope="module")
def areas():
    return voronoi(dpviz.Domain((14.4, -24.1), (15.0, -23.6)), 12, 3)


def built(areas, to=None):
    ends = np.random.default_rng(0).zipf(1.5, (4_000, 2)) % 12
    cells = np.column_stack([np.zeros(4_000, int), ends])
    return dpviz.build(FlowData("walks", dpviz.Flows(areas, to), cells, public=True), seed=0)


def circles(scene):
    return {mark.id: mark.table for mark in scene.marks if mark.id.startswith("circles")}


def test_a_choice_keeps_the_classes_of_the_map_and_is_in_its_legend(areas):
    release = built(areas)
    quietest = int(trips_of(release, np.arange(areas.first_leaf, len(areas)), 0).count.argmin())
    every, one = (flow_scene(release, "ward", area) for area in (None, areas.first_leaf + quietest))
    assert list(one.legend.labels) == list(every.legend.labels)
    labels = [each.label for each in every.legend.swatches]
    assert [each.label for each in one.legend.swatches] == ["the chosen area", *labels]


def test_a_circle_has_the_counts_of_its_area_and_the_largest_the_most(areas):
    release = built(areas)
    (table,) = circles(flow_scene(release, "ward")).values()
    sizes = [np.ptp(np.array(ring), axis=0)[1] for ring in table["polygon"].to_pylist()]
    rows = [
        areas.first_leaf + list(areas.names[areas.first_leaf :]).index(name)
        for name in table["area"].to_pylist()
    ]
    for end, way in enumerate(WAYS):
        np.testing.assert_allclose(
            table[way], trips_of(release, np.array(rows), end).count, rtol=1e-6
        )
    total = np.array(table["from"]) + np.array(table["to"])
    assert (np.argsort(sizes) == np.argsort(total)).all()
    np.testing.assert_allclose(np.square(sizes) / max(sizes) ** 2, total / total.max(), rtol=1e-3)


def test_origins_and_destinations_of_their_own_have_a_circle_each(areas):
    tables = circles(flow_scene(built(areas, voronoi(areas.domain, 12, 4)), "ward"))
    assert [set(WAYS) & {*table.column_names} for table in tables.values()] == [{"from"}, {"to"}]


def test_a_circle_tells_the_trips_from_and_to_the_chosen_area_as_arrows_do(areas):
    release, chosen = built(areas), areas.first_leaf + 2
    scene = flow_scene(release, "ward", chosen)
    (mark,) = (each for each in scene.marks if each.id.startswith("circles"))
    name = areas.names[chosen]
    assert [row.label for row in mark.rows] == [
        "area",
        f"trips from {name} to here (noisy)",
        f"trips from here to {name} (noisy)",
        "all trips from (noisy)",
        "all trips to (noisy)",
    ]
    origin, destination, answers = pairs_of(release, "ward", chosen)
    names = np.array(areas.names)
    for way, here, there in (("from", origin, destination), ("to", destination, origin)):
        counts = zip(answers.count, answers.noise_sd, strict=True)
        pairs = {
            names[other]: pair
            for one, other, pair in zip(here, there, counts, strict=True)
            if one == chosen
        }
        told = zip(
            *(mark.table[f"chosen.{way}{end}"].to_pylist() for end in ("", ".sd")), strict=True
        )
        for area, pair in zip(mark.table["area"].to_pylist(), told, strict=True):
            if area != name:
                assert pair == pytest.approx(pairs[area], rel=1e-6, abs=1e-6)
