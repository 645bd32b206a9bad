"""The guarantee in words: what is said of ε bears it, on the screen and in files."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.exports import map_page, release_page
from dpviz.exports.facts import (
    facts,
    protection,
    quotient_words,
    relation,
    replies,
    statement,
)
from dpviz.exports.report import report_page
from dpviz.exports.stills import flat_maps
from dpviz.private.curve import privacy_curve, upper_limit
from dpviz.render import with_noise
from dpviz.render.numbers import count_words
from dpviz.ui.shared.shelf import receipt_of
from tests.commands import as_json

DOMAIN = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"))


def test_a_large_epsilon_is_not_said_to_hide_a_record():
    """Regression: at ε = 10, a factor of 22,026, one could "hardly tell"."""
    data = dpviz.from_points([[0.5, 0.5]], DOMAIN)
    header = dpviz.build(data, "ugrid", 1.0, cells=1, ledger=None).header
    assert "can hardly tell whether one record was" in statement(header)[1]
    loose = statement(dataclasses.replace(header, epsilon=10.0, delta=1e-6))[1]
    assert "hardly" not in loose
    assert "e^ε = 22,026, but for events of total probability δ = 1e-06." in loose
    assert loose.endswith("This is a weak guarantee; at ε = 1 the factor is 2.72.")
    assert loose == protection("one record", 10.0, 1e-6)
    for epsilon, hardly, weak in ((1.09, True, False), (1.11, False, False), (3.1, False, True)):
        words = protection("one record", epsilon)
        assert ("hardly" in words, "weak" in words) == (hardly, weak)


def test_the_privacy_unit_is_said_once():
    data = dpviz.from_points([[0.5, 0.5]], DOMAIN)
    header = dpviz.build(data, "ugrid", 1.0, cells=1, ledger=None).header
    assert (header.unit, relation(header)) == ("one record", "add or remove")
    assert relation(dataclasses.replace(header, unit="one trip")) == "add or remove one record"


def test_three_records_of_each_person_are_a_sensitivity_of_three_wherever_prices_stand(tmp_path):
    """Regression: the text was "sensitivity 1", as for one record."""
    table = pd.DataFrame({"x": [0.2, 0.4, 0.6, 0.8], "y": 0.5, "id": list("aabb")})
    table.to_csv(tmp_path / "visits.csv", index=False)
    data = dpviz.load(tmp_path / "visits.csv", DOMAIN, unit="id", max_per_unit=3)
    release = dpviz.build(data, "ugrid", 1.0, cells=2, ledger=None)
    release.save(tmp_path / "visits.parquet")
    price = "sensitivity 1 (3 for 3 records); 3 records: 3 times ε (group privacy)"
    assert release.header.steps == 3
    printed = as_json("info", tmp_path / "visits.parquet")
    for rows in (printed["budget"], receipt_of(release)["prices"]):
        assert [row["theorem"].endswith(price) for row in rows] == [True]
    for page in (report_page([release]), map_page([release])):
        assert price in page
        assert "at most 3 records of each." in page


def test_names_of_categories_from_numpy_are_texts_on_every_page():
    """The code of a report had np.str_('theft')."""
    names = np.array(["theft", "fraud"])
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), kind="kind", kinds=names)
    table = pd.DataFrame({"x": [0.2, 0.4], "y": 0.5, "kind": names})
    release = dpviz.build(dpviz.load(table, domain, public=True), "ugrid", 1.0, cells=2, seed=1)
    page = report_page([release])
    assert "np.str_" not in page
    assert "theft" in facts(release, "").python


@pytest.mark.slow
def test_the_number_after_plus_minus_is_the_total_error():
    """Regression: sums, and totals of a window, stated the noise alone."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({name: random.beta(2, 5, 2_000) for name in "xyt"} | {"fare": 9.0})
    box, rect = [0, 0, 1, 1], (0.1, 0.1, 0.55, 0.6)
    of_values = dpviz.Domain.from_bounds(box, ("x", "y"), value="fare", clip=(0, 10))
    priced = dpviz.build(dpviz.load(table, of_values, public=True), "ugrid", 5.0, cells=4, seed=1)
    ((name, words),) = replies([priced], ["a"], rect)[0].sums[:1]
    total = priced.sum(rect)
    assert total.total_error > total.high - total.sum
    assert (name, words) == ("Sum of fare", with_noise(total.sum[0], total.total_error[0]))
    assert (
        "± is half of a 95 % interval for the noise and the error from cut cells together"
        in report_page([priced], rects=[rect])
    )

    timed = dpviz.Domain.from_bounds(box, ("x", "y"), time="t", period=(0, 1))
    year = dpviz.build(dpviz.load(table, timed, public=True), "quadtree", 5.0, height=2, seed=1)
    window = year.during((0, 0.4))
    count = window.count(box)
    assert count.total_error > count.half_width
    assert facts(window, "").total == with_noise(count.count[0], count.total_error[0])


