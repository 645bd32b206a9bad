"""Time in a browser and in the index; on demand: ``uv run pytest tests/benchmarks/bench_time.py``.

A step of a series is timed by the processor time of the page's own thread, from the press until the
second picture after it: decoding, laying out, handing to the graphics card. SwiftShader then paints
in another process, on the same processor.
"""

import time

import numpy as np

import dpviz
from dpviz.exports import map_page
from dpviz.private.index import PointIndex
from tests.browser.conftest import browser, desk, open_file  # noqa: F401 - fixtures

SIDE = 316
"""Cells of a map, squared: about 100,000."""
FRAMES = 4
STEP = """async () => {
  dpviz.player.step(1);
  await new Promise(end => requestAnimationFrame(() => requestAnimationFrame(end)));
}"""


def test_a_step_of_100_000_cells_takes_under_100_ms(open_file):  # noqa: F811
    random = np.random.default_rng(0)
    domain = dpviz.Domain((14.0, -24.0), (15.0, -23.0))
    data = dpviz.from_points(
        random.uniform((14, -24), (15, -23), (400_000, 2)), domain, public=True
    )
    maps = [dpviz.build(data, "ugrid", 1.0, seed=k, cells=SIDE) for k in range(FRAMES)]
    assert all(int(each.nodes.leaf.sum()) == SIDE**2 for each in maps)
    page = open_file(map_page(maps, labels=[f"{k}" for k in range(FRAMES)]))
    thread = page.context.new_cdp_session(page)
    thread.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        every = {
            each["name"]: each["value"] for each in thread.send("Performance.getMetrics")["metrics"]
        }
        return 1000 * every["TaskDuration"]

    page.locator("[data-rendered]").wait_for()
    took = []
    for _ in range(3 * FRAMES):
        since = spent()
        page.evaluate(STEP)
        took.append(spent() - since)
    first, later = took[: FRAMES - 1], took[FRAMES:]
    print("processor, ms: first visits", np.round(first), "then", np.round(later))
    assert max(np.median(first), np.median(later)) <= 100


def test_index_of_ten_million_records_over_a_year(benchmark):
    random, n = np.random.default_rng(0), 10_000_000
    year = dpviz.Domain.from_bounds(
        [-8.7, 49.8, 1.8, 60.9], period=("2024-01-01", "2025-01-01"), every="1h"
    )
    centres = random.uniform([-8.0, 50.2], [1.2, 60.0], size=(4_000, 2))
    places = centres[random.integers(0, 4_000, n)] + random.normal(size=(n, 2)) * 0.01
    records = np.column_stack([places, random.uniform(*year.period, n)])
    processor = []

    def index():
        since = time.process_time()
        PointIndex.from_points(year, records)
        processor.append(time.process_time() - since)

    benchmark.pedantic(index, rounds=3)
    print("processor time, s:", np.round(processor, 2))
    assert min(processor) <= 3.0
