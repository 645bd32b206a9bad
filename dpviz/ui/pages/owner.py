"""Owner: budget spent on every data set of this server, and by which user."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.private.ledger import Account, Ledger
from dpviz.ui.shared.access import USER_SEPARATOR, access
from dpviz.ui.shared.account import UPLOADS, shown_name
from dpviz.ui.shared.prices import payment_row
from dpviz.ui.shared.text import sentence

TITLE, ORDER = "Owner", 95
OWNERS = True
"""Shown in the navigation of owners only."""


def page() -> None:
    """The page."""
    if not access().owner:
        st.info("This page is for the owner of the server.", icon=":material/lock:")
        return
    try:
        accounts = Ledger().accounts()
    except DpvizError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    spends = [spend for account in accounts for spend in account.spends]
    if not accounts:
        st.info("No account yet: the first payment on this server opens one.")
        return
    left, middle, right = st.columns(3)
    left.metric("Accounts", len(accounts))
    middle.metric("Payments", len(spends))
    people = {_who(spend.purpose) for spend in spends} - {""}
    right.metric("Users who paid", len(people))
    st.header("Accounts", anchor=False)
    st.caption(
        "ε adds up within an account, not across accounts of different people. Uploads are paid "
        "from each user's own accounts."
    )
    st.dataframe([_row(account) for account in accounts], hide_index=True)
    st.header("Payments", anchor=False)
    rows: list[dict[str, Any]] = [
        {"data set": shown_name(account.dataset)}
        | payment_row(spend)
        | {"user": _who(spend.purpose)}
        for account in accounts
        for spend in account.spends
    ]
    st.dataframe(sorted(rows, key=lambda row: row["when"], reverse=True), hide_index=True)


def _row(account: Account) -> dict[str, Any]:
    users = sorted({_who(spend.purpose) for spend in account.spends} - {""})
    return {
        "data set": shown_name(account.dataset),
        "uploaded": "yes" if account.dataset.startswith(UPLOADS) else "no",
        "users": ", ".join(users),
        "ε spent": f"{account.spent:g}",
        "lifetime budget": "not set" if account.total is None else f"{account.total:g}",
        "left": "no limit" if account.left is None else f"{account.left:g}",
        "payments": len(account.spends),
    }


def _who(purpose: str) -> str:
    return purpose.rpartition(USER_SEPARATOR)[2] if USER_SEPARATOR in purpose else ""
