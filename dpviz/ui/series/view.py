"""A series as it grows: a timeline of one area, its windows and running total, and a table."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpviz.domain.calendar import Calendar
from dpviz.lazy import pd
from dpviz.private.ledger import Ledger, account_key
from dpviz.releases.header import WEAKER, longer_words
from dpviz.releases.series import Series, node_files, read_series
from dpviz.render import with_noise
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.account import is_own, shown_name
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.navigation import page_named
from dpviz.ui.shared.panels import csv_of, file_button, rows_in_words, sortable, table_panel
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.text import level_title, plain
from dpviz.ui.shared.timeline import marked_timeline

ENDING = ".series"


def folder_of(account: str) -> Path:
    """Folder of the series of an account, beside the paid releases."""
    return Shelf().folder / f"{account_key(account)}{ENDING}"


def series_accounts(linked: str | None = None) -> list[str]:
    """Accounts that have a series: that of a link, whoever owns it, then those of this visitor."""
    folders = sorted(Shelf().folder.glob(f"*{ENDING}"), key=lambda each: each.stem != linked)
    names = [each.name.removesuffix(ENDING) for each in folders if node_files(each)]
    return [each for each in names if each == linked or is_own(each)]


def series_link(prefix: str) -> None:
    """Button that leads to the page of the visitor's series, if there is one."""
    icon, key = ":material/event_repeat:", f"{prefix}.series.link"
    if series_accounts() and st.button("Your series", icon=icon, key=key):
        st.switch_page(page_named("every_day"))


@fragment
def show_series(prefix: str, account: str) -> None:
    """Timeline of an area with bars of error, and the latest window of all areas."""
    folder = folder_of(account)
    key = (account, [(each.name, each.stat().st_mtime_ns) for each in node_files(folder)])
    series: Series = cached(f"{prefix}.read", key, lambda: read_series(folder))
    if longer := Ledger().account(account).longer:
        day = f"So far a person's day is protected at ε = {longer['day']:g}."
        st.caption(f"{day} {WEAKER}{longer_words(longer)}.")
    labels, kinds = series.areas.labels, series.kinds or ("",)
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
        place, named = f"{prefix}.area.{len(labels)}", labels.__getitem__
        area = st.selectbox("Area", range(len(labels)), largest, format_func=named, key=place)
        kind = st.selectbox("Category", kinds, key=f"{prefix}.kind") if series.kinds else ""
    rows = table[table["window"].eq(window)]
    at = np.arange(len(rows))  # one area after another, of one category after another
    one = (at % len(labels) == area) & (at // len(labels) % len(kinds) == kinds.index(str(kind)))
    _timeline(rows[one], ", ".join(map(plain, filter(None, (labels[int(area)], str(kind))))))
    _latest(rows[rows["end"].eq(rows["end"].max())], labels)
    name, write = f"{shown_name(account)}.csv", partial(csv_of, table)
    file_button("All days (CSV)", write, name, f"{prefix}.csv")


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
    columns: dict[str, Any] = {"area": named, "level": [*map(level_title, top["level"])]}
    columns |= {"category": top["kind"].tolist()} if "kind" in top else {}
    counts = count_columns(top["count"].to_numpy(), ((top["high"] - top["low"]) / 2).to_numpy())
    columns |= counts | {name: top[name].tolist() for name in ("start", "end")}
    columns["read on"] = top["known_on"].tolist()
    st.dataframe(columns, hide_index=True, column_config=sortable(*counts))
    st.caption(
        f"{rows_in_words(len(top), len(rows), 'rows', 'largest counts')} “Read on”: the day on "
        "which the records were last read."
    )
