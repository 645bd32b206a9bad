"""The page Compare in a real Chromium: one rectangle, two answers."""

from contextlib import nullcontext, suppress

import pytest
from playwright.sync_api import TimeoutError as Late
from playwright.sync_api import expect

from dpviz.evaluation.truth import exact_counts
from dpviz.ui.points.source_form import built_in
from tests.browser.conftest import PATIENCE, idle, segment
from tests.browser.test_explore import at, sweep, the_map, what_is_shown_is_written
from tests.browser.test_pages import lower, settled, upper

pytestmark = pytest.mark.browser


def draw(page, left, size):
    """A square of this size in pixels, from this share of the map's width on."""
    page.get_by_role("button", name="Draw").first.click()
    x, y = at(page.get_by_test_id("dpviz-map"), left, 0.45)
    sweep(page, (x, y), (x + size, y + size))


def test_both_views_share_legend_and_rectangle_errors_are_measured_owners_compared(
    app, open_page, open_file, tmp_path
):
    """Then errors are measured and two owners compared, on the same visit."""
    page = open_page(f"{app}/compare?data=city-50k&mode=swipe&rect=14.6,-23.9,14.75,-23.75")
    page.get_by_text("Exact count (public data)").wait_for()
    the_map(page)
    expect(page.get_by_test_id("dpviz-swipe")).to_be_visible()
    expect(page.get_by_test_id("dpviz-legend")).to_have_count(1)
    page.set_viewport_size({"width": 640, "height": 900})  # as at 200 %, where buttons are higher
    label, button = page.locator(".label.side0"), page.get_by_test_id("dpviz-draw")
    assert upper(label) >= lower(button)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(media="print")  # columns that break over two sheets overlap
    answers = page.get_by_test_id("stHorizontalBlock").filter(has_text="Built from").last
    assert answers.evaluate("e => getComputedStyle(e).breakInside") == "avoid"
    page.emulate_media(media="screen")
    segment(page, "Side by side").click()
    page.get_by_test_id("dpviz-swipe").wait_for(state="hidden")
    expect(page.get_by_test_id("dpviz-map")).to_have_count(1)  # one map, one camera, two halves
    expect(page.get_by_test_id("dpviz-legend")).to_have_count(1)
    assert "rect=14.6" in page.url
    settled(page)
    draw(page, 0.1, 60)  # further west
    page.wait_for_url(lambda address: "rect=" in address and "rect=14.6" not in address)
    rect = [float(word) for word in page.url.split("rect=")[1].split("&")[0].split("%2C")]
    exact = int(exact_counts(built_in("city-50k"), rect)[0])
    page.get_by_text(f"Exact count (public data): {exact:,}").wait_for()
    idle(page)
    assert page.locator("[data-testid=stMain]").inner_text().count("noisy count") == 2
    page.get_by_text("Share", exact=True).click()
    what_is_shown_is_written(page, open_file, tmp_path / "map.html", maps=2)
    page.get_by_text("What ε gives this precision?").click()
    page.get_by_text("The curve as a table").click()
    page.get_by_test_id("stDataFrame").first.wait_for()
    errors_are_measured_with_progress_and_cancelled(page)
    two_owners_outline_what_must_be_compared(page)
    both_prices_are_as_before(page)


def press(page, name, answer, state="visible"):
    """A button; again, as a person would, where a run that draws the form swallowed the press."""
    for patience in (PATIENCE / 6, PATIENCE):
        page.get_by_role("button", name=name, exact=True).click()
        with suppress(Late) if patience < PATIENCE else nullcontext():
            answer.wait_for(state=state, timeout=patience)
            return


def errors_are_measured_with_progress_and_cancelled(page):
    page.get_by_text("Measure your own choice").click()
    repetitions = page.get_by_label("Repetitions")
    repetitions.fill("100")
    repetitions.press("Enter")
    idle(page)
    bar = page.get_by_text("of 600")  # it says how far it is
    press(page, "Measure", bar)
    page.get_by_role("progressbar").first.wait_for(state="attached")
    left = page.get_by_text("of 1800 measurements so far")
    left.wait_for()
    press(page, "Cancel", bar, "detached")
    assert 0 < int(left.inner_text().split()[0]) < 1800
    expect(page.get_by_text("These measurements as a table")).to_have_count(1)
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()  # nothing is at work


def two_owners_outline_what_must_be_compared(page):
    page.get_by_text("Two owners", exact=True).click()
    page.get_by_text("Recall (public data)").wait_for()
    the_map(page)
    hint = page.get_by_text("Draw a rectangle: its cells of A")
    hint.wait_for()
    idle(page)
    page.emulate_media(media="print")
    expect(hint).to_be_hidden()
    expect(page.get_by_text("To the noisy count")).to_be_hidden()
    expect(page.get_by_text("Dummies only")).to_be_visible()
    expect(page.get_by_test_id("stSliderTickBar").last).to_be_hidden()
    sheet = page.get_by_test_id("dpviz-map").first
    copy = sheet.locator(".copy img")  # a canvas would be printed in the size it had before
    assert copy.evaluate("each => each.complete && each.naturalWidth > 0")
    assert copy.bounding_box() == sheet.bounding_box()
    page.emulate_media(media="screen")
    draw(page, 0.15, 50)
    page.get_by_text("Outlined: the cells of A in your rectangle").wait_for()
    idle(page)
    text = page.locator("[data-testid=stMain]").inner_text()
    assert "suppressed, are outside of it" in text
    assert "pairs of cells are left" in text


def both_prices_are_as_before(page):
    """On the way back from where they are not on the screen, and B's when the two part."""
    page.get_by_text("Built from data", exact=True).click()
    page.get_by_text("Measure your own choice").wait_for()  # the last thing on it
    idle(page)  # what is moved while the page is still being made may be made anew, as it was
    thumb = page.get_by_test_id("stSlider").filter(has_text="privacy loss").get_by_role("slider")
    expect(thumb).to_have_attribute("aria-valuetext", "1")
    thumb.press("ArrowLeft")
    expect(thumb).to_have_attribute("aria-valuetext", "0.8")
    page.wait_for_url(lambda address: "a.epsilon=0.8" in address)
    idle(page)
    page.get_by_text("One ε for both").click()
    expect(thumb).to_have_count(2)
    for each in thumb.all():
        expect(each).to_have_attribute("aria-valuetext", "0.8")
