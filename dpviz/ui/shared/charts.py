"""Charts of the pages by altair, in one style with colours for colour-blind readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from dpviz.lazy import alt, pd
from dpviz.render.colors import PAIR
from dpviz.render.numbers import rounded

BLUE, ORANGE, GREY = *PAIR, "#8a8f98"
"""Colours that colour-blind readers can tell apart; contrast 3:1 or more on light and dark."""

HEIGHT = 300
SHORT = "abs(datum.value) < 1 ? format(datum.value, '~g') : format(datum.value, '~s')"
"""Labels such as 0, 0.5, 500 and 2k; as the axis's own format, 0 would be 0k and 0.5 be 500m."""
ROUNDED = SHORT.replace("~", ".2~")
"""The same in two digits."""
DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [12, 4], [4, 4], [1, 3], [6, 2, 1, 2]]
"""Dashes of lines in the order of their colours."""
LINES = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2}
"""A legend of lines."""
NAMED = 12
"""Pixels of height for each line's name, so that a phone's one column leaves room for lines."""
SYMBOL, LETTER = 36, 0.45
"""Pixels of a legend's symbol with its gaps, and mean width of a letter as a share of its size."""
TICKS = [step * 10.0**power for power in range(-5, 10) for step in (1, 2, 5)]
"""Ticks of a logarithmic axis; those outside its range are left out."""
FAINT: dict[str, Any] = {"grid": True, "gridOpacity": 0.4}
"""Faint grid lines at the ticks of an error axis."""
TIME_TICKS = 8
"""Approximate number of ticks of a time axis."""


def legend_look(names: Sequence[str], letters: int = 14, **look: Any) -> dict[str, Any]:
    """Look of a legend on top, in one row where the chart is wide enough, else in columns.

    Args:
        names: labels of its entries.
        letters: pixels of its letters.
        look: other properties, also in place of these.
    """
    widths = [SYMBOL + LETTER * letters * len(name) for name in names]
    row, column = round(sum(widths)), round(max(widths))
    # ``width`` is the plot's, at whose left end the legend begins.
    columns = {"expr": f"width < {row} ? max(1, floor(width / {column})) : {len(names)}"}
    return {"orient": "top", "title": None, "labelLimit": 360, "columns": columns, **look}


def legend(field: str, names: Sequence[str], colours: Sequence[str], **look: Any) -> Any:
    """Colour channel of a nominal field, with its legend on top unless ``look`` changes it."""
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=list(names), range=list(colours)),
        legend=alt.Legend(**legend_look(names, **look)),
    )


def dashes(field: str, names: Sequence[str], **look: Any) -> Any:
    """Dash channel of a nominal field, so that lines differ in greyscale too."""
    return alt.StrokeDash(
        f"{field}:N",
        scale=alt.Scale(domain=list(names), range=DASHES[: len(names)]),
        legend=alt.Legend(**legend_look(names, **look)),
    )


def log_axis(
    field: str, title: str | None = None, *, ends: Sequence[float] | None = None, **axis: Any
) -> dict[str, Any]:
    """Logarithmic axis, as arguments of altair's ``X`` and ``Y``.

    It runs between its ends if they are given, else as far as its values go.
    """
    scale: dict[str, Any] = {} if ends is None else {"domain": list(ends)}
    return {
        "shorthand": f"{field}:Q",
        "scale": alt.Scale(type="log", nice=False, **scale),
        "axis": alt.Axis(**{"title": title or field, "format": "~g", "grid": False, **axis}),
    }


def bounds_chart(errors: Mapping[int, float], chosen: int) -> Any:
    """Mean error by max contributions per unit, log-log; a dashed line marks the current one."""
    table = pd.DataFrame({"K": list(errors), "error": list(errors.values())})
    table["shown"] = [rounded(each, each) for each in table["error"]]
    least, most = table["error"].min(), table["error"].max()
    ticks = [least, *(each for each in TICKS if 1.2 * least < each < most / 1.2), most]
    line = (
        alt.Chart(table)
        .mark_line(point={"color": BLUE}, color=BLUE)
        .encode(
            x=alt.X(**log_axis("K", "most records of each person", values=list(errors))),
            y=alt.Y(**log_axis("error", "mean error", labelExpr=ROUNDED, values=ticks, **FAINT)),
            tooltip=["K", alt.Tooltip("shown:N", title="mean error")],
        )
    )
    here = alt.Chart(pd.DataFrame({"K": [chosen]})).mark_rule(strokeDash=DASHES[5], color=GREY)
    return (line + here.encode(x="K:Q")).properties(height=220)


