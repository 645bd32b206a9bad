"""The page that a browser gets first: styled, sketched, asking for deck.gl; all else untouched."""

from pathlib import Path

import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from dpviz.render import basemap
from dpviz.ui.first_paint import SKETCH, FirstPaint, demo, style
from dpviz.ui.server import HOME, OPENED, shows_demo
from dpviz.ui.shared.navigation import page_modules
from tests.ui.loop import answers

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
LARGE = max((INDEX.parent / "static" / "js").glob("*.js"), key=lambda path: path.stat().st_size)
"""Comes in several messages."""
DECK = "/base/deck.js?1"


def answer(path, **asked):
    """Status, headers and text of a request, as a browser asks that accepts packed pages."""
    routes = [
        Route("/", lambda request: FileResponse(INDEX)),
        Route("/demo", lambda request: FileResponse(INDEX)),
        Route("/file", lambda request: JSONResponse({"a": "</head>"})),
        Route("/large", lambda request: FileResponse(LARGE, media_type="application/zip")),
        Route("/wrong", lambda request: PlainTextResponse("<html></head>", 404)),
    ]
    paint = Middleware(FirstPaint, deck=lambda: DECK, home=HOME, plain=lambda path: path == "/demo")
    middleware = [paint, Middleware(GZipMiddleware)]
    app = Starlette(routes=routes, middleware=middleware)
    headers = {name.replace("_", "-"): value for name, value in asked.items()}
    path, _, query = path.partition("?")
    sent = answers(app, headers, method="GET", path=path, query_string=query.encode())
    body = b"".join(message.get("body", b"") for message in sent)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert int(named["content-length"]) == len(body)
    assert [message["type"] for message in sent].count("http.response.start") == 1
    return sent[0]["status"], named, body.decode()


def test_a_page_comes_with_its_style_a_sketch_and_the_address_of_deck():
    _, named, plain = answer("/", accept="*/*")
    assert plain == INDEX.read_text(encoding="utf-8")
    again = {"accept_encoding": "gzip", "if_none_match": named["etag"]}  # never an older style
    status, _, page = answer("/", accept="text/html,*/*", **again)
    assert status == 200
    assert 'src: url("./static/media/SourceSansVF-Upright' in page
    for part in (style(), SKETCH % "", f'src="{DECK}"', "<title>dpviz<"):
        assert page.count(part) == 1


def test_a_picture_of_the_demo_comes_to_those_alone_who_ask_for_nothing_else():
    assert demo() in answer("/demo", accept="text/html")[2]
    assert "<picture>" not in answer("/demo?epsilon=2", accept="text/html")[2]
    assert len(demo()) < 60_000


def test_the_demo_is_shown_at_the_first_page_of_a_server_that_shows_nothing_else(monkeypatch):
    for name in (OPENED, basemap.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    assert [shows_demo(path) for path in ("/", "/compare", "/maps/")] == [True, False, False]
    for name in (OPENED, basemap.VARIABLE):
        with monkeypatch.context() as other:
            other.setenv(name, "file")
            assert not shows_demo("/")
    monkeypatch.setattr("dpviz.ui.server.has_login", lambda: True)
    assert not shows_demo("/")


def test_what_is_no_page_is_handed_on_as_it_is():
    assert answer("/file", accept="text/html")[2] == '{"a":"</head>"}'
    assert answer("/wrong", accept="text/html")[::2] == (404, "<html></head>")
    assert answer("/large", accept="text/html")[2] == LARGE.read_text(encoding="utf-8")


def test_the_name_of_the_first_page_leads_to_it():
    status, named, _ = answer("/maps/explore?data=city-50k", accept="text/html")
    assert (status, named["location"]) == (307, "./?data=city-50k")
    assert answer("/explore", accept="text/html")[1]["location"] == "./"
    assert page_modules()[0].__name__.endswith(f".{HOME}")


def test_the_style_sheet_is_closed():
    assert style().count("{") == style().count("}")
