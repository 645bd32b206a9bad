"""Panel of page Sequences: next places, frequent paths, synthetic trips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render import Mark, with_noise
from dpviz.render.flows import chance_words, next_marks, path_words
from dpviz.render.numbers import within_noise
from dpviz.sequences.moves import Context, Strings, contexts, following_sd, frequent
from dpviz.trees.lattice import Float
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import MoveView
from dpviz.ui.shared import permalink
from dpviz.ui.shared.panels import hint, worded_numbers
from dpviz.ui.shared.text import plain

NAMING = " A cell is called by its column and row, counted from 0-0 in the south-west."
MAX_NEXT = 10
END = "(the end)"
MAX_SYMBOLS = 30
"""Most symbols in the table of next symbols: the most frequent ones."""
INDENT = "\u2003"
LINES = 66
"""Height in pixels of a row whose text wraps, on the card: more than four times a line's."""
PATH = st.column_config.TextColumn(width=130)


def place_panel(prefix: str, view: MoveView, source: SequenceSource) -> list[Mark]:
    """Show the chosen place: its visits, the next places, and the preceding places."""
    cell = _place_choice(prefix, view, source.places is not None)
    if cell is None:
        if source.places is not None:
            then = "a cell on the map to see where people go next from there."
            then += NAMING if view.names[0] == "0-0" else ""
            hint(prefix, f"Click or tap {then}")
        else:
            hint(prefix, "Choose a symbol to see what follows it.")
        title = "Busiest moves" if source.places is not None else "Most frequent pairs"
        st.markdown(f"**{title}**")
        strings_table(view, view.moves.first(12), "move", row_height=LINES, height=390, alt=title)
        return []
    if view.refusal:
        refused(view.refusal)
        return []
    assert view.visits is not None
    half = 0.0 if view.sd is None else INTERVAL_SDS * float(view.sd[cell])
    words = with_noise(float(view.visits[cell]), half)
    st.metric("Visits (noisy)", f"{words} · within its noise" if within_noise(words) else words)
    known = contexts(view.release.model, cell)
    table = f"{prefix}.contexts.{view.key}.{cell}"
    chosen = _context_table(table, view, known[1:]) if len(known) > 1 else None
    if len(known) == 1:
        st.caption(
            "The model ignores what came before this "
            f"{'symbol' if source.places is None else 'place'}: at this ε, the noise hides it."
        )
    if chosen is None:
        chance = view.release.model.following([cell])
        sd = following_sd(view.release.model, [cell])
        st.markdown(f"**Next from {plain(view.names[cell])}**")
    else:
        chance, sd = chosen.chance, chosen.sd
        st.markdown(f"**Next after {plain(path_words(chosen.symbols, view.names))}**")
    _next_table(view, chance, sd)
    if source.places is None:
        return []
    return next_marks(source.places, view.names, cell, chance, sd)


def _place_choice(prefix: str, view: MoveView, mapped: bool) -> int | None:
    """Choose a place by name, without a mouse."""
    key, widget = f"{prefix}.cell", f"{prefix}.cell.name"
    asked = st.session_state.get(key)
    if asked not in view.symbols:
        if widget not in st.session_state:  # requested by the address
            what = "the cell" if mapped else "the symbol"
            permalink.refused(what, asked)
        st.session_state[key] = None
    st.session_state[widget] = st.session_state[key]

    def take() -> None:
        st.session_state[key] = st.session_state[widget]

    st.selectbox(
        "Place" if mapped else "Symbol",
        view.symbols,
        index=None,
        format_func=dict(zip(view.symbols, view.names, strict=True)).__getitem__,
        key=widget,
        on_change=take,
        placeholder="Choose here, or on the map" if mapped else "Choose",
    )
    symbol = st.session_state[key]
    return None if symbol is None else view.symbols.index(symbol)


def _next_table(view: MoveView, chance: Float, sd: Float | None) -> None:
    labels = [*view.names, END]
    order = np.argsort(-chance, kind="stable")[:MAX_NEXT]
    order = order[chance[order] > 0]
    words = chance_words(chance, sd)
    st.dataframe(
        {
            "next": [labels[row] for row in order.tolist()],
            "chance": [words[row] for row in order.tolist()],
        },
        hide_index=True,
        row_height=LINES,
        column_config=worded_numbers("chance") | {"next": PATH},
        alt="Where people go next, and how likely it is",
    )


