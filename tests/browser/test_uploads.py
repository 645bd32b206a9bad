"""A file over the limit is refused in one clear line, by the page and by the server itself."""

import tomllib

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, idle

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
    expect(page.get_by_text("File must be 1.0MB or smaller.")).to_have_count(1)
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
