"""The page Learn, clicked through without a browser."""

import json
import re
from functools import partial

import pytest

from dpviz.evaluation.disclosure import ATTACKS
from dpviz.ui.lessons.chapter import SHOWN, chapters
from tests.ui.opening import metrics, opened_page, texts

pytestmark = pytest.mark.slow

NAMES = list(chapters())
opened = partial(opened_page, "learn")


def test_chapters_have_places_of_their_own_and_are_complete():
    assert len({each.ORDER for each in chapters().values()}) == len(NAMES)
    for each in chapters().values():
        assert each.TAKEAWAY.count(". ") == 0  # one sentence
        assert "$" in each.FORMULA or "ε" in each.FORMULA
        assert each.QUESTION.endswith("?")
        assert len({*each.CHOICES}) == len(each.CHOICES) >= 3
        assert each.CHOICES[each.ANSWER]
        assert each.SOURCE.endswith(".")


def labels(app):
    return [each.label for each in app.button]


CONTROLS = {
    "leaks": ("slider", "move", 4),
    "neighbour": ("select_slider", "before", 25),
    "noise": ("select_slider", "draws", 100),
    "budget": ("slider", "releases", 4),
    "grid": ("select_slider", "side", 16),
    "tree": ("toggle", "consistent", False),
    "privtree": ("slider", "step", 3),
    "reading": ("toggle", "snap", True),
    "broken": ("slider", "people", 101),
    "protections": ("selectbox", "map_of", "Rounding"),
    "choosing": ("segmented_control", "size", "large"),
}


def test_a_walk_through_all_chapters_and_an_instructor_starts_at_any_of_them():
    """A chapter opens by its number; its address restores all choices and none of the last one's.

    Nothing is revealed before a prediction is made.
    """
    asked = {"data": "persons", "epsilon": "0.05", "seed": "7", "present": "1"}
    app = opened(chapter="1", **asked)
    for number, name in enumerate(NAMES, 1):
        chapter = chapters()[name]
        assert f"{number}. {chapter.TITLE}" in texts(app)
        assert chapter.QUESTION in texts(app)
        assert chapter.REVEAL not in texts(app)
        assert not app.success
        assert "New noise" not in labels(app)
        guess = number % len(chapter.CHOICES)
        assert app.button(key=f"learn.{name}.guess-{guess}").label == chapter.CHOICES[guess]
        app.button(key=f"learn.{name}.guess-{guess}").click().run()
        assert (":material/check: Right" in texts(app)) == (guess == chapter.ANSWER)
        said = f"You said “{chapter.CHOICES[guess].partition(':')[0]}”: not so."
        assert (said in texts(app)) == (guess != chapter.ANSWER)
        assert chapter.REVEAL in texts(app)
        assert chapter.TAKEAWAY in app.success[0].value
        assert chapter.DO in app.info[0].value
        assert ("New noise" in labels(app)) == (name != "neighbour")  # its odds have none
        links = {each.proto.label for each in app.get("page_link")}
        ends = {"Compare methods and ε", "Publish your own data"}
        assert links == (ends if name == NAMES[-1] else set())
        assert app.session_state["learn.chapter"] == name
        assert app.selectbox(key="learn.data").value == "persons"
        assert app.select_slider(key="learn.epsilon").value == 0.05
        assert app.session_state["learn.seed"] == 7
        kind, control, value = CONTROLS[name]
        getattr(app, kind)(key=f"learn.{name}.{control}").set_value(value).run()
        written = {key: app.query_params[key] for key in app.query_params}
        at = f"guess:{guess};{control}:{value}"
        assert written.items() >= {"chapter": name, "at": at, **asked}.items()
        again = opened(**{**written, "chapter": str(number)})
        assert not again.warning, name
        assert again.query_params == app.query_params
        assert getattr(again, kind)(key=f"learn.{name}.{control}").value == value
        assert texts(again) == texts(app)
        last = name == NAMES[-1]
        assert again.button(key="learn.next").disabled == last
        app.button(key=f"learn.{'back' if last else 'next'}").click().run()
        assert app.query_params["chapter"] == NAMES[number - 2 if last else number]
        assert last or "at" not in app.query_params


def test_a_press_with_a_late_address_keeps_its_chapter_and_the_browsers_back_does_not():
    """Regression: a quick guess after Next opened the chapter before, revealed."""
    app = opened(chapter="leaks", at=f"guess:{SHOWN}")
    app.button(key="learn.next").click().run()
    late = {"chapter": "leaks", "at": f"guess:{SHOWN}"}
    for key in ("learn.neighbour.guess-0", "learn.presenter", "learn.next"):
        app.query_params.update(late)
        app.button(key=key).click().run()
        name = "noise" if key == "learn.next" else "neighbour"
        assert chapters()[name].QUESTION in texts(app)
        assert app.query_params["chapter"] == name
    assert "at" not in app.query_params
    app.query_params.update(late)
    app.run()
    assert chapters()["leaks"].REVEAL in texts(app)


