"""Charts of the page Sequences, each with its table: lengths, and what follows what."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.sequence_truth import exact_lengths
from dpviz.evaluation.sequences import shares, variation
from dpviz.render.flows import chance_words
from dpviz.render.numbers import percent
from dpviz.sequences.moves import following_sd
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import MoveView
from dpviz.ui.shared.charts import chances_chart, lengths_chart
from dpviz.ui.shared.panels import table_panel

SYNTHETIC, EXACT = "synthetic", "exact (public data)"
END = "(the end)"
CHARTED = 30
"""Symbols of the largest chart of what follows what: the most frequent ones."""


def length_chart(view: MoveView, source: SequenceSource) -> None:
    """Lengths of synthetic sequences, beside the exact ones of public data."""
    drawn = np.array([len(row) for row in view.synthetic])
    exact = exact_lengths(source.data) if source.data.public else None
    every = drawn if exact is None else np.append(drawn, exact)
    longest = max(int(np.quantile(every, 0.97)), 5)
    rows = _length_rows(drawn, longest, SYNTHETIC)
    if exact is not None:
        rows += _length_rows(exact, longest, EXACT)
    st.markdown("**Lengths of sequences**")
    chart = lengths_chart(rows, SYNTHETIC, None if exact is None else EXACT)
    st.altair_chart(
        chart,
        alt="Shares of synthetic sequences by their number of places; the table below holds them",
    )
    st.markdown(
        f":orange[:material/show_chart:] {SYNTHETIC}, {len(drawn):,} drawn"
        + (f"  \n:blue[:material/bar_chart:] {EXACT}" if exact is not None else "")
    )
    if exact is not None:
        apart = variation(shares(drawn), shares(exact))
        st.caption(f"Axis ∝ √share. Total variation distance of the two: {apart:.2f}.")
    table_panel(
        "The chart as a table", [{**row, "share": percent(row["share"], 1)} for row in rows]
    )


def _length_rows(length: Any, longest: int, label: str) -> list[dict[str, Any]]:
    share = np.bincount(length, minlength=longest + 1) / max(len(length), 1)
    return [
        {"places": places, "share": float(share[places]), "of": label}
        for places in range(1, longest + 1)
    ]


def follow_chart(view: MoveView) -> None:
    """Draw the chances of next symbols, a square per pair, for symbols that are not places."""
    if view.visits is None:
        st.info("This release ranks strings and holds no counts to chart.", icon=":material/block:")
        return
    model, names = view.release.model, view.names
    common = np.argsort(-view.visits, kind="stable")[:CHARTED].tolist()
    labels = [names[row] for row in common]
    rows = []
    for symbol in common:
        chance = model.following([symbol])
        words = chance_words(chance, following_sd(model, [symbol]))
        for other, label in [*zip(common, labels, strict=True), (len(names), END)]:
            rows.append(
                {
                    "symbol": names[symbol],
                    "next": label,
                    "chance": float(chance[other]),
                    "words": words[other],
                }
            )
    part = f", the {len(common)} most frequent of {len(names):,} symbols"
    whole = len(common) == len(names)
    st.markdown(f"**What follows what** (noisy{'' if whole else part})")
    st.altair_chart(
        chances_chart(rows, labels, END),
        alt="Chance of each symbol after each other one; the table below holds them",
    )
    table_panel(
        "The chart as a table",
        [{"symbol": row["symbol"], "next": row["next"], "chance": row["words"]} for row in rows],
    )
