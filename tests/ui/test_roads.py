"""The page Roads without a browser: what it shows, asks, warns and refuses."""

import json
import re
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz import Ledger
from dpviz.domain.cycles import DAYS
from dpviz.errors import DomainError
from dpviz.exports.scenes import scene_page
from dpviz.methods import METHODS, names
from dpviz.private.load.data import load
from dpviz.private.load.roads import city_trips
from dpviz.private.roads import exact_visits
from dpviz.releases.roads.graph_file import read_graph
from dpviz.render.basemap import city_ground
from dpviz.render.roads import (
    answer_marks,
    bounds,
    degrees,
    domain_marks,
    ground,
    node_degrees,
    section_colors,
    start_marks,
    street_marks,
    street_scale,
    streets_above_noise,
)
from dpviz.roads.routing import shortest_path
from dpviz.ui.roads.source import IN_TIME
from tests.geojson import lines
from tests.ui.files import NODES, exact_facts, with_trips
from tests.ui.opening import (
    app_to_leave,
    metrics,
    named,
    open_tab,
    opened_page,
    table,
    texts,
    there_and_back,
)
from tests.ui.paying import pay, price

opened = partial(opened_page, "roads")
AVERAGE = "Trips per street, on average (noisy)"


@pytest.mark.slow
def test_a_permalink_gives_the_shortest_path_with_its_interval():
    app = opened(**{"from": "5790", "to": "4200", "seed": "3"})
    shown = metrics(app)
    assert "±" in shown[AVERAGE]
    graph = city_trips().graph
    edges = shortest_path(graph, 5790, 4200)
    exact = int(exact_visits(city_trips())[edges].sum())
    assert shown["Exact total (public data)"] == f"{exact:,}"
    (words,) = (each.value for each in app.markdown if f"{len(edges)} streets in" in each.value)
    (sums,) = (each.value for each in app.caption if f"All {len(edges)} streets" in each.value)
    total, half = (int(each.replace(",", "")) for each in re.findall(r"[\d,]+", sums)[1:3])
    mean, error = map(float, shown[AVERAGE].split(" ± "))
    assert mean == pytest.approx(total / len(edges), abs=half / len(edges))
    assert error == pytest.approx(half / len(edges), rel=0.2)
    # Ends that fit the total.
    assert f"{total - half:,} to {total + half:,}" in words.replace("\\", "")
    assert "**Error from truncation:** about" in words
    assert "of all visits are counted" in words
    assert not app.warning
    assert any("Demo · synthetic" in each.value for each in app.markdown)


def test_streets_in_metres_that_are_called_degrees_are_refused(tmp_path):
    content = lines([(450_000, 5_800_000), (450_100, 5_800_000)]).encode()
    app = with_trips(
        opened(data="files"), "t.csv", "trip,edge\n1,0\n", {"streets.geojson": content}
    )
    words = "The road graph lies nowhere on the Earth in EPSG:4326: name its CRS"
    assert words in app.main.error[0].value.replace("\\", "")
    # A release of these streets, built with given lengths, has no map either.
    (tmp_path / "streets.geojson").write_bytes(content.replace(b"{}", b'{"length": 100}'))
    graph = read_graph(tmp_path / "streets.geojson")
    with pytest.raises(DomainError, match="nowhere on the Earth in EPSG:4326"):
        ground(graph, "streets")


def test_the_ends_of_a_path_are_chosen_by_the_places_near_them():
    app = opened()
    for label, place in (("From", "Highfield"), ("To", "Quarry")):
        box = named(app.selectbox, label)
        box.select_index(box.options.index(place)).run()
    assert {"from", "to"} <= {*app.query_params}
    assert AVERAGE in metrics(app)
    streets = table(open_tab(app, "Table", "roads"), "where")["where"]
    assert all(re.search("(^| of )[A-Z]", each) for each in streets)


@pytest.mark.slow
def test_a_hopeless_epsilon_is_said_plainly():
    app = opened(epsilon="0.01", method="dwork")
    assert "is no better than answering zero" in app.warning[0].value