def _context_table(key: str, view: MoveView, known: list[Context]) -> Context | None:
    """Table of the context tree under a place; a selected row gives the preceding places."""
    labels = [*view.names, "the end"]
    st.markdown("**Its context tree**")
    hint(key, "Choose a row: people who came from there go on elsewhere.")
    rows = st.dataframe(
        pa.table(
            {
                "came": [_indented(each, view.names) for each in known],
                "seen (noisy)": [
                    with_noise(each.seen, INTERVAL_SDS * each.seen_sd) for each in known
                ],
                "most likely next": [labels[int(np.argmax(each.chance))] for each in known],
            }
        ),
        hide_index=True,
        height=min(36 * (len(known) + 1), 220),
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        alt="Contexts of the place, longer ones below the shorter",
    )
    chosen = rows.selection.rows
    return known[chosen[0]] if chosen else None


def _indented(context: Context, names: tuple[str, ...]) -> str:
    """Text of the symbols before the last, indented below the shorter context."""
    before = context.symbols[:-1]
    return INDENT * (len(before) - 1) + f"from {path_words(before, names)}"


def path_panel(prefix: str, view: MoveView) -> tuple[Strings, int]:
    """Table of frequent paths, and the ticked row, which stands out on the map: first the first."""
    first, second = st.columns(2)
    k = first.selectbox("Paths", (5, 10, 20, 50), index=1, key=f"{prefix}.k")
    shortest = second.selectbox("Minimum places", (2, 3, 4, 5, 6), index=1, key=f"{prefix}.least")
    returns = st.toggle(
        "Include paths that return to an earlier place",
        key=f"{prefix}.returns",
        help="Home, work and home again are the most frequent paths of most people, and hide the "
        "others.",
    )
    strings = frequent(view.release.model, int(k), int(shortest), returns=returns)
    if not len(strings):
        st.info(
            f"The release holds no such path of {shortest} places. Choose shorter ones, or raise "
            "ε.",
            icon=":material/route:",
        )
        return strings, 0
    hint(f"{prefix}-path", "Choose a row to see its path stand out on the map.")
    table = f"{prefix}.paths.{view.key}.{k}.{shortest}.{returns}"
    rows = strings_table(
        view,
        strings,
        "path",
        key=table,
        on_select="rerun",
        selection_default={"selection": {"rows": [0]}},
        row_height=LINES,
        height=425,
        alt="Frequent paths",
    ).selection.rows
    for row in rows:
        st.markdown(f"**Path {row + 1}:** {plain(path_words(strings.symbols[row], view.names))}")
    return strings, int(rows[0]) if rows else len(strings)


def strings_table(view: MoveView, strings: Strings, title: str, **options: Any) -> Any:
    """Table of strings with their counts, rounded to the noise; return its state."""
    columns: dict[str, Any] = {title: [path_words(each, view.names) for each in strings.symbols]}
    if strings.count is not None:
        sd = np.zeros(len(strings)) if strings.sd is None else strings.sd
        columns["times ±"] = list(map(with_noise, strings.count, INTERVAL_SDS * sd))
    if "on_select" in options:
        options["selection_mode"] = "single-row"
    looks = worded_numbers("times ±")
    if "row_height" in options:
        looks[title] = PATH
    return st.dataframe(pa.table(columns), hide_index=True, column_config=looks, **options)


def trip_panel(prefix: str, view: MoveView, source: SequenceSource) -> int:
    """Ask for the number of synthetic trips on the map."""
    number = 0
    drawn = len(view.synthetic)  # first: raises if the release cannot draw any
    if source.places is not None:
        number = st.select_slider(
            "Trips on the map", (50, 100, 200, 400, 800, 1600), 400, key=f"{prefix}.trips"
        )
        st.caption(
            "SYNTHETIC: drawn from the release, no real trips. Every step takes the same time; "
            "the position of a line within a cell has no meaning."
        )
    else:
        st.caption(f"{drawn:,} synthetic sequences, drawn from the release, are in the tab Share.")
    return min(int(number), drawn)


def follow_table(view: MoveView) -> None:
    """Probability of each next symbol after each symbol, for symbols that are not places."""
    if view.visits is None:
        st.info("This release ranks strings and holds no counts to list.", icon=":material/block:")
        return
    model, names = view.release.model, view.names
    common = np.argsort(-view.visits, kind="stable")[:MAX_SYMBOLS].tolist()
    words = [chance_words(model.following([each]), following_sd(model, [each])) for each in common]
    columns = {"after": [names[each] for each in common]}
    columns |= {names[to]: [row[to] for row in words] for to in common}
    columns[END] = [row[len(names)] for row in words]
    part = f", the {len(common)} most frequent of {len(names):,} symbols"
    whole = len(common) == len(names)
    st.markdown(f"**What follows what** (noisy{'' if whole else part})")
    st.dataframe(pa.table(columns), hide_index=True, alt="Chance of each symbol after each other")


def refused(why: object) -> None:
    """Show why a release cannot answer, as a sentence."""
    text = str(why)
    st.info(plain(f"{text[:1].upper()}{text[1:]}."), icon=":material/block:")
