"""Charts of the pages, by altair: one look, colours that the colour-blind tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.render.colors import PAIR

HEIGHT = 300
TICKS = [step * 10.0**power for power in range(-5, 2) for step in (1, 2, 5)]
"""Of a logarithmic axis of errors; those outside its range are left out."""


def log_axis(field: str, title: str | None = None, **axis: Any) -> dict[str, Any]:
    """A logarithmic channel, as altair's ``X`` and ``Y`` take it."""
    import altair as alt

    return {
        "shorthand": f"{field}:Q",
        "scale": alt.Scale(type="log", nice=False),
        "axis": alt.Axis(title=title or field, format="~g", grid=False, **axis),
    }


def lines_chart(rows: Sequence[Mapping[str, Any]], title: str) -> Any:
    """``error`` of each ``method`` by ``ε``, both logarithmic."""
    import altair as alt
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=["method", "ε", "error"])
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X(**log_axis("ε", values=sorted(set(table["ε"])))),
            y=alt.Y(
                "error:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(title=title, format="~%", values=TICKS, gridOpacity=0.4),
            ),
            color=alt.Color(
                "method:N",
                scale=alt.Scale(range=list(PAIR)),
                legend=alt.Legend(orient="top", title=None, labelLimit=300),
            ),
            tooltip=["method", "ε", alt.Tooltip("error:Q", format=".2%")],
        )
        .properties(height=HEIGHT)
    )


def interval_chart(rows: Sequence[Mapping[str, Any]], exact: float) -> Any:
    """``answer`` with ``low`` and ``high`` of each ``side`` by ``ε``, and the exact line."""
    import altair as alt
    import pandas as pd

    table = pd.DataFrame([{**row, "ε": f"{row['ε']:g}"} for row in rows])
    order = list(dict.fromkeys(table["ε"]))
    base = alt.Chart(table).encode(
        x=alt.X("ε:N", sort=order, axis=alt.Axis(title="ε", labelAngle=0)),
        xOffset=alt.XOffset("side:N"),
        color=alt.Color(
            "side:N",
            scale=alt.Scale(domain=["A", "B"], range=list(PAIR)),
            legend=alt.Legend(orient="top", title=None),
        ),
        tooltip=["side", "ε", "in words"],
    )
    bars = base.mark_rule(strokeWidth=3).encode(
        y=alt.Y("low:Q", axis=alt.Axis(title="Noisy count", format="~s", tickCount=5)),
        y2="high:Q",
    )
    points = base.mark_point(filled=True, size=60).encode(y="answer:Q")
    line = alt.Chart(pd.DataFrame({"exact": [exact]})).mark_rule(strokeDash=[5, 4], color="#888")
    return (bars + points + line.encode(y="exact:Q")).properties(height=HEIGHT)
