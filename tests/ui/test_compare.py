"""The page Compare, clicked through without a browser."""

import re

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.errors import PrivacyError
from dpviz.evaluation.truth import exact_counts, exact_total
from dpviz.exports import Presentation, map_page
from dpviz.render import half_width_words, with_noise
from dpviz.render.numbers import NO_BREAK
from dpviz.ui.points.compared_maps import EXACT, exact_cells
from dpviz.ui.points.film import FRAMES, _deviation, film_series
from dpviz.ui.points.source_form import PointSource, built_in
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.shelf import Shelf
from tests.ui.files import uploaded
from tests.ui.opening import app_of, metrics, named, open_tab, opened_page, table, texts

RECT = (14.6, -23.9, 14.75, -23.75)


PAIR = {"a__method": "privtree", "b__method": "ugrid"}


def opened(**query):
    return opened_page("compare", **{"data": "city-50k", **PAIR, **query})


def compared(app):
    """The releases on the maps."""
    return app.session_state["compare.scene"][0][1][0].releases


@pytest.mark.slow
def test_a_permalink_restores_both_sides_and_the_rectangle():
    app = opened(
        rect=RECT, a__method="quadtree", a__epsilon="0.5", a__set="height:5", b__epsilon="2"
    )
    assert app.selectbox(key="compare.a.method").value == "quadtree"
    assert app.select_slider(key="compare.a.epsilon").value == 0.5
    assert app.number_input(key="compare.a.quadtree.height").value == 5
    assert app.selectbox(key="compare.b.method").value == "ugrid"
    assert "height:5" in app.query_params["a.set"]

    handle = built_in("city-50k")
    exact = int(exact_counts(handle, RECT)[0])
    shown = metrics(app)
    assert shown["Exact count (public data)"] == f"{exact:,}"
    left = dpviz.build(handle, "quadtree", 0.5, seed=0, height=5).count(RECT)
    right = dpviz.build(handle, "ugrid", 2.0, seed=0).count(RECT)
    for side, answer in zip("AB", (left, right), strict=True):
        assert f"**Built from {answer.nodes[0]:,} cells**" in texts(app)
        headline = with_noise(answer.count[0], answer.total_error[0]).replace(" ", NO_BREAK)
        assert shown[f"{side} · noisy count"] == headline
        noise = half_width_words(answer.half_width[0])
        assert f"**Noise alone:** ± {noise} (95 %)" in texts(app)
    assert right.total_error > right.half_width  # not the ± of the noise alone


def test_one_side_changes_and_the_other_is_kept():
    app = opened(a__epsilon="1", b__epsilon="2")
    before = compared(app)
    app.select_slider(key="compare.b.epsilon").set_value(0.1).run()
    after = compared(app)
    assert after[0] is before[0]
    assert after[1] is not before[1]
    assert after[1].header.epsilon == 0.1


def test_the_truth_stands_beside_both_on_one_scale_that_stays_when_epsilon_moves():
    app = opened()
    before = scene_of(app)
    assert [label.split(":")[0] for label in before.labels] == ["Truth", "A", "B"]
    assert {tuple(mark.layer.bounds) for mark in before.marks[:3]} == {bounds_of(before)}
    exact = app.session_state["compare.scene"][0][1][0].exact
    assert exact.nodes.count[0] == exact_total(built_in("city-50k"))
    assert not exact.nodes.variance.any()
    app.segmented_control(key="compare.film").set_value(0.05).run()
    assert bounds_of(scene_of(app)) == bounds_of(before)


def test_any_two_are_swiped_and_the_other_view_keeps_its_own_choice():
    app = opened(mode="swipe")

    def shown():
        return [label.split(":")[0] for label in scene_of(app).labels]

    assert shown() == ["Truth", "A"]
    app.button_group(key="compare.pair").set_value(["Truth", "A", "B"]).run()
    assert shown() == ["Truth", "B"]
    app.button_group(key="compare.pair").set_value(["B", "A"]).run()
    assert shown() == ["A", "B"]
    assert app.query_params["maps"] == "A,B"
    app.segmented_control(key="compare.mode").set_value("side").run()
    assert shown() == ["Truth", "A", "B"]


def scene_of(app):
    """The scene of the map."""
    return app.session_state["compare.scene"][1]


def bounds_of(scene):
    """Classes of the first map."""
    return tuple(scene.marks[0].layer.bounds)


def test_confidential_data_have_no_truth():
    data = dpviz.load("city-50k", public=False)
    source = PointSource(data=data, title="", key="confidential")
    assert exact_cells(source) is None
    with pytest.raises(PrivacyError):
        dpviz.build(data, EXACT.name, EXACT.epsilon)


