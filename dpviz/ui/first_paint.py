"""What a browser shows before Streamlit runs in it: the style sheet, a sketch, deck.gl.

Streamlit sends its own page for every address and styles parts once they have loaded, so that all
of it moves at every visit. This room puts three things into that page: the app's style, so that
parts are laid out once; grey shapes where they will be, with a picture of the demo's map where that
is what will come; and the map's drawing library, which loads while Streamlit starts.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HERE = Path(__file__).parent

SKETCH = """<div class="dpviz-first" aria-hidden="true"><nav></nav>
<main><i class="title"></i><i class="map">%s</i></main></div>
<script>
(() => {
  const sketch = document.querySelector(".dpviz-first");
  const all = (selectors) => [...document.querySelectorAll(selectors)];
  const below = "#root [data-testid=stMain] [data-testid=stElementContainer]";
  const shown = (part) => part.offsetHeight && !part.querySelector("h1");
  const painted = (part) => part.shadowRoot?.querySelector(".map")?.dataset.painted;
  const look = () => {
    const title = all("#root h1")[0]?.textContent;
    sketch.classList.toggle("beside", all("#root [data-testid=stSidebarNavLink]").length > 0);
    sketch.classList.toggle("titled", Boolean(title));
    const demo = sketch.querySelector("picture") && title === "Explore";
    const more = demo ? all("[data-testid=stBidiComponentIsolated]").some(painted)
      : title && all(below).some(shown);
    if (!more && !all("#root [data-testid=stException], [role=dialog]").length) return;
    clearInterval(watch);
    sketch.remove();
  };
  const watch = setInterval(look, 50);
})();
</script>"""
"""Grey shapes above Streamlit's page until more than its title, or the demo's map, is there."""
FACE = """@font-face {font-family: "Source Sans"; font-weight: 200 900; font-display: block;
  src: url("%s") format("woff2");}
"""
ROOT = '<div id="root"></div>'
ANEW = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Headers of a browser that would be content with the page as Streamlit keeps or packs it."""


@cache
def style() -> str:
    """The app's style sheet."""
    return (HERE / "style.css").read_text(encoding="utf-8")


@cache
def demo() -> str:
    """A picture of the demo's map; ``python -m tests.browser.first_map`` takes it."""
    light, dark = (
        f"data:image/webp;base64,{b64encode((HERE / f'{name}.webp').read_bytes()).decode()}"
        for name in ("first_map", "first_map_dark")
    )
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">'
    return f'<picture>{source}<img alt="" src="{light}"></picture>'


@lru_cache(maxsize=4)
def painted(page: str, deck: str, with_demo: bool = False) -> str:
    """Streamlit's page with what is shown first.

    Args:
        page: as Streamlit has it.
        deck: the address of deck.gl.
        with_demo: with a picture of the demo's map among the grey shapes.
    """
    script = f'<script async data-dpviz-deck onerror="this.remove()" src="{deck}"></script>'
    font = re.search(r'href="(\./static/media/SourceSansVF-Upright[^"]*)"', page)
    face = FACE % font[1] if font else ""  # Streamlit declares it once its program runs
    head = f"<style>\n{face}{style()}</style>\n{script}\n"
    page = page.replace("<title>Streamlit</title>", "<title>dpviz</title>")
    page = page.replace("</head>", f"{head}</head>", 1)
    return page.replace(ROOT, f"{SKETCH % (demo() if with_demo else '')}\n{ROOT}", 1)


class FirstPaint:
    """Paints every page that a browser navigates to; hands on all else untouched.

    The first page has no name of its own in Streamlit: its name leads to it.

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