def test_at_most_one_in_twenty_streets_drawn_thick_is_noise_and_few_are_said():
    """Regression: at ε = 0.1 hundreds of streets looked jammed, most of them by chance."""
    app = opened(epsilon="0.1", seed="1")
    assert "few stand out on the map" in app.warning[0].value
    assert int(metrics(app)["Streets above the noise"].split(" of ")[0]) < 10
    random, streets, busy = np.random.default_rng(4), 11_105, 500
    for scale in (0.3, 30.0):  # of the noise, whose tail is longer on whole numbers
        chance = 1 - np.exp(-1 / scale)
        noise = random.geometric(chance, (20, streets)) - random.geometric(chance, (20, streets))
        sd = np.full(streets, np.sqrt(2 * (1 - chance)) / chance)
        noise[:, :busy] += np.int64(12 * sd[0]) + 1
        answers = [SimpleNamespace(count=each, noise_sd=sd) for each in noise]
        thick = np.array([streets_above_noise(SimpleNamespace(answers=each)) for each in answers])
        assert thick[:, :busy].mean() > 0.99
        assert 0.02 < thick[:, busy:].sum() / thick.sum() < 0.06


@pytest.mark.slow
def test_lengths_that_noise_hides_estimate_no_share_of_visits():
    """Regression: a number of any size was shown, most of it noise above zero."""
    hidden = metrics(opened(epsilon="0.01", seed="1"))
    assert hidden["Visits counted (estimate)"] == "below the noise"
    assert metrics(opened(epsilon="1"))["Visits counted (estimate)"].endswith("%")


def test_no_method_is_offered_by_its_internal_name():
    """Regression: one method's title was written nowhere else, so its name was shown."""
    titles = opened().selectbox(key="roads.method").options
    assert len(set(titles)) == len(names("roads"))
    assert not {*titles} & {*names("roads")}


def test_a_total_that_makes_good_for_truncation_is_not_called_after_it():
    app = opened(**{"from": "5790", "to": "4200", "method": "flows"})
    (average,) = (each for each in app.metric if each.label == AVERAGE)
    assert "cut off" not in texts(app)
    assert "the estimate of what truncation cut off" in average.help
    assert not any("Error from truncation" in each.value for each in app.markdown)


@pytest.mark.slow
def test_every_parameter_of_a_method_is_in_the_form_and_reaches_the_release():
    app = opened(**{"from": "5790", "to": "4200", "seed": "3"})
    first = metrics(app)[AVERAGE]
    kinds = (app.number_input, app.selectbox, app.checkbox)
    keys = {widget.key for kind in kinds for widget in kind}
    fields = METHODS["event-histogram"].parameter_fields()
    assert {f"roads.event-histogram.{name}" for name in fields} <= keys
    app.selectbox(key="roads.event-histogram.index").set_value("flat").run()
    assert metrics(app)[AVERAGE] != first


@pytest.mark.slow
def test_own_events_at_places_count_on_their_nearest_streets():
    graph = lines([(-9.15, 38.72), (-9.14, 38.72)], [(-9.14, 38.72), (-9.14, 38.73)])
    rows = "".join(f"-9.1401,38.72{row % 10},p{row}\n" for row in range(500))
    events = f"east,north,who\n{rows}"
    app = with_trips(opened(data="files"), "crashes.csv", events, {"streets.geojson": graph})
    assert "each row is an event" in texts(app)
    east, north = (box for box in app.selectbox if box.label.endswith((" / x", " / y")))
    east.set_value("east")
    north.set_value("north").run()
    assert "Each event is another person" in app.selectbox(key="roads.unit").options
    named(app.button_group, "These records are").set_value("public").run()
    # A reload restores the files' choice, not the city.
    assert "files" in app.query_params.get("data", "")
    release = app.session_state["roads.built"][1]
    assert (release.records, release.limit) == ("events", 1)
    assert release.answers.count.round(-2).tolist() == [0, 500]
    assert "Streets counted per trip" not in metrics(app)
    assert metrics(app)["Noise of a typical query"].endswith("events")


def test_events_in_a_plane_of_its_own_need_no_crs_and_a_wrong_one_is_said():
    graph = {"nodes.csv": NODES, "edges.csv": "edge,src,dst\n1,a,b\n2,b,c\n"}
    app = with_trips(opened(data="files"), "crashes.csv", "x,y\n0.5,0.1\n", graph)
    assert [each.value for each in app.error] == []
    assert exact_facts(app) == "1 records read, 1 kept."
    app.text_input(key="roads.crs").set_value("EPSG:nothing").run()
    assert "is unknown" in app.error[0].value


