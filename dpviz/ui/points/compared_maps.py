"""Maps side by side on one scale: exact cells of public data, and releases, with answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.render import Scene, density_scale, difference_scene, error_scene, with_noise
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import NO_BREAK, half_width_words, short
from dpviz.render.scene import Bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.points.accuracy import TypicalError, typical_error
from dpviz.ui.points.answers import (
    CUT,
    MARGIN,
    as_csv,
    error_lines,
    error_texts,
    errors_of,
    in_domain,
    rectangle_form,
    row_in_words,
    row_of,
)
from dpviz.ui.points.map_answer import (
    CAMERA,
    cached_scene,
    keep_camera,
    query_drawn_shape,
    set_query,
)
from dpviz.ui.points.share import share_panel
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.frame import Panels, map_container, tabs
from dpviz.ui.shared.memory import cached, public_release
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import draw_hint, file_button
from dpviz.ui.shared.presentation import counted_noun
from dpviz.ui.shared.skeleton import build_choice
from dpviz.ui.shared.text import badge, half_on_screen, plain
from dpviz.ui.shared.timeline import Window

MODES = {"side": "Side by side", "swipe": "Swipe", "difference": "Difference"}
ERRORS = "Errors"
"""Title of the last mode where exact counts are known."""

FIELDS = (permalink.RECT, CAMERA, permalink.choice("mode", MODES, "side"))

TRUTH = "Truth"
EXACT = Choice("quad_exact", {"threshold": 0.0, "max_depth": 8}, 1.0)
"""Exact cells, 256 along each side where there are records; never of confidential data."""


@dataclass(frozen=True)
class Comparison:
    """Releases, their names and, for public data only, exact cells.

    Attributes:
        releases: two or three of one area.
        labels: one each: what it is.
        exact: cells with exact counts; None if the records are not public.
        asked: releases as published, with the period of each map, for counts and their errors;
            those of the maps by default.
    """

    releases: tuple[PointRelease, ...]
    labels: tuple[str, ...]
    exact: PointRelease | None = None
    asked: tuple[tuple[PointRelease, Window | None], ...] = ()

    def __post_init__(self) -> None:
        if not self.asked:
            object.__setattr__(self, "asked", tuple((each, None) for each in self.releases))

    @property
    def of_periods(self) -> bool:
        """True if one is a map of a period: many of its cells are finer than the release's."""
        return any("period" in release.header.extra for release in self.releases)

    @property
    def names(self) -> list[str]:
        """Short names of the maps, from Truth to C."""
        return [*([] if self.exact is None else [TRUTH]), *"ABC"[: len(self.releases)]]


def exact_cells(source: PointSource) -> PointRelease | None:
    """Exact cells of public data; None for other data."""
    if not source.public:
        return None
    cells: PointRelease = public_release("exact.cells", source, EXACT, 0, build_choice)
    return cells


def badges(compared: Comparison) -> str:
    """Guarantees of all releases; one for those with another ε only."""
    headers = [release.header for release in compared.releases]
    several = [badge(header) for header in headers]
    shown = {
        header.privacy_status[0]: words for header, words in zip(headers, several, strict=True)
    }
    if len(shown) == 1 and len(compared.releases) > 2:
        (words,) = shown.values()
        return re.sub(r"at ε\W+[\d.\\]+", "at each ε", words)
    if len(set(several)) == 1:
        return several[0]
    return " ".join(f"**{side}** {each}" for side, each in zip("ABC", several, strict=False))


@fragment
def maps_and_answers(
    prefix: str,
    compared: Comparison,
    source: PointSource,
    series: Mapping[str, Any],
    panels: Callable[[Bounds | None], Panels],
    controls: Callable[[], object] = lambda: None,
) -> None:
    """Show the maps, their answers, and tabs below; drawing reruns this fragment only.

    Args:
        prefix: prefix of the widgets' keys.
        compared: the releases.
        source: their data; if public, the exact answer is shown too.
        series: files with the same maps at other ε, see :func:`share_panel`.
        panels: tabs of the page for the drawn rectangle (or None).
        controls: draws more in the row above the maps.
    """
    rect = st.session_state[f"{prefix}.rect"]
    st.session_state.setdefault(f"{prefix}.mode", "side")
    titles = MODES if compared.exact is None else {**MODES, "difference": ERRORS}
    if compared.of_periods:  # their errors are too rough estimates to call a cell different
        titles = {mode: title for mode, title in titles.items() if mode != "difference"}
        if st.session_state[f"{prefix}.mode"] not in titles:
            st.session_state[f"{prefix}.mode"] = "side"
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls"):
        mode = st.segmented_control(
            "View",
            list(titles),
            format_func=titles.__getitem__,
            key=f"{prefix}.mode",
            label_visibility="collapsed",
        )
        names = compared.names
        if mode != "difference":
            names = _chosen_maps(prefix, names, 2 if mode == "swipe" else None)
        controls()
        errors = cached(
            f"{prefix}.typical",
            compared.asked,
            lambda: list(itertools.starmap(typical_error, compared.asked)),
        )
        if len({period for _, period in compared.asked}) == 1:  # a month errs less than its year
            _least_error(errors)
    with map_container():
        scene = _scene(prefix, compared, source, mode or "side", names, errors)
        map_view(scene, key=f"{prefix}.map", on_shape=partial(query_drawn_shape, prefix))
        keep_camera(prefix, scene)
    rows: list[dict[str, Any]] = []
    with st.container():  # keeps what is below it open
        if rect is None:
            draw_hint(prefix, ": all maps answer it.")
        else:
            rows = _answers(compared, source, rect)
    typed = rectangle_form(prefix, rect, domain_bounds(compared.releases[0].domain))
    pair = compared.releases[:2], compared.labels[:2]
    share = partial(share_panel, prefix, *pair, series)
    table: Panels = {"Table": partial(_table, prefix, rows)} if rows else {}
    tabs(prefix, {**table, **panels(rect), "Share": share}, always=("Share",))
    map_overlay(f"{prefix}.map", shape=Shape(rect=rect) if rect else None)
    every = len(names) == len(compared.names)
    permalink.write_address(prefix, FIELDS, {"maps": None if every else ",".join(names)})
    if typed is not None:
        set_query(prefix, typed)


