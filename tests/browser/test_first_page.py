"""What a newcomer sees and does before the app is there is where the app has it, and not lost."""

from tests.browser.conftest import idle

PAINTED = "window.dpvizFirst?.app?.root.dataset.painted"
CAMERA = "Object.values(map.camera).map(value => value.toFixed(6))"
BOX = "(({x, y, width, height}) => [x, y, width, height].map(Math.round))"
LOOK = f"map => [{CAMERA}, {BOX}(map.root.getBoundingClientRect())]"
DRAW = "window.dpvizFirst.app.root.querySelector('[data-testid=dpviz-draw]').click()"
BEGIN = "**/static/js/index.*.js"
"""Streamlit's program."""


def test_the_first_picture_is_the_apps_and_a_rectangle_drawn_on_it_is_answered(desk, app):
    page = desk.new_page()
    try:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.route(BEGIN, lambda route: None)  # held
        page.goto(app, wait_until="commit")
        page.wait_for_function(PAINTED)
        first = page.evaluate(f"({LOOK})(window.dpvizFirst.app)")
        page.evaluate(DRAW)
        _, (x, y, _, _) = first
        page.mouse.move(x + 120, y + 180)
        page.mouse.down()
        page.mouse.move(x + 260, y + 360, steps=3)
        page.mouse.up()
        drawn = page.evaluate("window.dpvizFirst.app.root.dataset.shape")
        page.unroute(BEGIN)  # what was held goes on
        page.wait_for_function("!window.dpvizFirst")
        real = page.locator("[data-testid=dpviz-map][data-rendered]")
        real.wait_for()
        page.get_by_text("Built from").wait_for()
        idle(page)
        assert "rect" in drawn
        assert real.get_attribute("data-shape") == drawn
        assert real.evaluate(f"root => ({LOOK})(root.__dpviz)") == first
    finally:
        page.close()
