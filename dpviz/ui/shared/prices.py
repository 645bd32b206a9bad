"""Where the ε of a release went, as a table."""

from __future__ import annotations

import streamlit as st

from dpviz.releases.header import Header


def budget_breakdown(header: Header) -> None:
    """One row a purpose, with its share of ε and the theorem that it rests on."""
    st.dataframe(
        [
            {
                "purpose": row["purpose"],
                "ε": row["epsilon"],
                "share": 100 * row["epsilon"] / header.epsilon,
                "mechanism": row["mechanism"],
                "theorem": row["theorem"],
            }
            for row in header.budget
        ],
        hide_index=True,
        column_config={
            "share": st.column_config.ProgressColumn(format="%.0f %%", min_value=0, max_value=100)
        },
    )
    st.caption(f"Neighbouring relation: {header.neighbouring}. Privacy unit: {header.unit}.")
