"""Panels below the map of page Sequences: budget breakdown, downloads, tables."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.exports.export import export
from dpviz.files.writing import csv_text
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.store import save
from dpviz.render import with_noise
from dpviz.render.flowlines import centres
from dpviz.ui.sequences.panel import refused, strings_table
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import SAMPLED, MoveView
from dpviz.ui.shared.downloads import release_panels
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.panels import file_button, file_bytes
from dpviz.ui.shared.presentation import words_of


def release_tabs(prefix: str, view: MoveView, source: SequenceSource) -> Panels:
    """Panels of the tabs below the map: tables, downloads, budget, code."""
    files = lambda prefix, _release: download_buttons(prefix, view, source)  # noqa: E731
    return {"Table": partial(tables, view), **release_panels(prefix, view.release, files)}


def download_buttons(prefix: str, view: MoveView, source: SequenceSource) -> None:
    """Buttons for the release, and for synthetic sequences if it can draw them."""
    with st.container(horizontal=True, gap="small"):
        release = view.release
        words = words_of(prefix, release)
        for label, write, ending in (
            ("Release (Parquet)", save, ".parquet"),
            ("Counts (CSV)", export, ".csv"),
        ):
            name = words.file_name(ending, f"sequences{ending}")
            made = partial(file_bytes, write, release, name)
            file_button(label, made, name, f"{prefix}.release{ending}")
        if not view.refusal:
            label = f"{SAMPLED:,} synthetic sequences (CSV)"
            name = words.file_name("-synthetic.csv", "synthetic.csv")
            file_button(label, partial(synthetic_csv, view, source), name, f"{prefix}.synthetic")
    st.caption(
        "The release with its header, never the sequences it was built from: `dpviz query` reads "
        "it. Synthetic sequences are drawn from it and cost nothing: their CSV has a row for each "
        "place, and none for a sequence without places."
    )


def synthetic_csv(view: MoveView, source: SequenceSource) -> bytes:
    """CSV with one row per place: sequence, step, name, and the centre of its cell."""
    middle = None if source.places is None else np.round(centres(source.places), 6).tolist()
    head = ["sequence", "step", "symbol", *([] if middle is None else ["lon", "lat"])]
    rows = (
        [number, step, view.symbols[symbol], *([] if middle is None else middle[symbol])]
        for number, sequence in enumerate(view.synthetic)
        for step, symbol in enumerate(sequence.tolist())
    )
    return csv_text(head, rows).encode()


def tables(view: MoveView) -> None:
    """Show visits and moves as tables, for those who cannot see the map."""
    if view.visits is None:
        refused(view.refusal)
    else:
        half = INTERVAL_SDS * (np.zeros(len(view.visits)) if view.sd is None else view.sd)
        order = np.argsort(-view.visits, kind="stable")
        st.markdown("**Visits**")
        st.dataframe(
            {
                "place": [view.names[row] for row in order.tolist()],
                "visits (noisy)": list(map(with_noise, view.visits[order], half[order])),
            },
            hide_index=True,
            height=260,
        )
    st.markdown(f"**Moves**, the {len(view.moves):,} most frequent")
    strings_table(view, view.moves, "move", height=260, alt="Most frequent moves")
