"""Price, account and build of a series: the page runs the command that it prints."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.domain.units import TimeUnits
from dpviz.errors import ReleaseError
from dpviz.planning.code import option_words
from dpviz.private.ledger import Account, Ledger, account_key
from dpviz.progress import Progress
from dpviz.releases import series
from dpviz.releases.series import day_text
from dpviz.releases.series_days import LONGER
from dpviz.ui.points.review import code_for
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.series.view import show_series
from dpviz.ui.shared.access import access, may_publish, only_local_visitors
from dpviz.ui.shared.account import Order, ordered, shown_name
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.releases import visitor
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.steps import STEPS, go, step_bar
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.uploads import upload_path


@dataclass(frozen=True)
class SeriesPlan:
    """A described series: its account, ε of a person's day, days of its zone, and its days.

    ``start`` is the first day and ``until`` the day after the last: those of the period.
    ``options`` are further ones of the command, ``files`` names and paths of the records and of any
    file of areas.
    """

    account: str
    epsilon: float
    units: TimeUnits
    start: int
    until: int
    options: Mapping[str, Any]
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, prefix: str, source: PointSource, choice: Choice) -> SeriesPlan:
        """The series of a page's source and choice.

        Raises:
            DpvizError: its frame has changed.
        """
        domain, areas = source.data.domain, choice.areas
        assert areas is not None
        units, code, kinds = TimeUnits("day", domain.zone), code_for(source, choice), domain.kinds
        start, until = map(int, units.of_moments([*domain.period]))
        frame = series.series_frame(
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
        series.require_frame(Shelf().series_folder(source.account), frame)
        given = {**code.options, **code.reading, **code.building, "name": source.account}
        files = [(source.title, str(source.path))]
        if areas.uploaded:
            shown = st.session_state[f"{prefix}.areas.file"]
            layer = areas.source.removeprefix(shown.name)
            files.append((areas.source, f"{upload_path(f'{prefix}.areas', shown)}{layer}"))
        for once in ("period", "every", "wishes"):  # those of a series follow from its days
            given.pop(once, None)
        return cls(source.account, choice.epsilon, units, start, until, given, tuple(files))

    @property
    def folder(self) -> Path:
        """Folder of its releases."""
        return Shelf().series_folder(self.account)

    @property
    def due(self) -> list[series.Node]:
        """Finished nodes of the period without a file."""
        today = int(self.units.of_moments([time.time()])[0])
        nodes = series.finished_nodes(self.start, min(self.until, today))
        return [each for each in nodes if not (self.folder / series.file_name(each)).exists()]

    def command(self, source: str, *areas: str) -> list[str]:
        """Words after ``dpviz`` that release what is due, from these files."""
        given = {**self.options, **({"areas": areas[0]} if areas else {})}
        given |= {"zone": self.units.zone, "start": day_text(self.start)}
        given |= {"until": day_text(self.until)}
        given |= {"epsilon": repr(self.epsilon), "ledger": str(Ledger().path)}
        typed = [word for each in given.items() for word in option_words(*each)]
        return ["series", "update", str(self.folder), source, *typed]

    def order(self, account: Account) -> Order:
        """The order of the days that are due, and why it may be refused."""
        refused, days = "", str(self.units)
        now, here = (plain(each.replace(" ", " in ")) for each in (account.frame, days))
        price, due = f"ε = {self.epsilon:g} on each day", self.due
        ends = day_text(min(due)[0]), day_text(max(map(sum, due)) - 1)
        about = f"{len(due):,} releases are due, {ends[0]} to {ends[1]}."
        if account.total is not None and account.total < self.epsilon:
            refused = f"The lifetime budget of a day is {account.total:g}: choose a smaller ε."
        if not account.frame:
            twice = "; what it has spent counts twice on every day" if account.spent else ""
            about += f" From then on its calendar is by {here}, for good{twice}."
        elif account.frame != days:
            refused = f"The calendar is by {now}, not by {here}: choose that zone in step Data."
        return Order(repr(self), price, refused=refused, about=about)


def series_panel(prefix: str, source: PointSource, choice: Choice) -> None:
    """Price and account of a series, the button that releases what is due, and what it holds."""
    if missing := missing_for_series(source, choice):
        wanted, step = missing
        words = f"A series counts persons' days by area: choose {wanted}, in step {STEPS[step]}."
        st.info(words, icon=":material/arrow_back:")
        st.button(f"Choose {wanted}", key=f"{prefix}.wanted", on_click=go, args=(prefix, step))
        return
    with ErrorsShown():
        plan = SeriesPlan.of(prefix, source, choice)
        account = Ledger().account(plan.account)
        _price(plan, account)
        if may_publish():
            _daily_job(prefix, plan)
            outcome, run = "Every finished day is released.", partial(_released, plan)
            if plan.due:
                key, order = f"{prefix}.series", plan.order(account)
                with step_bar(prefix, 3):
                    outcome = ordered(key, plan.account, order, run, lambda _: None) or ""
            if outcome:
                st.success(outcome, icon=":material/check_circle:")
        if series.node_files(plan.folder):
            title = f"{shown_name(plan.account)}, every day"
            stored = Shelf().keep_series(plan.account, visitor(), title)
            show_series(f"{prefix}.series", stored.id)


def missing_for_series(source: PointSource, choice: Choice) -> tuple[str, int] | None:
    """First choice that a series still needs, and the row of its step; None if it has all."""
    domain = source.data.domain
    needed = (
        ("the column that names the person", 0, source.unit is not None),
        ("the column of the time and its dates", 0, domain.time and not domain.cycle),
        ("no value to add up", 0, domain.values is None),
        ("the method's own parameters", 2, not choice.parameters),
    )
    return next(((wanted, step) for wanted, step, there in needed if not there), None)


def _price(plan: SeriesPlan, account: Account) -> None:
    """ε of a person's day, week, month and of all time side by side: planned, and spent."""
    st.caption(
        f"Each day from {day_text(plan.start)} to {day_text(plan.until - 1)}, each week from "
        "Monday and each four weeks are released once, when the last day is over. A day without "
        "records in your file is released too, as noise. All of them together cost a person's day "
        f"ε = {plan.epsilon:g}. {LONGER}."
    )
    longest, prices = {"day": 1, "week": 7, "month": 31}, account.longer.items()
    planned = {each: f"{days * plan.epsilon:g}" for each, days in longest.items()}
    rows = {"planned": {**planned, "for ever": f"+ {plan.epsilon:g} a day"}}
    spent = {each: "unbounded" if price is None else f"{price:g}" for each, price in prices}
    rows |= {"spent so far": spent} if spent else {}
    st.dataframe(
        [{"ε for a person's": what, **each} for what, each in rows.items()], hide_index=True
    )


