"""Who comes to a server without a login: its one person, or a browser until it is closed.

Streamlit begins anew at every reload. What a browser has paid for is not lost with that, nor is the
budget forgotten that it has spent: a random name in a cookie lasts until the browser is closed. It
is given where others reach the server only, and no program of a page can read it.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import uuid
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "dpviz-visit"
RELAYED = ("x-forwarded-", "x-real-ip", "forwarded", "via")
"""How headers begin of a request that came over a proxy, whatever host its sender claims."""
_NAME = re.compile(r"[0-9a-f]{32}")


def is_here(address: str | None) -> bool:
    """Whether an address is this machine alone.

    >>> is_here("127.0.0.1"), is_here("localhost"), is_here("0.0.0.0"), is_here(None)
    (True, True, False, False)
    """
    if address is None or address == "localhost":
        return address is not None
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address.startswith("unix:")


def from_here(address: str | None, headers: Mapping[str, str]) -> bool:
    """Whether only this computer reaches a server at the address, and asks it without a proxy.

    >>> from_here("127.0.0.1", {"Host": "localhost:8501"})
    True
    """
    given = {name.lower(): value for name, value in headers.items()}
    host = given.get("host", "localhost").rsplit(":", 1)[0].strip("[]")
    return (
        is_here(address) and is_here(host) and not any(name.startswith(RELAYED) for name in given)
    )


def visit_of(cookies: Mapping[str, str]) -> str | None:
    """The visit that a browser's cookies name, which files may keep: no cookie follows from it."""
    name = str(cookies.get(COOKIE, ""))  # a page that no browser runs has a mock for cookies
    return hashlib.sha256(name.encode()).hexdigest()[:32] if _NAME.fullmatch(name) else None


class Visits:
    """Gives a browser that comes from elsewhere a cookie with its page.

    Args:
        app: that answers.
        address: where the server listens.
        known: whether a login says who comes.
        path: of the app on this server.
    """

    def __init__(
        self,
        app: ASGIApp,
        address: Callable[[], str | None],
        known: Callable[[], bool],
        path: Callable[[], str],
    ) -> None:
        self._app, self._address, self._known, self._path = app, address, known, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if (
            "text/html" not in headers.get("accept", "")
            or visit_of(cookie_parser(headers.get("cookie", "")))
            or from_here(self._address(), headers)
            or self._known()
        ):
            await self._app(scope, receive, send)
            return
        given, asked = Response(), headers.get("x-forwarded-proto", "")
        given.set_cookie(
            COOKIE,
            uuid.uuid4().hex,
            path=self._path().rstrip("/") or "/",  # also of the page whose address ends before it
            secure=scope.get("scheme") == "https" or asked.startswith("https"),
            httponly=True,
            samesite="lax",  # strict: a link from elsewhere would come without it, and get another
        )

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.append("set-cookie", given.headers["set-cookie"])
                answered["cache-control"] = "no-store"  # a proxy would hand it to others
            await send(message)

        await self._app(scope, receive, answer)
