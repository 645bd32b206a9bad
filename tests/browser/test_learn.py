"""The page Learn in a real Chromium: all chapters by the keyboard alone."""

from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as Late
from playwright.sync_api import expect

from dpviz.ui.lessons.chapter import chapters
from dpviz.ui.shared.steps import INTO_IT
from tests.browser.conftest import PATIENCE, idle
from tests.browser.test_pages import (
    OF_COLOURS,
    OF_SIZE,
    is_open_to_everyone,
    lasting_violations,
    lower,
    settled,
)

pytestmark = [pytest.mark.browser, pytest.mark.webgl]  # without WebGL, a notice takes room


def heading(page, chapter):
    return page.get_by_role("heading", name=f"{chapter.ORDER}. {chapter.TITLE}")


def predicts(page, chapter):
    """Goes to a wrong answer, whose verdict is longest, and gives it, by keys alone."""
    answer = page.get_by_role("button", name=chapter.CHOICES[chapter.ANSWER - 1], exact=True)
    expect(answer).to_be_visible()
    for _ in range(5):  # the end of a run may take the focus away
        if not answer.is_visible():  # given: what it reveals is on its way
            break
        page.get_by_role("button", name="Presenter mode").focus()
        for _ in range(2 + len(chapter.CHOICES)):  # Back, Next; the map comes after the question
            page.keyboard.press("Tab")
            if answer.evaluate("each => each === document.activeElement"):
                break
        page.keyboard.press("Enter")
        with suppress(Late):
            page.get_by_text(chapter.TAKEAWAY).wait_for(timeout=PATIENCE / 5)
            break
    expect(page.get_by_text(chapter.TAKEAWAY)).to_be_visible()
    expect(page.locator(".st-key-learn-verdict")).to_be_focused()


def fits_one_screen(page):
    """All of a chapter, ε above it, is visible at 1280 by 720, in letters of 16 pixels or more."""
    page.set_viewport_size({"width": 1280, "height": 720})
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= 720
    expect(page.locator(".st-key-learn-epsilon")).to_be_in_viewport()
    assert lower(page.locator(".st-key-learn-foot")) <= 720
    assert page.evaluate(SMALLEST, "[data-testid=stMainBlockContainer]") >= 15.9


PLOT = "[data-testid=stVegaLiteChart] .mark-group.role-frame.root > g > path.background"
"""Plots of charts, within their axes."""


HIDDEN_LABELS = "[data-testid=stVegaLiteChart] .role-axis-label text[opacity='0']"
"""Labels of ticks that Vega-Lite leaves out because they would overlap."""


def shows_high_charts(page):
    """No plot is lower than 140 pixels, and every tick has its label."""
    heights = [each.bounding_box()["height"] for each in page.locator(PLOT).all()]
    assert len(heights) == page.get_by_test_id("stVegaLiteChart").count()
    assert min(heights, default=140) >= 139.5
    assert page.locator(HIDDEN_LABELS).count() == 0


@pytest.mark.slow
def test_all_chapters_are_walked_by_keyboard_suit_a_phone_and_are_open_to_everyone(app, open_page):
    """Each on a light screen and on a dark phone: verdict first, then the map, its words last.

    In one of them the details are open. Each begins where the one before has ended: a page
    that turns from screen to phone costs as much as one that opens.
    """
    page = open_page("about:blank", scheme="dark")
    page.goto(f"{app}/learn?epsilon=0.5", wait_until="commit")
    settled(page)
    a_printed_chapter_is_a_sheet(page)
    is_open_to_everyone(page, "learn")
    looks = [suits_a_dark_phone, suits_a_light_screen]
    for number, (name, chapter) in enumerate(chapters().items()):
        if number:
            page.keyboard.press("n")
        expect(heading(page, chapter)).to_be_visible()
        expect(page.get_by_role("button", name="Details")).to_be_visible()  # the last on the page
        fits_one_screen(page)
        predicts(page, chapter)
        settled(page)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        fits_one_screen(page)
        shows_high_charts(page)
        assert "epsilon=0.5" in page.url
        if name == "grid":
            page.get_by_role("button", name="Details").click()
            page.get_by_test_id("stPopoverBody").get_by_text(chapter.SOURCE).wait_for()
            assert lasting_violations(page) == []
            page.keyboard.press("Escape")
        for look in looks:
            look(page)
            if number:  # the first chapter is checked elsewhere, with the page around it
                main = "[data-testid=stMain]"
                assert lasting_violations(page, rules=RULES[look], within=main) == []
        looks.reverse()
    page.keyboard.press("b")
    expect(heading(page, list(chapters().values())[-2])).to_be_visible()


