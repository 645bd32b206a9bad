"""A newcomer's first minute: ``python -m tests.benchmarks.first_minute`` prints it as JSON.

Seconds from the visitor's act to the map drawn (a page without one: to its script's end), in a real
Chromium without a GPU; the layout shift of each page as browsers score it (under 0.1 is good); and
the machine's load before, without which none of it means anything.
"""

import json
import os
import time

from playwright.sync_api import sync_playwright

from dpviz.ui.shared.navigation import page_modules
from tests.browser.conftest import (
    FLAGS,
    PATIENCE,
    ROOT,
    install_browser,
    installed_browser,
    serving,
)

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

DRAWN = """title => {
  if (document.querySelector('[data-testid=stMain] h1')?.textContent !== title) return false;
  const maps = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map(each => each.shadowRoot?.querySelector('.map')).filter(Boolean);
  return maps.length > 0 && maps.every(map => map.dataset.rendered);
}"""

STILL = "[data-testid=stApp][data-test-script-state=notRunning]"


def shown(page, title):
    """Waits for the page of this title, with its map where it has one."""
    if title in MAPLESS:
        page.get_by_role("heading", name=title, level=1).wait_for()
        page.locator(STILL).wait_for()
    else:
        page.wait_for_function(DRAWN, arg=title)


def session_shift(entries):
    """The score: the worst burst of shifts less than a second apart, and five seconds long at most.

    Source: https://web.dev/articles/cls
    """
    worst = burst = start = last = 0.0
    for entry in entries:
        if entry["time"] - last > 1000 or entry["time"] - start > 5000:
            burst, start = 0.0, entry["time"]
        burst, last = burst + entry["value"], entry["time"]
        worst = max(worst, burst)
    return worst


def first_visit(browser, address, causes):
    """Seconds until the first map, and the layout shift until the page is still."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.add_init_script(OBSERVE)
        started = time.monotonic()
        page.goto(address)
        shown(page, "Explore")
        seconds = time.monotonic() - started
        page.locator(STILL).wait_for()
        page.wait_for_timeout(500)  # what still moves then is the page's fault
        entries = page.evaluate(SHIFTED)
        causes += entries
        return round(seconds, 2), round(session_shift(entries), 3)


def switches(browser, address, titles, causes):
    """Seconds and layout shift of every page, reached through the navigation; twice around."""
    rounds = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.add_init_script(OBSERVE)
        page.goto(address)
        shown(page, "Explore")
        for _ in range(2):
            times = {}
            for title in [*titles[1:], titles[0]]:
                page.locator(STILL).wait_for()
                page.evaluate("window.shifts = []")
                started = time.monotonic()
                page.get_by_role("link", name=title, exact=True).click()
                shown(page, title)
                seconds = time.monotonic() - started
                page.locator(STILL).wait_for()
                page.wait_for_timeout(500)
                entries = page.evaluate(SHIFTED)
                causes += entries
                times[title] = [round(seconds, 2), round(session_shift(entries), 3)]
            rounds.append(times)
    return rounds


def measured():
    """All of it, and the shifts behind the scores."""
    titles = [each.TITLE for each in page_modules()]
    causes = []
    load = os.getloadavg()[0]
    with sync_playwright() as playwright:
        path = installed_browser() or install_browser()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        with serving(ROOT / "app.py") as address:
            cold = first_visit(browser, address, causes)
            warm = first_visit(browser, address, causes)
            first, again = switches(browser, address, titles, causes)
        browser.close()
    return {
        "load before": round(load, 1),
        "cores": os.cpu_count(),
        "cold server [s, shift]": cold,
        "warm server [s, shift]": warm,
        "pages [s, shift]": first,
        "pages again [s, shift]": again,
    }, causes


if __name__ == "__main__":
    figures, causes = measured()
    print(json.dumps(figures, indent=1))
    for entry in sorted(causes, key=lambda each: -each["value"])[:6]:
        print(
            f"{entry['value']:.3f} at {entry['time'] / 1000:.1f} s:", *entry["moved"], sep="\n    "
        )
