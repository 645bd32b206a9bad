"""Names on the map keep clear of what lies on it, on the screen and on a sheet of paper."""

import numpy as np
from playwright.sync_api import expect

import dpviz
from dpviz.exports import release_page

COVERED = """sheet => {
  const {surround, attribution, bound} = dpviz.app;
  const [west, south, east, north] = dpviz.app.domain;
  bound.places = () => [...Array(12).keys()].map(k => ({
    name: `n${k}`, rank: 2, from: 0, fixed: true, lon: west + (k + 0.5) / 12 * (east - west),
    lat: south + 0.03 * (north - south)}));
  const drawn = [];
  surround.words = (pen, text, x, y) => {
    const half = pen.measureText(text).width / 2;
    const across = 8 * surround.text;
    drawn.push([text, ...[[x - half, y - across], [x + half, y]].map(
      ([left, top]) => new DOMPoint(left, top).matrixTransform(pen.getTransform()))]);
  };
  sheet ? dpviz.app.paper.take() : surround.draw();
  const canvas = sheet ? dpviz.app.paper.copy.firstChild : surround.canvas;
  const map = canvas.getBoundingClientRect();
  const credit = attribution.getBoundingClientRect();
  const pixels = map.width / canvas.width;
  return [drawn.length, drawn.filter(([, from, to]) => map.left + from.x * pixels < credit.right
    && map.left + to.x * pixels > credit.left && map.top + to.y * pixels > credit.top
    && map.top + from.y * pixels < credit.bottom).map(([text]) => text)];
}"""
"""Number of words drawn of twelve along the lower edge, and those under the ground's credit."""


def test_no_name_is_under_the_credit_of_the_ground_on_screen_and_on_paper(open_file):
    """On paper the credit stood over the name of a suburb: its box had the size of the screen."""
    south_of_graz = dpviz.Domain.from_bounds([15.2, 47.02, 15.6, 47.12])
    places = np.random.default_rng(0).uniform(south_of_graz.lower, south_of_graz.upper, (9_000, 2))
    data = dpviz.from_points(places, south_of_graz, public=True)
    page = open_file(
        release_page(dpviz.build(data, "ugrid", 1.0, seed=0)), {"width": 703, "height": 900}
    )
    expect(page.locator(".attribution")).to_contain_text("GeoNames")
    page.wait_for_function("() => dpviz.app.camera")
    drawn, covered = page.evaluate(COVERED, False)
    assert (drawn > 5, covered) == (True, [])
    page.emulate_media(media="print")
    expect(page.locator(".copy img")).to_have_count(1)
    drawn, covered = page.evaluate(COVERED, True)
    assert (drawn > 5, covered) == (True, [])
