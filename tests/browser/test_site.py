"""The documentation site: it builds without a warning and is searched without a network."""

import os
import subprocess
import sys

import pytest

from tests.browser.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder of the built site; a dead link or anchor fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", ROOT / "assets/mkdocs.yml"]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*command, "-d", folder], check=True, timeout=300, env=env)
    return folder


def test_a_page_is_found_by_search_from_the_folder(site, browser):
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "results" / "flows.html").as_uri())
    search = page.get_by_role("textbox", name="Search")
    search.click()
    search.press_sequentially("calendar")
    page.locator("a.md-search-result__link", has_text="Publish every day").first.click()
    page.wait_for_url("**/calendar.html*")
    assert not [url for url in requests if not url.startswith(("file:", "data:"))]
    page.close()
