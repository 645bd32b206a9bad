"""Charts of page Sequences, each with its table: lengths, and next symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.evaluation.sequence_truth import exact_lengths
from dpviz.evaluation.sequences import shares, variation
from dpviz.render.flows import chance_words
from dpviz.sequences.moves import following_sd
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import MoveView
from dpviz.ui.shared.charts import lengths_chart
from dpviz.ui.shared.panels import table_panel

SYNTHETIC, EXACT = "synthetic", "exact (public data)"
END = "(the end)"
LISTED = 30
"""Most symbols in the table of next symbols: the most frequent ones."""


def length_chart(view: MoveView, source: SequenceSource) -> None:
    """Lengths of synthetic sequences, and for public data also the exact lengths."""
    lengths = {SYNTHETIC: np.array([len(row) for row in view.synthetic])}
    if source.data.public:
        lengths[EXACT] = exact_lengths(source.data)
    longest = max(int(np.quantile(np.concatenate([*lengths.values()]), 0.97)), 5)
    rows: list[dict[str, Any]] = [
        {"of": label, "places": places, "percent": 100 * float((each == places).mean())}
        for label, each in lengths.items()
        for places in range(1, longest + 1)
    ]
    st.markdown("**Lengths of sequences**")
    chart = lengths_chart(rows, list(lengths))
    st.altair_chart(chart, alt="Sequences by their number of places; the table below holds them")
    if EXACT in lengths:
        apart = variation(*map(shares, lengths.values()))
        st.caption(f"Total variation distance of the two: {apart:.2f}.")
    table_panel("The chart as a table", rows)


def follow_table(view: MoveView) -> None:
    """Probability of each next symbol after each symbol, for symbols that are not places."""
    if view.visits is None:
        st.info("This release ranks strings and holds no counts to list.", icon=":material/block:")
        return
    model, names = view.release.model, view.names
    common = np.argsort(-view.visits, kind="stable")[:LISTED].tolist()
    words = [chance_words(model.following([each]), following_sd(model, [each])) for each in common]
    columns = {"after": [names[each] for each in common]}
    columns |= {names[to]: [row[to] for row in words] for to in common}
    columns[END] = [row[len(names)] for row in words]
    part = f", the {len(common)} most frequent of {len(names):,} symbols"
    whole = len(common) == len(names)
    st.markdown(f"**What follows what** (noisy{'' if whole else part})")
    st.dataframe(pa.table(columns), hide_index=True, alt="Chance of each symbol after each other")
