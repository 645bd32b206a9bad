"""What is looked at before a payment: the account, all that is decided, the guarantee."""

from __future__ import annotations

import shlex
from typing import Any

import streamlit as st

from dpviz.build import Account, Ledger
from dpviz.errors import DpvizError
from dpviz.render.numbers import odds
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.account import in_words
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.text import plain


def account_form(prefix: str, account: Account) -> None:
    """What is left, as a bar; or the form that sets the lifetime budget, permanently."""
    st.markdown("### Lifetime budget")
    if account.total is not None:
        share = min(1.0, account.spent / account.total) if account.total else 1.0
        st.progress(share, in_words(account))
    else:
        st.caption(in_words(account))
        with st.form(f"{prefix}.total", border=True):
            total = st.number_input(
                "Lifetime budget (permanent)",
                0.01,
                100.0,
                max(1.0, account.spent),
                key=f"{prefix}.total.value",
                help="Every release of these people's records adds up. Decide before the first.",
            )
            sure = st.checkbox("I know that it cannot be changed", key=f"{prefix}.total.sure")
            if st.form_submit_button("Set the budget", icon=":material/savings:"):
                if not sure:
                    st.warning("Tick the box: a budget is set once.", icon=":material/warning:")
                else:
                    set_total(account.dataset, float(total))
    if account.spends:
        with st.expander("What was spent", icon=":material/receipt_long:"):
            names = ("at", "epsilon", "what", "purpose", "outcome")
            rows = [{name: getattr(row, name) for name in names} for row in account.spends]
            st.dataframe(rows, hide_index=True, width="stretch")


def set_total(dataset: str, total: float) -> None:
    """Another tab may have set it, or spent, since the form was shown."""
    try:
        Ledger().set_total(dataset, total)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
    else:
        st.rerun()


def review(source: PointSource, choice: Choice) -> None:
    """All that is decided, and the guarantee that is given."""
    handle = source.data
    bounds = ", ".join(f"{side:.6g}" for side in handle.domain.bounds)
    st.markdown(
        f"- **Data:** {plain(source.title)}, in the ledger “{plain(handle.name)}”\n"
        f"- **Hides:** {plain(handle.unit)}\n"
        f"- **Area:** {bounds} ({plain(handle.domain.crs)})\n"
        f"- **Method:** {plain(title_of(choice.name))}, ε = {choice.epsilon:g}"
    )
    st.markdown(
        f"**The guarantee.** Whoever sees the release can hardly tell whether {plain(handle.unit)} "
        "was in the data: the odds of any conclusion change by a factor of at most e^ε = "
        f"{odds(choice.epsilon)}. Nothing else of the records is shown: no count, no "
        "preview, no extent."
    )


def command(source: PointSource, choice: Choice) -> str:
    """``dpviz build`` with the choices of the page."""
    handle, words = source.data, ["dpviz", "build", source.name or "FILE"]
    options: list[tuple[str, Any]] = [
        ("--method", choice.name),
        ("--epsilon", f"{choice.epsilon:g}"),
    ]
    options += [("--set", f"{name}={value}") for name, value in choice.parameters.items()]
    if source.name is None:
        domain = handle.domain
        options.append(("--bounds", ",".join(f"{side:.9g}" for side in domain.bounds)))
        options += [("--columns", ",".join(domain.columns)), ("--crs", domain.crs)]
        options.append(("--dataset", handle.name))
    if source.unit is not None:
        options += [("--unit", source.unit), ("--max-per-unit", handle.max_per_unit)]
    options += [("--want", wish) for wish in choice.wishes]
    for name, value in [*options, ("--output", "release.parquet")]:
        words += [f"{name}={value}"] if str(value).startswith("-") else [name, str(value)]
    return shlex.join(words)