def timeline_chart(table: Any, start: Any, end: Any, form: str) -> Any:
    """``count`` of each step from ``start`` to ``end``, with a band from ``low`` to ``high``.

    Args:
        table: a data frame of steps, times as clocks show them, and as texts ``from`` and ``to``.
        start: start of the part to be marked.
        end: end of it.
        form: how the axis writes every time.
    """
    axis = alt.Axis(title=None, grid=False, format=form, tickCount=TIME_TICKS)
    x = alt.X("start:T", scale=alt.Scale(type="utc"), axis=axis)
    base = alt.Chart(table).encode(x=x)
    part = pd.DataFrame({"start": [start], "end": [end]})
    mark = alt.Chart(part).mark_rect(color=PAIR[0], opacity=0.12).encode(x=x, x2="end:T")
    y = alt.Y("low:Q", axis=alt.Axis(title="Noisy count", labelExpr=SHORT, tickCount=4))
    band = base.mark_area(color=PAIR[0], opacity=0.3, interpolate="step-after").encode(
        y=y, y2="high:Q"
    )
    line = base.mark_line(color=PAIR[0], strokeWidth=1.2, interpolate="step-after").encode(
        y="count:Q",
        tooltip=[
            "from:N",
            "to:N",
            *(alt.Tooltip(f"{name}:Q", format=",.0f") for name in ("count", "low", "high")),
        ],
    )
    return (mark + band + line).properties(height=HEIGHT // 2)


def time_form(span: timedelta) -> str:
    """Tick format of a time axis with this span; about eight ticks fit.

    >>> time_form(timedelta(days=28)), time_form(timedelta(days=365))
    ('%-d %b', '%b %Y')
    """
    days = span / timedelta(days=1)
    forms = ((1, "%H:%M"), (6, "%-d %b %H:%M"), (120, "%-d %b"), (1_400, "%b %Y"))
    return next((form for most, form in forms if days <= most), "%Y")


def deviation_chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    """``error`` with ``low`` and ``high`` of each ``method`` by ``ε``, around a line at zero.

    The axis of errors is logarithmic on both sides of zero: errors of small ε are a hundred times
    those of large ones.
    """
    table = pd.DataFrame([{**row, "ε": f"{row['ε']:g}"} for row in rows])
    order, names = (list(dict.fromkeys(table[name])) for name in ("ε", "method"))
    half = (table["high"] - table["low"]) / 2
    most = float(table[["low", "high"]].abs().max().max()) or 1.0
    least = float(half[half > 0].min()) if (half > 0).any() else most
    powers = [tick for tick in TICKS if least <= tick <= most and f"{tick:e}".startswith("1.0")]
    ticks = [*(-tick for tick in reversed(powers)), 0, *powers]
    errors: dict[str, Any] = {
        "scale": alt.Scale(type="symlog", constant=least, domain=[-most, most], nice=False),
        "axis": alt.Axis(title="Answer − exact count", labelExpr=SHORT, values=ticks, **FAINT),
    }
    base = alt.Chart(table).encode(
        x=alt.X("ε:N", sort=order, axis=alt.Axis(title="ε", labelAngle=0)),
        xOffset=alt.XOffset("method:N", sort=names),
        color=legend("method", names, (*PAIR, GREY)[: len(names)]),
        tooltip=["method", "ε", alt.Tooltip("in words:N", title="answer − exact")],
    )
    bars = base.mark_rule(strokeWidth=3).encode(y=alt.Y("low:Q", **errors), y2="high:Q")
    shape = alt.Shape(
        "method:N",
        scale=alt.Scale(domain=names, range=["circle", "square", "triangle-up"][: len(names)]),
        legend=alt.Legend(**legend_look(names)),
    )
    points = base.mark_point(filled=True, opacity=1, size=60).encode(
        y=alt.Y("error:Q", **errors), shape=shape
    )
    zero = alt.Chart(pd.DataFrame({"exact": [0]})).mark_rule(strokeDash=[5, 4], color=GREY)
    return (bars + points + zero.encode(y="exact:Q")).properties(height=HEIGHT)


def error_chart(
    rows: Sequence[Mapping[str, Any]],
    title: str,
    epsilons: Sequence[float],
    ends: Sequence[float],
    colours: Mapping[str, str],
) -> Any:
    """``error`` of each ``method`` by ``epsilon``, in a band from ``low`` to ``high``.

    Args:
        rows: rows of one chart.
        title: title of the errors.
        epsilons: the ticks.
        ends: lowest and highest error, the same for charts beside each other.
        colours: colours of the methods.
    """
    names, range_ = list(colours), list(colours.values())
    look = {"orient": "bottom", **LINES}
    plain = alt.Color("method:N", scale=alt.Scale(domain=names, range=range_), legend=None)
    base = alt.Chart(pd.DataFrame(list(rows))).encode(
        x=alt.X(**log_axis("epsilon", "ε", values=list(epsilons)))
    )

    def errors(field: str) -> Any:
        return alt.Y(**log_axis(field, title, ends=ends, tickCount=4, **FAINT))

    band = base.mark_area(opacity=0.18).encode(y=errors("low"), y2="high:Q", color=plain)
    line = base.mark_line(point=True).encode(
        y=errors("error"),
        color=legend("method", names, range_, **look),
        strokeDash=dashes("method", names, **look),
        tooltip=[
            alt.Tooltip("method:N", title="Method"),
            alt.Tooltip("epsilon:Q", title="ε"),
            alt.Tooltip("error:Q", title=title, format=".3g"),
        ],
    )
    # Independent legends: otherwise the legend takes the band's faint colour.
    alone = {"color": "independent", "strokeDash": "independent"}
    height = HEIGHT + NAMED * len(names)
    return (band + line).resolve_legend(**alone).properties(height=height)
