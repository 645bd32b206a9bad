"""Back leaves every page at the first press; in Learn and Publish it goes back one step."""

import re

import pytest
from playwright.sync_api import expect

from dpviz.ui.shared.navigation import page_modules
from tests.browser.conftest import idle, onward, upload
from tests.browser.test_pages import ON_THE_WAY, PAGES, SHOWN, is_open_to_everyone, settled

pytestmark = pytest.mark.browser


IN_MENU = {module.TITLE for module in page_modules() if hasattr(module, "MENU")}


def follow(page, title):
    """Presses the link to a page in the navigation, within its menu where it has one."""
    link = page.get_by_test_id("stHeader").get_by_text(title, exact=True)
    if title in IN_MENU:
        page.get_by_test_id("stTopNavSection").filter(has_text="Movement").click()
        link = page.get_by_test_id("stTopNavPopover").get_by_text(title, exact=True)
    link.click()


def visit(page, title):
    follow(page, title)
    shown(page, title)


def shown(page, title):
    """The page of this title has run to its end, and so has written its address."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page).to_have_title(f"{title} · dpviz")
    idle(page)


def test_back_walks_through_all_pages_and_turns_a_chapter_of_learn_back(app, open_page):
    """Pages that no other test opens keep their look on the way."""
    names = {module.TITLE: name for module, name in zip(SHOWN, PAGES, strict=True)}
    titles = list(names)
    page = open_page(f"{app}/?data=city-50k")
    settled(page)
    chapter = page.get_by_role("heading", level=2).first
    first = None
    for title in titles[1:]:
        visit(page, title)
        if names[title] in ON_THE_WAY:
            is_open_to_everyone(page, names[title])
            page.set_viewport_size({"width": 1280, "height": 900})
        if title == "Learn":
            first = chapter.inner_text()
            page.get_by_role("button", name="Next").click()
            expect(chapter).not_to_have_text(first)
            settled(page)
    for title in reversed(titles[:-1]):
        page.go_back()
        shown(page, title)
        if title == "Learn":
            expect(chapter).not_to_have_text(first)
            page.go_back()
            expect(chapter).to_have_text(first)
            shown(page, title)
    before = page.evaluate("history.length")
    page.get_by_role("button", name="New noise").click()
    expect(page).to_have_url(re.compile("seed=1"))
    assert page.evaluate("history.length") <= before  # a seed adds no history entry
    page.go_back()
    assert page.url == "about:blank"


def test_back_and_forward_walk_through_the_steps_of_publish_and_a_return_says_what_is_lost(
    app, open_page, tmp_path
):
    page = open_page(f"{app}/publish")
    file = tmp_path / "visits.csv"
    file.write_text("lon,lat\n" + "14.5,-23.5\n" * 50)
    upload(page, file)
    onward(page, 0)
    sides = page.get_by_placeholder("west, south, east, north")
    sides.fill("14, -24, 15, -23")
    sides.press("Enter")
    onward(page, 1)
    for move, step in ((page.go_back, 1), (page.go_back, 0), (page.go_forward, 1)):
        move()
        expect(page.locator(f".st-key-publish-step-{step}")).to_be_visible()
        expect(page).to_have_url(re.compile(f"step={step}"))
        idle(page)
        expect(page.get_by_test_id("stFileChip")).to_have_count(1)
        expect(sides).to_have_value("14, -24, 15, -23")
    page.go_forward()
    expect(page.locator(".st-key-publish-step-2")).to_be_visible()
    idle(page)
    visit(page, "Explore")
    page.go_back()
    shown(page, "Publish")
    expect(page.get_by_text("Choose your file again")).to_be_visible()
    upload(page, file)
    onward(page, 0)
    expect(sides).to_have_value("14, -24, 15, -23")
