"""A browser that comes from elsewhere is known until it is closed; nobody else is given a name."""

import re
from types import SimpleNamespace

import pytest
from starlette.datastructures import Headers

from dpviz.ui import visits
from dpviz.ui.shared import releases
from tests.ui.loop import answers

PAGE = {"accept": "text/html", "host": "maps.example.org"}
RELAYED = {"accept": "text/html", "host": "localhost", "x-forwarded-for": "192.0.2.7"}
NAME = "0123456789abcdef" * 2


def cookie(headers, *, address="127.0.0.1", known=False, path="/", kind="http", scheme="http"):
    """The cookie that comes with the answer to a request, and what it says of itself."""

    async def page(scope, receive, send):
        headers = [(b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    app = visits.Visits(page, lambda: address, lambda: known, lambda: path)
    sent = answers(app, headers, type=kind, scheme=scheme)
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    answered = Headers(raw=sent[0]["headers"])
    cookies = answered.getlist("set-cookie")
    assert answered.getlist("cache-control") == ["no-store" if cookies else "no-cache"]
    return cookies


def test_a_browser_from_elsewhere_gets_a_name_that_no_program_of_a_page_reads():
    names = set()
    for headers, scheme, secure in (
        (PAGE, "http", False),
        (PAGE, "https", True),
        ({**PAGE, "x-forwarded-proto": "https,http"}, "http", True),
        (RELAYED, "http", False),
        ({"accept": "text/html", "host": "localhost", "x-forwarded-proto": "https"}, "http", True),
        ({**PAGE, "cookie": f"{visits.COOKIE}=x; other={NAME}"}, "http", False),
    ):
        (given,) = cookie(headers, path="/maps/", scheme=scheme)
        first, *rest = given.split("; ")
        encrypted = {"Secure"} if secure else set()
        assert set(rest) == {"HttpOnly", "Path=/maps", "SameSite=lax"} | encrypted
        names.add(re.fullmatch(rf"{visits.COOKIE}=([0-9a-f]{{32}})", first)[1])
    assert len(names) == 6
    assert "Path=/" in cookie(PAGE)[0].split("; ")


@pytest.mark.parametrize(
    ("headers", "options"),
    [
        ({"accept": "text/html", "host": "localhost:8501"}, {}),
        ({**PAGE, "cookie": f"a=b; {visits.COOKIE}={NAME}"}, {}),
        (PAGE, {"known": True}),
        ({**PAGE, "accept": "*/*"}, {}),
        ({"host": "maps.example.org"}, {}),
        (PAGE, {"kind": "websocket"}),
    ],
    ids=["of this computer", "known already", "with a login", "no page", "a program", "a socket"],
)
def test_nobody_else_is_given_one(headers, options):
    assert cookie(headers, **options) == []


def test_a_visit_follows_from_the_cookie_and_no_cookie_from_it(monkeypatch):
    monkeypatch.setattr(releases, "has_login", lambda: False)
    monkeypatch.setattr(releases, "alone", lambda: False)

    def visitor(**cookies):
        named = {name.replace("_", "-"): value for name, value in cookies.items()}
        context = SimpleNamespace(cookies=named)
        monkeypatch.setattr(releases.st, "context", context)
        monkeypatch.setattr(releases.st, "session_state", {})
        first = releases.visitor()
        context.cookies = {}  # a page stays who it was, whatever becomes of the cookie
        assert releases.visitor() == first
        assert re.fullmatch("visit:[0-9a-f]{32}", first)
        return first

    assert visitor(dpviz_visit=NAME) == visitor(dpviz_visit=NAME, other="x")
    assert NAME not in visitor(dpviz_visit=NAME)
    others = [{}, {}, {"dpviz_visit": "../x"}, {"dpviz_visit": "../x"}, {"dpviz_visit": NAME[:-1]}]
    assert len({visitor(**each) for each in others} | {visitor(dpviz_visit=NAME)}) == 6
