"""Common page for all kinds of data: source, choice, release, map and answer, details.

A page fills the slots; this room decides when something is built, paid for, kept, restored from the
address and put into it. An opened release takes the same path, from the map on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.build import build
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import Paid, noise_seed, paid_release
from dpviz.ui.shared.frame import PageFrame, answer_card, map_container, share_button
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import EPSILON, Choice
from dpviz.ui.shared.panels import ErrorsShown, refusals, show_refusals
from dpviz.ui.shared.presentation import words_of
from dpviz.ui.shared.releases import PARAMETER, Opened, opened, release_panel
from dpviz.ui.shared.sources import DataSource
from dpviz.ui.shared.text import badge, guarantee_help, plain


@dataclass(frozen=True)
class Slots:
    """Functions that a page plugs into the skeleton.

    A source is a :class:`~dpviz.ui.shared.sources.DataSource`. A choice has ``epsilon``, and its
    ``repr`` says all of it.

    Attributes:
        key: key of the page, the prefix of its widgets.
        records: word for the records in a sentence.
        fields: address fields besides the choices of data and method.
        source: form of the data; None while it is not complete.
        choose: form of ε and the method for a source, in the bar; None while it is not complete.
        build: (source, choice, seed=…) or that of :func:`paid_release`.
        adopt: a source that stands for the records of a release that was opened.
        empty: the page without a source.
        before: the page before a choice is made, and before sensitive records have been paid for.
        show: the map, its answer and details: (release, source, choice or None).
        link: address parameters of a choice besides ε, its method and its seed.
        error: expected error and what it is, for the bar: (release, source, choice or None).
        title: name of a page that a menu hides.
        mode: control of what the page shows, in the line of the data.
    """

    key: str
    records: str
    fields: Sequence[permalink.Field]
    source: Callable[[], Any]
    choose: Callable[[Any], Any]
    build: Callable[..., Any]
    adopt: Callable[[Opened], Any]
    empty: Callable[[], object]
    before: Callable[[Any], None]
    show: Callable[[Any, Any, Any], None]
    error: Callable[[Any, Any, Any], tuple[str, str] | None]
    link: Callable[[Any], Mapping[str, str | None]] = lambda _: {}
    title: str = ""
    mode: Callable[[], object] | None = None


def build_choice(source: Any, choice: Choice, **how: Any) -> Any:
    """Slot ``build`` for pages whose choice is one method."""
    if choice.wishes:
        how["wishes"] = choice.wishes
    if choice.areas is not None:
        how |= {"areas": choice.areas.areas, "every": choice.areas.every}
    if choice.sum_share is not None:
        how["sum_share"] = choice.sum_share
    if choice.prior is not None:
        how["prior"] = choice.prior.data
    if choice.slots is not None:
        how["delta"] = choice.slots.delta
    return build(source.data, choice.name, choice.epsilon, **choice.parameters, **how)


def method_link(choice: Choice) -> dict[str, str | None]:
    """Address parameters for a choice of one method."""
    return {"method": choice.name, "set": permalink.paired(choice.parameters)}


def run(slots: Slots) -> None:
    """Show the page."""
    key = slots.key
    permalink.restore_address(key)
    if f"{key}.epsilon" not in st.session_state:  # a widget's value is lost when the page is left
        permalink.restore(key, (EPSILON, permalink.SEED, *slots.fields))
    looked_at = opened(key, slots.fields)
    frame = PageFrame.of(key, setup=looked_at is None, title=slots.title)
    with frame.tools:
        if slots.mode is not None and looked_at is None:
            with st.container(key="dpviz-presets", width="content"):
                slots.mode()
        release_panel(key)
    if looked_at is not None:
        shown = looked_at.release
        about = guarantee_help(words_of(key, shown).noun, shown)
        frame.describe(f"**{plain(looked_at.title)}**", badge(shown.header), about=about)
        with ErrorsShown():
            _show(slots, frame, looked_at.release, slots.adopt(looked_at), None)
        return
    with frame.setup, refusals() as refused:
        source = slots.source()
    refused = [each for each in refused if not each.asks]  # the form is open, and asks itself
    choice = None
    if source is not None:
        with frame.bar, refusals() as refused:
            choice = slots.choose(source)
    if source is None or choice is None:
        frame.describe("**Choose data**" if source is None else describe(source))
        show_refusals(*refused)  # their form may be closed
        with map_container():
            slots.empty() if source is None else slots.before(source)
        return
    frame.describe(describe(source))
    release = None
    with ErrorsShown():
        release = (_public if source.public else _paid)(slots, frame, source, choice)
    if release is None:
        return
    about = guarantee_help(words_of(key, release).noun, release)
    frame.describe(describe(source, badge(release.header)), about=about)
    _show(slots, frame, release, source, choice)
    others = {
        "data": st.session_state[f"{key}.data"],
        **source.link,
        **method_link(choice),
        **slots.link(choice),
        "epsilon": f"{choice.epsilon:g}",
        "seed": str(st.session_state[f"{key}.seed"]) if source.public else None,
        "sensitive": None if source.public else "1",
        PARAMETER: None if source.public else st.session_state.get(f"{key}.own"),
    }
    permalink.write_address(key, (), others)


def describe(source: DataSource, guarantee: str = "") -> str:
    """Title of a source, what it hides and the guarantee of its release, in Markdown."""
    state = "already public" if source.public else f"confidential: hides {plain(source.data.unit)}"
    if guarantee:  # which says both
        state = ""
    words = " · ".join(filter(None, (f"**{plain(source.title)}**", state)))
    return f"{words}  {guarantee}"


def _show(slots: Slots, frame: PageFrame, release: Any, source: Any, choice: Any) -> None:
    with frame.tools:
        share_button(slots.key)
    if expected := slots.error(release, source, choice):
        frame.expect(*expected)
    tally = getattr(getattr(source, "data", None), "tally", None)  # for public records only
    if tally is not None and tally.warning:
        st.warning(f"In your file: {plain(tally.warning)}.", icon=":material/rule:")
    slots.show(release, source, choice)


def _public(slots: Slots, frame: PageFrame, source: Any, choice: Any) -> Any:
    """Release of public data: simulated noise, rebuilt when a choice changes."""
    with frame.bar:
        seed = noise_seed(slots.key)
    return public_release(f"{slots.key}.built", source, choice, seed, slots.build)


def _paid(slots: Slots, frame: PageFrame, source: Any, choice: Any) -> Any:
    """Paid release with secure noise; it stays on the page until the next payment."""
    key = slots.key

    def store(paid: Paid) -> None:
        st.session_state[f"{key}.shown"] = paid
        st.session_state[f"{key}.own"] = paid.release.header.extra["release_id"]

    with frame.payment:
        paid_release(key, source, choice, slots.build, store, note=repr(choice))
    paid: Paid | None = st.session_state.get(f"{key}.shown")
    if paid is None or paid.key != source.key:
        if st.session_state.pop(f"{key}.own", None) is not None:
            permalink.write({PARAMETER: None})  # from other data: the next rerun would open it
        with map_container():
            slots.before(source)
            with answer_card():  # on the map, which keeps its place
                st.markdown(
                    f":material/lock: The {slots.records} are confidential, so nothing is shown "
                    "yet. Choose a method and ε, then press **Publish** above."
                )
        return None
    warn_unsaved(paid.problem)
    if paid.note != repr(choice):
        st.info(
            f"This release was published at ε = {paid.release.header.epsilon:g}, before you "
            "changed the controls. Changes take effect when you publish again.",
            icon=":material/history:",
        )
    return paid.release


def warn_unsaved(problem: str) -> None:
    """Warn that a release could not be stored here, and must be downloaded now."""
    if problem:
        st.error(
            f"The release could not be kept on this server ({plain(problem)}). **Download it "
            "now:** it will be gone when this page is closed.",
            icon=":material/save:",
        )
