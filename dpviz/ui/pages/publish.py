"""Publish: one paid release of confidential records, in four steps, with a receipt."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.errors import LedgerError
from dpviz.lazy import pd
from dpviz.private.ledger import Ledger
from dpviz.releases.header import price_words
from dpviz.releases.series import prices
from dpviz.ui.areas.areas_form import areas_link, show_uncounted
from dpviz.ui.points.attributes_form import KIND_FIELDS
from dpviz.ui.points.choice_form import points_choice
from dpviz.ui.points.columns_form import TIME_FIELDS
from dpviz.ui.points.expectation import expectation_panel
from dpviz.ui.points.guarantee_form import DELTA, guarantee_form
from dpviz.ui.points.prior_form import with_prior
from dpviz.ui.points.publication import payment, publication, published
from dpviz.ui.points.review import account_form
from dpviz.ui.points.source_form import InSteps, PointSource, source_form
from dpviz.ui.points.wishes import wish_panel
from dpviz.ui.series.job import missing_for_series, series_panel
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import account_summary, over_budget_message
from dpviz.ui.shared.area_form import NO_AREA, sides_in_words
from dpviz.ui.shared.domain_map import choose_domain, show_domain
from dpviz.ui.shared.method_form import EPSILON, Choice
from dpviz.ui.shared.panels import csv_of, file_button, missing_words, refusals, refuse
from dpviz.ui.shared.releases import PARAMETER, opened, your_releases
from dpviz.ui.shared.same_people import ask_about_likely
from dpviz.ui.shared.skeleton import method_link
from dpviz.ui.shared.steps import STEPS, next_step, steps
from dpviz.ui.shared.unit_form import UNIT_FIELDS
from dpviz.ui.shared.upload_form import UPLOAD

TITLE, ORDER = "Publish", 2
KEY = "publish"
HEADLINE = "Make a map that anyone may see, of records that nobody may see"
ONCE, EVERY_DAY = "Once", "Every day"
OFTEN = permalink.choice("often", dict.fromkeys((ONCE, EVERY_DAY), ""), ONCE)
WAY = """
1. **Data**: choose your file, the columns of the place and, if there are any, of persons and times.
   The page checks them with you.
