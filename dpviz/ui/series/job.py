"""Price, account and build of a series: the page runs the command that it prints."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.domain.units import TimeUnits
from dpviz.errors import DpvizError, ReleaseError
from dpviz.planning.code import option_words
from dpviz.private.ledger import Account, Ledger, account_key
from dpviz.releases.header import WEAKER
from dpviz.releases.series import (
    Node,
    day_text,
    file_name,
    finished_nodes,
    node_files,
    require_frame,
    series_frame,
)
from dpviz.ui.points.review import code_for
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.series.view import folder_of, show_series
from dpviz.ui.shared.access import access, may_publish, only_local_visitors
from dpviz.ui.shared.account import shown_name
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import ErrorsShown, refuse
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.uploads import upload_path

ONCE = {"period", "cycle", "every", "wishes", "sum_share"}
"""Options of a single release: those of a series follow from its days."""

LENGTHS = {"day": 1, "week": 7, "month": 31}
"""Most days of a person's longer times."""


@dataclass(frozen=True)
class SeriesPlan:
    """A described series: its account, ε of a person's day, days of its zone, and first day.

    ``options`` are further ones of the command, ``files`` names and paths of the records and of any
    file of areas.
    """

    account: str
    epsilon: float
    units: TimeUnits
    start: int
    options: Mapping[str, Any]
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, prefix: str, source: PointSource, choice: Choice) -> SeriesPlan:
        """The series of a page's source and choice.

        Raises:
            DpvizError: a series needs persons, times and areas, and a file.
        """
        domain, areas = source.data.domain, choice.areas
        needed = {
            "your own file, in step Data": source.name is None,
            "the column that names the person, in step Data": source.unit is not None,
            "the column of the time and its first day, in step Data": domain.time is not None,
            "dates and not hours of a cycle, in step Data": domain.cycle is None,
            "hexagons or districts as the method, in step Budget": areas is not None,
            "the method's own parameters, in step Budget": not choice.parameters,
        }
        if missing := [each for each, there in needed.items() if not there]:
            raise DpvizError(f"a series counts persons' days by area: choose {missing[0]}")
        assert areas is not None
        units, code = TimeUnits("day", domain.zone), code_for(source, choice)
        start = int(units.of_moments([domain.period[0]])[0])
        kinds = domain.kinds
        frame = series_frame(
            areas.areas,
            dataset=account_key(source.account),
            epsilon=choice.epsilon,
            unit=source.unit,
            max_per_unit=source.data.max_per_unit,
            start=day_text(start),
            zone=units.zone,
            time=domain.time,
            kind=kinds and kinds.column,
            kinds=list(kinds.names) if kinds else [],
        )
        require_frame(folder_of(source.account), frame)
        given = {**code.options, **code.reading, **code.building, "name": source.account}
        records = upload_path(f"{prefix}.file", st.session_state[f"{prefix}.file"])
        files = [(source.title, str(records))]
        if areas.uploaded:
            shown = st.session_state[f"{prefix}.areas.file"]
            layer = areas.source.removeprefix(shown.name)
            files.append((areas.source, f"{upload_path(f'{prefix}.areas', shown)}{layer}"))
        options = {name: value for name, value in given.items() if name not in ONCE}
        return cls(source.account, choice.epsilon, units, start, options, tuple(files))

    @property
    def due(self) -> list[Node]:
        """Finished nodes without a file."""
        today = int(self.units.of_moments([time.time()])[0])
        folder, nodes = folder_of(self.account), finished_nodes(self.start, today)
        return [node for node in nodes if not (folder / file_name(node)).exists()]

    def command(self, source: str, *areas: str) -> list[str]:
        """Words after ``dpviz`` that release what is due, from these files."""
        given = {**self.options, **({"areas": areas[0]} if areas else {})}
        given |= {"zone": self.units.zone, "start": day_text(self.start)}
        given |= {"epsilon": repr(self.epsilon), "ledger": str(Ledger().path)}
        typed = [word for each in given.items() for word in option_words(*each)]
        return ["series", "update", str(folder_of(self.account)), source, *typed]


def series_panel(prefix: str, source: PointSource, choice: Choice) -> None:
    """Price and account of a series, the button that releases what is due, and what it holds."""
    with ErrorsShown():
        plan = SeriesPlan.of(prefix, source, choice)
        account = Ledger().account(plan.account)
        _price(plan, account)
        if may_publish() and _has_calendar(prefix, plan, account):
            _release(f"{prefix}.series", plan)
            _daily_job(prefix, plan)
        if node_files(folder_of(plan.account)):
            show_series(f"{prefix}.series", account_key(plan.account))


def _price(plan: SeriesPlan, account: Account) -> None:
    """ε of a person's day, week, month and of all time side by side: planned, and spent."""
    st.caption(
        f"Each day from {day_text(plan.start)} on, each week from Monday and each four weeks are "
        "released once, when the last day is over. All of them together cost a person's day "
        f"ε = {plan.epsilon:g}. {WEAKER}a person's week or month costs the sum of its days."
    )
    planned = {each: f"{days * plan.epsilon:g}" for each, days in LENGTHS.items()}
    rows = [{"ε for a person's": "planned", **planned, "for ever": f"+ {plan.epsilon:g} a day"}]
    spent = {
        each: "unbounded" if price is None else f"{price:g}"
        for each, price in account.longer.items()
    }
    rows += [{"ε for a person's": "spent so far", **spent}] if spent else []
    st.dataframe(rows, hide_index=True)


