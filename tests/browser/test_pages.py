"""Every page at both widths and in both themes is open to everyone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import dpviz
from dpviz.exports import Presentation
from dpviz.ui.shared.navigation import page_modules
from dpviz.ui.shared.shelf import Shelf
from tests.browser.conftest import frames, idle, open_tab
from tests.browser.test_explore import (
    a_newcomer_s_phone_has_room_for_the_map,
    domain_box,
    the_map,
    what_is_shown_is_written,
)

pytestmark = pytest.mark.browser

SHOWN = [each for each in page_modules() if not getattr(each, "HIDDEN", False)]
PAGES = [module.__name__.rsplit(".", 1)[-1] for module in SHOWN]
SMOKE = (PAGES[0], PAGES[-1])
"""Pages that a developer in a hurry sees: one with a map and one without."""
WALKED = ("sequences", "roads", "learn")
"""Pages that tests of their own walk through, and look at first."""
ON_THE_WAY = [each for each in PAGES if each not in (*SMOKE, *WALKED)]
"""Pages that the test of Back looks at as it comes by."""
SCHEMES = ("light", "dark")
SIZES = {1280: 900, 390: 844}
LOOKS = [(width, scheme) for width in SIZES for scheme in SCHEMES[:: 1 if width == 1280 else -1]]
IMPACTS = ("serious", "critical")
OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that see which theme a page has."""
OF_SIZE = ("scrollable-region-focusable", "target-size")
"""The rules that see how wide a page is; what it shows at one width only is in its frame."""
SIDEWAYS = "(e => e.scrollWidth - e.clientWidth)(document.querySelector('[data-testid=stMain]'))"
"""By how many pixels a page has to be moved to be seen."""


def settled(page):
    """Wait until the script has run and every map on the page shows what it was asked for."""
    idle(page)
    page.locator("[data-testid=stMain] :is(h1, h2, h3, h4)").first.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]"
        ".map(e => e.shadowRoot?.querySelector('.map')).filter(Boolean)"
        ".every(map => map.dataset.rendered)",
        polling=100,  # polling on every frame would draw one after another
    )
    frames(page)
    idle(page)


def lasting_violations(page, impacts=IMPACTS, rules=None, within=None):
    """Those that are still there after a few seconds: a page that is drawing has others."""
    for _ in range(5):
        lasting = violations(page, impacts, rules, within)
        if not lasting:
            break
        frames(page, 30)
    return lasting


def violations(page, impacts=IMPACTS, rules=None, within=None):
    """Violations of these impacts, one line each; of these rules only, if any are named.

    On all of the page, or within what a selector finds of it.
    """
    options = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}}  # no style sheets:
    options |= {"runOnly": list(rules)} if rules else {}  # no active rule reads them
    for frame in page.frames:  # the page of a release is an embedded frame
        if not frame.evaluate("'axe' in window"):  # injected once per frame
            frame.evaluate(Axe().axe_script)
    results = page.evaluate(
        "async ([within, options]) => (await axe.run(within ?? document, options)).violations",
        [within, options],
    )
    return [
        f"{each['impact']} {each['id']}: {node['target']} {node['html'][:120]}"
        for each in results
        if each["impact"] in impacts
        for node in each["nodes"]
    ]


@pytest.mark.smoke
@pytest.mark.parametrize("name", SMOKE)
def test_a_page_is_open_to_everyone(app, open_page, name):
    path = "" if name == PAGES[0] else name  # the first page has no path of its own
    page = open_page(f"{app}/{path}")
    is_open_to_everyone(page, name)
    if name == PAGES[0]:
        a_newcomer_s_phone_has_room_for_the_map(page)


def is_open_to_everyone(page, name):
    """Check accessibility in one session; checks without colours on the light page only.

    Each look is one turn away from the one before, of the width or of the theme.
    """
    settled(page)
    root = "document.documentElement.style"
    page.evaluate(f"{root}.setProperty('font-size', '200%', 'important')")
    page.wait_for_function(f"{SIDEWAYS} <= 0")
    page.evaluate(f"{root}.removeProperty('font-size')")
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": SIZES[width]})
        page.emulate_media(color_scheme=scheme)
        settled(page)
        rules = None if scheme == SCHEMES[0] else OF_COLOURS
        if (width, scheme) == (390, "light") and name != PAGES[0]:  # all pages share its frame
            rules = (*OF_COLOURS, *OF_SIZE)
        if (width, scheme) != (390, "dark"):  # Learn's chapters are checked in these colours
            assert lasting_violations(page, (*IMPACTS, "moderate"), rules) == []
        assert page.evaluate(SIDEWAYS) <= 0
        if name == PAGES[0]:
            dark = the_map(page).evaluate("e => e.classList.contains('dark')")
            assert dark == (scheme == "dark")


