"""Planted records reach no message or address of Trips, Roads, Sequences and Compare, nor of
Explore by kinds, values or areas.

The other pages are driven in a browser; Learn shows built-in data alone.
"""

from functools import cache

import numpy as np
import pytest

import dpviz
from dpviz.ui.sequences.source import PLACES
from dpviz.ui.sequences.view import MOVES, VIEWS
from dpviz.ui.shared.preflight import OWNER_ONLY
from tests.browser.test_secrets import INSIDE, LONELY, NAME, RECORDS, STRAY, encodings, secrets_in
from tests.browser.test_secrets import SECRETS as PLANTED
from tests.ui.files import bounded, uploaded, with_trips
from tests.ui.opening import named, opened_page
from tests.ui.paying import pay

pytestmark = pytest.mark.slow

MODE, FARE = "Planted-Sled", 31.4159265359
SECRETS = {**PLANTED, "kind": [MODE.encode()], "value": encodings(FARE)}


@cache
def planted(ends):
    """A file of points (1) or of trips (2 ends), with one far from all others and some outside."""
    places = np.random.default_rng(8).normal([14.6, -23.5], 0.05, size=(ends, RECORDS, 2)).round(7)
    places[:, 0] = LONELY
    places[:, 1 : 1 + RECORDS - INSIDE] = STRAY
    names = "lon,lat" if ends == 1 else "plon,plat,dlon,dlat"
    rows = [
        ",".join(f"{value:.10f}" for value in row)
        + f",{NAME} {at},{MODE if at % 50 == 0 else 'bike'},{FARE if at == 0 else at % 7}"
        for at, row in enumerate(np.concatenate(places, axis=1).tolist())
    ]
    return "\n".join([f"{names},name,mode,fare", *rows]).encode()


def sent(node, owner=False):
    """Messages to the browser for an element and its children, without the owner's part.

    With ``owner`` that alone.
    """
    children = getattr(node, "children", {}).values()
    message = node.proto.SerializeToString() if getattr(node, "proto", None) is not None else b""
    message = message if (OWNER_ONLY.encode() in message) == owner else b""
    return b"\n".join([message, *(sent(each, owner) for each in children)])


def secrets_of(app):
    return secrets_in(sent(app._tree) + repr(app.query_params).encode(), SECRETS)


def opened_upload(page, ends, **address):
    app = opened_page(page, data="Your own file", **address)
    return bounded(uploaded(app, f"{page}.file", "visits.csv", planted(ends)), page)


def test_nothing_of_sensitive_trips_is_on_the_page_of_trips():
    app = opened_upload("trips", 2)
    assert secrets_of(app) == set()
    assert secrets_in(sent(app._tree, owner=True), SECRETS) == {"count of all", "count inside"}
    pay(app)
    assert len(app.get("bidi_component")) == 4  # two maps, and an overlay on each
    assert len(sent(app._tree)) > 10_000
    assert secrets_of(app) == set()


MOMENT = 1_551_766_027
"""When the one far from all others was there: seconds, beyond all other times."""


