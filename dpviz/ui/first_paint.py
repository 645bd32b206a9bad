"""First paint of a page, before Streamlit runs in the browser: style sheet, sketch, deck.gl.

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

import streamlit
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

HERE = Path(__file__).parent
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"

SKETCH = """<div class="dpviz-first" aria-hidden="true">
<i class="doors"></i><i class="chips"></i><i class="bar"></i><i class="map">%s</i></div>
<script>
(() => {
  const sketch = document.querySelector(".dpviz-first");
  const all = (selectors) => [...document.querySelectorAll(selectors)];
  const below = "#root [data-testid=stMain] [data-testid=stElementContainer]";
  const shown = (part) => part.offsetHeight && !part.querySelector("h1");
  const painted = (part) => part.shadowRoot?.querySelector(".map")?.dataset.painted;
  const look = () => {
    const title = all("#root h1")[0]?.textContent;
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
"""Grey shapes, shown until Streamlit's page has more than its title, or shows the demo's map."""
FACE = """@font-face {font-family: "Source Sans"; font-weight: 200 900; font-display: block;
  src: url("%s") format("woff2");}
"""
HISTORY = """<script>
(() => {
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const at = (place, name) => new URLSearchParams(place.search).get(name);
  const isNew = (to) => {
    const now = at(location, "chapter"), step = at(location, "step"); // null: just entered
    return (now && at(to, "chapter") !== now) || (step && at(to, "step") > step);
  };
  history.pushState = (state, title, url) => {
    const to = new URL(url, location.href);
    (to.pathname === location.pathname && !isNew(to) ? replace : push)(state, title, url);
  };
  addEventListener("popstate", (event) => { // before Streamlit, which would empty the page's forms
    const button = document.querySelector(`.st-key-publish-way-${at(location, "step")} button`);
    if (!button || !location.pathname.endsWith("/publish")) return;
    event.stopImmediatePropagation();
    button.click();
  });
})();
</script>"""
"""Script that keeps one browser history entry per page, per chapter of Learn, and per step forward
of Publish, where Back and Forward press the step's button. Streamlit adds one for every parameter
written to the address, so that Back would never leave a page."""
NAVIGATION = """<script>
new MutationObserver(() => {
  const list = "[data-testid=stSidebarNavItems]";
  for (const each of document.querySelectorAll(`${list}, ${list} li`)) each.role = "none";
}).observe(document, {childList: true, subtree: true});
</script>"""
"""Script for phones, where Streamlit puts a menu's title and items into its list of pages: no list
may hold those, and a screen reader counts it wrong. They stay links of a navigation."""
FOCUS = """<script>
addEventListener("click", ({target, detail}) => {
  const opener = detail === 0 && target.closest?.("[data-testid=stPopoverButton]"); // by a key
  if (!opener || opener.ariaExpanded === "true") return;
  const parts = "button:not([aria-label^=Help]), input, textarea, a[href], summary, [tabindex]";
  const enter = (left) => {
    const body = document.querySelector("[data-testid=stPopoverBody]");
    const free = (part) => part.tabIndex >= 0 && !part.disabled && part.offsetHeight;
    const first = [...(body?.querySelectorAll(parts) ?? [])].find(free);
    if (!first && left) return requestAnimationFrame(() => enter(left - 1));
    if (!body) return;
    body.tabIndex = -1; // without any control, for its words
    (first ?? body).focus();
    body.addEventListener("keydown", ({key}) => key === "Escape" && opener.focus());
  };
  enter(60);
}, true); // before the page opens it
</script>"""
"""Script that moves the focus into a popover opened by a key, and Escape back: Streamlit puts it at
the end of the page, where Tab would reach it last."""
ROOT = '<div id="root"></div>'


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


@lru_cache(maxsize=2)
def first_page(deck: str, with_demo: bool = False) -> str:
    """HTML page of Streamlit with a placeholder that is shown until the app runs.

    Args:
        deck: the address of deck.gl.
        with_demo: True to show a picture of the demo's map among the grey shapes.
    """
    page = INDEX.read_text(encoding="utf-8")
    script = f'<script async data-dpviz-deck onerror="this.remove()" src="{deck}"></script>'
    font = re.search(r'href="(\./static/media/SourceSansVF-Upright[^"]*)"', page)
    face = FACE % font[1] if font else ""  # Streamlit declares it once its program runs
    head = f"<style>\n{face}{style()}</style>\n{HISTORY}\n{NAVIGATION}\n{FOCUS}\n{script}\n"
    page = page.replace("<title>Streamlit</title>", "<title>dpviz</title>")
    page = page.replace("</head>", f"{head}</head>", 1)
    return page.replace(ROOT, f"{SKETCH % (demo() if with_demo else '')}\n{ROOT}", 1)


def pages(base: str, deck: str, home: str, newcomer: Callable[[], bool]) -> list[Route]:
    """Routes of all pages. The first page is at the root; its own name and others redirect there.

    Args:
        base: the path of the app on this server.
        deck: the address of deck.gl.
        home: the first page's name.
        newcomer: True if the server shows the demo to visitors whose address has no parameters.
    """

    async def page(request: Request) -> Response:
        first = request.url.path == base
        html = first_page(deck, first and not request.url.query and newcomer())
        return HTMLResponse(html, headers={"cache-control": "no-cache"})

    async def to_root(request: Request) -> Response:
        query = request.url.query
        return RedirectResponse(f"./?{query}" if query else "./")

    names = {file.stem for file in (HERE / "pages").glob("*.py")} - {"__init__", home}
    register_url_convertor("unknown", _Unknown())
    return [
        *(Route(f"{base}{name}", page, methods=["GET"]) for name in ("", *sorted(names))),
        Route(f"{base}{{name:unknown}}", to_root, methods=["GET"]),
    ]


class _Unknown(StringConvertor):
    """Name of no page: neither a file nor the address to which a login returns."""

    regex = "(?!oauth2callback$)[^/.]+"