def both_schemes_are_open_to_everyone(page, ready=settled):
    """Check the light and the dark page; ``ready`` waits for a theme."""
    for scheme, rules in zip(SCHEMES, (None, OF_COLOURS), strict=True):
        page.emulate_media(color_scheme=scheme)
        ready(page)
        assert lasting_violations(page, rules=rules) == []


def a_phone_has_room_for_map_and_legend(page, map_view):
    """Nothing needs sideways scrolling."""
    for each in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{each}.scrollWidth") <= 390
    box = map_view.bounding_box()
    assert box["width"] > 300
    assert box["x"] + box["width"] <= 390
    legend = page.get_by_test_id("dpviz-legend").bounding_box()
    assert legend["x"] + legend["width"] <= box["x"] + box["width"]
    assert legend["height"] < box["height"] / 3


def unfold(page, least):
    """Opens every collapsed part of a page; there must be at least this many."""
    closed = page.locator("[data-testid=stExpander] details:not([open]) > summary")
    assert closed.count() >= least
    while closed.count():
        closed.first.click()
        settled(page)


@pytest.mark.slow
def test_every_tab_and_dialog_of_a_page_is_open_to_everyone_and_what_is_not_is_found(
    app, open_page, open_file, tmp_path
):
    """An address may ask for a camera beyond the map: it is brought back."""
    page = open_page(f"{app}/?data=city-50k&rect=14.5,-24.0,14.7,-23.8&camera=90,-90,24")
    settled(page)
    camera = page.get_by_test_id("dpviz-map").first.evaluate("e => e.__dpviz.camera")
    assert (camera["longitude"], camera["latitude"]) == (90, -85)
    assert 10 < camera["zoom"] <= 22
    colour = "colour => document.querySelector('.st-key-dpviz-chips p').style.color = colour"
    page.evaluate(colour, "#eee")
    assert any("color-contrast" in line for line in violations(page, rules=OF_COLOURS))
    page.evaluate(colour, "")
    page.get_by_text("Exact count (public data)").first.wait_for()
    unfold(page, 1)
    for button in ("Change", "Cells"):
        page.get_by_role("button", name=button, exact=True).click()
        page.get_by_test_id("stPopoverBody").wait_for()
        assert lasting_violations(page) == []
        page.keyboard.press("Escape")
    for title in page.get_by_role("tab").all_inner_texts():
        open_tab(page, title)
        assert lasting_violations(page) == []
    open_tab(page, "Share")
    both_schemes_are_open_to_everyone(page)
    what_is_shown_is_written(page, open_file, tmp_path / "map.html", maps=1)


@pytest.mark.slow
def test_each_step_of_publish_and_the_page_of_a_release_are_open_to_everyone(
    app, ledgers, open_page
):
    """By all rules, at both widths."""
    data = dpviz.from_points([[0.4, 0.6]] * 500, dpviz.Domain((0, 0), (1, 1)), name="open")
    release = dpviz.build(data, "ugrid", 1.0, ledger=dpviz.Ledger(ledgers / "app.sqlite"))
    identity = Shelf(ledgers / "releases").keep(release, "here", Presentation("a city")).id
    steps = (f"publish?data=city-50k&step={step}" for step in range(4))
    for address in (*steps, f"r?id={identity}"):
        page = open_page(f"{app}/{address}")
        if address.startswith("r?"):
            the_map(page.frame_locator("iframe"))
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            idle(page)
            assert lasting_violations(page, (*IMPACTS, "moderate", "minor")) == []
        page.close()


