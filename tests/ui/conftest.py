"""The app on a port of its own, and a real Chromium that reaches nothing else."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SWITCHES = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def app_url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
    server = subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            break
        except OSError:
            assert time.monotonic() < deadline, "the app did not start within a minute"
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(10)


@pytest.fixture
def browser_page():
    sync = pytest.importorskip("playwright.sync_api")
    named = os.environ.get("DPVIZ_BROWSER")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=SWITCHES)
        except sync.Error as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no browser: {error}")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.route("**/*", lambda route: _local(route))
        yield page
        browser.close()


def _local(route) -> None:
    address = route.request.url
    if address.startswith(("http://127.0.0.1", "ws://127.0.0.1", "blob:", "data:")):
        route.continue_()
    else:
        route.abort()
