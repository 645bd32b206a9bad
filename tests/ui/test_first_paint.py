"""The page that a browser gets first: styled, sketched, asking for deck.gl; all else untouched."""

import asyncio
from pathlib import Path

import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from dpviz.ui.first_paint import SKETCH, FirstPaint, style
from dpviz.ui.server import HOME
from dpviz.ui.shared.navigation import page_modules
from tests.ui.loop import run

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
LARGE = max((INDEX.parent / "static" / "js").glob("*.js"), key=lambda path: path.stat().st_size)
"""Comes in several messages."""
DECK = "/base/deck.js?1"


def answer(path, **asked):
    """Status, headers and text of a request, as a browser asks that accepts packed pages."""
    routes = [
        Route("/", lambda request: FileResponse(INDEX)),
        Route("/file", lambda request: JSONResponse({"a": "</head>"})),
        Route("/large", lambda request: FileResponse(LARGE, media_type="application/zip")),
        Route("/wrong", lambda request: PlainTextResponse("<html></head>", 404)),
    ]
    middleware = [Middleware(FirstPaint, deck=lambda: DECK, home=HOME), Middleware(GZipMiddleware)]
    app = Starlette(routes=routes, middleware=middleware)
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in asked.items()]
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        await asyncio.Event().wait()  # a browser that says nothing more

    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    scope["query_string"] = query.encode()
    run(app(scope, receive, send))
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
    for part in (style(), f'<div id="root">{SKETCH}</div>', f'src="{DECK}"', "<title>dpviz<"):
        assert page.count(part) == 1


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