@pytest.mark.slow
def test_the_crs_of_streets_is_asked_for_where_no_file_states_it():
    edges, trips = "edge,src,dst\n1,a,b\n2,b,c\n", "trip,edge\n1,1\n1,2\n"
    graph = {"nodes.csv": "node,x,y\na,10,60\nb,10.01,60\nc,10.02,60\n", "edges.csv": edges}
    app = with_trips(opened(data="files"), "walks.csv", trips, graph)
    assert app.session_state["roads.upload"][1].graph.crs == ""
    app.text_input(key="roads.graph_crs").set_value("EPSG:4326").run()
    told = app.session_state["roads.upload"][1].graph
    assert (told.crs, told.length.round().tolist()) == ("EPSG:4326", [558.0, 558.0])
    graph["nodes.csv"] = graph["nodes.csv"].replace("x,y", "lon,lat")
    with_trips(app, "walks.csv", trips, graph)
    assert not any(box.key == "roads.graph_crs" for box in app.text_input)
    assert app.session_state["roads.upload"][1].graph.crs == "EPSG:4326"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_owner_s_exact_facts_of_own_files_stand_before_the_payment(form):
    trips = b"trip,edge\n1,1\n1,2\n2,moon\n"
    if form == "jsonl":  # JSON lines declare no columns: the form asks for them
        steps = (b'{"trip": 1, "edge": 1}', b'{"trip": 1, "edge": 2}', b'{"trip": 2, "edge": "x"}')
        trips = b"\n".join(steps)
    app = with_trips(opened(data="files"), f"walks.{form}", trips)
    assert len(app.get("bidi_component")) == 1  # the public streets on a map
    assert app.selectbox(key="roads.unit").label == "What is one person in your file?"
    facts = exact_facts(app)
    assert facts.startswith("3 records read, 1 kept (")
    assert "1 with a street or symbol that the public graph or alphabet lacks: check the" in facts


def test_a_graph_that_cannot_be_read_is_said_in_sight():
    app, edges = opened(data="files"), "id,from,to\n1,a,a\n"
    for nodes, line in (
        (NODES, "edge table has no column 'src'"),
        ("node,lon\na,0\n", "node table has no column 'lat'"),
    ):
        with_trips(app, "walks.csv", "trip,edge\n1,1\n", {"nodes.csv": nodes, "edges.csv": edges})
        assert line in app.main.error[0].value


@pytest.fixture(scope="module")
def release():
    from dpviz.build import build
    from dpviz.roads.generate import clustered_workload

    data = city_trips()
    return build(data, "min+opt+tru", 1.0, workload=clustered_workload(data.graph, 10), seed=1)


@pytest.mark.slow
def test_every_street_is_drawn_once_and_noise_is_grey(release):
    marks = {mark.id: mark for mark in street_marks(release, street_scale(release))}
    assert sum(mark.table.num_rows for mark in marks.values()) == len(release.frame.graph)
    above = streets_above_noise(release)
    quiet, *classes = marks
    assert marks[quiet].table.num_rows == (~above).sum()
    counts = [np.array(marks[each].table["count"]) for each in classes]
    for less, more in pairwise(counts):  # the busiest are drawn last, and are the fewest
        assert less.max() <= more.min()
    assert len(counts[-1]) < len(counts[0])
    tree = {mark.id: mark for mark in domain_marks(release)}
    short, long = (tree[f"sections.{each}"].table.num_rows for each in ("short", "long"))
    assert short + long == len(release.frame.graph)
    assert 0 < long < short / 2  # few colours on the whole map


def test_a_path_begins_with_a_dot_and_ends_with_an_arrow_s_head(release):
    """Both ends were the same dot."""
    graph = release.frame.graph
    place = node_degrees(graph)
    for ends in (("5790", "4200"), ("4200", "5790")):
        start, stop = map(graph.node_row, ends)
        marks = answer_marks(release, start, shortest_path(graph, *ends))
        (ring,) = {mark.id: mark for mark in marks}["head.0"].table["polygon"].to_pylist()
        tip, base = np.array(ring[0]), np.mean(ring[1:3], axis=0)
        np.testing.assert_allclose(base, place[stop])
        assert np.dot(tip - base, place[stop] - place[start]) > 0
        dot = {mark.id: mark for mark in start_marks(graph, np.array([start, stop]))}["start"]
        np.testing.assert_allclose(dot.table["position"].to_pylist(), place[[start]])