@pytest.mark.parametrize(
    ("preset", "methods", "epsilons", "maps"),
    [
        ("Three ε", ["privtree"] * 3, [0.1, 1.0, 10.0], 3),
        ("Three methods", ["privtree", "ladder_tree", "ugrid"], [1.0] * 3, 4),
    ],
)
def test_a_preset_compares_three_in_one_touch_and_the_address_restores_them(
    preset, methods, epsilons, maps
):
    app = opened()
    app.segmented_control(key="compare.preset").set_value(preset).run()
    for page in (app, opened(**app.query_params)):
        shown = [release.header for release in compared(page)]
        assert [each.method for each in shown] == methods
        assert [each.epsilon for each in shown] == epsilons
        assert len(scene_of(page).labels) == maps
        assert page.segmented_control(key="compare.preset").value == preset


def test_any_two_of_the_maps_are_swiped():
    scene = scene_of(opened(mode="swipe", maps="Truth,B"))
    assert [label.split(":")[0] for label in scene.labels] == ["Truth", "B"]
    assert scene.mode == "swipe"


def test_three_epsilons_show_what_each_costs_at_once():
    """Three maps of densities looked alike: errors in records, and a typical one by name."""
    app = opened()
    app.segmented_control(key="compare.preset").set_value("Three ε").run()
    scene = scene_of(app)
    assert scene.legend.title.startswith("Error in each square, records: ")
    halves = [float(re.search(r"± ([\d.]+) records\s", label)[1]) for label in scene.labels]
    assert halves[0] > 4 * halves[1] > 8 * halves[2]
    bounds = np.array(scene.marks[0].layer.bounds)
    errors = [np.abs(np.array(mark.table["density"])) for mark in scene.marks[:3]]
    drawn = [(each >= bounds.max(where=bounds > 0, initial=0) / 8).sum() for each in errors]
    assert drawn[0] > 2 * drawn[1] > 4 * drawn[2]


def test_my_release_needs_no_upload_where_the_visitor_has_some():
    older, newer = paid_releases(0.5, 2.0)
    app = opened()
    app.segmented_control(key="compare.preset").set_value("My releases").run()
    assert [app.query_params[f"{side}.release"] for side in "ab"] in (
        [newer, older],
        [older, newer],
    )
    assert [label[0] for label in scene_of(app).labels] == ["A", "B"]  # no label "Truth"


def test_errors_are_measured_once_their_panel_is_opened():
    errors = table(opened(tab="Accuracy by ε"), "median_relative_error")
    assert len(errors) == 8
    assert sorted(set(errors["method"])) == ["privtree", "ugrid"]


@pytest.mark.slow
def test_the_film_steps_both_sides_and_tells_the_answer_at_every_epsilon():
    app = opened(rect=RECT)
    app.segmented_control(key="compare.film").set_value(0.2).run()
    assert [release.header.epsilon for release in compared(app)] == [0.2, 0.2]
    frames = table(open_tab(app, "Every ε", "compare"), "ε", "PrivTree", "Uniform grid (UG)")
    assert list(frames["ε"]) == ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"]
    halves = [float(text.split("±")[1].replace(",", "")) for text in frames["Uniform grid (UG)"]]
    assert halves == sorted(halves, reverse=True)


@pytest.mark.slow
def test_a_side_at_every_epsilon_is_a_file_with_a_slider():
    source = PointSource(data=built_in("city-50k"), title="", key="city-50k", backdrop=True)
    releases, labels = film_series(source, Choice("ugrid", {}, 1.0), 1)
    assert [release.header.epsilon for release in releases] == list(FRAMES)
    assert labels[0] == "Uniform grid (UG), ε = 0.05"
    page = map_page(releases, labels=labels, rects=[RECT])
    assert len(page) < 10e6
    assert all(label in page for label in labels)
    half = [release.count(RECT).noise_sd[0] for release in releases]
    assert half == sorted(half, reverse=True)


def test_both_sides_offer_their_series_and_no_file_is_made_before_it_is_asked_for():
    app = opened(rect=RECT)
    offered = {each.proto.label: each.proto for each in app.get("download_button")}
    wanted = {"ε series of A (HTML)", "ε series of B (HTML)", "Answers (CSV)"}
    assert wanted <= set(offered)
    assert all(each.deferred_file_id and not each.url for each in offered.values())


@pytest.mark.slow
def test_a_comparison_opens_with_the_map_of_explore_at_three_epsilons():
    app = app_of("compare")
    app.session_state["explore.link"] = {"data": "city-50k", "method": "quadtree", "epsilon": "0.5"}
    app.run()
    shown = [release.header for release in compared(app)]
    assert [each.method for each in shown] == ["quadtree"] * 3
    assert [each.epsilon for each in shown] == [0.1, 0.5, 10.0]
    assert app.segmented_control(key="compare.preset").value == "Three ε"
    app.segmented_control(key="compare.preset").set_value("Three methods").run()
    methods = [release.header.method for release in compared(app)]
    assert methods == ["quadtree", "ladder_tree", "privtree"]


