"""Files of each account, so that a similar file is proposed the same account.

One JSON file beside the ledger, which only its owner may read, holds for each account the names,
sizes and columns of its files: never a value. Accounts of a visit that ends are kept in the visit.
"""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import streamlit as st
from pydantic import TypeAdapter

from dpviz.errors import DpvizError
from dpviz.files.writing import write_file
from dpviz.private.ledger import Account, Ledger
from dpviz.releases.header import price_words
from dpviz.ui.shared.text import plain

Trace = tuple[str, int, tuple[str, ...]]
"""Root of a file's name, its size in bytes, and its columns."""

MOST = 20
"""Most files of one account, the newest."""

PLACE = "files.of.accounts"
"""Key of the files of this visit's accounts."""


def trace_of(name: str, size: int, columns: Sequence[str]) -> Trace:
    """The stem of a file's name, its size and its columns."""
    return name_root(name), size, tuple(columns)


def remember(account: str, trace: Trace, *, lasting: bool) -> None:
    """Add a file to those of an account, in this installation or in this visit only."""
    files = _files(lasting)
    traces = files.get(account, [])
    if trace in traces:
        return
    files[account] = [*traces, trace][-MOST:]
    if lasting:
        with suppress(DpvizError):  # where it cannot be written nothing is proposed later
            write_file(_path(), partial(_write, json.dumps(files).encode()))


def propose(
    field: str, name: str, trace: Trace, accounts: Mapping[str, Account], *, lasting: bool
) -> None:
    """Offer accounts for files about the same people; :func:`ask_about_likely` asks about one.

    Args:
        field: key of the field with the account's name.
        name: the name typed there.
        trace: see :func:`trace_of`.
        accounts: the visitor's, by the names that they typed.
        lasting: where their files are remembered, see :func:`remember`.
    """
    units = {each: paid_unit(account).removeprefix("one ") for each, account in accounts.items()}
    columns = {each: unit for each, unit in units.items() if unit in trace[2]}

    def use_same() -> None:
        same = st.session_state[f"{field}.same"]
        _use(field, same, columns.get(same))

    st.selectbox(
        "Same people as …?",
        list(accounts),
        index=None,
        placeholder="None of these: a new account",
        key=f"{field}.same",
        on_change=use_same,
        help="ε adds up over all files about the same people, if they share one account.",
    )
    likely, files, question = None, _files(lasting), ""
    for other, account in accounts.items():
        traces = files.get(account.dataset, [])
        of_it = f"“{plain(other)}” ({price_words(account.spent, account.spent_delta)} spent)"
        if any(trace[1:] == each[1:] for each in traces):
            likely, question = other, f"This looks like the file of {of_it}. Same people?"
            break
        alike = name_root(other) == name_root(name)
        if likely is None and (alike or any(any(map(operator.eq, trace, e)) for e in traces)):
            likely, question = other, f"Have you published these people before, as {of_it}?"
    if likely is not None:
        st.session_state[f"{field}.likely"] = likely, question, columns.get(likely)


def ask_about_likely(field: str, step: str) -> None:
    """Ask, in a step of the page, about the likely account of a file, if there is one."""
    likely, question, unit = st.session_state.get(f"{field}.likely", (None, "", None))
    if likely is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(question, icon=":material/group:")
        st.button(
            "Use that account",
            key=f"{field}.likely.{step}",
            help="A second account does not count the ε spent in the first.",
            on_click=_use,
            args=(field, likely, unit),
        )


def _use(field: str, account: str, unit: str | None) -> None:
    """Take an account, and the column of the persons by whom it is accounted."""
    st.session_state[field] = account
    if unit is not None:
        st.session_state[f"{field.removesuffix('.dataset')}.unit"] = unit


def paid_unit(account: Account) -> str:
    """Privacy unit of an account, without the time of a calendar; empty if nothing is spent."""
    return next((each.unit.partition("'s records of one ")[0] for each in account.spends), "")


def name_root(name: str) -> str:
    """Letters of a name, without numbers, marks and the word "copy".

    >>> name_root("visits _1_"), name_root("Visits-2024 copy")
    ('visits', 'visits')
    """
    words = re.findall(r"[^\W\d_]+", name.casefold())
    return " ".join(word for word in words if word != "copy") or name


def _files(lasting: bool) -> dict[str, list[Trace]]:
    """Files by account; none where the file that lists them is not there, or damaged."""
    if not lasting:
        files: dict[str, list[Trace]] = st.session_state.setdefault(PLACE, {})
        return files
    try:
        return TypeAdapter(dict[str, list[Trace]]).validate_json(_path().read_bytes())
    except (OSError, ValueError):
        return {}


def _path() -> Path:
    ledger = Ledger().path
    return ledger.with_name(f"{ledger.stem}-files.json")


def _write(content: bytes, temporary: str) -> None:
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
        target.write(content)
