"""A file over the limit is refused in one clear line, by the page and by the server itself."""

import re
import tomllib

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, idle, onward, until, upload

pytestmark = pytest.mark.browser


def test_the_limit_is_what_the_documentation_says():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    limit = settings["server"]["maxUploadSize"]
    assert f"Uploads are limited to {limit} MB" in " ".join(
        (ROOT / "assets" / "docs" / "security.md").read_text().split()
    )


def test_what_no_page_takes_is_said_where_it_is_mended_and_an_upload_ends_with_its_visit(
    below, below_folder, open_page, tmp_path
):
    """One visit: a file that no page reads, one over the limit, an area the wrong way round."""
    page = open_page(f"{below}/publish")
    page.emulate_media(forced_colors="active")  # removes the colour of the current step
    widths = [step.evaluate("e => getComputedStyle(e).borderWidth") for step in steps(page)]
    assert widths == ["3px", "1px", "1px", "1px"]
    page.emulate_media(forced_colors="none")
    a_file_that_no_page_reads_is_refused(page, tmp_path / "places.xml")
    held = lambda: len(list(below_folder.glob("dpviz-private-*/*/*.csv")))  # noqa: E731
    before = held()
    a_file_that_is_too_large_is_refused_in_one_line(page, tmp_path)
    assert held() == before + 1
    an_area_inside_out_is_refused_where_it_is_typed(page)
    page.close()

    def forgotten():
        open_page(f"{below}/help").close()  # Streamlit forgets a session when another one ends
        return not held()

    until(forgotten)


def steps(page):
    names = ("1 Data", "2 Area", "3 Budget", "4 Publish")
    return [page.get_by_role("button", name=name) for name in names]


def a_file_that_no_page_reads_is_refused(page, path):
    path.write_text('<?xml version="1.0"?><places/>')
    upload(page, path)
    alert = page.get_by_role("alert").locator("visible=true")
    expect(alert).to_contain_text("The file is XML, not delimited text: give CSV or GeoJSON")
    expect(page.get_by_role("button", name="Continue").first).to_be_disabled()
    page.get_by_role("button", name="Remove places.xml").click()
    expect(page.get_by_test_id("stFileChip")).to_have_count(0)
    idle(page)


def a_file_that_is_too_large_is_refused_in_one_line(page, folder):
    path, small = folder / "visits.csv", folder / "few.csv"
    path.write_bytes(b"lon,lat\n" + b"14.5,-23.5\n" * 800_000)  # nearly 9 MB
    small.write_bytes(b"lon,lat\n14.5,-23.5\n")
    chooser = page.get_by_test_id("stFileUploaderDropzoneInput")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    chooser.set_input_files(path)
    refused = page.get_by_text("File must be 8.0MB or smaller.")
    assert refused.bounding_box()["height"] > 10  # visible without hovering
    expect(page.get_by_text("Choose a file to begin.")).to_be_visible()
    expect(page.get_by_test_id("stAlert").locator("visible=true")).to_have_count(1)
    assert "PUT" not in sent
    # The server itself refuses uploads that bypass the page.
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


def an_area_inside_out_is_refused_where_it_is_typed(page):
    onward(page, 0)  # the pressed button disappears, so the focus must move
    expect(page.get_by_role("group", name="Step 2: Area")).to_be_focused()
    sides = page.get_by_role("textbox", name="west, south, east, north")
    sides.fill("15, -24, 14, -23")
    sides.press("Enter")
    alert = page.get_by_role("alert").locator("visible=true").first
    expect(alert).to_contain_text("No area from 15 to 14")
    an_area_is_found_in_plain_letters_and_leaves_the_map_with_its_text(page, sides)
    sides.fill("14, -24, 15, -23")
    sides.press("Enter")
    onward(page, 1)


def an_area_is_found_in_plain_letters_and_leaves_the_map_with_its_text(page, sides):
    search = page.get_by_role("combobox", name="Search a country, state or place")
    for spelling in ("gottingen", "goettingen"):
        idle(page)
        search.click()
        search.fill(spelling)
        expect(page.get_by_role("option", name=f"{spelling}, germany")).to_be_visible()
    search.press("Enter")
    expect(sides).to_have_value("9.81, 51.46, 10.05, 51.61")
    map_view = page.locator("[data-shape]")
    expect(map_view).to_have_attribute("data-shape", re.compile("9.81,51.46,10.05,51.61"))
    sides.fill("")
    sides.press("Enter")
    expect(map_view).to_have_attribute("data-shape", "null")