WIDER_LEGEND = """map => {
  const frame = map.closest(".frame"), right = each => each.getBoundingClientRect().right;
  return Math.max(0, ...[...frame.querySelectorAll(".class")].map(right)) - right(frame);
}"""
"""By how many pixels the classes of a map's legend go beyond the map, to the right."""


def suits_a_light_screen(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    settled(page)
    beyond = page.get_by_test_id("dpviz-map").first.evaluate(WIDER_LEGEND)
    assert beyond <= 0


def suits_a_dark_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    map_view = page.get_by_test_id("dpviz-map").first.bounding_box()
    assert map_view["y"] + map_view["height"] <= 844
    page.wait_for_function(NO_WORD_CUT)
    assert page.locator(".st-key-learn-verdict").bounding_box()["y"] < map_view["y"]
    for words in page.locator("[class*='-aside']").all():
        charts = page.get_by_test_id("stVegaLiteChart").all()
        assert words.bounding_box()["y"] > max(
            (each.bounding_box()["y"] for each in charts), default=0
        )


NO_WORD_CUT = """() =>
  [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].every(chart =>
  [...chart.querySelectorAll("svg text")].every(each =>
    each.getBoundingClientRect().right <= chart.getBoundingClientRect().right + 0.5))"""
"""Whether all words of all charts end within their chart: a legend takes more rows on a phone."""

ABOVE_AREA = """map => {
  const app = map.__dpviz, [west, , , north] = app.domain, [view] = app.sight.viewports;
  const [, y] = view.project([west, north]), {top} = map.getBoundingClientRect();
  const buttons = [...map.querySelectorAll(".camera button")];
  return top + y - Math.max(...buttons.map(each => each.getBoundingClientRect().bottom));
}"""
"""Pixels between a map's buttons and its area, whose places they would hide."""

RULES = {suits_a_light_screen: None, suits_a_dark_phone: (*OF_COLOURS, *OF_SIZE)}
"""The rules that are asked of each look."""


def a_printed_chapter_is_a_sheet(page):
    """The question with boxes to tick; no button, and the map in light, as a dark screen had it."""
    the_map = page.get_by_test_id("dpviz-map")
    heights = "e => [e.getRootNode().host, e.closest('.frame')].map(each => each.offsetHeight)"
    place, height = the_map.evaluate(heights)
    assert place == height
    assert the_map.evaluate("e => e.__dpviz.dark")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.locator(".st-key-learn-sheet")).to_be_visible()
    expect(page.get_by_role("button").locator("visible=true")).to_have_count(0)
    expect(page.get_by_role("heading", level=2).first).to_be_visible()
    page.wait_for_function("e => !e.__dpviz.dark", arg=the_map.element_handle())
    page.emulate_media(media="screen", color_scheme="light")


SMALLEST = """within => {
  const page = document.querySelector(within);
  const hosts = [...page.querySelectorAll("*")].filter(each => each.shadowRoot);
  const roots = [page, ...hosts.map(each => each.shadowRoot)], pixels = [];
  for (const root of roots) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const {data, parentElement: element} = texts.currentNode, style = getComputedStyle(element);
      const shown = element.getClientRects().length && style.visibility === "visible";
      if (shown && data.trim() && !element.closest("style, script, .katex, canvas, kbd"))
        pixels.push(parseFloat(style.fontSize) * element.currentCSSZoom);
    }
  }
  return Math.min(...pixels);
}"""
"""Pixels of the smallest letters on a page and its maps, without exponents."""