def _released(plan: SeriesPlan, progress: Progress) -> str:
    """Run the command, which pays, and return what it has done in words.

    Raises:
        ReleaseError: it was refused.
    """
    Shelf().ready()
    if not Ledger().account(plan.account).frame:
        Ledger().begin_calendar(plan.account, "day", plan.units.zone)
    command = plan.command(*(path for _, path in plan.files))
    many, pipe = len(plan.due), subprocess.PIPE
    words = [sys.executable, "-m", "dpviz", *command, "--json"]
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, encoding="utf-8") as job:
        while True:
            with suppress(subprocess.TimeoutExpired):
                output, errors = job.communicate(timeout=0.3)
                break
            done = many - len(plan.due)
            progress(done / many, f"{done:,} of {many:,} releases")
    if not job.returncode:
        facts = json.loads(output)
        lost = f" Lost, and paid before: {', '.join(facts['lost'])}." if facts["lost"] else ""
        return f"{len(facts['released']):,} new releases.{lost}"
    lines = [each for each in errors.splitlines() if each.startswith("error: ")]
    line = lines[-1].removeprefix("error: ") if lines else "it ended early: try again"
    paths = {str(plan.folder): plan.account}  # those of this server
    for name, path in plan.files:
        paths |= {path: name, path.rpartition("/")[2]: name}
    for path, name in paths.items():
        line = line.replace(path, name)
    raise ReleaseError(line)


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
