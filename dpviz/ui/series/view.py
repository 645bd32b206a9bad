"""A series as it grows: a timeline of one area, its windows and running total, and a table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import streamlit as st

from dpviz.domain.calendar import Calendar
from dpviz.lazy import pd
from dpviz.releases.areas.hexagons import level_titles
from dpviz.releases.series_days import day_windows
from dpviz.render import with_noise
from dpviz.render.nearby import area_choices, area_labels, with_place_names
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import csv_of, file_button, rows_in_words, sortable, table_panel
from dpviz.ui.shared.presentation import share_page
from dpviz.ui.shared.releases import link_of
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.text import badge, guarantee_help, plain
from dpviz.ui.shared.timeline import marked_timeline


@fragment
def show_series(prefix: str, identity: str) -> None:
    """Guarantee, timeline of an area, latest window of all areas, and files of a series."""
    shelf = Shelf()
    key = identity, shelf.version(shelf.find(identity))
    stored, series = cached(f"{prefix}.read", key, lambda: shelf.open(identity))
    whole = cached(f"{prefix}.whole", key, lambda: day_windows(series, 1)[0][0])
    link = f"[Open its page to share]({link_of(identity)})"
    about = guarantee_help(stored.presentation.noun, whole)
    st.markdown(f"**{plain(stored.title)}** · {link} · {badge(whole.header)}", help=about)
    areas, source = series.areas, series.first.header.source
    choices = cached(f"{prefix}.choices", key, lambda: area_choices(areas, source))
    kinds = series.kinds or ("",)
    largest = int(series.counts.sum(axis=(0, 1))[series.areas.slices[0]].argmax())
    with st.container(horizontal=True, vertical_alignment="bottom", key="dpviz-controls"):
        final = st.toggle(
            "Finished releases alone",
            key=f"{prefix}.final",
            help="Numbers that no later release revises, with more noise.",
        )
        table = cached(f"{prefix}.rows", (key, final), lambda: series.table(final=final))
        windows = [*table["window"].unique()]
        place, how = f"{prefix}.window.{windows}", {"default": windows[0], "required": True}
        window = st.segmented_control("Window", windows, key=place, **how)
        place, named = f"{prefix}.area.{len(choices)}", choices.__getitem__
        area = st.selectbox("Area", range(len(choices)), largest, format_func=named, key=place)
        kind = st.selectbox("Category", kinds, key=f"{prefix}.kind") if series.kinds else ""
    rows = table[table["window"].eq(window)]
    at = np.arange(len(rows))  # one area after another, of one category after another
    one = (at % len(areas) == area) & (at // len(areas) % len(kinds) == kinds.index(str(kind)))
    _timeline(rows[one], ", ".join(map(plain, filter(None, (choices[int(area)], str(kind))))))
    labels = cached(f"{prefix}.labels", key, lambda: area_labels(areas, source))
    _latest(rows[rows["end"].eq(rows["end"].max())], labels)
    with st.expander("Share", icon=":material/share:"):
        words = share_page(prefix, [whole], series=series)
        file_button(
            "All days (CSV)",
            lambda: csv_of(with_place_names(table, areas, source)),
            words.file_name(".csv", "series.csv"),
            f"{prefix}.csv",
        )


def _timeline(rows: pd.DataFrame, of: str) -> None:
    """Chart of the windows of one area by their last day, and the same as a table."""
    first, end = (pd.to_datetime(rows[name], utc=True) for name in ("start", "end"))
    newest = rows.iloc[-1]
    words = with_noise(newest["count"], (newest["high"] - newest["low"]) / 2)
    st.metric(f"{of}: {newest['start']} to before {newest['end']}", words)
    texts = {"from": rows["start"], "to": rows["end"]}
    steps = rows.assign(**texts, start=end - timedelta(days=1), end=end)
    last = first.iloc[-1].timestamp(), end.iloc[-1].timestamp()
    st.altair_chart(marked_timeline(steps, Calendar("UTC"), last))
    st.caption(
        "Noisy count of each window by its last day; the band is the 95 % interval of the noise. "
        "Later releases may revise it."
    )
    columns = ["start", "end", "count", "low", "high"]
    table_panel("The timeline as a table", rows[columns].round(1))


def _latest(rows: pd.DataFrame, labels: list[str]) -> None:
    """Table of the last window of all areas."""
    order = np.argsort(-rows["count"].to_numpy(), kind="stable")[:MAX_ROWS]
    top = rows.iloc[order]
    named = [labels[row % len(labels)] for row in order.tolist()]
    levels = rows["level"].unique().tolist()
    titles = dict(zip(levels, level_titles(levels), strict=True))
    columns: dict[str, Any] = {"area": named, "level": top["level"].map(titles).tolist()}
    columns |= {"category": top["kind"].tolist()} if "kind" in top else {}
    counts = count_columns(top["count"].to_numpy(), ((top["high"] - top["low"]) / 2).to_numpy())
    columns |= counts | {name: top[name].tolist() for name in ("start", "end")}
    columns["read on"] = top["known_on"].tolist()
    st.dataframe(columns, hide_index=True, column_config=sortable(*counts))
    st.caption(
        f"{rows_in_words(len(top), len(rows), 'rows', 'largest counts')} “Read on”: the day on "
        "which the records were last read."
    )
