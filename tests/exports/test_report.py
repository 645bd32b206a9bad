"""The page to print, its chart and its picture."""

import base64
import html
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

import dpviz
from dpviz.errors import DomainError, ReleaseError
from dpviz.exports import Presentation, report_page
from dpviz.exports.charts import SIZES, error_svg, expected_errors
from dpviz.exports.facts import replies
from dpviz.exports.html import packed_map
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render.numbers import count_words
from dpviz.render.picture import Words, comparison_png
from tests.exports.conftest import NAME
from tests.exports.test_html import EVIL

pytestmark = pytest.mark.slow

RECT = (10.2, 50.3, 10.5, 50.6)


@pytest.fixture(scope="module")
def report(sensitive):
    """A page that several tests look at."""
    return report_page([sensitive], rects=[RECT], presentation=Presentation(EVIL))


def words(page):
    return html.unescape(re.sub(r"<style.*?</style>|base64,[^\"]*", "", page, flags=re.DOTALL))


def test_the_total_of_a_report_of_a_year_is_that_of_the_release():
    """Regression: the errors of all cells of its map were added up, ± 500 in place of ± 220."""
    year = dpviz.Domain.from_bounds([0, 0, 1, 1], period=("2030-01-01", "2031-01-01"))
    records = np.random.default_rng(0).uniform(*np.array([year.lower, year.upper]), (5_000, 3))
    data = dpviz.from_points(records, year, public=True)
    release = dpviz.build(data, "quadtree", 1.0, seed=0, height=4)
    total = count_words(release.count([0, 0, 1, 1]))
    assert f"<strong>{total}</strong> records, all 2030</p>" in report_page([release])


def test_a_report_says_all_that_a_reader_must_know_and_no_more(sensitive, report):
    assert "<script" not in report
    assert "<img src=x" not in report
    text = words(report)
    header = sensitive.header
    limit = "e<sup>ε</sup> = 1.65"
    for needed in (header.guarantee, "PrivTree", "add or remove one record", limit):
        assert needed in text, needed
    for row in header.budget:
        assert row["purpose"] in text
        assert row["mechanism"] in text
        assert row["theorem"] in text
    answer = sensitive.count(RECT)
    assert dpviz.render.with_noise(answer.count[0], answer.total_error[0]) in text
    entry = json.loads(re.search(r"<summary>Data-use.*?<pre>(.*?)</pre>", text, re.DOTALL)[1])
    deployment = entry["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"]["epsilon"] == header.epsilon
    assert (entry["url_slug"], deployment["basic"]["name"]) == (None, None)
    assert NAME not in text
    assert "seed" not in text
    assert re.findall(r"(?:src|href)=\"(?!data:image/(?:png|svg\+xml);base64,)", report) == []


def test_the_pictures_are_pictures(pair):
    page = report_page(pair)
    png = base64.b64decode(re.search(r"image/png;base64,([^\"]+)", page)[1])
    svg = base64.b64decode(re.search(r"image/svg\+xml;base64,([^\"]+)", page)[1])
    assert png.startswith(b"\x89PNG")
    assert svg.startswith(b"<?xml")
    assert b"<script" not in svg
    assert page == report_page(pair)


def test_the_map_of_one_release_has_words_for_half_a_sheet_all_of_them_in_its_frame(report):
    png = base64.b64decode(re.search(r"image/png;base64,([^\"]+)", report)[1])
    picture = np.array(Image.open(io.BytesIO(png)).convert("L"))
    assert picture.shape == (1080, 1600)
    assert (picture[:, :60] == 255).all()
    assert (picture[:, -60:] == 255).all()  # the legend fits, too


def test_a_rectangle_over_the_meridian_of_180_is_answered_and_drawn():
    """Fiji's own CRS: it was said to be inside out, and its outline went around the Earth."""
    domain = dpviz.Domain((1_850_000.0, 3_750_000.0), (2_350_000.0, 4_100_000.0), crs="EPSG:3460")
    places = np.random.default_rng(0).uniform(domain.lower, domain.upper, (500, 2))
    release = dpviz.build(dpviz.from_points(places, domain, public=True), "ugrid", 1.0, seed=1)
    asked, further = (179.0, -18.5, -179.5, -17.0), (179.0, -18.5, 180.5, -17.0)
    assert replies([release], ["A"], asked) == replies([release], ["A"], further)
    assert packed_map([release], rects=[asked]).spec["rects"] == [list(further)]
    with pytest.raises(DomainError, match="inside out"):
        replies([release], ["A"], (179.0, -18.5, 178.0, -17.0))


def test_a_name_of_dollars_is_no_formula(sensitive):
    label = "cost $x^$"
    svg = error_svg([sensitive, sensitive], [label, "B"]).decode()
    assert f"<!-- {label}: noise -->" in svg
    comparison_png([sensitive], [label], words=Words(title=label))


def test_expected_errors_are_those_of_the_engine(pair):
    release = pair[1]  # a grid: every leaf has the same noise
    noise, uniformity = expected_errors(release)
    whole = release.count(release.domain.bounds)
    assert noise[-1] == pytest.approx(INTERVAL_SDS * whole.noise_sd[0])
    assert uniformity[-1] == 0.0
    assert (np.diff(noise) > 0).all()
    assert len(noise) == len(SIZES)
    # Four times the area of a grid's cells has twice the noise, if it covers many of them.
    assert noise[-1] / noise[-5] == pytest.approx((SIZES[-1] / SIZES[-5]) ** 0.5, rel=0.2)


def test_three_releases_have_no_report(sensitive):
    with pytest.raises(ReleaseError, match="3 releases"):
        report_page([sensitive] * 3)
