"""A server of the app and a real Chromium without a GPU, cut off from every other machine."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect, sync_playwright
from playwright.sync_api import TimeoutError as Late

from tests.packages import install, one_at_a_time

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # only this machine is reached
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--webgl-antialiasing-mode=none",  # would quadruple the pixels that software has to draw
    "--disable-gpu-compositing",  # maps need WebGL; the page around them is cheaper without
    "--font-render-hinting=none",  # same letter widths as in a browser with windows
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Most scripts of a page run a few times only: optimising costs more than it saves. The next
    # page runs the same scripts, so compiled code is kept. A large young generation avoids
    # repeated garbage collections while a page loads.
    "--js-flags=--no-opt --invocation-count-for-maglev=4000 --no-flush-bytecode"
    " --min-semi-space-size=32",
    "--process-per-site",  # pages of one context share compiled code: see ``anchored``
    # Otherwise compiled scripts are parsed again on another thread while they load: about
    # a tenth of a page's opening. The last two are Playwright's own, which this list replaces.
    "--disable-features=ScriptStreaming,BackgroundResourceFetch,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,PaintHolding",
]
SHELL = "chromium-headless-shell"
"""The same engine without a browser's own windows: it takes two thirds of the processor's time."""

NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
START = 90
"""Seconds that a server may take."""

EXPECTED = re.compile(r"tile\.openstreetmap\.org/|/\w+/_stcore/(health|host-config)$")
"""What may fail to load without being an error of ours: street tiles, which these tests cut off,
and Streamlit's own question, asked below every page's address first, where its server is."""

OF_DRIVER = re.compile(r"GL Driver Message")
"""Of a warning by the software that draws in place of a graphics card, not by the page."""

PATIENCE = 90_000
"""Milliseconds that anything on a page may take, on a busy machine without a GPU."""

WITHOUT_WEBGL = """{
  const {getContext} = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...rest);
  };
}"""
"""A browser that cannot draw with WebGL, for which software costs more than all else on a page:
maps are drawn flat then, as on machines that have none."""

STILL = """{
  const still = new CSSStyleSheet();
  still.replaceSync("*, ::before, ::after {animation: none!important; transition: none!important}");
  document.adoptedStyleSheets.push(still);
}"""
"""Streamlit fades, blinks and unfolds even if less motion is asked for: sixty pictures a second
of the whole page, which software draws."""

DECK = "dpviz.deckgl"
"""In the address of deck.gl, which a page that draws flat has no use for."""

pages = []
"""Of the browser, as opened by the test that runs."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "webgl: is about what deck.gl draws and hits; others do without"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add the pages' console messages to the report of a failure."""
    report = yield
    if report.failed:
        for page in pages:
            with suppress(Error):
                report.sections.append((page.url, page.inner_text("body", timeout=5_000)))
    return report


def drawing(page, request):
    """A page whose maps deck.gl draws where the test is marked ``webgl``; flat ones elsewhere."""
    if not request.node.get_closest_marker("webgl"):
        page.add_init_script(WITHOUT_WEBGL)
        network = page.context.new_cdp_session(page)  # page.route would disable the cache
        network.send("Network.enable")
        network.send("Network.setBlockedURLs", {"urls": [f"*/{DECK}/*"]})
    return page


def leave(address):
    """Closes the pages of a server that is about to end: they would complain of its silence."""
    for page in pages:
        if page.url.startswith(address):
            page.close()


