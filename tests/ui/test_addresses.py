"""An address that asks for what there is not: every page says so, and what to do next."""

import re

import pytest
from streamlit.runtime.state.query_params import QueryParams

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


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_nonsense_in_an_address_is_no_exception_and_each_part_of_it_one_short_line(page):
    app = opened_page(page, **NONSENSE)
    asks = [line for line in said(app) if "The address of this page asks for" in line]
    assert all(line.endswith("all else is as the address says.") for line in asks)
    assert all(len(line) < 300 for line in asks)
    if any(box.label in ("Data", "Roads and trips") for box in app.selectbox):
        assert any("data '<b>x</b>'" in line for line in asks)


@pytest.mark.parametrize(
    ("page", "address", "wanted"),
    [
        ("explore", {"epsilon": "inf", "rect": "nan,1,2,3", "seed": "odd", "camera": "9,9,1e308"},
         ["ε = 'inf'", "rect 'nan,1,2,3'", "seed 'odd'", "camera '9,9,1e308'"]),
        ("explore", {"epsilon": "1e308", "ring": "1,2,3", "rect": "10,10,5,5"},
         ["ε = '1e308'", "ring '1,2,3'", "rect '10,10,5,5'"]),
        ("explore", {"method": "privtree", "set": "threshold:nan;axes:zzz;fan:4"},
         ["threshold = 'nan'", "axes = 'zzz'", "the parameter 'fan'"]),
        ("explore", {"data": "year", "period": "soon,never"}, ["period 'soon,never'"]),
        ("explore", {"scale": "100,30,1e3,3e3,1e4"}, ["scale '100,30,1e3,3e3,1e4'"]),
        ("explore", {"areas": "h3:99"}, ["resolution of hexagons '99'"]),
        ("compare", {"mode": "zzz", "data": "x" * 5_000}, ["mode 'zzz'", f"data '{'x' * 60}…'"]),
        ("sequences", {"side": "99", "gap": "x", "cap": "1.5", "view": "zzz"},
         ["cells per side '99'", "a session gap in hours of 'x'", "max contributions '1.5'",
          "view 'zzz'"]),
        ("sequences", {"cell": "99-99"}, ["the cell '99-99'"]),
        ("roads", {"workload": "zzz", "to": "nowhere"}, ["workload 'zzz'", "to 'nowhere'"]),
        ("learn", {"chapter": "noise", "rect": "0,0,1,1", "place": "3,4", "at": "draws:7;zzz:3"},
         ["draws = '7'", "rect '0,0,1,1'", "the control 'zzz'", "place '3,4'"]),
        ("learn", {"chapter": "99", "data": "nowhere"}, ["chapter '99'", "data 'nowhere'"]),
        ("learn", {"chapter": "privtree", "at": "step:99", "place": "0,0"},
         ["step = '99'", "place '0,0'"]),
    ],
)  # fmt: skip
def test_unusable_parts_of_an_address_are_dropped_with_one_message(page, address, wanted):
    app = opened_page(page, **address)
    for _ in range(2):
        lines = [line for line in said(app) if "The address of this page" in line]
        assert len(lines) == len(wanted), lines
        for words in wanted:
            assert any(f"asks for {words}, which is not available" in line for line in lines), lines
        wanted = []
        app.run()


def test_a_message_about_an_address_stands_on_the_page_once():
    app = opened_page(data="zzz")
    assert len(app.warning) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "name"), [("explore", "rect"), ("compare", "rect"), ("trips", "from"), ("trips", "to")]
)
def test_a_rectangle_outside_the_area_is_told_with_the_remedy(page, name):
    app = opened_page(page, **{name: "0,0,1,1"})
    line = next(line for line in said(app) if "outside the domain" in line)
    assert line.endswith("give one that overlaps it.")
    assert "Noisy count" not in metrics(app)
    assert len(app.get("bidi_component")) >= 2  # the map is still there to draw a better rectangle


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


def test_a_page_writes_its_address_in_one_message(monkeypatch):
    """Regression: Back met one of eight, and the page it led to got the rest of them."""
    sent, send = [], QueryParams._send_query_param_msg
    monkeypatch.setattr(
        QueryParams, "_send_query_param_msg", lambda it: (sent.append(it.to_dict()), send(it))
    )
    app = opened_page("learn")
    assert [set(each) for each in sent] == [set(app.query_params)]
