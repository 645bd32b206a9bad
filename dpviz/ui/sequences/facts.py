"""Below the map of the page Sequences: methods side by side, prices, downloads, tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import build
from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.sequence_truth import exact_lengths, exact_top
from dpviz.evaluation.sequences import shares, variation
from dpviz.files.writing import csv_text
from dpviz.methods import of_kind
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.releases.store import save
from dpviz.render import with_noise
from dpviz.render.flowlines import centres
from dpviz.render.flows import path_words
from dpviz.render.numbers import percent
from dpviz.sequences.moves import Strings, frequent
from dpviz.ui.sequences.panel import as_written, refused, strings_table
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import SAMPLED, MoveView
from dpviz.ui.shared.code import code_panel
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import file_button, file_bytes
from dpviz.ui.shared.prices import budget_breakdown

COMPARED = 20
"""Strings of the comparison."""


def release_facts(
    prefix: str, view: MoveView, source: SequenceSource, choice: Choice | None, *, seed: int
) -> None:
    """Comparison, budget breakdown, downloads and tables."""
    if choice is not None:
        _side_by_side(prefix, source, choice, seed)
    header = view.release.header
    with st.expander("How the budget was spent", icon=":material/payments:"):
        budget_breakdown(header)
    code_panel(prefix, view.release)
    with st.expander("Download the release, or synthetic sequences", icon=":material/download:"):
        download_buttons(prefix, view, source)
    title = "The map as a table" if source.places is not None else "All counts as a table"
    with st.expander(title, icon=":material/table:"):
        tables(view)


def _side_by_side(prefix: str, source: SequenceSource, choice: Choice, seed: int) -> None:
    compare = st.expander(
        "Methods side by side at this ε",
        icon=":material/compare:",
        key=f"{prefix}.compare",
        on_change="rerun",
    )
    if compare.open:  # closed, it costs nothing
        with compare:
            try:
                comparison(prefix, source, choice, seed)
            except DpvizError as error:
                refused(error)


def comparison(prefix: str, source: SequenceSource, choice: Choice, seed: int) -> None:
    """The most frequent strings of every method at one ε, and how far off they are."""
    if not source.data.public:
        st.info(
            "Each method would be a release of its own and spend ε again, so they are compared on "
            "public data only.",
            icon=":material/lock:",
        )
        return
    key = (source.key, tuple(choice.parameters.items()), choice.epsilon, seed)
    columns, scores = remembered(f"{prefix}.compared", key, lambda: _compared(source, choice, seed))
    most = max(map(len, columns.values()))
    filled = {title: [*cells, *[""] * (most - len(cells))] for title, cells in columns.items()}
    st.dataframe(
        {"rank": list(range(1, most + 1)), **filled},
        hide_index=True,
        height=420,
        column_config={title: st.column_config.TextColumn(width=175) for title in filled},
        alt="The most frequent strings of every method, side by side",
    )
    st.dataframe(scores, hide_index=True, alt="Scores of every method")
    st.caption(
        "✓ is among the exact ones. A method that ranks strings releases no counts, and one that "
        "draws no sequences has no lengths. All use simulated noise and the same seed."
    )


@st.spinner("Building a release by every method …")
def _compared(
    source: SequenceSource, choice: Choice, seed: int
) -> tuple[dict[str, list[str]], list[dict[str, str]]]:
    """Strings in words by method, and each method's scores."""
    data = source.data
    exact = exact_top(data, COMPARED)
    wanted = {string for string, _ in exact}
    length = shares(exact_lengths(data))
    columns = {
        "Exact (public data)": [
            f"{path_words(string, data.alphabet.names)}  ·  {count:,}" for string, count in exact
        ]
    }
    scores: list[dict[str, str]] = []
    for name, cls in sorted(
        of_kind("sequences").items(), key=lambda item: item[1].guarantee == "none"
    ):
        shared = {
            key: each for key, each in choice.parameters.items() if key in cls.parameter_fields()
        }
        title = cls.title if cls.guarantee != "none" else f"{cls.title} (NOT PRIVATE)"
        release = build(data, name, choice.epsilon, seed=seed, **shared)
        top = frequent(release.model, COMPARED)
        columns[title] = _cells(top, release, wanted)
        scores.append(
            {
                "method": title,
                f"of the exact top {COMPARED} found": percent(
                    len(wanted & set(top.symbols)) / max(len(wanted), 1)
                ),
                "lengths: total variation distance": _length_distance(release, length),
            }
        )
    return columns, scores


def _cells(top: Strings, release: SequenceRelease, wanted: set[tuple[int, ...]]) -> list[str]:
    names = release.alphabet.names
    counts = [None] * len(top) if top.count is None else top.count.tolist()
    return [
        f"{'✓ ' if string in wanted else ''}{path_words(string, names)}"
        + ("" if count is None else f"  ·  {count:,.0f}")
        for string, count in zip(top.symbols, counts, strict=True)
    ]


def _length_distance(release: SequenceRelease, exact: Any) -> str:
    try:
        drawn = release.model.sample(SAMPLED, seed=0)
    except ParameterError:
        return "–"
    return f"{variation(shares(np.array([len(row) for row in drawn])), exact):.2f}"


def download_buttons(prefix: str, view: MoveView, source: SequenceSource) -> None:
    """The release, and synthetic sequences where it can draw them."""
    with st.container(horizontal=True, gap="small"):
        name = "sequences.parquet"
        written = partial(file_bytes, save, view.release, name)
        file_button("Release (Parquet)", written, name, f"{prefix}.release")
        if not view.refusal:
            label = f"{SAMPLED:,} synthetic sequences (CSV)"
            made = partial(synthetic_csv, view, source)
            file_button(label, made, "synthetic.csv", f"{prefix}.synthetic")
    st.caption(
        "The release with its header, never the sequences it was made of: `dpviz query` reads "
        "it. Synthetic sequences are drawn from it and cost nothing: their CSV has a row for each "
        "place, and none for a sequence without places."
    )


def synthetic_csv(view: MoveView, source: SequenceSource) -> bytes:
    """One row per place: sequence, step, name, and the centre of the cell where it has one."""
    middle = None if source.places is None else np.round(centres(source.places), 6).tolist()
    head = ["sequence", "step", "symbol", *([] if middle is None else ["lon", "lat"])]
    rows = (
        [number, step, view.names[symbol], *([] if middle is None else middle[symbol])]
        for number, sequence in enumerate(view.synthetic)
        for step, symbol in enumerate(sequence.tolist())
    )
    return csv_text(head, rows).encode()


def tables(view: MoveView) -> None:
    """Visits and moves in words, for those who cannot see the map."""
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
    strings_table(view, as_written(view.moves), height=260, alt="Most frequent moves")
