"""Planted secrets of sensitive records never reach the browser or the server's log.

Exact counts reach the page of their owner in marked messages before the payment, and nothing else.
"""

import re
import struct

import numpy as np
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.ui.shared.preflight import OWNER_ONLY
from tests.browser.conftest import (
    PLACES,
    continued,
    downloaded,
    idle,
    open_tab,
    paste_area,
    pay,
    pressed_until,
    upload,
)

pytestmark = pytest.mark.browser

RECORDS = 104_729
"""How many records there are: a prime, beyond the number of nodes of any release here."""
INSIDE = 104_711
"""How many of them lie inside the public rectangle."""
BOUNDS = {"west": 14.0, "south": -24.0, "east": 15.0, "north": -23.0}
LONELY = (14.0312345678, -23.9712345678)
"""The one record of its neighbourhood, the most westerly inside."""
STRAY = (77.7654321987, 33.1234567891)
"""Outside the public rectangle, and the data's own upper bound."""
NAME = "Planted-Lovelace"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    random = np.random.default_rng(8)
    points = np.round(random.normal([14.6, -23.5], [0.05, 0.05], size=(RECORDS, 2)), 7)
    points[0] = LONELY
    points[1 : 1 + RECORDS - INSIDE] = STRAY
    low, high = (BOUNDS["west"], BOUNDS["south"]), (BOUNDS["east"], BOUNDS["north"])
    assert ((points >= low) & (points < high)).all(axis=1).sum() == INSIDE
    path = tmp_path_factory.mktemp("planted") / "visits.csv"
    rows = (f"{x:.10f},{y:.10f},{NAME} {row}" for row, (x, y) in enumerate(points))
    path.write_text("lon,lat,name\n" + "\n".join(rows) + "\n")
    return path


def encodings(value):
    """A number as it may travel: written out in several ways, and as binary numbers."""
    if isinstance(value, int):
        words = [str(value), f"{value:,}"]
        binary = [struct.pack(f"<{kind}", value) for kind in "iq"]
    else:
        words = [f"{value:.{digits}f}" for digits in (5, 6, 7)]
        words += [word[:-1] for word in words]  # rounded or truncated
        binary = []
    return (
        [word.encode() for word in words]
        + binary
        + [struct.pack(f"<{kind}", value) for kind in "fd"]
    )


SECRETS = {
    "count of all": encodings(RECORDS),
    "count inside": encodings(INSIDE),
    "lonely x": encodings(LONELY[0]),
    "lonely y": encodings(LONELY[1]),
    "stray x": encodings(STRAY[0]),
    "stray y": encodings(STRAY[1]),
    "name": [NAME.encode()],
}


def secrets_in(content, secrets=SECRETS):
    """The names of the secrets that are in some bytes."""
    return {name for name, forms in secrets.items() for form in forms if form in content}


class Traffic:
    """Everything that a page receives, but for the app's own programs and fonts."""

    def __init__(self, page):
        self.content = []
        page.on("websocket", lambda socket: socket.on("framereceived", self.frame))
        page.on("response", self.response)

    def frame(self, payload):
        self.content.append(payload if isinstance(payload, bytes) else payload.encode())

    def response(self, response):
        if not re.search(r"\.(js|css|woff2|png|svg|ico)(\?|$)", response.url):
            try:
                self.content.append(response.body())
            except Exception:  # a redirect, or an aborted response, has no body
                return

    @property
    def all(self):
        """All but the messages that are marked as for the owner's eyes only."""
        return b"\n".join(each for each in self.content if OWNER_ONLY.encode() not in each)

    @property
    def owner(self):
        """The messages that are so marked: the check of the file before the payment."""
        return b"\n".join(each for each in self.content if OWNER_ONLY.encode() in each)


@pytest.mark.parametrize("value", [RECORDS, LONELY[0], STRAY[1]])
def test_the_detector_sees_every_way_of_writing(value):
    for form in encodings(value):
        assert secrets_in(b"\x00\x01" + form + b"rest")
    assert not secrets_in(b"nothing of the kind 104728 14.03 77.76")


