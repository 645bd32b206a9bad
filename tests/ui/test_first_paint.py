"""The page that a browser gets first: styled, sketched, asking for deck.gl."""

from starlette.applications import Starlette

from dpviz.render import basemap
from dpviz.ui import server
from dpviz.ui.first_paint import INDEX, SKETCH, demo, pages, style
from dpviz.ui.server import HOME, OPENED, shows_demo
from dpviz.ui.shared.navigation import page_modules
from tests.ui.loop import answers

DECK = "/maps/deck.js?1"


def answer(path, newcomer=True):
    """Status, headers and text of a request."""
    app = Starlette(routes=pages("/maps/", DECK, HOME, lambda: newcomer))
    path, _, query = path.partition("?")
    sent = answers(app, {}, method="GET", path=path, query_string=query.encode())
    body = b"".join(message.get("body", b"") for message in sent)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], named, body.decode()


def test_a_page_comes_with_its_style_a_sketch_and_the_address_of_deck():
    status, named, page = answer("/maps/compare")
    assert (status, named["cache-control"]) == (200, "no-cache")  # an old style must not be cached
    for part in (style(), SKETCH % "", f'src="{DECK}"', "<title>dpviz<"):
        assert page.count(part) == 1
    assert 'src: url("./static/media/SourceSansVF-Upright' in page
    assert len(page) - len(style()) < len(INDEX.read_text()) + 4_000


def test_a_picture_of_the_demo_comes_to_those_alone_who_ask_for_nothing_else():
    assert demo() in answer("/maps/")[2]
    assert len(demo()) < 60_000
    for path in ("/maps/?epsilon=2", "/maps/compare"):
        assert "<picture>" not in answer(path)[2]
    assert "<picture>" not in answer("/maps/", newcomer=False)[2]


def test_the_demo_is_shown_by_a_server_that_shows_nothing_else(monkeypatch):
    for name in (OPENED, basemap.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    assert shows_demo()
    for name in (OPENED, basemap.VARIABLE):
        with monkeypatch.context() as other:
            other.setenv(name, "file")
            assert not shows_demo()
    monkeypatch.setattr(server, "has_login", lambda: True)
    assert not shows_demo()


def test_addresses_other_than_pages_are_left_to_streamlit():
    for path in ("/maps/favicon.png", "/maps/static/js/index.js", "/maps/oauth2callback", "/"):
        assert answer(path)[0] == 404


def test_the_name_of_the_first_page_and_an_unknown_one_lead_to_it():
    status, named, _ = answer("/maps/explore?data=city-50k")
    assert (status, named["location"]) == (307, "./?data=city-50k")
    for path in ("/maps/explore", "/maps/movement"):
        assert answer(path)[1]["location"] == "./"
    assert page_modules()[0].__name__.endswith(f".{HOME}")


def test_the_style_sheet_is_closed():
    assert style().count("{") == style().count("}")