NOTHING_HIDDEN = """() => {
  const [body, take] = [".st-key-learn-body", ".st-key-learn-take"].map(name =>
    document.querySelector(name).getBoundingClientRect());
  return body.bottom <= take.top;
}"""
"""Whether the take-away, which stays at the lower edge of the window, covers nothing."""


def test_presenter_mode_has_large_letters_and_keeps_title_epsilon_and_take_away(app, open_page):
    page = open_page("about:blank")
    page.set_viewport_size({"width": 1280, "height": 720})
    for name, chapter in chapters().items():
        page.goto(f"{app}/learn?chapter={name}&present=1&at=guess:shown")
        expect(page.get_by_text(chapter.REVEAL.rpartition("$")[2])).to_be_visible()
        settled(page)
        page.wait_for_function(NOTHING_HIDDEN)
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= 720
        assert lower(page.locator(".st-key-learn-presenting")) <= 720
        shows_high_charts(page)
        assert page.evaluate(SMALLEST, "[data-testid=stMain]") >= 20
        assert page.get_by_role("button", name="Zoom in").bounding_box()["height"] >= 48
        assert page.get_by_test_id("dpviz-map").first.evaluate(WIDER_LEGEND) <= 0
        if name not in ("leaks", "neighbour", "budget"):  # which show a few people
            assert page.get_by_test_id("dpviz-map").first.evaluate(ABOVE_AREA) >= 0
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
        for each in (heading(page, chapter), page.locator(".st-key-learn-epsilon")):
            expect(each).to_be_in_viewport()
    chapter = chapters()["protections"]
    page.goto(f"{app}/learn?chapter=protections")
    page.locator(".st-key-learn-ask button").first.click()
    expect(page.get_by_text(chapter.REVEAL)).to_be_visible()
    idle(page)
    page.keyboard.press("p")
    page.wait_for_url("**present=1*")
    expect(page.get_by_role("button", name="Leave presenter mode")).to_be_visible()
    idle(page)
    expect(heading(page, chapter)).to_be_visible()
    expect(page.get_by_text(chapter.REVEAL)).to_be_visible()


def test_the_private_map_of_chapter_1_has_legend_and_caption_on_a_presenter_s_screen(
    app, open_page
):
    page = open_page("about:blank")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app}/learn?chapter=leaks&present=1&at=guess:shown;who:a private release")
    caption = page.get_by_text("The same square on the cells of a private release.")
    expect(caption).to_be_visible()
    settled(page)
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("People per km²")
    for words in (page.get_by_test_id("dpviz-legend"), caption):
        assert lower(words) <= page.locator(".st-key-learn-take").bounding_box()["y"]


def test_a_chapter_chosen_by_keys_is_left_by_next_and_kept_by_what_is_pressed_in_it(app, open_page):
    """Regression: the menu, once opened, set its chapter again whenever a button was pressed."""
    page = open_page(f"{app}/learn")
    shown = list(chapters().values())
    menu = page.get_by_role("button", name="Chapters")
    menu.press("Enter")
    expect(page.get_by_role("button", name=f"1. {shown[0].TITLE}")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    menu.press("Enter")
    expect(page.get_by_role("button", name=f"1. {shown[0].TITLE}")).to_be_focused()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(heading(page, shown[2])).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="hidden")
    for chapter in shown[3:5]:
        idle(page)
        page.keyboard.press("n")
        expect(heading(page, chapter)).to_be_visible()
    idle(page)
    shown_at_once = page.get_by_role("button", name="Show it without a guess")
    expect(shown_at_once.locator("p")).to_have_css("text-decoration-line", "underline")
    shown_at_once.click()
    expect(page.get_by_text(shown[4].TAKEAWAY)).to_be_visible()
    idle(page)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Leave presenter mode")).to_be_visible()
    idle(page)
    expect(heading(page, shown[4])).to_be_visible()
    expect(page.get_by_text(shown[4].TAKEAWAY)).to_be_visible()


def test_the_focus_stays_where_a_newer_run_has_taken_away_its_place(open_page):
    """Regression: two quick presses gave an error in the console."""
    open_page("about:blank").evaluate(f"() => {{{INTO_IT % ('gone', 'Gone')}}}")
