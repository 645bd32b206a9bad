"""What a build on sensitive data costs, what is left of its data set, and the button that pays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dpviz.build import Account, Ledger
from dpviz.progress import Progress
from dpviz.ui.text import plain

Made = TypeVar("Made")

HELP = (
    "The ledger keeps what every data set has spent, under this name, over all visits. Use one "
    "name for all files about the same people."
)


def dataset_name(prefix: str, suggestion: str) -> str:
    """The owner's name for a file's data set, in the sidebar."""
    name = st.text_input(
        "Name of the data set in the ledger", suggestion, key=f"{prefix}.dataset", help=HELP
    )
    return name.strip() or suggestion


def paid_build(
    prefix: str,
    dataset: str,
    epsilon: float,
    make: Callable[[Ledger, Progress], Made],
    *,
    label: str = "Build",
) -> Made | None:
    """The button in the sidebar with its price, and the build it pays for; None until pressed.

    Args:
        prefix: of the button's key.
        dataset: the ledger's name of the data set.
        epsilon: the price.
        make: builds, paying from the ledger that it is given; what it raises goes through.
        label: what the button does.
    """
    ledger = Ledger()
    with st.sidebar:
        account = ledger.account(dataset)
        pressed = st.button(
            f"{label}: spend ε = {epsilon:g}",
            type="primary",
            icon=":material/lock:",
            key=f"{prefix}.build",
            disabled=account.left is not None and epsilon > account.left,
            help="Draws secure noise once. The price is written into the ledger before any noise "
            "is drawn, and stays spent whatever happens then.",
        )
        standing = st.empty()
    standing.caption(in_words(account))
    if not pressed:
        return None
    bar = st.progress(0.0, "Building …")

    def report(fraction: float, what: str) -> None:
        bar.progress(min(fraction, 1.0), f"{what} …")

    try:
        return make(ledger, report)
    finally:
        bar.empty()
        standing.caption(in_words(ledger.account(dataset)))


def in_words(account: Account) -> str:
    """What a data set has spent, and what is left of it."""
    spent = f"“{plain(account.dataset)}” has spent ε = {account.spent:g}"
    if account.total is None or account.left is None:
        return f"{spent} in all. It has NO TOTAL yet, so that nothing limits what is spent."
    return f"{spent} of {account.total:g}; {account.left:g} is left."
