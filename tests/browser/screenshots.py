"""The documentation's pictures of pages, anew: ``uv run python -m tests.browser.screenshots``."""

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE, ROOT, frames, install_browser, serving
from tests.browser.conftest import installed_browser as installed
from tests.browser.test_pages import settled

PAGES = {
    "explore": "?data=city-250k&method=privtree&epsilon=1&seed=0&rect=14.5,-24.0,14.7,-23.8",
    "trajectories": "sequences?cell=3-6",
    "kinds": "?data=rides&method=privtree&kinds=leading&rect=14.5,-24.0,14.8,-23.75",
    "areas": "?data=city-50k&areas=h3:7&rect=14.5,-24.0,14.8,-23.75",
    "time": "?data=year&method=privtree&rect=14.5,-24.0,14.8,-23.75",
}
SIZE = {"width": 1280, "height": 900}
COLOURS = 256
DRAWN = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .some(each => each.shadowRoot?.querySelector('.map')?.dataset.rendered)"""


def main():
    """Write them beside the texts that show them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(ROOT / "app.py", DPVIZ_LEDGER=str(Path(folder) / "ledger.sqlite")) as address,
        sync_playwright() as playwright,
    ):
        path = installed() or install_browser()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name, where in PAGES.items():
            page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
            page.set_default_timeout(PATIENCE)
            page.goto(f"{address}/{where}")
            page.wait_for_function(DRAWN)
            settled(page)
            frames(page, 30)
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            few = image.quantize(COLOURS, Image.Quantize.FASTOCTREE)
            few.save(ROOT / "assets" / f"{name}.png", optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