def _has_calendar(prefix: str, plan: SeriesPlan, account: Account) -> bool:
    """Return whether the account has the calendar of the series; else say why, or offer it."""
    name, days = shown_name(account.dataset), str(plan.units)
    if account.frame == days and (account.total is None or account.total >= plan.epsilon):
        return True
    if account.frame == days:
        refuse(f"“{name}” has a total of {account.total:g} a day: choose a smaller ε")
        return False
    if account.frame:
        now, here = (each.replace(" ", " in ") for each in (account.frame, days))
        refuse(f"“{name}” has a calendar by {now}, not by {here}: choose that zone in step Data")
        return False
    twice = " What it has spent counts twice on every day." if account.spent else ""
    st.caption(
        f"“{plain(name)}” needs a calendar by day in {plain(plan.units.zone)}, so that a release "
        f"charges only the days that it reads. It is permanent.{twice}"
    )
    sure = st.checkbox("I know that it cannot be changed", key=f"{prefix}.calendar.sure")
    label, key = "Begin the calendar", f"{prefix}.calendar"
    if st.button(label, icon=":material/calendar_month:", key=key, disabled=not sure):
        Ledger().begin_calendar(plan.account, "day", plan.units.zone)
        st.rerun()
    return False


def _release(prefix: str, plan: SeriesPlan) -> None:
    """Ask to release what is due, ask again, and release it."""
    due, place = plan.due, f"{prefix}.asked"
    if outcome := st.session_state.pop(f"{prefix}.outcome", ""):
        st.success(outcome, icon=":material/check_circle:")
    offer = (repr(plan), len(due))
    asked = st.session_state.get(place) == offer
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Publish: spend ε = {plan.epsilon:g} on each day",
            type="primary",
            icon=":material/lock:",
            key=f"{prefix}.build",
            disabled=asked or not due,
            help="Cannot be undone. You will be asked to confirm.",
            on_click=st.session_state.__setitem__,
            args=(place, offer),
        )
        st.caption(f"{len(due):,} releases are due." if due else "Every finished day is released.")
    if not asked or not due:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(":material/lock: **It cannot be undone.**", width="content")
        sure = st.button("Spend it", type="primary", key=f"{prefix}.sure")
        st.button("Not now", key=f"{prefix}.not", on_click=st.session_state.pop, args=(place, None))
    if sure:
        st.session_state[f"{prefix}.outcome"] = _outcome(plan)
        st.rerun()


def _outcome(plan: SeriesPlan) -> str:
    """Run the command, show how far it is, and return what it has done in words.

    A touch of the page waits for its end; a second run changes nothing.

    Raises:
        ReleaseError: it was refused.
    """
    Shelf().ready()
    command = plan.command(*(path for _, path in plan.files))
    words = [sys.executable, "-m", "dpviz", *command, "--json"]
    folder, many = folder_of(plan.account), len(plan.due)
    before, bar = len(node_files(folder)), st.progress(0.0, "Publishing …")
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, encoding="utf-8") as job:
        while True:
            try:
                output, errors = job.communicate(timeout=0.3)
                break
            except subprocess.TimeoutExpired:
                done = len(node_files(folder)) - before
                bar.progress(min(done / many, 1.0), f"{done:,} of {many:,} releases …")
    if job.returncode:
        lines = [each for each in errors.splitlines() if each.startswith("error: ")]
        raise ReleaseError(
            _without_paths(plan, lines[-1]) if lines else "it ended early: try again"
        )
    facts = json.loads(output)
    lost = f" Lost, and paid before: {', '.join(facts['lost'])}." if facts["lost"] else ""
    return f"{len(facts['released']):,} new releases.{lost}"


def _without_paths(plan: SeriesPlan, line: str) -> str:
    """A line of the command with the visitor's names in place of paths of this server."""
    line = line.removeprefix("error: ").replace(str(folder_of(plan.account)), plan.account)
    for name, path in plan.files:
        line = line.replace(path, name).replace(path.rpartition("/")[2], name)
    return line


def _daily_job(prefix: str, plan: SeriesPlan) -> None:
    """Print the line of a daily job, for those who have an account on this computer."""
    if not (only_local_visitors() or access().owner):
        return
    with st.expander("Every day, by itself", icon=":material/schedule:"):
        paths = [
            st.text_input(f"Path of {plain(name)}", name, key=f"{prefix}.path.{path}")
            for name, path in plan.files
        ]
        line = shlex.join(["dpviz", *plan.command(*paths)]).replace("%", r"\%")  # cron ends at %
        st.code(f"15 4 * * * {line}", language=None, wrap_lines=True)
        st.caption("For crontab. A second run changes nothing; this page shows new releases.")