def uploaded(page, records, steps=0):
    """A page with the file and its area; on page Publish that is a step further."""
    upload(page, records)
    if steps:
        continued(page, steps)
    paste_area(page)


class Vault:
    """A server of the app: its address, its ledger, and what it has logged since the test began."""

    def __init__(self, address, folder, records):
        self.address, self._folder, self._records = address, folder, records
        self.ledger, self._log, self._switch = (folder / name for name in PLACES)
        self._before = self._log.stat().st_size

    @property
    def log(self):
        return self._log.read_bytes()[self._before :]

    @property
    def paid(self):
        """The ledger's bytes, with what SQLite keeps beside it."""
        return b"".join(path.read_bytes() for path in self._folder.glob(f"{PLACES[0]}*"))

    def fail_at(self, step):
        self._switch.write_text(f"{step} {INSIDE} {self._records}")


@pytest.fixture
def vault(below, below_folder, records):
    """The server, where no step fails."""
    vault = Vault(below, below_folder, records)
    vault.fail_at("none")
    return vault


def test_nothing_of_sensitive_records_leaves_the_vault_whatever_fails_in_it(
    records, vault, open_page, tmp_path
):
    """A failure tells its kind and nothing else: of the reading, then of the build; then none."""
    head, *rows = records.read_text().splitlines(keepends=True)
    visits = tmp_path / records.name  # reordered: the server caches files by content
    visits.write_text("".join([head, *rows[7:], *rows[:7]]))
    page = open_page("about:blank")
    traffic = Traffic(page)
    page.goto(f"{vault.address}/publish?method=privtree")  # with fewer nodes than records
    vault.fail_at("from_codes")
    uploaded(page, visits, steps=1)
    expect(page.get_by_text("This app has encountered an error")).to_be_visible()
    idle(page)
    assert "RuntimeError in __main__" in vault.log.decode()

    vault.fail_at("first_rows")
    sides = page.get_by_role("textbox", name="west, south, east, north")
    for west in (BOUNDS["west"] - 1, BOUNDS["west"]):
        sides.fill(str({**BOUNDS, "west": west}))
        sides.press("Enter")
        idle(page)
    continued(page, 3)
    pay(page)
    expect(page.get_by_text("was paid, which stays spent: RuntimeError")).to_be_visible()
    idle(page)
    for received in (traffic.all, vault.log):
        assert secrets_in(received) == set()
        assert not any(str(path.parent).encode() in received for path in (records, visits))
        assert b"Traceback" not in received
        assert b"dpviz/private" not in received

    vault.fail_at("none")
    pay(page)
    idle(page)
    agree = page.get_by_role("button", name="Spend it", exact=True)
    pressed_until(page, agree, page.get_by_text("Published, and kept"))
    page.locator("[data-testid=dpviz-map][data-rendered]").first.wait_for()
    open_tab(page, "Receipt")
    receipt = downloaded(page, page.get_by_role("button", name="Receipt (JSON)"))
    receipt = receipt.path().read_bytes()
    open_tab(page, "Share")
    main = page.get_by_test_id("stMainBlockContainer")
    file = downloaded(page, main.get_by_role("button", name="GeoParquet"))
    file.save_as(tmp_path / "release.parquet")
    release = dpviz.read(tmp_path / "release.parquet")
    idle(page)
    content = traffic.all + kept_by(page)
    assert len(content) > 100_000  # the map's cells have arrived
    # The titles only, no value.
    assert secrets_in(traffic.owner) == {"count of all", "count inside"}
    assert secrets_in(content) == set()
    assert secrets_in(vault.log) == set()
    assert secrets_in(receipt) == set()
    assert secrets_in(vault.paid) == set()
    assert release.header.private
    noise = release.count(release.domain.bounds).noise_sd[0]
    assert abs(release.count(release.domain.bounds).count[0] - INSIDE) < 20 * noise


def kept_by(page):
    """Address, storage and cookies that the browser holds for a page."""
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    return f"{page.url} {stored} {page.context.cookies()}".encode()
