"""Web server around the pages: allowed requests, response headers, startup.

It serves only this machine unless its owner opens it to others, refuses requests from other
origins, and makes no outgoing requests. It handles requests, never records.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import App, cli_util, config
from streamlit.web.server import server_util

from dpviz import Ledger
from dpviz.errors import DpvizError, ParameterError
from dpviz.files import sandbox
from dpviz.render import basemap
from dpviz.ui import patches
from dpviz.ui.first_paint import pages
from dpviz.ui.local import is_loopback
from dpviz.ui.map.component import DECK, bundle_url
from dpviz.ui.shared import log
from dpviz.ui.shared.access import has_login
from dpviz.ui.shared.navigation import PAGE, base_path
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.uploads import private_folder
from dpviz.ui.upload_limit import UploadLimit

SCRIPT = Path(__file__).parent / "shared" / "script.py"

HOME = "explore"
"""The first page."""

OPENED = "DPVIZ_OPEN"
"""Environment variable with the file that ``dpviz app FILE`` opens."""

TILES = "https://tile.openstreetmap.org"
"""Origin of the detailed base map, requested by a visitor's browser only if they choose it."""

POLICY = {
    "default-src": "'self'",
    # The map's JavaScript and the charts' formulas are sent to the browser as text.
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": f"'self' data: blob: {TILES}",
    "font-src": "'self' data:",
    "connect-src": f"'self' data: blob: {TILES}",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
"""Content security policy: this server only, so that injected code cannot send data out."""

HEADERS = {
    "content-security-policy": "; ".join(f"{what} {where}" for what, where in POLICY.items()),
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

EMBEDDED = {
    **{name: value for name, value in HEADERS.items() if name != "x-frame-options"},
    "content-security-policy": HEADERS["content-security-policy"].replace(
        "frame-ancestors 'self'", "frame-ancestors *"
    ),
}
"""Headers of the page of a release, which other sites may embed: nothing on it can be pressed that
changes, spends or opens anything.
"""

OPEN = (
    "dpviz answers the network at %s without a login: anyone who reaches it can view releases "
    "and upload files, but not publish. Set up a login, see assets/docs/hosting.md."
)

MEASURED = "/_stcore/metrics"
"""Path where Streamlit tells every client how many bytes are uploaded. With rows of equal width,
that is the exact number of confidential records.
"""


class Guard:
    """Refuse untrusted requests before Streamlit sees them, and add headers to all answers.

    A page of another site in the owner's browser reaches 127.0.0.1 too: it is known by its Origin,
    or, where its name was made to point here, by the Host that the browser asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to the app."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not (_is_host(asked.get("host", "")) and _is_same_origin(asked)):
            await _refuse(scope, send)
            return
        if scope["path"].rstrip("/").endswith(MEASURED):
            await _refuse(scope, send, 404, b"not found")
            return

        headers = EMBEDDED if scope["path"] == f"{base_path()}{PAGE}" else HEADERS

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", [])
                message = {**message, "headers": _with_headers(given, headers)}
            await send(message)

        await self._app(scope, receive, answer)


def _with_headers(given: Any, headers: dict[str, str] = HEADERS) -> list[tuple[bytes, bytes]]:
    ours = {name.encode(): value.encode() for name, value in headers.items()}
    return [*((name, value) for name, value in given if name.lower() not in ours), *ours.items()]


def _is_host(host: str) -> bool:
    """Return whether requests may name this host; any if open to others without a list."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    allowed = [each.lower() for each in config.get_option("server.allowedHosts")]
    if name in allowed or "*" in allowed:
        return True
    if any(each.startswith("*.") and name.endswith(each[1:]) for each in allowed):
        return True
    return is_loopback(name) or (
        not allowed and not is_loopback(config.get_option("server.address"))
    )


def _is_same_origin(asked: dict[str, str]) -> bool:
    """Return whether a request's Origin is allowed; a program that is not a browser sends none."""
    origin = asked.get("origin")
    if origin is None:
        return True
    others = config.get_option("server.corsAllowedOrigins")
    return urlsplit(origin).netloc == asked.get("host") or origin in others


async def _refuse(
    scope: Scope,
    send: Send,
    status: int = 403,
    words: bytes = b"dpviz does not go by this name, or another site asked: see its README",
) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    kind = [(b"content-type", b"text/plain")]
    start = {"type": "http.response.start", "status": status, "headers": _with_headers(kind)}
    await send(start)
    await send({"type": "http.response.body", "body": words})


def shows_demo() -> bool:
    """Return whether a new visitor is shown the demo exactly as it comes with the app."""
    return not (has_login() or os.environ.get(OPENED) or os.environ.get(basemap.VARIABLE))


MIDDLEWARE = [Middleware(Guard), Middleware(UploadLimit)]


def routes() -> list[BaseRoute]:
    """Routes that this server answers before Streamlit: the HTML of pages, and deck.gl."""
    base = base_path()
    return [
        Mount(f"{base}deck", StaticFiles(directory=DECK)),
        *pages(base, bundle_url(), HOME, shows_demo),
    ]


def check_settings() -> None:
    """Exit with one line if a setting would later fail or lose a visitor's release."""
    ground = os.environ.get(basemap.VARIABLE)
    try:
        str(Ledger().path)
        Shelf()
        if ground and not Path(ground).is_file():
            raise ParameterError(f"{basemap.VARIABLE}={ground}: no such file: check its name")
    except DpvizError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


@asynccontextmanager
async def lifespan(_app: App) -> AsyncIterator[dict[str, Any]]:
    """Prepare the process before the first visitor."""
    log.redact()
    patches.apply()
    os.environ["PROJ_NETWORK"] = "OFF"  # else PROJ may download grids, which reveals an area
    tempfile.tempdir = str(private_folder())  # for unpacked archives and DuckDB's temporary files
    Thread(target=_preload, daemon=True).start()
    await asyncio.to_thread(sandbox.warm)
    address = config.get_option("server.address")
    if not is_loopback(address) and not has_login():
        logging.getLogger(__name__).warning(OPEN, address or "every address of this machine")
    if not config.get_option("server.headless"):
        cli_util.open_browser(server_util.get_url(config.get_option("browser.serverAddress")))
    yield {}


def _preload() -> None:
    """Import the pages and libraries of the first map, while the first browser starts.

    Then exclude all loaded objects from the garbage collection that Streamlit runs after every page
    run, in the process that serves all visitors: it takes 0.02 s instead of 0.07.
    """
    for name in ("dpviz.ui.shared.shell", "scipy.spatial", "scipy.sparse.csgraph"):
        importlib.import_module(name)
    gc.freeze()