@pytest.mark.slow
def test_a_rectangle_of_each_window_has_the_sum_and_shares_of_its_period():
    random = np.random.default_rng(0)
    table = pd.DataFrame({name: random.beta(2, 5, 2_000) for name in "xyt"} | {"fare": 9.0})
    table["mode"] = random.choice(["bus", "car"], 2_000)
    domain = dpviz.Domain.from_bounds(
        [0, 0, 1, 1],
        ("x", "y"),
        time="t",
        period=(0, 1),
        value="fare",
        clip=(0, 10),
        kind="mode",
        kinds=("bus", "car"),
    )
    release = dpviz.build(dpviz.load(table, domain, public=True), "quadtree", 5.0, seed=1)
    rect, periods = (0.1, 0.1, 0.55, 0.6), [(0, 1), (0, 0.5), (0.5, 1)]
    maps = [release.during(each) for each in periods]
    for reply, period in zip(replies(maps, ["a", "b", "c"], rect, release), periods, strict=True):
        total = release.sum(rect, period)
        assert dict(reply.sums)["Sum of fare"] == with_noise(total.sum[0], total.total_error[0])
    every, bus, car = replies(maps[1:2], ["half"], rect, release)
    assert every.count == count_words(release.count(rect, periods[1]))
    assert car.count == count_words(release.count(rect, periods[1], "car"))
    assert dict(bus.sums)["Share"] == quotient_words(
        release.share(rect, "bus", period=periods[1]), shares=True
    )


@pytest.mark.slow
def test_a_rectangle_of_trips_is_answered_where_they_start_and_where_they_end():
    box = dpviz.Domain.from_bounds([0, 0, 0, 0, 1, 1, 1, 1])
    points = np.random.default_rng(0).beta(2, 5, (2_000, 4))
    trips = dpviz.build(dpviz.from_points(points, box, public=True), epsilon=5.0, seed=1)
    page = release_page(trips, rects=[(0.1, 0.1, 0.5, 0.5)])
    (maps, names), rect = flat_maps([trips]), (0.1, 0.1, 0.5, 0.5)
    for each, name in zip(maps, names, strict=True):
        cells = f'<td class="name">{name}</td><td class="number">{count_words(each.count(rect))}<'
        assert cells in page
        assert cells in report_page([trips], rects=[rect])


def test_info_and_the_page_state_the_privacy_profile(sensitive, pair, tmp_path):
    sensitive.save(tmp_path / "visits.parquet")
    stated = as_json("info", tmp_path / "visits.parquet")["privacy"]
    curve = privacy_curve(sensitive.header)
    assert stated == curve.to_dict()
    page = release_page(sensitive)
    row = re.search(r'<th scope="row">δ</th>(.*?)</tr>', page)[1]
    assert re.findall(r">([^<]+)<", row) == [upper_limit(delta) for _, delta in curve.points]
    assert f"μ = {upper_limit(curve.mu, 4)}" in page
    assert "Privacy profile" not in release_page(pair[0])  # simulated noise
