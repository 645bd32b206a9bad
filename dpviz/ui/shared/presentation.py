"""Words under which a release is shared: title, subtitle, noun, notes; and its page's link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.exports import (
    Note,
    Presentation,
    has_picture,
    map_page,
    release_page,
    release_picture,
    report_page,
)
from dpviz.exports.presentation import MAX_LENGTHS, MAX_NOTES, PLAIN
from dpviz.releases.counts import CountRelease, domain_of
from dpviz.releases.release import Release
from dpviz.releases.series import Series
from dpviz.render import Camera
from dpviz.render.cells import domain_bounds
from dpviz.render.scene import Bounds
from dpviz.ui.map.component import events
from dpviz.ui.shared.panels import file_button
from dpviz.ui.shared.releases import link_of, visitor
from dpviz.ui.shared.shelf import Shelf, Stored

FIELDS = {"title": "Title", "subtitle": "Subtitle", "noun": "What is counted"}
"""Labels of the texts, by their names."""

ABOUT_TEXTS = (
    "Public, and optional: it stands on the release's page, report and picture, whose files are "
    "named after the title. It can be changed under Share."
)


def words_of(prefix: str, *releases: Release) -> Presentation:
    """Words of a release on a page: those stored with it, and what was typed since.

    Of several, those that they share: the noun of what they count.

    Args:
        prefix: prefix of the page's keys.
        releases: the shown ones.
    """
    key = f"{prefix}.share"
    stored = [_stored(each) for each in releases]
    identity = [each.id for each in stored if each]
    if st.session_state.get(f"{key}.of") != identity:  # other releases than before
        st.session_state[f"{key}.of"] = identity
        shown = [each.presentation if each else PLAIN for each in stored]
        noun = _shared(each.noun for each in shown)
        st.session_state[f"{key}.words"] = shown[0] if len(shown) == 1 else Presentation(noun=noun)
        for name in FIELDS:
            st.session_state.pop(f"{key}.{name}", None)
    words: Presentation = st.session_state[f"{key}.words"]
    names = [name for name in FIELDS if f"{key}.{name}" in st.session_state]
    return replace(words, **{name: st.session_state[f"{key}.{name}"].strip() for name in names})


def counted_noun(prefix: str, *releases: CountRelease[Any]) -> str:
    """Plural of what releases count, as their owner or they say it; "records" if they differ."""
    usual = _shared(each.records for each in releases)
    return words_of(prefix, *releases).noun or usual or "records"


def _shared(texts: Iterable[str]) -> str:
    """The text if all are the same, else an empty one."""
    first, *others = set(texts)
    return "" if others else first


def text_fields(
    key: str, names: Sequence[str], words: Presentation = PLAIN, *, repeated: str = ""
) -> Presentation:
    """Draw a row of fields for public texts; return the words with these texts.

    Args:
        key: prefix of the fields' keys.
        names: of :data:`FIELDS`.
        words: texts at first.
        repeated: note on totals that count a person several times; empty for others.
    """
    texts: dict[str, Any] = {}
    with st.container(horizontal=True):
        for name in names:
            st.session_state.setdefault(f"{key}.{name}", getattr(words, name))
            texts[name] = st.text_input(
                FIELDS[name],
                key=f"{key}.{name}",
                max_chars=MAX_LENGTHS[name],
                placeholder=("visits" if repeated else "records") if name == "noun" else "optional",
                help=ABOUT_TEXTS,
            ).strip()
    if repeated:
        st.caption(f"{repeated} So a count is of “visits”, for example, and not of people.")
    return replace(words, **texts)


def presentation_form(
    prefix: str, releases: Sequence[Release], place: tuple[float, float] | None
) -> Presentation:
    """Draw the form of a release's public words, and its link; store its owner's words.

    Args:
        prefix: prefix of the page's keys.
        releases: the shared one; or several, without a link.
        place: longitude and latitude of a new note; None if the map has not been moved.
    """
    stored = _stored(releases[0]) if len(releases) == 1 else None
    key, words = f"{prefix}.share", words_of(prefix, *releases)
    words = text_fields(key, tuple(FIELDS), words, repeated=releases[0].header.repeated)
    words = replace(words, notes=_notes(key, words.notes, place))
    st.session_state[f"{key}.words"] = words
    if stored is not None:
        if stored.owner == visitor() and words != stored.presentation:
            Shelf().present(stored.id, visitor(), words)
        st.caption(
            "A page to read: anyone with this link who may open this server sees it. Add "
            "`&embed=true` to put it into another page."
        )
        st.code(link_of(stored.id), language=None, wrap_lines=True)
    return words


def _stored(release: Release) -> Stored | None:
    """A release as stored on this server; None if it is not."""
    try:
        return Shelf().find(str(release.header.extra.get("release_id")))
    except DpvizError:
        return None


def _notes(
    key: str, notes: tuple[Note, ...], place: tuple[float, float] | None
) -> tuple[Note, ...]:
    """Draw a row for each note, and a button that pins another one."""
    shown = []
    for at, note in enumerate(notes):
        of = f"{key}.note.{note.lon:.6f},{note.lat:.6f}"
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label = f"Note {at + 1}"
            title = st.text_input(
                label, note.title, key=f"{of}.title", max_chars=MAX_LENGTHS["title"]
            )
            text = st.text_input(
                "Text of the note", note.text, key=f"{of}.text", max_chars=MAX_LENGTHS["text"]
            )
            if st.button("Remove", icon=":material/close:", key=f"{of}.remove"):
                continue
        shown.append(replace(note, title=title.strip(), text=text.strip()))
    pinned = st.button(
        "Pin a note",
        icon=":material/pin_drop:",
        key=f"{key}.pin",
        disabled=place is None or len(notes) >= MAX_NOTES,
        help="In the middle of the drawn rectangle, or of what the map shows; at most five.",
    )
    places = {(note.lon, note.lat) for note in shown}
    if pinned and place is not None and place not in places:
        shown.append(Note(*place, title=f"Note {len(shown) + 1}"))
    if len(shown) != len(notes):
        st.session_state[f"{key}.words"] = replace(
            st.session_state.get(f"{key}.words", PLAIN), notes=tuple(shown)
        )
        st.rerun()
    return tuple(shown)


def share_page(
    prefix: str,
    releases: Sequence[Any],
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    series: Series | None = None,
) -> Presentation:
    """Draw the words, link and files of releases; a file is made when its button is pressed.

    Args:
        prefix: prefix of the keys of the page and of its map, whose camera the file takes.
        releases: one of any kind, with time the whole of it; or those that are compared.
        labels: one each of those that are compared.
        rects: rectangles whose answers the files list; the picture outlines the first.
        series: series of which the release is the map of all days.
    """
    first, rect = releases[0], rects[0] if rects else None
    place = note_place(f"{prefix}.map", first, rect)
    words = presentation_form(prefix, releases, place)

    def page() -> str:
        camera = camera_of(f"{prefix}.map")
        if not labels:
            return release_page(series or first, words, rects, camera)
        return map_page(releases, labels=labels, rects=rects, presentation=words, camera=camera)

    report = partial(
        report_page, releases, labels=labels, rects=rects, presentation=words, series=series
    )
    picture = partial(release_picture, releases, labels, rect, words)
    made: dict[str, tuple[str, str, Callable[[], str | bytes]]] = {
        "Map (HTML)": ("map.html", ".html", page),
        "Report (HTML)": ("report.html", "-report.html", report),
        "Picture (PNG)": ("map.png", ".png", picture),
    }
    if not has_picture(first):
        del made["Picture (PNG)"]
    with st.container(horizontal=True):
        for label, (name, ending, make) in made.items():
            file_button(label, make, words.file_name(ending, name), f"{prefix}.share.{name}")
    return words


def note_place(
    map_key: str, release: Release, rect: Bounds | None = None
) -> tuple[float, float] | None:
    """Middle of a rectangle, of what the map shows, or of the domain; longitude and latitude."""
    camera, domain = camera_of(map_key), domain_of(release)
    if rect is None and camera is not None:
        assert camera.longitude is not None
        assert camera.latitude is not None
        return round(camera.longitude, 6), round(camera.latitude, 6)
    if rect is None and domain is not None and domain.dims > 1:
        rect = domain_bounds(domain.without_time.counts_only)
    if rect is None:
        return None
    west, south, east, north = rect
    return round((west + east) / 2, 6), round((south + north) / 2, 6)


def camera_of(map_key: str) -> Camera | None:
    """Camera of the visitor; None if they have not moved the map."""
    seen: Any = events(map_key).camera
    if not seen:
        return None
    return Camera(longitude=seen["longitude"], latitude=seen["latitude"], zoom=seen["zoom"])
