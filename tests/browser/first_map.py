"""The picture of the demo's map for first visits: ``python -m tests.browser.first_map``."""

import io

from PIL import Image
from playwright.sync_api import sync_playwright

from dpviz.ui.first_paint import HERE
from tests.browser.conftest import FLAGS, PATIENCE, ROOT, find_browser, serving
from tests.browser.test_explore import the_map
from tests.browser.test_pages import settled

BARE = ".tools, .camera, .panel, .note, .advice {visibility: hidden !important}"
HIDE = """(map, css) => {
  const style = document.createElement("style");
  style.textContent = css;
  map.append(style);
}"""
QUALITY = 56


def main():
    with sync_playwright() as playwright, serving(ROOT / "app.py") as address:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for scheme, name in (("light", "first_map"), ("dark", "first_map_dark")):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            view = the_map(page)
            settled(page)
            view.evaluate(HIDE, BARE)
            shot = Image.open(io.BytesIO(view.screenshot())).convert("RGB")
            shot.save(HERE / f"{name}.webp", quality=QUALITY, method=6)
        browser.close()


if __name__ == "__main__":
    main()
