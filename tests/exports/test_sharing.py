"""A page answers whether it may be shared and what it does not hide, of this release alone."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.exports import Presentation, release_page

YEAR = {"time": "at", "period": ("2024-01-01", "2025-01-01")}
KINDS = {"kind": "offense", "kinds": ["theft", "fraud"]}
PEOPLE = "people who are in other releases too: their ε adds up."


def built(attributes, **how):
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(rng.random((400, 2)), columns=["lon", "lat"])
    rows["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, 400), "D")
    rows["offense"] = rng.choice(["theft", "fraud"], 400)
    rows = rows.assign(person=np.arange(400) // 4, fare=1.0)
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], **attributes)
    seed = 0 if "public" in how else None
    data = dpviz.load(rows, domain, name="walks", **how)
    return dpviz.build(data, "ugrid", 1.0, cells=4, seed=seed)


def section(page, start, end):
    return html.unescape(re.sub(r"<[^>]+>", "", page.partition(start)[2].partition(end)[0]))


@pytest.mark.parametrize(
    ("attributes", "how", "lines"),
    [
        (
            {},
            {},
            [
                "You may share this page and its numbers with anyone: that costs no further ε.",
                "Not hidden: the area and the settings, which are public choices; and what is true "
                "of many people at once.",
                f"Less is hidden of a person with several crimes, and of {PEOPLE}",
            ],
        ),
        (
            {**YEAR, **KINDS},
            {"unit": "person", "max_per_unit": 3},
            [
                "You may share this page and its numbers with anyone: that costs no further ε.",
                "Not hidden: the area, the period, the categories and the settings, which are "
                "public choices; and what is true of many people at once.",
                f"Less is hidden of {PEOPLE}",
                "At most 3 crimes of each person are counted; any others are missing.",
            ],
        ),
        (
            YEAR,
            {"public": True},
            [
                "Share this page as you may share its records: they are declared public.",
                "It hides nothing: it shows what a private map looks like.",
            ],
        ),
    ],
    ids=["event", "person", "public"],
)
def test_a_page_says_whether_it_may_be_shared_and_what_it_does_not_hide(attributes, how, lines):
    page = release_page(built(attributes, **how), Presentation(noun="crimes"))
    shown = section(page, "May I share this, and what is not hidden?</summary>", "</details>")
    assert [line.strip() for line in shown.splitlines() if line.strip()] == lines
    assert page.index('class="sharing"') > page.index('id="map"')


def test_how_to_read_it_tells_of_what_the_release_has():
    """A release without values told of their limits, and one without categories of shares."""
    plain, kinds, values = (
        section(release_page(built(each, public=True)), "How to read it</h2>", "<h2>")
        for each in ({}, KINDS, {"value": "fare", "clip": (0, 9)})
    )
    assert "interval of a share includes" in kinds
    assert "interval of a mean includes" in values
    assert ["Fieller" in each for each in (plain, kinds, values)] == [False, True, True]
    assert ["declared limits" in each for each in (plain, kinds, values)] == [False, False, True]