def idle(page):
    """Waits until the script has run to its end, so that all it says has arrived."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def until(holds):
    """Waits for what no page says."""
    for _ in range(PATIENCE // 100):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def upload(page, *files):
    """A file, or a list, for each uploader once the page has run: one made anew loses its files.

    Right at the start a page is idle too, so that the first thing to wait for is the uploader. A
    file chosen just as a run begins, such as that of the file before, gets no place to go to:
    Streamlit drops its answer. It is chosen again then, as a person would.
    """
    choosers = page.get_by_test_id("stFileUploaderDropzoneInput")
    chips = page.get_by_test_id("stFileChip")
    for number, file in enumerate(files):
        chooser, before = choosers.nth(number), chips.count()
        chooser.wait_for(state="attached")
        more = chips.nth(before + (len(file) if isinstance(file, list) else 1) - 1)
        for patience in (PATIENCE / 6, PATIENCE):
            idle(page)
            chooser.set_input_files(file)
            with suppress(Late) if patience < PATIENCE else nullcontext():
                more.wait_for(timeout=patience)
                break
        idle(page)


def open_tab(page, title):
    """The tab of this title, below a map."""
    idle(page)
    tab = page.get_by_role("tab", name=title, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    idle(page)


def choose(page, selector, option):
    """An option of a selector, whose list the end of a run would shut."""
    idle(page)
    box, listed = (
        page.get_by_role("combobox", name=selector),
        page.get_by_role("option", name=option, exact=True),
    )
    box.click()
    for _ in range(30):
        with suppress(Late):
            listed.click(timeout=PATIENCE / 30)
            break
        box.click()
    idle(page)


def segment(page, name):
    """An option of a segmented control, which Streamlit draws as radio or button."""
    button = page.get_by_role("button", name=name, exact=True)
    return page.get_by_role("radio", name=name).or_(button).first


def paste_area(page):
    """The public rectangle of a file, from 14 to 15° E and from 24 to 23° S."""
    box = page.get_by_role("textbox", name="west, south, east, north")
    box.fill("14,-24,15,-23")
    box.press("Enter")
    idle(page)


def downloaded(page, button):
    """The file that a button of the app gives, pressed again where nothing came.

    Streamlit makes it when it is asked for; a press that meets the end of a run asks for the file
    of the run before, which is gone, and the page says so.
    """
    for patience in (PATIENCE / 6, PATIENCE / 6, PATIENCE):
        try:
            with page.expect_download(timeout=patience) as saved:
                button.click()
        except Late:
            continue
        return saved.value
    raise AssertionError("no file came")


def frames(page, count=3):
    """Waits until this many pictures of the page have been drawn."""
    page.evaluate(
        "n => new Promise(end => { const next = () =>"
        " n-- > 0 ? requestAnimationFrame(next) : end(); next(); })",
        count,
    )


def installed_browser():
    """A browser that is there already: $DPVIZ_BROWSER, or one of the usual names."""
    places = (os.environ.get("DPVIZ_BROWSER"), *map(shutil.which, NAMES))
    return next((place for place in places if place and Path(place).exists()), None)


def find_browser():
    """One that is there; otherwise Debian's package where we may install it, or Playwright's own
    download, which Playwright finds by itself: None.
    """
    with one_at_a_time():
        if path := installed_browser():
            return path
        for package in (SHELL, "chromium"):  # some releases package the shell separately
            if install(package) and (path := installed_browser()):
                return path
        command = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
        subprocess.run(command, check=False, capture_output=True)
        return None


@pytest.fixture(scope="session")
def browser():
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        path = find_browser()
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:  # never skip: the page would stay untested
            pytest.fail(f"no browser: set DPVIZ_BROWSER or install chromium ({error})")
        yield chromium
        chromium.close()


@contextmanager
def serving(script, *options, log=subprocess.DEVNULL, command=None, cwd=ROOT, **environment):
    """Serve a Streamlit script, or a command, on a free port; yield the address.

    ``command``: arguments of Python, the port last to come; in place of a script and its options.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = command or ["-m", "streamlit", "run", str(script), "--server.port"]
    arguments = [sys.executable, *arguments, str(port)]
    if command is None:
        arguments += ["--server.address", "127.0.0.1", "--server.headless", "true", *options]
    server = subprocess.Popen(
        arguments, cwd=cwd, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment}
    )
    path = dict(zip(options[::2], options[1::2], strict=True)).get("--server.baseUrlPath", "")
    address = f"http://127.0.0.1:{port}/{path}".rstrip("/")
    try:
        for _ in range(START * 10):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail(f"no server at {address}")
        yield address
    finally:
        leave(address)
        server.terminate()
        server.wait(120)


@pytest.fixture(scope="session")
def app(ledgers):
    """The app, paying from a ledger of this run's own."""
    places = {"DPVIZ_LEDGER": ledgers / "app.sqlite", "DPVIZ_RELEASES": ledgers / "releases"}
    with serving(ROOT / "app.py", **{name: str(path) for name, path in places.items()}) as address:
        yield address


PLACES = ("ledger.sqlite", "server.log", "step")
"""In the folder of the server below a path: its ledger, its log, and which step of it fails."""


@pytest.fixture(scope="session")
def below_folder(ledgers):
    """Folder of the server below a path, with its temporary files."""
    folder = ledgers / "below"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def below(below_folder):
    """The app below a URL path, with uploads of up to 8 MB and short-lived sessions.

    A server of its own takes a while to start: this one serves all that need not be ``app.py``.
    """
    options = ("--server.baseUrlPath", "maps/private", "--server.maxUploadSize", "8")
    options += ("--server.disconnectedSessionTTL", "1")
    ledger, log, switch = (below_folder / name for name in PLACES)
    switch.write_text("none 0 none")
    places = {"DPVIZ_LEDGER": ledger, "TMPDIR": below_folder, "DPVIZ_TEST_SWITCH": switch}
    places = {name: str(path) for name, path in places.items()}
    script = Path(__file__).with_name("below.py")
    with (
        log.open("wb") as sink,
        serving(script, *options, log=sink, PYTHONUNBUFFERED="1", **places) as address,
    ):
        yield address
    from tests.browser.test_secrets import secrets_in  # imports this module itself

    assert secrets_in(log.read_bytes()) == set()  # also at the end of the log


