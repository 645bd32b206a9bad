"""Tables of how the ε of a release and of an account was spent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dpviz.exports.facts import method_title, relation
from dpviz.exports.levels import budget_rows
from dpviz.private.ledger import Spend
from dpviz.releases.release import Release
from dpviz.ui.shared.access import USER_SEPARATOR
from dpviz.ui.shared.text import plain


def budget_breakdown(release: Release) -> None:
    """Table with one row per purpose: its share of ε and the theorem behind it."""
    header = release.header
    st.dataframe(
        [
            {
                "purpose": row["purpose"],
                "ε": row["epsilon"],
                "share": 100 * row["epsilon"] / header.epsilon,
                "mechanism": row["mechanism"],
                "theorem": row["theorem"],
            }
            for row in budget_rows(release)
        ],
        hide_index=True,
        column_config={
            "share": st.column_config.ProgressColumn(format="%.0f %%", min_value=0, max_value=100)
        },
    )
    st.caption(f"Hides {plain(header.unit)}. Neighbouring relation: {plain(relation(header))}.")


def payment_row(spend: Spend) -> dict[str, Any]:
    """Table row of a payment, without the user's name, which only the owner may see."""
    at = datetime.fromisoformat(spend.at).astimezone(UTC)
    return {
        "when": f"{at:%Y-%m-%d %H:%M} UTC",
        "ε": spend.epsilon,
        **({"δ": f"{spend.delta:g}"} if spend.delta else {}),
        "method": method_title(spend.what),
        "purpose": spend.purpose.split(USER_SEPARATOR)[0],
        "outcome": spend.outcome,
    }