def test_one_metre_finds_one_person():
    app = opened(chapter="leaks", at=f"guess:{SHOWN}")
    counts = []
    for metres in (3, 4, 5):  # other tests check the numbers of all nine distances
        app.slider(key="learn.leaks.move").set_value(metres).run()
        counts.append(int(re.search(r"Exact count: \*\*([\d,]+)", texts(app))[1].replace(",", "")))
        alone = "One person found" in texts(app)
        assert alone == (metres == 4)
    assert counts == [counts[0], counts[0] + 1, counts[0] + 1]
    app.segmented_control(key="learn.leaks.who").set_value("a private release").run()
    assert re.search(r"Private answer: \*\*[\d,]+ ± ", texts(app))


def test_every_attack_is_run_on_all_five_publications():
    """At ε = 1 the attack made for each publication is always right, except against noise.

    The picture beside the question is the exact one, which gives no answer.
    """
    app = opened(chapter="protections")
    assert "exact counts" in texts(app)
    app.button(key=f"learn.protections.guess-{SHOWN}").click().run()
    leaks = (
        "**The other four exceed** the limit of noise: 73.1 of 100 (dashed), a strong guarantee."
    )
    assert leaks in texts(app)
    table = {line.split(" | ")[0].strip("| "): line for line in texts(app).splitlines()}
    assert table["the attack made for it"].count("**100**") == 4
    noise = {table[attack].split(" | ")[-1].strip("*| ") for attack in ATTACKS}
    assert len(noise) == 1  # every attack is equally good against noise
    (chart,) = (json.loads(each.proto.spec) for each in app.get("vega_lite_chart"))
    lines = " ".join(chart["layer"][0]["encoding"]["x"]["axis"]["title"])
    assert "thin line: 95 % interval Dashed: chance (50), and the limit at this ε" in lines


@pytest.mark.parametrize(("draws", "epsilon", "remedy"), [(1, 10, "lower ε"), (1, 1, "draw more")])
def test_worlds_that_hardly_overlap_have_no_ratio_and_say_what_brings_one(draws, epsilon, remedy):
    """At ε = 10, the largest number of draws would not do."""
    app = opened(chapter="noise", epsilon=f"{epsilon}", at=f"guess:{SHOWN};draws:{draws}")
    (message,) = (each.value for each in app.markdown if "A ratio needs" in each.value)
    assert message.endswith(f"**{remedy}**.")
    assert "1 draw in each world" in texts(app)


def test_no_error_on_a_logarithmic_axis_is_zero():
    """Regression: at ε = 10 noise was rounded to 0, and all curves were one flat line."""
    app = opened(chapter="grid", epsilon="10", at=f"guess:{SHOWN}")
    (rows,) = (each.value for each in app.dataframe if "cells per side" in each.value)
    assert rows["error"].min() > 0


SOOTHING = re.compile(r"nearly as likely|change little|hardly|a few more|strong guarantee|e\+0")
"""Words that are wrong where much is revealed, and numbers that nobody reads."""


@pytest.mark.parametrize("name", NAMES)
def test_at_a_large_epsilon_no_chapter_says_that_little_is_revealed(name):
    words = texts(opened(chapter=name, epsilon="10", at=f"guess:{SHOWN}"))
    assert not SOOTHING.search(words)
    graded = name in ("neighbour", "noise", "protections", "choosing")
    assert ("a weak guarantee" in words.lower()) == graded


@pytest.mark.parametrize(("epsilon", "sure"), [("1", "at most **73.1"), ("10", "all but certain")])
def test_no_bound_on_certainty_is_said_to_be_all_of_it(epsilon, sure):
    app = opened(chapter="budget", epsilon=epsilon, at=f"guess:{SHOWN}")
    assert sure in texts(app)
    assert "100.0" not in texts(app)


@pytest.mark.parametrize(
    ("epsilon", "most"), [("0.1", "11 of 100"), ("1", "23 of 100"), ("3.2", "73 of 100")]
)
def test_odds_are_said_as_people_out_of_a_hundred(epsilon, most):
    app = opened(chapter="neighbour", epsilon=epsilon, at=f"guess:{SHOWN}")
    assert metrics(app)["After: at most"] == most
