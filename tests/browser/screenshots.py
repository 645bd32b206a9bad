"""Take the documentation's screenshots: ``uv run python -m tests.browser.screenshots``.

With names, those alone; with ``--dark FOLDER`` as they are on a dark screen, to be looked at there.
"""

import argparse
import io
import tempfile
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect, sync_playwright

import dpviz
from tests.browser.conftest import FLAGS, PATIENCE, ROOT, continued, find_browser, frames, serving
from tests.browser.oidc import provider
from tests.browser.test_explore import the_map
from tests.browser.test_login import ANN, secrets_of
from tests.browser.test_notebook import RECT, notebook
from tests.browser.test_pages import settled
from tests.wards import voronoi

PAGES = {
    "explore": "?data=city-250k&method=privtree&epsilon=1&seed=0&rect=14.5,-24.0,14.7,-23.8",
    "trajectories": "sequences?cell=3-6",
    "kinds": "?data=rides&method=privtree&kinds=leading&rect=14.5,-24.0,14.8,-23.75",
    "areas": "?data=city-50k&areas=h3:7&rect=14.5,-24.0,14.8,-23.75",
    "districts": "",
    "time": "?data=year&method=privtree&rect=14.5,-24.0,14.8,-23.75",
    "plan": "publish?data=city-50k",
    "owner": "owner",
    "notebook": "",
}
SIZES = {"notebook": (1280, 620), "owner": (1280, 620)}
COLOURS = 256
DRAWN = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .some(each => each.shadowRoot?.querySelector('.map')?.dataset.rendered)"""
TOTALS = {"clinic": 2.0, "uploads.user.0123456789ab.taxi pickups": 1.0}
PAID = (("clinic", 0.5, "ann"), ("clinic", 0.25, "bob"), ([*TOTALS][1], 0.7, "bob"))
"""Of the owner's page: account, ε, and who spent it."""


def of_map(page, address):
    """A page with a map."""
    page.goto(address)
    page.wait_for_function(DRAWN)
    settled(page)


def of_plan(page, address):
    """The step Budget, with a sentence filled in and the ε that it asks for."""
    page.goto(address)
    continued(page, 2)
    page.get_by_text("Find the ε for your accuracy").click()
    page.get_by_text("Any square …").click()
    page.get_by_role("spinbutton", name="… of about").fill("400")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Use this")).to_be_visible()
    settled(page)


def of_owner(page, address):
    """The owner's page with all accounts."""
    page.goto(address.rpartition("/")[0])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Logged in as")).to_be_visible()
    page.goto(address)
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    settled(page)


def of_notebook(page, _address, dark=False):
    """The widget as a notebook shows it."""
    release = dpviz.build(dpviz.load("city-50k"), "privtree", 1.0, seed=1)
    ground = "#111111" if dark else "#ffffff"
    page.set_content(notebook(dpviz.Map(release, rectangle=RECT), ground))
    the_map(page)


def wards(folder):
    """A file of counts by ward, of made-up wards and districts."""
    city = dpviz.load("city-50k")
    areas = voronoi(city.domain, 120, seed=4)
    release = dpviz.build(city, "areas", 1.0, areas=areas, seed=1)
    return str(release.save(folder / "wards.parquet"))


@contextmanager
def ledger_of(folder):
    """Payments of two users."""
    ledger = dpviz.Ledger(folder / "ledger.sqlite")
    for account, total in TOTALS.items():
        ledger.set_total(account, total)
    for account, epsilon, user in PAID:
        purpose = f"page Publish · by {user}@example.org"
        ledger.spend(account, epsilon, what="privtree", purpose=purpose)
    yield {"DPVIZ_LEDGER": str(ledger.path)}


def shoot(browser, address, name, dark):
    """One picture."""
    width, height = SIZES.get(name, (1280, 900))
    page = browser.new_page(
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        color_scheme="dark" if dark else "light",
    )
    page.set_default_timeout(PATIENCE)
    where = f"{address}/{PAGES[name]}"
    if name == "notebook":
        of_notebook(page, where, dark)
    else:
        {"plan": of_plan, "owner": of_owner}.get(name, of_map)(page, where)
    frames(page, 30)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return image.quantize(COLOURS, Image.Quantize.FASTOCTREE)


def main():
    """Write them beside the texts that show them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PAGES))
    parser.add_argument("--dark", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as folder,
        provider(ANN) as identity,
        ledger_of(Path(folder)) as places,
        serving(ROOT / "app.py", **places) as address,
        serving(
            ROOT / "app.py", "--secrets.files", secrets_of(identity, Path(folder)), **places
        ) as hosted,
        serving(ROOT / "app.py", **places, DPVIZ_OPEN=wards(Path(folder))) as opened,
        sync_playwright() as playwright,
    ):
        path = find_browser()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name in asked.names or PAGES:
            where = {"owner": hosted, "districts": opened}.get(name, address)
            image = shoot(browser, where, name, asked.dark is not None)
            image.save((asked.dark or ROOT / "assets/docs/images") / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
