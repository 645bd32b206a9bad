"""Review before a payment: the account, all decisions, the guarantee."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import streamlit as st

from dpviz.domain.attributes import OTHER
from dpviz.domain.calendar import step_words
from dpviz.domain.periods import period_words
from dpviz.exports.facts import person_words, protection
from dpviz.methods import method
from dpviz.planning.calls import code_of_places, notation_of
from dpviz.planning.code import NO_DELTA, Code
from dpviz.private.ledger import Account, Ledger
from dpviz.releases.header import counted_persons, price_words
from dpviz.render.numbers import percent
from dpviz.ui.areas.areas_form import UNCOUNTED
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.access import may_publish
from dpviz.ui.shared.account import account_summary, over_budget_message
from dpviz.ui.shared.area_form import sides_in_words
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.prices import payment_row
from dpviz.ui.shared.text import plain, quoted, sizes_in_words


def account_form(prefix: str, account: Account, epsilon: float, delta: float) -> None:
    """Show what is wrong with a price, the form that sets a limit, and what was spent.

    Args:
        prefix: prefix of the widgets' keys.
        account: account of the data set.
        epsilon: amount to be spent next; 0 for none.
        delta: likewise.
    """
    if dear := over_budget_message(account, epsilon, delta):
        seen = " See “What was spent” below." if account.left == 0 else ""
        st.warning(dear + seen, icon=":material/lock:")
    if account.total is None and may_publish():
        with st.expander("Set a limit for all releases (optional)", icon=":material/savings:"):
            _total_form(prefix, account, epsilon, delta)
    if account.spends:
        with st.expander("What was spent", icon=":material/receipt_long:"):
            st.dataframe([payment_row(spend) for spend in account.spends], hide_index=True)


def _total_form(prefix: str, account: Account, epsilon: float, delta: float) -> None:
    """Form that sets the lifetime budget permanently."""
    least = account.spent + epsilon  # a smaller total could not pay for this release
    with st.form(f"{prefix}.total", border=False):
        total = st.number_input(
            "Lifetime budget (permanent)",
            0.01,
            max(100.0, least),
            max(1.0, least),
            key=f"{prefix}.total.value",
            help="ε adds up over all releases about these people. Decide before the first.",
        )
        total_delta = Decimal(repr(account.spent_delta))  # ten times 1e-6 is 1e-5
        if delta:
            label = f"Further releases with δ = {delta:g} (permanent)"
            many = st.number_input(label, 1, 1000, 10, key=f"{prefix}.total.releases")
            total_delta += many * Decimal(repr(delta))
        sure = st.checkbox("I know that it cannot be changed", key=f"{prefix}.total.sure")
        if st.form_submit_button("Set the budget", icon=":material/savings:"):
            if not sure:
                st.warning("Tick the box: a budget is set once.", icon=":material/warning:")
            else:
                with ErrorsShown():  # another tab may have set it, or spent
                    Ledger().set_total(account.dataset, float(total), float(total_delta))
                    st.rerun()


def review(source: PointSource, choice: Choice) -> None:
    """Show all decisions of a plan, and the guarantee of its release."""
    handle = source.data
    bounds = ", ".join(sides_in_words(handle.domain))
    # The line on what is counted states how often one person is.
    unit = person_words(handle.unit)
    if choice.slots is not None:
        unit = unit.partition(" with at most ")[0]
    delta = choice.delta or method(choice.name, **choice.parameters).delta
    words = plain(protection(unit, choice.epsilon, delta))
    words = words.replace(plain("e^ε"), "$e^{\\varepsilon}$")
    account = Ledger().account(source.account)
    kept = "" if source.name else " It is in this server's memory until this page is closed."
    st.markdown(
        f"- **Becomes public:** noisy counts in {bounds} ({plain(handle.domain.crs)}), by the "
        f"method {plain(title_of(choice.name))}; with them the method, ε, the name "
        f"“{plain(handle.name)}” and those of the columns that are used.\n"
        + "".join(f"- {line}\n" for line in _beside(source, choice))
        + f"- **Stays here:** {plain(source.title)} and every exact number, those of the check "
        f"too.{kept}\n"
        f"- **Hides:** {plain(unit)}. {words}\n"
        f"- **Costs:** {price_words(choice.epsilon, choice.delta)}, for ever: what is published "
        f"about the same people adds up. {account_summary(account)}\n"
        "- **Cannot be undone:** whoever has a copy of the release keeps it, though you may remove "
        "it here; what was spent stays spent."
    )


def _beside(source: PointSource, choice: Choice) -> list[str]:
    """Lines on times, kinds, values and areas that are counted besides places."""
    lines, domain, areas = [], source.data.domain, choice.areas
    if domain.time is not None:
        words = plain(period_words(domain if areas is None else replace(domain, step=0.0)))
        if areas is not None and areas.every is not None:  # the step of reading is not published
            words += f", in steps of {step_words(areas.every)}"
        lines.append(f"**Time** (column “{plain(domain.time)}”): {words}")
    if domain.kinds is not None:
        rest = "" if OTHER in domain.kinds.names else "; others are left out"
        names = f"{quoted(domain.kinds.names)}{rest}"
        lines.append(f"**Categories** (column “{plain(domain.kinds.column)}”): {names}")
    if (values := domain.values) is not None and choice.sum_share is not None:
        lines.append(
            f"**Sums** of {plain(values.column)}, each clipped to {values.low:g} to "
            f"{values.high:g}, for {percent(choice.sum_share)} of ε"
        )
    if choice.prior is not None:
        lines.append(f"**Public prior:** {plain(choice.prior.name)}")
    if choice.slots is not None:
        lines.append(f"**Counted:** {plain(counted_persons(choice.slots.facts))}")
    if areas is not None:
        levels = sizes_in_words(areas.areas.levels, areas.areas.sizes)
        lines.append(f"**Areas:** {plain(areas.source)}: {levels}; {UNCOUNTED}")
    return lines


def code_for(source: PointSource, choice: Choice) -> Code:
    """Code that makes the release chosen on the page, for the data owner to run."""
    handle, areas, builtin = source.data, choice.areas, source.name is not None
    reading = notation_of(handle.facts.get("notation", {}))
    if source.unit is not None:
        reading |= {"unit": source.unit, "max_per_unit": handle.max_per_unit}
    reading |= {"table": source.table} if source.table else {}
    reading |= {} if builtin else {"name": handle.name}
    building: dict[str, Any] = {"wishes": list(choice.wishes)} if choice.wishes else {}
    building |= {} if choice.sum_share is None else {"sum_share": choice.sum_share}
    building |= {} if choice.slots is None else {"delta": choice.slots.delta}
    return code_of_places(
        handle.domain,
        method=choice.name,
        epsilon=choice.epsilon,
        parameters=choice.parameters,
        source=source.name,
        builtin=builtin,
        reading=reading,
        areas=None if areas is None else areas.source,
        levels=() if areas is None else areas.levels,
        every=None if areas is None else areas.every,
        prior=None if choice.prior is None else choice.prior.data.facts,
        building=building,
        note=NO_DELTA if choice.slots is not None and not choice.delta else "",
    )