def test_the_map_takes_most_of_a_screen_with_epsilon_above_it_and_stays_below_it_on_a_phone(
    app, open_page
):
    """A release with categories has one more row of controls than others."""
    page = open_page(f"{app}/?data=rides&method=ugrid&rect=14.5,-24.0,14.7,-23.8")
    map_view, epsilon = the_map(page), page.locator(".st-key-dpviz-bar [data-testid=stSlider]")
    for width, height in ((1280, 720), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        assert page.get_by_test_id("stSidebar").count() == 0
        expect(epsilon).to_be_in_viewport()
        assert map_view.bounding_box()["height"] >= 0.62 * height
        assert lower(map_view) <= height
        card = page.locator(":has(> .st-key-dpviz-answer)")
        page.get_by_test_id("dpviz-home").click()
        (west, north), (east, south) = domain_box(map_view)
        assert max(north - upper(map_view), lower(map_view) - south) <= 16
        assert map_view.bounding_box()["x"] < west < east < card.bounding_box()["x"]
        assert upper(map_view) < upper(card)
        assert lower(card) <= lower(map_view) - 40  # leaves room for scale bar and credit
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    card.scroll_into_view_if_needed()
    assert lower(map_view) < upper(card)  # the answer stands below the map
    expect(epsilon).to_be_in_viewport()
    # Like 200 % zoom: only the page names stay fixed.
    page.set_viewport_size({"width": 640, "height": 360})
    settled(page)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    expect(epsilon).not_to_be_in_viewport()


@pytest.mark.parametrize("look", ["", "&view=film"])
def test_with_time_the_total_epsilon_and_the_legend_are_in_sight_at_once(app, open_page, look):
    page = open_page(f"{app}/?data=year&method=privtree{look}", 1280, 720)
    settled(page)
    for each in (
        page.get_by_text(re.compile(r"2030: [\d,]+ ±")),
        page.locator(".st-key-dpviz-bar [data-testid=stSlider]"),
        page.get_by_test_id("dpviz-legend"),
    ):
        expect(each).to_be_visible()
        assert upper(each) >= 0
        assert lower(each) <= 720
    if look:
        assert domain_box(the_map(page))[1][1] <= upper(page.locator(".film .series"))


def test_for_a_finger_every_door_is_wide_and_no_table_s_buttons_cover_anything(app, open_page):
    """Nor is the line of chips cut off by the bar above it, whatever points."""
    page = open_page(f"{app}/sequences", 390, 844)
    bar, chips = page.get_by_test_id("stHeader"), page.locator(".st-key-dpviz-chips")
    assert lower(bar) <= upper(chips)
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    page.get_by_text("Click or tap a cell on the map").wait_for()
    table = page.get_by_test_id("stDataFrame").first
    table.wait_for()
    buttons = table.get_by_test_id("stElementToolbar")
    assert lower(buttons) <= upper(table) + 1
    above = page.get_by_text("Busiest moves", exact=True)
    assert lower(above) <= upper(buttons)
    for name in ("Expand sidebar", "Collapse sidebar"):
        door = page.get_by_role("button", name=name)
        box = door.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert box["y"] >= 0
        door.click()
        door.wait_for(state="hidden")
    page.goto(f"{app}/learn?chapter=tree&at=guess:shown")
    page.get_by_role("button", name="Chapters").click()
    for choice in (
        page.locator(".st-key-learn-chapters button"),
        page.locator("[data-testid=stCheckbox] label"),
    ):
        assert choice.first.bounding_box()["height"] >= 40


def test_the_frame_of_a_focus_has_room_around_the_signs_of_change(app, open_page):
    page = open_page(app)
    settled(page)
    button = page.get_by_role("button", name="Change", exact=True)
    button.focus()
    expect(button).to_be_focused()
    frame = button.bounding_box()
    signs = [each.bounding_box() for each in button.get_by_test_id("stIconMaterial").all()]
    assert len(signs) == 2
    assert min(each["x"] for each in signs) - frame["x"] >= 4
    assert max(each["x"] + each["width"] for each in signs) + 4 <= frame["x"] + frame["width"]


def test_the_name_leads_home(app, open_page):
    page = open_page(f"{app}/help")
    idle(page)
    page.get_by_role("button", name="Navigate to home page").click()
    expect(page.get_by_role("heading", name="Explore", level=1)).to_be_attached()


def upper(element):
    return element.bounding_box()["y"]


def lower(element):
    box = element.bounding_box()
    return box["y"] + box["height"]