def test_nothing_of_sensitive_sequences_leaves_the_vault(tmp_path, caplog):
    """The planted places, seven of each person, at an hour of their own; in every view.

    After the demo they open on their moves, and the browser hears of it.
    """
    lines = planted(1).decode().splitlines()[1:]
    rows = [
        ",".join([*line.split(",")[:2], f"{NAME} {row // 7}", str(row * 3600)])
        for row, line in enumerate(lines)
    ]
    rows[0] = rows[0].rsplit(",", 1)[0] + f",{MOMENT}"
    walks = "\n".join(["lon,lat,person,time", *rows])
    app = opened_page("sequences")
    app.selectbox(key="sequences.data").set_value(PLACES).run()
    uploaded(app, "sequences.file", "walks.csv", walks)
    named(app.selectbox, "Times are written as").set_value("seconds")
    bounded(app, "sequences")
    received = [sent(app._tree)]
    pay(app)
    first = app.segmented_control(key="sequences.show")
    assert (first.value, first.proto.set_value) == (MOVES, True)
    for view in VIEWS:
        app.segmented_control(key="sequences.show").set_value(view).run()
        received += [sent(app._tree), repr(app.query_params).encode()]
    assert all(len(each) > 10_000 for each in received[1::2])
    shown = app.session_state["sequences.view"][1].release
    ledger = dpviz.Ledger()
    assert ledger.account("walks").spent == 1.0
    beside = ledger.path.parent.glob(f"{ledger.path.name}*")  # also SQLite's other files
    received += [path.read_bytes() for path in (dpviz.save(shown, tmp_path / "r.parquet"), *beside)]
    for each in (*received, caplog.text.encode()):
        assert secrets_in(each, SECRETS) == set()
        assert not any(form in each for form in encodings(MOMENT))


STEPS = 20_117
"""How many rows the walkers' file has."""
HOME = "secret-home-12"
"""Where one of them turned in: no street of the public graph."""


def test_nothing_of_sensitive_trips_on_roads_leaves_the_vault(tmp_path, caplog):
    """Walkers on three streets, a trip of two steps each; the last one of all goes home."""
    rows = [
        f"{NAME} {row // 2},{NAME} {row // 2},{1 + row // 2 % 2 + row % 2}" for row in range(STEPS)
    ]
    rows[-1] = rows[-1].rsplit(",", 1)[0] + f",{HOME}"
    trips = "\n".join(["person,trip,edge", *rows])
    app = with_trips(opened_page("roads", data="files"), "routes.csv", trips)
    received = [sent(app._tree)]
    pay(app)
    release = dpviz.save(app.session_state["roads.shown"].release, tmp_path / "r.parquet")
    ledger = dpviz.Ledger()
    assert ledger.account("routes").spent == 1.0
    received += [sent(app._tree), repr(app.query_params).encode(), caplog.text.encode()]
    beside = ledger.path.parent.glob(f"{ledger.path.name}*")  # also SQLite's other files
    received += [path.read_bytes() for path in (release, *beside)]
    for secret in (NAME.encode(), HOME.encode(), *encodings(STEPS)):
        assert not any(secret in each for each in received), secret


def test_compare_shows_nothing_of_sensitive_records_and_all_of_public_ones():
    app = opened_upload("compare", 1, rect="14,-24,15,-23")
    assert secrets_of(app) == set()
    assert any("for public records only" in each.value for each in [*app.info, *app.warning])
    app.segmented_control(key="compare.public.upload").set_value("public").run()
    assert "count inside" in secrets_of(app)  # the search finds an exact count if it is shown


def test_nothing_of_kinds_values_and_areas_is_on_the_page(monkeypatch):
    app = opened_upload("explore", 1)
    choices = {each.key: each for each in app.selectbox}
    for what, column in (("kinds", "mode"), ("values", "fare")):
        (key,) = [key for key in choices if f"{what}.column" in str(key)]
        choices[key].set_value(column)
    app.run()
    assert secrets_of(app) == set()
    app.text_area(key="explore.kinds.names").set_value("bike, walk")
    app.number_input(key="explore.values.low").set_value(0.0)
    app.number_input(key="explore.values.high").set_value(50.0).run()
    pay(app)
    app.session_state["explore.rect"] = (14.0, -24.0, 15.0, -23.0)
    app.run()
    assert "Sum of fare" in [each.label for each in app.metric]
    assert secrets_of(app) == set()
    for what in ("kinds", "values"):
        next(s for s in app.selectbox if f"{what}.column" in str(s.key)).set_value(None)
    app.run()
    app.selectbox(key="explore.method").set_value("areas").run()
    pay(app)
    assert "Areas" in [each.label for each in app.metric]
    assert secrets_of(app) == set()
