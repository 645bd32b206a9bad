"""An address that asks for what there is not: every page says so, and what to do next."""

import re

import pytest

from dpviz.ui.shared.navigation import page_modules
from tests.ui.opening import metrics, opened_page

PAGES = [module.__name__.rpartition(".")[2] for module in page_modules()]
NONSENSE = {
    **dict.fromkeys(
        ("data", "method", "a.method", "b.method", "mode", "set", "workload"), "<b>x</b>"
    ),
    **dict.fromkeys(("epsilon", "a.epsilon", "seed", "camera", "chapter", "step"), "-1"),
    "camera": "nan,999,1e9",
}


def said(app):
    boxes = [*app.warning, *app.info, *app.error]
    return [re.sub(r"\\(.)", r"\1", each.value) for each in boxes]


@pytest.mark.parametrize("page", PAGES)
def test_nonsense_in_an_address_is_no_exception(page):
    app = opened_page(page, **NONSENSE)
    asks = [line for line in said(app) if "The address of this page asks for" in line]
    endings = ("choose another.", "as the address says.", "It is left out.")
    assert all(line.endswith(endings) for line in asks)
    if any(box.label in ("Data", "Roads and trips") for box in app.selectbox):
        assert any("data '<b>x</b>'" in line for line in asks)


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("explore", {"epsilon": "inf", "rect": "nan,1,2,3", "seed": "odd", "camera": "9,9,1e308"}),
        ("explore", {"epsilon": "nan", "ring": "1,2,3", "rect": "10,10,5,5"}),
        ("explore", {"camera": "14.5,-23.9,-5"}),
        ("explore", {"data": "x" * 5_000}),
        ("compare", {"mode": "zzz", "rect": "10,10,5,5"}),
        ("sequences", {"view": "zzz"}),
    ],
)
def test_what_an_address_holds_in_vain_is_said_in_one_short_line_each(page, address):
    app = opened_page(page, **address)
    lines = said(app)
    assert len(lines) == len(address)
    for value in address.values():
        (line,) = (each for each in lines if f"'{value[:60]}" in each)
        assert "The address of this page asks for" in line
        assert len(line) < 300


@pytest.mark.parametrize(
    ("page", "address", "wanted"),
    [
        (
            "explore",
            {"set": "threshold:nan;accounting:zzz;fan:4", "epsilon": "1e308"},
            [
                "ε = '1e308', which is not a number from 0.01 to 10. This is 10: choose another.",
                "threshold = 'nan', which is not a number",
                "accounting = 'zzz', which is not available here. This is paper: choose another.",
                "the parameter 'fan', which PrivTree does not have: it has ",
            ],
        ),
        (
            "explore",
            {"data": "year", "period": "soon,never", "method": "ugrid", "set": "log_cells:99",
             "epsilon": "-1"},
            [
                "ε = '-1', which is not a number from 0.01 to 10. This is 0.01: choose another.",
                "the parameter 'log_cells', which",
                "period 'soon,never', which is not two times",
            ],
        ),
        (
            "explore",
            {"areas": "h3:99", "epsilon": "1e-300"},
            [
                "resolution of hexagons '99', which is not a whole number from 0 to 15. This is",
                "ε = '1e-300', which is not a number from 0.01 to 10. This is 0.01: choose",
            ],
        ),
        (
            "sequences",
            {"side": "99", "gap": "x", "cap": "1.5"},
            [
                "cells per side '99', which is not a whole number from 2 to 32. This is 32: choose",
                "a session gap in hours of 'x', which is not a number from 0.1 to 1000. This is 12",
                "max contributions '1.5', which is not a whole number from 1 to 1000. This is 1:",
            ],
        ),
        ("sequences", {"cell": "99-99"}, ["the cell '99-99', which is not one of these. Choose"]),
        (
            "roads",
            {"workload": "zzz", "with": "www"},
            ["workload 'zzz', which is not available", "second method 'www', which is not"],
        ),
        (
            "learn",
            {"chapter": "noise", "rect": "0,0,1,1", "place": "3,4", "at": "draws:7;zzz:3"},
            [
                "draws = '7', which is not available here. This is 1000: choose another.",
                "rect '0,0,1,1', which is not four numbers",
                "the control 'zzz', which this chapter does not have: it has controls draws",
                "place '3,4', which this chapter has no use for",
            ],
        ),
        (
            "learn",
            {"chapter": "privtree", "at": "step:99", "place": "0,0"},
            [
                "step = '99', which is not available here. This is 0: choose another.",
                "place '0,0', which is not two numbers, longitude,latitude, in this city.",
            ],
        ),
    ],
)  # fmt: skip
def test_what_an_address_holds_in_vain_is_said_once_until_the_visitor_chooses(
    page, address, wanted
):
    app = opened_page(page, **address)
    lines = [line for line in said(app) if "The address of this page" in line]
    assert len(lines) == len(wanted)
    for words in wanted:
        assert any(f"asks for {words}" in line for line in lines), lines


def test_an_unknown_parameter_that_looks_like_another_is_said_to():
    (line,) = said(opened_page(epsilom="2"))
    assert line.endswith("all else is as the address says. Did you mean epsilon?")


def test_what_is_said_of_an_address_stands_on_the_page_since_a_phone_s_sidebar_is_shut():
    app = opened_page(data="zzz")
    assert len(app.main.warning) == 1
    assert not app.sidebar.warning


def test_parameters_that_no_page_knows_are_said_in_one_line_and_left_out():
    app = opened_page(lesson="zzz", hour="99", utm_source="news")
    (line,) = said(app)
    assert "asks for 'lesson=zzz&hour=99', which no page knows. It is left out" in line
    assert said(app.run().run()) == []
    assert "lesson" not in app.query_params


@pytest.mark.parametrize(
    ("page", "name"), [("explore", "rect"), ("compare", "rect"), ("trips", "from"), ("trips", "to")]
)
def test_a_rectangle_outside_the_area_is_told_with_the_remedy(page, name):
    app = opened_page(page, **{name: "0,0,1,1"})
    (line,) = [line for line in said(app) if "outside the area" in line]
    assert "lies outside the area from" in line
    assert line.endswith("give one that overlaps it.")
    assert "Noisy count" not in metrics(app)
    assert len(app.get("bidi_component")) >= 2  # the map is still there to draw a better one


@pytest.mark.parametrize("page", ["explore", "sequences", "learn"])
def test_an_epsilon_between_the_steps_is_one_while_the_page_is_open(page):
    app = opened_page(page, epsilon="0.0281")
    assert not any("The address" in line for line in said(app))
    slider = app.select_slider(key=f"{page}.epsilon")
    assert slider.value == 0.0281
    assert app.query_params["epsilon"] == "0.0281"
    slider.set_value(1.0).run()
    slider = app.select_slider(key=f"{page}.epsilon")
    assert (slider.value, app.query_params["epsilon"]) == (1.0, "1")
    slider.set_value(0.0281).run()
    assert app.select_slider(key=f"{page}.epsilon").value == 0.0281


def test_compare_begins_at_an_epsilon_between_the_steps():
    app = opened_page("compare", **{"a.epsilon": "0.3", "b.epsilon": "0.0281"})
    assert said(app) == []
    assert [app.select_slider(key=f"compare.{side}.epsilon").value for side in "ab"] == [
        0.3,
        0.0281,
    ]
