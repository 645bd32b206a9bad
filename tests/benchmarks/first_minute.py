"""Time a new user's first minute: ``python -m tests.benchmarks.first_minute``.

In a real Chromium without a GPU, from the visitor's act:

*seen* — the page stands: its title is there, every map on it is drawn, with its legend, and nothing
in the window is a grey placeholder. A map counts once what is drawn is the release itself, by
whatever draws it: the first page has a picture of the demo's map, and a flat map is drawn from the
cells that the server sent. A page without a map:
its script has ended.

*moved* — deck.gl has taken over the map, so that it is dragged and has tooltips. Before that its
buttons, keys and drawing work, and nothing that was done on it is lost (a test draws on it).

*processor* — of server and browser together until the page is still, which other programs on the
machine do not change; and the layout shift as browsers score it (under 0.1 is good). The machine's
load before says what the seconds are worth.
"""

import os
import time
from functools import partial

from playwright.sync_api import sync_playwright

from dpviz.ui.shared.navigation import page_modules
from tests.benchmarks.pages import below, seconds_of, write_measured
from tests.browser.conftest import FLAGS, PATIENCE, ROOT, find_browser, serving
from tests.browser.test_explore import metric, the_map
from tests.browser.test_history import follow

MAPLESS = ("Publish", "Help")

OBSERVE = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry);
}).observe({type: 'layout-shift', buffered: true});
"""

SHIFTED = """() => window.shifts.map(entry => ({
  value: entry.value, time: entry.startTime,
  moved: entry.sources.map(({node, previousRect: a, currentRect: b}) => {
    const element = node?.nodeType === 1 ? node : node?.parentElement;
    const named = element?.closest('[class*=st-key], [data-testid]') ?? element;
    return `${named?.dataset.testid ?? ''} ${named?.className ?? ''}`.slice(0, 80)
      + ` ${a.y | 0}+${a.height | 0} to ${b.y | 0}+${b.height | 0}`;
  }),
}))"""

SEEN = """title => {
  const first = document.querySelector('.dpviz-first img');
  if (first) return title === 'Explore' && first.complete;
  const painted = host => host.shadowRoot.querySelector('.map').dataset.painted;
  if (document.querySelector('[data-testid=stMain] h1')?.textContent !== title) return false;
  const inSight = ({top, bottom, width}) => width && bottom > 0 && top < innerHeight;
  const grey = [...document.querySelectorAll('[data-testid=stSkeleton]')];
  const maps = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .filter(each => each.shadowRoot?.querySelector('.map'));
  return maps.length > 0 && maps.every(painted)
    && !grey.some(each => inSight(each.getBoundingClientRect()));
}"""

MOVED = """() => {
  const maps = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map(each => each.shadowRoot?.querySelector('.map')).filter(Boolean);
  return maps.length > 0 && maps.every(map => map.dataset.rendered);
}"""

RENDERED = """() => Number(document.querySelector('[data-testid=stBidiComponentIsolated]')
  .shadowRoot.querySelector('.map').dataset.rendered)"""

STILL = "[data-testid=stApp][data-test-script-state=notRunning]"


def shown(page, title):
    """Waits for the page of this title, with its map where it has one."""
    if title in MAPLESS:
        page.get_by_role("heading", name=title, level=1).wait_for()
        page.locator(STILL).wait_for()
    else:
        page.wait_for_function(SEEN, arg=title)


def processor():
    """Seconds of this process's children and theirs: the server and the browser."""
    return sum(seconds_of(fields[11:15]) for _, fields in below())


def visit(page, act, title, causes):
    """Seconds until a page is seen and its map moves, of processor time, and the layout shift."""
    before, started = processor(), time.monotonic()
    act()
    shown(page, title)
    seen = time.monotonic() - started
    moved = None
    if title not in MAPLESS:
        page.wait_for_function(MOVED)
        moved = round(time.monotonic() - started, 2)
    page.locator(STILL).wait_for()
    spent = processor() - before
    page.wait_for_timeout(500)  # layout shifts after this wait are the page's fault
    entries = page.evaluate(SHIFTED)
    causes += entries
    return [round(seen, 2), moved, round(spent, 2), round(session_shift(entries), 3)]


def session_shift(entries):
    """Layout shift score: the worst burst, at most 5 s long, with gaps below 1 s.

    Source: https://web.dev/articles/cls
    """
    worst = burst = start = last = 0.0
    for entry in entries:
        if entry["time"] - last > 1000 or entry["time"] - start > 5000:
            burst, start = 0.0, entry["time"]
        burst, last = burst + entry["value"], entry["time"]
        worst = max(worst, burst)
    return worst


def visits(browser, address, titles, causes, rounds=1):
    """A new visitor's first page; then every page, through the navigation, this many times."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.add_init_script(OBSERVE)
        yield (
            "Explore",
            visit(page, lambda: page.goto(address, wait_until="commit"), "Explore", causes),
        )
        for _ in range(rounds):
            for title in [*titles[1:], titles[0]]:
                page.evaluate("window.shifts = []")
                yield title, visit(page, partial(follow, page, title), title, causes)


def answered(browser, address):
    """Seconds from a step of ε to its map, and from a drawn rectangle to its answer."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(address)
        map_view = the_map(page)
        page.locator(STILL).wait_for()
        seen = int(map_view.get_attribute("data-rendered"))
        started = time.monotonic()
        page.get_by_role("slider", name="ε").press("ArrowLeft")
        page.wait_for_function(f"({MOVED})() && ({RENDERED})() > {seen}")
        epsilon = time.monotonic() - started
        page.locator(STILL).wait_for()
        map_view.focus()
        for key in ("d", "Enter", "ArrowRight", "ArrowDown"):
            page.keyboard.press(key)
        started = time.monotonic()
        page.keyboard.press("Enter")
        metric(page).wait_for()
        return epsilon, time.monotonic() - started


def measured():
    """All of it, and the shifts behind the scores."""
    titles = [each.TITLE for each in page_modules() if not getattr(each, "HIDDEN", False)]
    causes = []
    load = os.getloadavg()[0]
    with sync_playwright() as playwright:
        path = find_browser()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        with serving(ROOT / "app.py") as address:
            [(_, cold)] = visits(browser, address, titles, causes, rounds=0)
            (_, warm), *pages = visits(browser, address, titles, causes, rounds=2)
            seconds = answered(browser, address)
        browser.close()
    first, again = pages[: len(titles)], pages[len(titles) :]
    rows = [("first page, cold server", cold), ("first page, warm server", warm), *first]
    rows += [(f"{title}, again", figures) for title, figures in again]
    return load, rows, seconds, causes


def table(load, rows, seconds):
    yield f"Load before: {load:.1f} on {os.cpu_count()} cores."
    yield ""
    yield "| page | seen | moved | processor | shift |"
    yield "|---|---|---|---|---|"
    for title, (seen, moved, spent, shift) in rows:
        moves = "" if moved is None else f"{moved:.1f} s"
        yield f"| {title} | {seen:.1f} s | {moves} | {spent:.1f} s | {shift:.3f} |"
    yield ""
    yield "Explore: {:.1f} s from a step of ε to its map, {:.1f} s to a rectangle's answer.".format(
        *seconds
    )


if __name__ == "__main__":
    load, rows, seconds, causes = measured()
    lines = list(table(load, rows, seconds))
    print("\n".join(lines))
    write_measured("speed.md", "first_minute", lines)
    for entry in sorted(causes, key=lambda each: -each["value"])[:6]:
        print(
            f"{entry['value']:.3f} at {entry['time'] / 1000:.1f} s:", *entry["moved"], sep="\n    "
        )
