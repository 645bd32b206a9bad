"""A file over the limit is refused in one clear line, by the page and by the server itself."""

import time
import tomllib

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, ROOT, idle, onward, pay, upload

pytestmark = pytest.mark.browser


def test_the_limit_is_what_the_documentation_says():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    limit = settings["server"]["maxUploadSize"]
    assert f"Uploads are limited to {limit} MB" in " ".join(
        (ROOT / "assets" / "security.md").read_text().split()
    )


def test_a_file_that_is_too_large_is_refused_in_one_line(below, open_page, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(b"lon,lat\n" + b"14.5,-23.5\n" * 200_000)  # over 2 MB
    small = tmp_path / "few.csv"
    small.write_bytes(b"lon,lat\n14.5,-23.5\n")
    page = open_page(f"{below}/publish")
    chooser = page.get_by_test_id("stFileUploaderDropzoneInput")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    chooser.wait_for(state="attached")
    idle(page)
    chooser.set_input_files(path)
    refused = page.get_by_text("File must be 1.0MB or smaller.")
    assert refused.bounding_box()["height"] > 10  # not only for who hovers
    expect(page.get_by_text("Choose a file to begin.")).to_be_visible()
    expect(page.get_by_test_id("stAlert").locator("visible=true")).to_have_count(1)
    assert "PUT" not in sent
    # Whoever goes past the page is stopped by the server.
    with page.expect_request(lambda request: request.method == "PUT") as asked:
        chooser.set_input_files(small)
    request = asked.value
    passed_on = ("x-xsrftoken", "cookie", "origin")
    answer = page.request.put(
        request.url,
        headers={name: value for name, value in request.all_headers().items() if name in passed_on},
        multipart={"file": {"name": "v.csv", "mimeType": "text/csv", "buffer": path.read_bytes()}},
    )
    assert answer.status == 413
    expect(page.get_by_role("combobox", name="Longitude / x")).to_be_visible()


def test_an_upload_is_gone_soon_after_its_visit(below, ledgers, browser, tmp_path):
    """Nobody else comes: it was kept until the next visitors had left."""
    small = tmp_path / "few.csv"
    small.write_bytes(b"lon,lat\n14.5,-23.5\n")
    held = lambda: len(list((ledgers / "below").glob("dpviz-private-*/*/*.csv")))  # noqa: E731
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(f"{below}/publish")
        before = held()
        upload(page, small)
        expect(page.get_by_role("combobox", name="Longitude / x")).to_be_visible()
        assert held() == before + 1
    for _ in range(PATIENCE // 100):
        if not held():
            return
        time.sleep(0.1)
    raise AssertionError("the upload outlived its visit")


def test_what_is_wrong_is_said_at_the_step_where_it_is_mended(app, open_page, tmp_path):
    """A file that no page reads; then an area whose sides are the wrong way round."""
    (tmp_path / "places.kml").write_text('<?xml version="1.0"?><kml/>')
    (tmp_path / "few.csv").write_text("lon,lat\n14.5,-23.5\n")
    page = open_page(f"{app}/publish")
    alert = page.get_by_role("alert").locator("visible=true")
    upload(page, tmp_path / "places.kml")
    expect(alert).to_contain_text("the file is XML, not delimited text: give CSV or GeoJSON")
    expect(page.get_by_role("button", name="Continue").first).to_be_disabled()
    page.get_by_role("button", name="Remove places.kml").click()
    expect(page.get_by_test_id("stFileChip")).to_have_count(0)
    upload(page, tmp_path / "few.csv")
    onward(page, 0)
    for side, value in (("west", 15), ("south", -24), ("east", 14), ("north", -23)):
        page.get_by_label(side, exact=True).fill(str(value))
        page.get_by_label(side, exact=True).press("Enter")
    expect(alert).to_contain_text("the upper limit must be above the lower")
    page.get_by_label("east", exact=True).fill("16")
    page.get_by_label("east", exact=True).press("Enter")
    onward(page, 1)


def choose_own(page, selector, option, file):
    """A file in place of the demo, in an area that is pasted."""
    page.get_by_role("combobox", name=selector).click()
    page.get_by_role("option", name=option).click()
    upload(page, file)
    box = page.get_by_label("Or paste a bounding box")
    box.fill("14,-24,15,-23")
    box.press("Enter")


def test_after_a_demo_the_price_of_an_own_file_is_not_the_least(app, open_page, tmp_path):
    """What the page restores while it has no slider is not what the slider would show later."""
    (tmp_path / "few.csv").write_text("lon,lat\n14.5,-23.5\n")
    page = open_page(f"{app}/?data=city-50k&epsilon=0.5")
    price = page.get_by_test_id("stSlider").filter(has_text="ε (privacy loss budget)")
    thumb = price.get_by_role("slider")
    expect(thumb).to_have_attribute("aria-valuetext", "0.5")
    choose_own(page, "Data", "Your own file", tmp_path / "few.csv")
    expect(page.get_by_role("button", name="Publish: spend ε = 0.5")).to_be_visible()
    expect(thumb).to_have_attribute("aria-valuetext", "0.5")


def test_after_a_demo_the_moves_of_own_places_are_seen_first(app, open_page, tmp_path):
    rows = "".join(
        f"{14 + who % 7 / 8},{-24 + step / 4},2026-01-0{step + 1},{who}\n"
        for who in range(40)
        for step in range(3)
    )
    (tmp_path / "places.csv").write_text("lon,lat,time,who\n" + rows)
    page = open_page(f"{app}/sequences")
    views = page.get_by_role("radiogroup", name="Show").get_by_role("radio")
    expect(views.first).to_be_checked()
    choose_own(page, "Sequences", "Your own places in time", tmp_path / "places.csv")
    pay(page)
    expect(page.get_by_text("Busiest moves")).to_be_visible()
    idle(page)
    expect(views.first).to_be_checked()
    expect(page.get_by_text("Busiest moves")).to_be_visible()
