"""Form to turn places into sequences of cells: grid, session gap, step rule, bound."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpviz.ui.shared import permalink


@dataclass(frozen=True)
class SequenceRules:
    """Public parameters that turn places into sequences: see :func:`dpviz.load`."""

    side: int
    gap: float
    neighbours: bool
    bound: int

    def link(self) -> dict[str, str | None]:
        """Address parameters of the cutting."""
        return {
            "side": str(self.side),
            "gap": f"{self.gap:g}",
            "steps": "near" if self.neighbours else None,
            "cap": str(self.bound),
        }


def cutting_form(prefix: str, public: bool) -> SequenceRules:
    """Ask for cells, gap and bound: public parameters, chosen without reading the data."""

    def saved(name: str, what: str, start: float, ends: tuple[float, float], **how: bool) -> float:
        return float(permalink.number(what, permalink.parameter(name), start, *ends, **how))

    with st.expander("Cells and sequences", icon=":material/grid_on:"):
        side = st.number_input(
            "Cells per side of the public grid",
            2,
            32,
            int(saved("side", "cells per side", 12, (2, 32), whole=True)),
            key=f"{prefix}.side",
            help="Fewer cells, less noise in each: 6 to 16 suit most data.",
        )
        gap = st.number_input(
            "Session gap (hours)",
            0.1,
            1000.0,
            saved("gap", "a session gap in hours of", 12.0, (0.1, 1000.0)),
            key=f"{prefix}.gap",
            format="%g",
        )
        neighbours = st.checkbox(
            "Only steps to one of the eight cells around",
            permalink.parameter("steps") == "near",
            key=f"{prefix}.steps",
            help="A public rule: a sequence is cut at its first longer step; steps that the rule "
            "forbids get no noise.",
        )
        bound = int(saved("cap", "max contributions", 2, (1, 1000), whole=True))
        if not public:
            bound = st.number_input(
                "At most this many sequences of each person",
                1,
                1000,
                bound,
                key=f"{prefix}.cap",
                help="Of a person with more, so many are counted. The guarantee hides a person; "
                "noise grows with this number.",
            )
    return SequenceRules(int(side), float(gap), bool(neighbours), int(bound))
