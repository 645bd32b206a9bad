"""A series as it grows: a timeline of one area, its windows and running total, and a table."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpviz.lazy import pd
from dpviz.private.ledger import Ledger, account_key
from dpviz.releases.header import WEAKER, longer_words
from dpviz.releases.series import Series, node_files, read_series
from dpviz.render import with_noise
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.account import is_own, shown_name
from dpviz.ui.shared.charts import time_form, timeline_chart
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.navigation import page_of
from dpviz.ui.shared.panels import file_button, file_bytes, rows_in_words, sortable, table_panel
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.text import plain

DAY = timedelta(days=1)
ENDING = ".series"


def folder_of(account: str) -> Path:
    """Folder of the series of an account, beside the paid releases."""
    return Shelf().folder / f"{account_key(account)}{ENDING}"


def accounts_with_series() -> list[str]:
    """Accounts that have a series on this server."""
    folders = sorted(Shelf().folder.glob(f"*{ENDING}"))
    return [each.name.removesuffix(ENDING) for each in folders if node_files(each)]


def own_series() -> list[str]:
    """Accounts of this visitor that have a series."""
    return [each for each in accounts_with_series() if is_own(each)]


def series_link(prefix: str) -> None:
    """Button that leads to the page of the visitor's series, if there is one."""
    if own_series() and st.button(
        "Your series", icon=":material/event_repeat:", key=f"{prefix}.series.link"
    ):
        st.switch_page(page_of(import_module("dpviz.ui.pages.every_day")))


@fragment
def show_series(prefix: str, account: str) -> None:
    """Timeline of an area with bars of error, and the latest window of all areas."""
    folder = folder_of(account)
    key = (account, [(each.name, each.stat().st_mtime_ns) for each in node_files(folder)])
    series: Series = cached(f"{prefix}.read", key, lambda: read_series(folder))
    if longer := Ledger().account(account).longer:
        st.caption(
            f"So far a person's day is protected at ε = {longer['day']:g}. {WEAKER}"
            f"{longer_words(longer)}."
        )
    with st.container(horizontal=True, vertical_alignment="bottom", key="dpviz-controls"):
        final = st.toggle(
            "Finished releases alone",
            key=f"{prefix}.final",
            help="Numbers that no later release revises, with more noise.",
        )
        table = cached(f"{prefix}.rows", (key, final), lambda: series.table(final=final))
        windows = [*table["window"].unique()]
        window = st.segmented_control(
            "Window", windows, default=windows[0], required=True, key=f"{prefix}.window.{windows}"
        )
        labels = series.areas.labels
        area = int(
            st.selectbox(
                "Area",
                range(len(labels)),
                int(series.counts.sum(axis=(0, 1))[series.areas.slices[0]].argmax()),
                format_func=labels.__getitem__,
                key=f"{prefix}.area.{len(labels)}",
            )
        )
        kinds = series.kinds or ("",)
        kind = st.selectbox("Category", kinds, key=f"{prefix}.kind") if series.kinds else ""
    of_window = table["window"].eq(window)
    at = np.arange(len(table))  # rows hold one area after another, of one category after another
    one = of_window & (at % len(labels) == area)
    one &= at // len(labels) % len(kinds) == kinds.index(str(kind))
    _timeline(table[one], f"{plain(labels[area])}{f', {plain(str(kind))}' if kind else ''}")
    last = table[of_window & table["end"].eq(table.loc[of_window, "end"].max())]
    _latest(last, labels)
    file_button(
        "All days (CSV)",
        partial(file_bytes, _write, table, "series.csv"),
        f"{shown_name(account)}.csv",
        f"{prefix}.csv",
    )


def _write(table: pd.DataFrame, temporary: Path) -> None:
    table.to_csv(temporary, index=False)


def _timeline(rows: pd.DataFrame, of: str) -> None:
    """Chart of the windows of one area by their last day, and the same as a table."""
    first, end = (pd.to_datetime(rows[name], utc=True) for name in ("start", "end"))
    chart = rows.assign(**{"from": rows["start"], "to": rows["end"], "start": end - DAY})
    closing = chart.iloc[-1:].assign(start=end.iloc[-1:])  # else the last day has no width
    form = time_form(end.iloc[-1] - end.iloc[0] + DAY)
    newest = rows.iloc[-1]
    half = (newest["high"] - newest["low"]) / 2
    with st.container(horizontal=True, gap="large"):
        words = f"{newest['start']} to before {newest['end']}"
        st.metric(f"{of}: {words}", with_noise(newest["count"], half), width="content")
    st.altair_chart(timeline_chart(pd.concat([chart, closing]), first.iloc[-1], end.iloc[-1], form))
    st.caption(
        "Noisy count of each window by its last day; the band is the 95 % interval of the noise. "
        "Later releases may revise it."
    )
    shown = rows[["start", "end", "count", "low", "high", "known_on"]].round(1)
    table_panel("The timeline as a table", shown)


def _latest(rows: pd.DataFrame, labels: list[str]) -> None:
    """Table of the last window of all areas."""
    order = np.argsort(-rows["count"].to_numpy(), kind="stable")[:MAX_ROWS]
    top = rows.iloc[order]
    names = [labels[row % len(labels)] for row in order.tolist()]
    columns: dict[str, Any] = {"area": names, "level": top["level"].tolist()}
    columns |= {"category": top["kind"].tolist()} if "kind" in top else {}
    counts = count_columns(top["count"].to_numpy(), ((top["high"] - top["low"]) / 2).to_numpy())
    columns |= counts | {name: top[name].tolist() for name in ("start", "end", "known_on")}
    st.dataframe(columns, hide_index=True, column_config=sortable(*counts))
    st.caption(
        f"{rows_in_words(len(top), len(rows), 'rows', 'largest counts')} “known_on”: the day on "
        "which the records were last read."
    )