2. **Area**: draw the part of the world that the map shows.
3. **Budget**: choose how exact the map is. More exact is less private.
4. **Publish**: read what becomes public, then press. You get a page, a link and files.
"""
NO_DATA = "Choose your file, and what its columns are."
NO_CHOICE = "Choose the budget."
UNSPENT = (
    "Nothing is published, and no budget spent, before step 4. Your file stays on this server."
)
EXAMPLE = "persons"
"""The built-in data set that is the example of a file."""


def _step(name: str) -> int:
    return int(permalink.number("the step", permalink.parameter(name), 0, 0, 3, whole=True))


FIELDS = (
    permalink.Field("step", _step),
    permalink.Field("bounds", lambda name: permalink.parameter(name) or ""),
    EPSILON,
    DELTA,
    *UNIT_FIELDS,
    *TIME_FIELDS,
    *KIND_FIELDS,
    OFTEN,
    permalink.text_field("title"),
    permalink.text_field("noun"),
)
"""What F5 restores besides the data and the method; the file has to be chosen again."""


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    entered = f"{KEY}.data" not in st.session_state
    # A widget's value is lost when the page is left; what it began with may be left in its place.
    given = {name for name in st.query_params if entered}
    missing = [
        each for each in FIELDS if each.name in given or each.place(KEY) not in st.session_state
    ]
    permalink.restore(KEY, missing)
    if entered and permalink.parameter("data") in (None, UPLOAD):
        st.session_state[f"{KEY}.step"] = 0  # on return to the page the uploaded file is gone
    opened(KEY, FIELDS)  # F5 after a payment: the release is shown on its own page
    at, head, (data, area, budget, last) = steps(KEY, STEPS)
    with data:
        left, right = st.columns([5, 4], gap="large")
        with left:
            st.header(HEADLINE, anchor=False)
            form = area.columns([4, 6], gap="large")
            owner = InSteps(form[0], right.container())
            start = permalink.parameter("data") or UPLOAD
            _often(start)
            with refusals() as refused:
                source = source_form(KEY, 2, start, owner=owner, more=True)
            described = st.session_state[f"{KEY}.data"] != UPLOAD or owner.complete
            no_data = "" if described else missing_words(refused[:1], NO_DATA)  # last: of the area
        with right:
            if not described:
                _way()
            your_releases(KEY)
        words = UNSPENT if described else missing_words(refused[:1], UNSPENT)
        next_step(KEY, 0, ready=described, words=words)
    with area:
        with form[1]:
            if at == 1 and (source is None or source.name is None):
                choose_domain(KEY, height=460)
            elif at == 1 and source is not None:
                show_domain(KEY, source, height=460)
        if source is not None and source.name is not None:
            with form[0]:
                st.markdown("**Area** (public)")
                st.markdown("\n".join(f"- {line}" for line in sides_in_words(source.data.domain)))
                st.caption("The area of a built-in city is fixed.")
        with form[0], refusals() as refused_prior:
            source = with_prior(KEY, source)
            refused += refused_prior
        no_area = "" if source is not None else missing_words(refused, NO_AREA)
        next_step(KEY, 1, ready=source is not None, words=no_area or UNSPENT)
    with budget:
        with refusals() as refused:
            choice, unpayable, price = (None, no_data or no_area, "")
            if source is not None:
                choice, unpayable, price = _budget(source, shown=at == 2)
        if choice is None:
            unpayable = price = missing_words(refused, unpayable)
        next_step(KEY, 2, ready=not unpayable, words=price)
    with last:
        if (made := publication(KEY, source)) is not None and source is not None:
            published(KEY, made, source, shown=at == 3)
        elif source is not None and choice is not None:  # else a line above the step says why
            if source.name is None:
                ask_about_likely(f"{KEY}.dataset", "publish")
            (payment if _once(source) else series_panel)(KEY, source, choice)
    chosen, done = st.session_state[f"{KEY}.data"], publication(KEY, source) is not None
    others = {} if choice is None else {**method_link(choice), **areas_link(choice)}
    others["data"] = chosen if chosen != UPLOAD or described else None
    others[PARAMETER] = st.session_state.get(f"{KEY}.own") if done else None
    permalink.write_address(KEY, FIELDS, others)
    head(no_data, no_area, unpayable if at >= 2 else NO_CHOICE, "" if done else UNSPENT)


def _often(data: str) -> None:
    """Ask whether to publish once or every day; built-in data do not grow, so only once."""
    if st.session_state.get(f"{KEY}.data", data) != UPLOAD:
        st.caption(f"{EVERY_DAY} needs your own file, with persons and times.")
        return

    def begin() -> None:
        """A series counts by the day."""
        if st.session_state[place] == EVERY_DAY:
            st.session_state[f"{KEY}.every"] = st.session_state.get(f"{KEY}.every") or "1d"

    place = OFTEN.place(KEY)
    chosen = st.segmented_control(
        "Publish",
        (ONCE, EVERY_DAY),
        required=True,
        key=place,
        on_change=begin,
        help="Every day: a series of releases that cost one day of a person ε, not ε a day. Its "
        "promise is weaker for longer times.",
    )
    if chosen == EVERY_DAY:
        st.caption("A new map of each day, from a file that grows: it needs persons and times.")


def _once(source: PointSource) -> bool:
    return source.name is not None or st.session_state[OFTEN.place(KEY)] == ONCE


def _way() -> None:
    """Steps of the page, their needs, and an example file to try them with."""
    st.markdown("**Four steps, about three minutes**")
    st.markdown(WAY)

    def example() -> str:
        return csv_of(pd.DataFrame(DATASETS[EXAMPLE].table())[:40_000])

    file_button("An example file (CSV)", example, "example.csv", f"{KEY}.example")
    sides = ", ".join(f"{side:g}" for side in DATASETS[EXAMPLE].domain.bounds)
    st.caption(f"A week of 500 invented persons, from 2030-01-07 to 2030-01-14, in {sides}.")


def _budget(source: PointSource, *, shown: bool) -> tuple[Choice | None, str, str]:
    """Draw the plan; return the choice, why it cannot be paid (empty: it can), and the price.

    Expected errors are computed only while the step is ``shown``: they take seconds.
    """
    left, right = st.columns([4, 5], gap="large")
    domain, once, unpayable = source.data.domain, _once(source), ""
    try:
        account = Ledger().account(source.account)
    except LedgerError as error:
        refuse(str(error))
        return None, NO_CHOICE, ""
    with left:
        if source.name is None:
            ask_about_likely(f"{KEY}.dataset", "budget")
        bound = source.data.max_per_unit
        planned = wish_panel(KEY, domain, bound, account.left) if once else None
        if planned is not None and source.prior is not None:
            st.caption("Planned without the public prior, which is left out.")
        choice, offered = planned, None
        if choice is None:
            choice = points_choice(KEY, source, more=True, asks=True, daily=not once)
            if choice is not None and choice.areas is not None:
                show_uncounted(KEY, source, choice.areas)
            if choice is not None and once:
                choice, offered = guarantee_form(KEY, source, choice)
            elif choice is not None and (missing := missing_for_series(source, choice)):
                unpayable = f"{EVERY_DAY} needs {missing[0]}."
                st.info(unpayable, icon=":material/event_repeat:")
        paid = choice is None or publication(KEY, source) is not None
        cost = (0.0, 0.0) if choice is None or paid else (choice.epsilon, choice.delta)
        account_form(KEY, account, *cost)
    with right:
        if choice is not None:
            people = source.unit is not None or bound > 1
            expected = choice
            if not once:
                expected = replace(choice, epsilon=prices(choice.epsilon)[1])
                domain = domain.without_time
                st.caption(f"Of ε = {choice.epsilon:g}, a single day has {expected.epsilon:g}.")
            expectation_panel(KEY, domain, expected, bound, offered, people=people, shown=shown)
    each_day = account.frame.startswith("day ")  # a series may be paid, which checks it by itself
    unpayable = unpayable or ("" if each_day else over_budget_message(account, *cost))
    price = account_summary(account)
    if not paid:
        price = f"This release: **{price_words(*cost)}**. {price}"
    return choice, unpayable if choice is not None else NO_CHOICE, price