def _least_error(errors: Sequence[TypicalError]) -> None:
    """Say in the row above the maps which release errs least, and how much less than the worst.

    Their ratio is that of the numbers as shown.
    """
    ascending = sorted((error.half_width, side) for error, side in zip(errors, "ABC", strict=False))
    (least, best), (most, worst) = ascending[0], ascending[-1]
    low, high = half_on_screen(least), half_on_screen(most)
    words = f"All err alike: ± {half_width_words(most)} {errors[0].place}"
    if low < high:
        times = f" {short(high / low)} times" if low else ""
        shown = f"± {half_width_words(least)}, not ± {half_width_words(most)}"
        words = f"**{best}** errs{times} less than **{worst}**: {shown}"
    with st.container(key="dpviz-least", width="content"):
        st.markdown(words, help=errors[0].about)


def _chosen_maps(prefix: str, names: Sequence[str], most: int | None) -> list[str]:
    """Ask which maps to show; all at first, and if none is chosen.

    Of more than ``most`` the last one stays that was chosen, and the first of the others. Each
    view keeps its own choice; the address has that of the view it shows.
    """
    place = f"{prefix}.maps" if most is None else f"{prefix}.pair"
    seen = f"{place}.seen"
    if place not in st.session_state:
        known = any(f"{prefix}.{each}.seen" in st.session_state for each in ("maps", "pair"))
        linked = None if known else (permalink.parameter("maps") or "").split(",")
        st.session_state[place] = st.session_state.get(seen, linked)
    chosen = [name for name in names if name in (st.session_state[place] or ())] or list(names)
    before = st.session_state.get(seen) or chosen
    if most is not None and len(chosen) > most:
        new = [name for name in chosen if name not in before] or chosen[most - 1 : most]
        others = [name for name in chosen if name not in new[-1:]]
        chosen = [name for name in chosen if name in (*others[: most - 1], new[-1])]
    if st.session_state[place] != chosen:
        st.session_state[place] = chosen
    st.session_state[seen] = chosen
    return list(
        st.pills("Maps", names, selection_mode="multi", key=place, label_visibility="collapsed")
    )


def _table(prefix: str, rows: Sequence[dict[str, Any]]) -> None:
    """Show all answers as a table, with a download."""
    shown = [{"side": row["side"], **row_in_words(row)} for row in rows]
    st.dataframe(shown, hide_index=True)
    file_button("Answers (CSV)", partial(as_csv, rows), "comparison.csv", f"{prefix}.csv")


def _answers(compared: Comparison, source: PointSource, rect: Bounds) -> list[dict[str, Any]]:
    """Show all answers and, for public data, the exact one; return rows for the download."""
    rows = []
    each = zip("ABC", compared.asked, compared.labels, strict=False)
    for side, (release, period), label in each:
        inside = in_domain(rect, release.domain)
        if inside is None:
            return []
        exact = int(exact_counts(source.data, inside)[0]) if source.public else None
        answer = row_of(release, release.count(inside, period), exact)
        rows.append(dict(zip(SIDES, rect, strict=True)) | {"side": side} | answer)
        rows[-1]["method"] = label
    places = st.columns(len(rows) + source.public)
    if source.public:
        places[0].metric("Exact count (public data)", f"{rows[0]['exact']:,}")
    for place, row in zip(places[-len(rows) :], rows, strict=True):
        with place:
            count = with_noise(row["count"], errors_of(row)[2]).replace(" ", NO_BREAK)
            off, share = error_texts(row) if source.public else ("", "")
            st.metric(f"{row['side']} · noisy count", count, help=MARGIN)
            words = off and f"**Error:** {plain(off)}{share and f' ({share})'}  \n"
            st.markdown(words + error_lines(row), help=CUT.format("cell"))
    return rows


def _scene(
    prefix: str,
    compared: Comparison,
    source: PointSource,
    mode: Any,
    names: Sequence[str],
    errors: Sequence[TypicalError],
) -> Scene:
    """Scene of the chosen maps, cached so that a query does not compute the cells again.

    With exact cells the scale is theirs: it stays when ε or a method changes.
    """
    noun = counted_noun(prefix, *compared.releases)

    def make() -> Scene:
        exact = compared.exact
        maps = {
            name: (release, f"{name}: {label}\n{error.head(noun)}")
            for name, release, label, error in zip(
                "ABC", compared.releases, compared.labels, errors, strict=False
            )
        }
        if mode == "difference" and exact is None:
            scene = difference_scene(compared.releases[:2], compared.labels[:2])
        elif mode == "difference" and exact is not None:
            scene = error_scene(exact, *zip(*maps.values(), strict=True))
        else:
            if exact is not None:
                maps = {TRUTH: (exact, f"{TRUTH}: exact, public data"), **maps}
            pairs = [maps[name] for name in names]
            scale = density_scale(*(compared.releases if exact is None else [exact]))
            scene = release_scene(*zip(*pairs, strict=True), mode=mode, scale=scale)
        title = f"{source.title} · {' and '.join(compared.labels)}"
        return replace(scene, title=title, legend=scene.legend and scene.legend.counting(noun))

    return cached_scene(prefix, (compared, mode, tuple(names), noun), make, source)