@pytest.mark.parametrize("epsilon", ["abc", "nan", "1,2"])
def test_an_epsilon_that_explore_could_not_read_is_none_here(epsilon):
    """The address of a first run is kept as it came: Explore shows another ε, and so does this."""
    app = app_of("compare")
    app.session_state["explore.link"] = {"epsilon": epsilon}
    app.run()
    assert app.select_slider(key="compare.b.epsilon").value == 1.0


def paid_releases(*epsilons, data="city-50k"):
    """Ids of releases that were paid for, of a grid each."""
    handle = dpviz.load(data, public=False) if isinstance(data, str) else data
    made = (dpviz.build(handle, "ugrid", each, ledger=dpviz.Ledger()) for each in epsilons)
    titled = ((each, Presentation(f"At {each.header.epsilon:g}")) for each in made)
    return [Shelf().keep(each, "here", words).id for each, words in titled]


def chosen(app, *identities):
    """Two releases of the list."""
    app.segmented_control(key="compare.preset").set_value("My releases").run()
    for side, identity in zip("ab", identities, strict=True):
        app.selectbox(key=f"compare.{side}.release.stored").set_value(identity).run()
    return app


@pytest.mark.slow
def test_two_releases_are_compared_without_anything_exact():
    app = chosen(opened(rect=RECT), *paid_releases(0.5, 2.0))
    assert texts(app).count("verified_user: ε") == 2
    assert "Exact" not in texts(app)
    assert "Built from" in texts(app)
    assert re.search(r"\*\*A\*\* [\d,]+ ± [\d,]+ · \*\*B\*\* [\d,]+ ± [\d,]+ records", texts(app))
    assert "Reduction ratio" not in texts(app)  # in the last tab


def test_two_releases_of_different_areas_are_refused_in_a_line():
    """The refusal came from a part of the page, where its block did not see it."""
    ids = paid_releases(0.5)
    domain = dpviz.Domain((14.0, -24.0), (14.7, -23.0))
    elsewhere = dpviz.from_points(np.full((9, 2), (14.5, -23.5)), domain, name="elsewhere")
    app = chosen(opened(), *ids, *paid_releases(1.0, data=elsewhere))
    (refused,) = [each.value.replace("\\", "") for each in app.error]
    assert refused.endswith(
        "and 14,-24,14.7,-23 (EPSG:4326): choose two that were built over one public area."
    )
    for view in ("difference", "swipe"):
        named(app.get("button_group"), "View").set_value(view).run()
        assert app.error


@pytest.mark.slow
def test_the_address_restores_two_releases_and_says_which_is_gone():
    """F5 came back with the demo, without a word."""
    ids = paid_releases(0.5, 2.0)
    app = chosen(opened(rect=RECT), *ids)
    assert [app.query_params[f"{side}.release"] for side in "ab"] == ids
    again = opened(**app.query_params)
    assert texts(again).count("verified_user: ε") == 2
    again.segmented_control(key="compare.preset").set_value("Three ε").run()
    assert not {"a.release", "b.release"} & set(again.query_params)
    gone = opened(a__release="f" * 32, b__release="file")
    for warning, asked in zip(
        gone.warning, (f"a.release '{'f' * 32}'", "b.release 'file'"), strict=True
    ):
        assert f"asks for {asked}, which is not available" in warning.value.replace("\\", "")


@pytest.mark.slow
def test_a_rectangle_elsewhere_does_not_follow_into_two_releases():
    domain = dpviz.Domain((0, 0), (1, 1))
    handle = dpviz.from_points(np.full((500, 2), 0.5), domain, name="elsewhere")
    app = chosen(opened(rect=RECT), *paid_releases(0.5, 1.0, data=handle))
    assert not app.warning
    assert app.session_state["compare.rect"] is None
    assert "rect" not in app.query_params


def trips_file():
    """Bytes of a release of trips, which have two places each."""
    handle = dpviz.load("trips-50k", public=False)
    identity = Shelf().keep(dpviz.build(handle, "privtree", 1.0, ledger=dpviz.Ledger()), "here").id
    return Shelf().path(identity).read_bytes()


def year():
    """Points of one year, most of them in June."""
    rng = np.random.default_rng(3)
    day = np.where(rng.random(4_000) < 0.7, 160.0, rng.uniform(0, 365, 4_000))
    x, y = rng.uniform([14.2, -23.9], [14.8, -23.1], (4_000, 2)).T
    domain = dpviz.Domain.from_bounds(
        (14, -24, 15, -23), ("x", "y"), time="t", period=("2030-01-01", "2031-01-01")
    )
    records = pd.DataFrame({"x": x, "y": y, "t": 1_893_456_000 + 86_400 * day})
    return dpviz.load(records, domain, time_format="seconds", name="year")


