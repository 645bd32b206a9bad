"""Speed of the app in Chromium: ``uv run pytest tests/benchmarks/bench_app.py``.

Without a GPU the processor draws (SwiftShader), which is the slow case. Seconds are
from the visitor's act to the new picture or number on the screen.
"""

import pytest

from tests.browser.conftest import ROOT, browser, desk, open_page, serving  # noqa: F401 - fixtures

CELLS = "data=city-1m&method=privtree"
ROUNDS = 5


def rendered(page):
    return int(page.get_by_test_id("dpviz-map").get_attribute("data-rendered") or 0)


def wait_for_picture(page, seen):
    page.wait_for_function(
        "seen => Number(document.querySelector('[data-testid=dpviz-map]')?.dataset.rendered) > seen"
        " || [...document.querySelectorAll('*')].some(e => Number(e.shadowRoot?.querySelector("
        "'[data-testid=dpviz-map]')?.dataset.rendered) > seen)",
        arg=seen,
    )


@pytest.fixture(scope="module")
def address():
    with serving(ROOT / "app.py") as url:
        yield url


EXPLORED = f"?{CELLS}&epsilon="
COMPARED = "compare?data=city-1m&a.method=privtree&a.epsilon=0.79&b.method=privtree&b.epsilon=0.63"
"""Two maps of about 50,000 leaves each."""


@pytest.mark.parametrize(
    ("path", "corner", "step"),
    [(EXPLORED + "0.63", (200, 200), 20), (COMPARED, (80, 220), 15)],
    ids=["explore", "compare"],
)
def test_drawn_rectangle_to_answer(benchmark, open_page, address, path, corner, step):  # noqa: F811
    page = open_page(f"{address}/{path}")
    wait_for_picture(page, 0)
    place = page.get_by_test_id("dpviz-map").bounding_box()
    reach = iter(range(40, 40 + 12 * step, step))

    def draw():
        """All of the gesture but its end: what a hand needs is not the app's time."""
        page.get_by_test_id("dpviz-draw").click()
        x, y, size = place["x"] + corner[0], place["y"] + corner[1], next(reach)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + size, y + size, steps=2)
        return (page.url,), {}

    def answered(before):
        page.mouse.up()
        page.wait_for_url(lambda url: "rect=" in url and url != before)

    benchmark.pedantic(answered, setup=draw, rounds=ROUNDS)


@pytest.mark.parametrize("path", [EXPLORED + "0.5", COMPARED], ids=["explore", "compare"])
def test_epsilon_to_picture(benchmark, open_page, address, path):  # noqa: F811
    page = open_page(f"{address}/{path}")
    wait_for_picture(page, 0)
    slider = page.get_by_role("slider").first
    slider.focus()

    def change():
        seen = rendered(page)
        page.keyboard.press("ArrowRight")
        wait_for_picture(page, seen)

    benchmark.pedantic(change, rounds=ROUNDS, warmup_rounds=1)
