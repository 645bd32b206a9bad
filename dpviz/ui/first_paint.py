"""What a browser shows before Streamlit runs in it: the style sheet, the first look, deck.gl.

Streamlit sends its own page for every address and styles parts once they have loaded, so that all
of it moves at every visit. This room puts three things into that page: the app's style, so that
parts are laid out once; grey shapes where they will be, or all of the demo where that is what will
come; and the map's drawing library, which loads while Streamlit starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpviz.render.client.assemble import script
from dpviz.render.client.assemble import style as map_style

DEMO = Path(__file__).parent / "first_page.html"
"""The demo with its map, as a newcomer finds it: written from the app itself, see the tests."""

SKETCH = """<div class="dpviz-first sketch" aria-hidden="true"><nav></nav>
<main><i class="title"></i><i class="map"></i></main></div>
<script>
(() => {
  const sketch = document.querySelector(".dpviz-first");
  const all = (selectors) => [...document.querySelectorAll(selectors)];
  const below = "#root [data-testid=stMain] [data-testid=stElementContainer]";
  const look = () => {
    const titled = all("#root h1").length > 0;
    sketch.classList.toggle("beside", all("#root [data-testid=stSidebarNavLink]").length > 0);
    sketch.classList.toggle("titled", titled);
    const shown = (part) => part.offsetHeight && !part.querySelector("h1");
    const more = titled && all(below).some(shown);
    if (!more && !all("#root [data-testid=stException], [role=dialog]").length) return;
    watch.disconnect();
    sketch.remove();
  };
  const watch = new MutationObserver(look);
  watch.observe(document.body, {childList: true, subtree: true});
})();
</script>"""
"""Grey shapes above Streamlit's page until more than its title is there: it begins empty."""
FACE = """@font-face {font-family: "Source Sans"; font-weight: 200 900; font-display: block;
  src: url("%s") format("woff2");}
"""
ROOT = '<div id="root"></div>'
ANEW = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Headers of a browser that would be content with the page as Streamlit keeps or packs it."""


@cache
def style() -> str:
    """The app's style sheet."""
    return (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


@cache
def demo() -> str:
    """The demo's page, and the program that draws its map."""
    page = DEMO.read_text(encoding="utf-8")
    looks = {"style": map_style(), "page-style": DEMO.with_suffix(".css").read_text("utf-8")}
    carried = "".join(
        f'<script type="text/plain" id="dpviz-first-{name}">{text}</script>\n'
        for name, text in looks.items()
    )
    return f"{page}{carried}<script>(() => {{\n{script('first.js')}\n}})();</script>"


@lru_cache(maxsize=4)
def painted(page: str, deck: str, whole: bool = False) -> str:
    """Streamlit's page with what is shown first.

    Args:
        page: as Streamlit has it.
        deck: the address of deck.gl.
        whole: the demo with its map, in place of grey shapes.
    """
    asked = f'<script async data-dpviz-deck onerror="this.remove()" src="{deck}"></script>'
    font = re.search(r'href="(\./static/media/SourceSansVF-Upright[^"]*)"', page)
    face = FACE % font[1] if font else ""  # Streamlit declares it once its program runs
    head = f"<style>\n{face}{style()}</style>\n{asked}\n"
    page = page.replace("<title>Streamlit</title>", "<title>dpviz</title>")
    page = page.replace("</head>", f"{head}</head>", 1)
    return page.replace(ROOT, f"{demo() if whole else SKETCH}\n{ROOT}", 1)


class FirstPaint:
    """Paints every page that a browser navigates to; hands on all else untouched.

    The first page has no name of its own in Streamlit: its name leads to it. It is the demo for
    whoever asks for nothing else.

    Args:
        app: that answers.
        deck: the address of deck.gl.
        home: the first page's name.
        plain: whether this server shows the demo to whoever comes to a path.
    """

    def __init__(
        self, app: ASGIApp, deck: Callable[[], str], home: str, plain: Callable[[str], bool]
    ) -> None:
        self._app, self._deck, self._home, self._plain = app, deck, home, plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "text/html" not in Headers(scope=scope).get("accept", "")
        ):
            await self._app(scope, receive, send)
            return
        if scope["path"].rsplit("/", 1)[-1] == self._home:
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"./?{query}" if query else "./")(scope, receive, send)
            return
        asked = {**scope, "headers": [each for each in scope["headers"] if each[0] not in ANEW]}
        start: Message = {}
        body = bytearray()

        async def answer(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            page = start.get("status") == 200 and Headers(raw=start["headers"]).get(
                "content-type", ""
            ).startswith("text/html")
            if not page:
                if "status" in start:  # what follows is handed on as it comes
                    await send(start)
                    start = {"headers": []}
                await send(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            demo = not scope["query_string"] and self._plain(scope["path"])
            whole = painted(body.decode("utf-8"), self._deck(), demo).encode()
            headers = MutableHeaders(raw=list(start["headers"]))
            headers["content-length"] = str(len(whole))
            for name in ("etag", "last-modified", "accept-ranges"):
                del headers[name]
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": whole})

        await self._app(asked, receive, answer)
