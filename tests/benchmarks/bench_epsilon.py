"""A new ε on Explore with noise fit for release, in a real Chromium without a GPU.

``uv run python -m tests.benchmarks.bench_epsilon`` presses the slider of ``city-250k`` and writes
what it takes until the picture stands into ``assets/speed.md``: seconds, and the processor time of
server and browser, which other programs on the machine hardly change.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE, idle, installed_browser, serving

from .bench_app import rendered, wait_for_picture
from .pages import below, seconds_of, shown, write_measured

SCRIPT = """
from streamlit import App

from dpviz.ui import server
from dpviz.ui.shared import skeleton

seeded = skeleton.public_release

def real(place, source, choice, seed, build):
    return seeded(place, source, choice, seed, lambda *asked, seed: build(*asked))

skeleton.public_release = real
app = App(
    server.SCRIPT,
    middleware=server.MIDDLEWARE,
    lifespan=server.lifespan,
    routes=server.routes(),
)
"""
"""The app, whose public maps have no seed: noise as of a release."""

METHODS = ("privtree", "ladder_tree")
ROUNDS = 6


def processor():
    """Seconds of processor time so far of the server, and of the browser."""
    spent = [0.0, 0.0]
    for command, fields in below():
        spent[b"streamlit" not in command] += seconds_of(fields[11:13])
    return spent


def presses(page):
    """Of each press, after one that is not counted: seconds, and those of server and browser."""
    page.get_by_role("slider").first.focus()
    for counted in range(ROUNDS + 1):
        idle(page)
        seen, before, start = rendered(page), processor(), time.perf_counter()
        page.keyboard.press("ArrowRight")
        wait_for_picture(page, seen)
        seconds = time.perf_counter() - start
        if counted:
            yield (seconds, *(b - a for a, b in zip(before, processor(), strict=True)))


def report(folder):
    yield "| method, ε = 0.63 to 2 | time | server | browser | load |"
    yield "|---|---|---|---|---|"
    script = Path(folder) / "app.py"
    script.write_text(SCRIPT)
    with sync_playwright() as playwright, serving(script) as address:
        browser = playwright.chromium.launch(executable_path=installed_browser(), args=FLAGS)
        for method in METHODS:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.goto(f"{address}/?data=city-250k&method={method}&epsilon=0.5")
            wait_for_picture(page, 0)
            spent = [statistics.median(column) for column in zip(*presses(page), strict=True)]
            yield (
                f"| {method} | {spent[0]:.2f} s | {spent[1]:.2f} s | {spent[2]:.2f} s "
                f"| {os.getloadavg()[0]:.0f} |"
            )
            page.close()
        browser.close()


def main():
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as folder:
        lines = shown(report(folder))
    write_measured("speed.md", "bench_epsilon", lines)


if __name__ == "__main__":
    main()