def test_a_release_with_time_is_compared_by_a_period_that_the_address_keeps():
    """It was refused: compare releases of places without time."""
    timed, other = paid_releases(5.0, 4.0, data=year())
    app = chosen(opened(mode="difference"), timed, other)
    assert named(app.get("button_group"), "View").value == "side"  # no map of A − B
    named(app.selectbox, "Period of A").set_value("June 2030").run()
    for page in (app, opened(**app.query_params)):
        june, whole = compared(page)
        period = ("2030-06-01", "2030-07-01")
        released = Shelf().open(timed)[1].count(june.domain.bounds, period)
        assert june.count(june.domain.bounds).count == pytest.approx(released.count)
        assert june.count(june.domain.bounds).count < 0.8 * whole.count(whole.domain.bounds).count
        assert [label.split("\n")[0] for label in scene_of(page).labels] == [
            "A: At 5, June 2030",
            "B: At 4, all 2030",
        ]
    assert "errs" not in texts(app)  # a month has smaller errors than its year
    assert "Match their records" not in [tab.label for tab in app.tabs]  # a part of a cell's people
    assert '"contrast": null' in map_page(compared(app))


def test_a_file_without_points_on_one_map_is_refused_by_the_name_of_its_side():
    trips, app = trips_file(), opened()
    app.segmented_control(key="compare.preset").set_value("My releases").run()
    assert "1 of yours is of another kind: choose releases of points." in texts(app)
    uploaded(app, "compare.b.release.file", "r.parquet", trips)
    refused = app.error[0].value.replace("\\", "")
    assert refused == "Release B: choose a release of points, no other can be compared."


def test_the_row_above_the_maps_says_which_errs_least():
    """It stood in a tab below the first screen."""
    app = opened(a__epsilon="0.1", b__method="privtree", b__epsilon="10")
    said = r"\*\*B\*\* errs ([\d.]+) times less than \*\*A\*\*: ± ([\d.]+), not ± ([\d.]+)"
    times, low, high = map(float, re.search(said, texts(app)).groups())
    assert times == pytest.approx(high / low, rel=0.05)  # of the numbers as shown


def test_explore_and_compare_state_one_error_of_a_release_and_count_its_noun():
    """A map of the whole period stated a larger error, and its counts were "records"."""
    identity, noun = paid_releases(5.0, data=year())[0], Presentation(noun="visits")
    Shelf().present(identity, "here", noun)
    explored = re.search(r"\*\*(± [\d.]+ visits)\*\* in a", texts(opened_page(release=identity)))
    app = chosen(opened(), identity, identity)
    assert [label.split("\n")[1] for label in scene_of(app).labels] == [explored[1]] * 2
    assert scene_of(app).legend.title.startswith("Visits per")
    assert "records" not in texts(app)


def panel():
    import dpviz
    from dpviz.ui.points.owners import owners_panel

    domain = dpviz.Domain((520_000, 170_000), (550_000, 190_000), crs="EPSG:27700")
    points = [[530_000.0 + 10 * row, 180_000.0] for row in range(500)]
    pair = [
        dpviz.build(
            dpviz.from_points(points, domain, public=True, name=name), "ugrid", 1.0, seed=seed
        )
        for seed, name in enumerate("ab")
    ]
    owners_panel("pair", pair)


def test_a_distance_is_in_the_units_of_the_two_releases_and_in_metres():
    """Fractions of a degree were all that was on offer, for coordinates in metres too."""
    app = AppTest.from_function(panel, default_timeout=60).run()
    assert app.number_input[0].value == 70
    assert "About 70 m from west to east, 70 m from south to north." in app.caption[0].value
    app.number_input[0].set_value(1_000.0).run()
    assert "About 1,000 m from west" in app.caption[0].value
    assert not app.error


def test_chart_and_table_of_every_epsilon_have_the_same_interval():
    """A coarse grid stood far from the truth in the chart, and sure of it: its cells were cut."""
    handle = built_in("city-50k")
    exact = int(exact_counts(handle, RECT)[0])
    answer = dpviz.build(handle, "ugrid", 0.05, seed=0).count(RECT)
    row = _deviation("Uniform grid", 0.05, answer, exact)
    assert answer.total_error[0] > answer.half_width[0]
    assert (row["high"] - row["low"]) / 2 == pytest.approx(answer.total_error[0])
    assert row["in words"].split("±")[1] == row["answer"].split("±")[1]