@pytest.fixture(scope="session")
def desk(browser):
    """Browser context that all pages share for its cache; each page has its own session.

    Nothing moves by itself, which software would draw again and again.
    """
    with browser.new_context(reduced_motion="reduce") as context:
        context.set_default_timeout(PATIENCE)
        context.add_init_script(STILL)
        anchored(context, "http://127.0.0.1/")
        yield context


def anchored(context, address):
    """An empty page of a site, which keeps the site's process and the scripts compiled in it."""
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(body=""))
    page.goto(address)


@pytest.fixture
def open_page(desk, request):
    """Opens pages that reach this machine only, and waits until the app has run.

    An error in the console fails the test.
    """
    errors = []

    def logged(message):
        blocked = "ERR_BLOCKED_BY_CLIENT" in message.text and DECK in message.location["url"]
        if message.type == "error" and not blocked and not EXPECTED.search(message.location["url"]):
            errors.append(f"{message.text} ({message.location['url']})")

    def new(address, width=1280, height=900, scheme="light", **media):
        page = drawing(desk.new_page(), request)
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, **media)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", logged)
        page.goto(address)
        if address.startswith("http"):  # a click before the first run has ended may be lost
            page.locator("[data-testid=stMain] [data-testid=stElementContainer]").first.wait_for(
                state="attached"
            )
            idle(page)
        return page

    yield new
    while pages:
        page = pages.pop()
        if page.url.startswith("http") and not page.is_closed():
            page.evaluate("localStorage.clear()")
        page.close()
    assert errors == []


def pay(page):
    """The button with the price, then the one that confirms it.

    By key: what a busy machine still lays out would move them from below a pointer.
    """
    idle(page)
    page.get_by_role("button", name="Publish: spend").press("Enter")
    page.get_by_role("button", name="Spend it", exact=True).press("Enter")


def pressed_until(page, button, shown):
    """Presses a button that a run's end may take away, until what it leads to is there."""
    enabled = button.and_(page.locator(":enabled"))
    for _ in range(30):
        expect(enabled.or_(shown).locator("visible=true").first).to_be_visible()
        if shown.is_visible():
            return
        with suppress(Late):
            button.press("Enter", timeout=PATIENCE / 30)
            shown.wait_for(timeout=PATIENCE / 30)
        idle(page)
    raise AssertionError("it was pressed in vain")


def onward(page, step):
    """Page Publish from the step of this number to the next one, by key."""
    button = page.locator(f".st-key-publish-step-{step}").get_by_role("button", name="Continue")
    pressed_until(page, button, page.locator(f".st-key-publish-step-{step + 1}"))
    idle(page)


def continued(page, steps=3):
    """Page Publish at the step of this number, from the first or the second one."""
    first, second = (page.locator(f".st-key-publish-step-{step}") for step in (0, 1))
    expect(first.or_(second).locator("visible=true")).to_have_count(1)
    for step in range(0 if first.is_visible() else 1, steps):
        onward(page, step)


@pytest.fixture(scope="session")
def offline(browser):
    """A visit without network for each set of options, whose pages share what they compile."""
    visits = {}

    def of(**options):
        wanted = {"viewport": {"width": 1280, "height": 900}, **options}
        key = repr(sorted(wanted.items()))
        if key not in visits:
            visits[key] = browser.new_context(offline=True, **wanted)
            visits[key].set_default_timeout(PATIENCE)
            anchored(visits[key], ROOT.as_uri())
        return visits[key]

    yield of
    for each in visits.values():
        each.close()


@pytest.fixture
def open_file(offline, request, tmp_path):
    """Opens a page from the disk in a browser without network; asking for anything else fails."""
    page, asked, wrong = None, [], []

    def logged(message):
        if message.type in ("error", "warning") and not OF_DRIVER.search(message.text):
            wrong.append(message.text)

    def new(text, size=None, media=None, **options):
        nonlocal page
        path = tmp_path / "demo.html"
        path.write_text(text, encoding="utf-8")
        page = drawing(offline(**options).new_page(), request)
        if size:
            page.set_viewport_size(size)
        page.emulate_media(media=media)
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfailed", lambda failed: wrong.append(failed.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", logged)
        page.goto(path.as_uri())
        return page

    yield new
    page.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1