def test_sections_that_meet_differ_in_colour(release):
    graph, domains = release.frame.graph, release.frame.domains
    path = domains.path[domains.position]
    colors = section_colors(graph, path).tolist()
    offset, dart = graph.incidence
    for node in np.split(dart // 2, offset[1:-1]):
        assert len({path[edge] for edge in node}) == len({(*colors[edge],) for edge in node})


def test_a_plane_of_its_own_is_laid_on_the_map(odd_plane):
    place = node_degrees(odd_plane)
    np.testing.assert_allclose(place.min(axis=0), [-0.1, -0.05])
    np.testing.assert_allclose(place.max(axis=0), [0.1, 0.05])
    assert degrees(odd_plane).shape == odd_plane.line_xy.shape
    assert ground(odd_plane, "city") == ()


def test_the_built_in_city_is_on_its_own_ground(release):
    """Files too: the Earth has a coast where the release lies."""
    marks = [mark.id for mark in city_ground()]
    shown = ground(release.frame.graph, "city")
    assert [mark.id for mark in shown] == marks
    (banks,) = (mark.table["path"].to_pylist() for mark in shown if mark.id == "river")
    east = max(lon for line in banks for lon, _ in line)
    assert east == pytest.approx(bounds(release.frame.graph)[2])  # it ended in the country beyond
    page = scene_page(release)
    layers = json.loads(re.search(r'id="scene"[^>]*>(.*?)</script>', page, re.DOTALL)[1])["layers"]
    assert {*marks} < {each["id"] for each in layers}


@pytest.fixture
def odd_plane():
    from dpviz.roads.tables import road_graph

    nodes = {"node": [1, 2, 3], "x": [0, 2000, 1000], "y": [0, 0, 1000]}
    return road_graph(nodes, {"src": [1, 2], "dst": [2, 3]})


def window(app):
    (slider,) = [each for each in app.select_slider if ".window." in each.key]
    return slider


@pytest.mark.slow
def test_trips_by_weekday_are_looked_at_in_a_window_of_steps():
    """The address says which steps: map, answer and exact total are of them, the chart of all."""
    ends = {"from": "5790", "to": "4200"}
    app = opened(**ends, method="dwork", by="week", period="Mon 00:00,Sat 00:00")
    slider = window(app)
    assert slider.value == (0, 5)
    assert "5 of 7 steps of 1 day" in texts(app)
    exact = metrics(app)["Exact total (public data)"]
    data = load("city", kind="roads", **IN_TIME["week"])
    edges = shortest_path(data.graph, 5790, 4200)
    counts = [int(exact_visits(data, slice(at, at + 1))[edges].sum()) for at in range(7)]
    assert exact == f"{sum(counts[:5]):,}"
    assert table(app, "low")["from"].tolist() == [f"{day} 00:00" for day in DAYS]
    assert "–" not in metrics(app).values()  # no fact is left blank
    slider.set_range(5, 7).run()
    assert metrics(app)["Exact total (public data)"] == f"{sum(counts[5:]):,}"
    assert app.query_params["period"] == "Sat 00:00,Sun 24:00"
    assert app.query_params["by"] == "week"


def test_a_window_is_found_again_by_who_comes_back_to_the_page():
    app = app_to_leave("roads")
    app.query_params.update({"method": "dwork", "by": "week"})
    window(app.run()).set_range(2, 4).run()
    there_and_back(app)
    assert window(app).value == (2, 4)
    assert app.query_params["period"] == "Wed 00:00,Fri 00:00"


def test_the_address_holds_the_relation_and_the_parameters_of_the_method():
    """Who opened it again had half of the noise, without a word."""
    asked = {"method": "event-histogram", "neighbours": "replace", "set": "index:flat"}
    app = opened(**asked)
    assert app.radio(key="roads.neighbours").value == "replace"
    assert app.selectbox(key="roads.event-histogram.index").value == "flat"
    assert asked.items() <= {name: app.query_params[name] for name in app.query_params}.items()
    assert "neighbours 'nobody'" in opened(neighbours="nobody").warning[0].value


def test_a_price_to_replace_a_trip_is_what_the_ledger_counts():
    """The page named twice of it, and refused what would have been enough."""
    app = with_trips(opened(data="files"), "walks.csv", "trip,edge\n1,1\n1,2\n2,2\n")
    app.radio(key="roads.neighbours").set_value("replace").run()
    assert price(app).label == "Publish: spend ε = 0.5"
    pay(app)
    (account,) = Ledger().accounts()
    assert account.spent == 0.5
    assert account.spends[0].charged == 0.5
