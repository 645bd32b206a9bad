"""Answers to "may I share this page, and what does it not hide?", from the header alone."""

from __future__ import annotations

from collections.abc import Sequence

from dpviz.exports.facts import person_words
from dpviz.releases.header import Header
from dpviz.releases.release import Release
from dpviz.render.legend import with_noun

PLACES = {"areas": "areas", "flows": "areas", "roads": "streets", "sequences": "places"}
"""Public places of a release by its kind; of others, the area."""

OUTSIDE = "Records outside all areas are not counted."
"""Line on areas, which need not fill their box."""

MODEL = "It hides nothing: it shows what a private map looks like."
SYNTHETIC = ("You may share this page with anyone: its records are invented.", MODEL)
PUBLIC = (
    "Share this page as you may share its records: they are declared public.",
    MODEL,
)
OPEN = ("Share this page only if you may share its records: it hides nothing.",)


def sharing(releases: Sequence[Release], noun: str = "", *, timed: bool = False) -> tuple[str, ...]:
    """Lines on sharing and on what is not hidden, of all releases of a page together.

    Args:
        releases: those that a page shows.
        noun: the owner's plural of what is counted, in place of "records".
        timed: True if the page has a period.
    """
    first, headers = releases[0], [each.header for each in releases]
    status = {header.privacy_status[0] for header in headers}
    if "open" in status:
        return OPEN
    if "simulated" in status:
        return SYNTHETIC if all(header.synthetic for header in headers) else PUBLIC
    choices = [PLACES.get(first.kind, "area"), *(["period"] if timed else [])]
    choices += ["categories"] if len(getattr(first, "kinds", ())) > 1 else []
    return (
        "You may share this page and its numbers with anyone: that costs no further ε.",
        f"Not hidden: the {', the '.join(choices)} and the settings, which are public choices; and "
        "what is true of many people at once.",
        *_less_hidden(first.header, noun),
        *([OUTSIDE] if first.kind == "areas" else []),
    )


def _less_hidden(header: Header, noun: str) -> tuple[str, ...]:
    """Lines on what is hidden less than one privacy unit, and on records that are not counted."""
    unit, _, bound = person_words(header.unit, column=False).partition(" with at most ")
    who, _, day = unit.removeprefix("one ").partition("'s records of one ")
    several = f"on more than one {day}" if day else f"with several {who}s"
    weaker = [] if unit == "one person" else [f"of a person {with_noun(several, noun)}"]
    less = ", and ".join([*weaker, "of people who are in other releases too: their ε adds up"])
    lines = (f"Less is hidden {less}.",)
    if header.persons or not bound:
        return *lines, *filter(None, [header.persons])
    each = f"{who} and {day}" if day else who
    are = "is" if bound.startswith("1 ") else "are"
    most = f"At most {with_noun(bound, noun)} of each {each} {are} counted; any others are missing."
    return *lines, most
