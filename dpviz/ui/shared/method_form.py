"""Form for a method: its name, epsilon and registered parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.methods import METHODS, names, of_kind
from dpviz.methods.registry import Method, Parameter
from dpviz.releases.areas.source import ChosenAreas
from dpviz.ui.shared import permalink

STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)
EPSILONS = (*(float(f"{step * ten:.3g}") for ten in (0.01, 0.1, 1) for step in STEPS), 10.0)
"""A log scale from 0.01 to 10, ten steps a decade."""

USUAL = 1.0
"""Default epsilon."""

RECOMMENDED = {
    "points": {
        "privtree": "Small cells where people are, large ones elsewhere: the fastest of the trees.",
        "ladder_tree": "About two thirds of PrivTree’s error on the data we measured, but slower.",
        "ugrid": "Cells of one size: the easiest to explain.",
        "kdtree": "Cells of about as many records each: for very uneven data.",
    },
    "roads": {
        "event-histogram": "Chooses cuts, sections and trees for the queries.",
        "gs": "Groups streets and shares the noise of a group.",
        "dwork": "Noise on every street by itself: the easiest to explain.",
    },
}
"""The first methods on the list of a kind, each with a line on when; the first is the default."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """Visitor's choice: method name or alias, parameters other than the defaults, epsilon.

    ``areas``: public areas that are counted in place of cells. ``sum_share``: the share of epsilon
    for sums of values.
    """

    name: str
    parameters: Mapping[str, Any]
    epsilon: float
    wishes: tuple[str, ...] = ()
    areas: ChosenAreas | None = None
    sum_share: float | None = None

    @property
    def title(self) -> str:
        """Title of the choice: method, ε and changed parameters."""
        changed = "".join(f", {name} {value}" for name, value in self.parameters.items())
        return f"{title_of(self.name)}, ε = {self.epsilon:g}{changed}"

    @property
    def described(self) -> str:
        """Specification of the method as in experiments: ``name:key=value``."""
        pairs = (f"{name}={value}" for name, value in self.parameters.items())
        return ":".join([self.name, *pairs])


def linked_epsilon(name: str) -> float:
    """Epsilon from the address; the default if it is outside the slider."""
    text = permalink.parameter(name)
    return float(f"{permalink.number('ε =', text, USUAL, EPSILONS[0], EPSILONS[-1]):g}")


EPSILON = permalink.Field("epsilon", linked_epsilon, "{:g}".format)


def epsilon_steps(place: str) -> tuple[float, ...]:
    """Steps of the epsilon slider with this key, including a value from the address."""
    value: float = st.session_state[place]
    steps: tuple[float, ...] = st.session_state.get(f"{place}.steps", EPSILONS)
    if value not in steps:
        steps = tuple(sorted({*EPSILONS, value}))
    st.session_state[f"{place}.steps"] = steps  # fixed: other steps would make a new slider
    return steps


def epsilon_slider(prefix: str) -> float:
    """Slider for the price of a release; the session keeps its value as ``prefix.epsilon``."""
    place = f"{prefix}.epsilon"
    permalink.present(place, USUAL)
    chosen = st.select_slider(
        "ε (privacy loss budget)",
        epsilon_steps(place),
        key=place,
        format_func=lambda value: f"{value:g}",
        help="Smaller is more private and noisier. The whole of ε is spent on this one release.",
    )
    return float(chosen)


def method_form(
    prefix: str,
    dims: int | None = None,
    *,
    kind: str = "points",
    public: bool,
    start: str | None = None,
    saved: Mapping[str, str],
) -> Choice:
    """Selectors for method, epsilon and parameters.

    Args:
        prefix: of the widgets' keys.
        dims: of points; methods that cannot do them are left out.
        kind: of the data.
        public: methods without a guarantee are offered for public data only.
        start: the method shown first, where it is on offer.
        saved: parameters from a permalink, as text.
    """
    members, known = of_kind(kind), names(kind)
    able = {
        alias: name
        for alias, (name, _) in known.items()
        if (dims is None or dims in members[name].dims)
        and (public or members[name].guarantee != "none")
    }
    recommended = RECOMMENDED.get(kind, {})
    first = list(recommended) or [name for name in members if members[name].guarantee != "none"]
    start = permalink.one_of("method", start, able, first[0])
    more = st.session_state.get(f"{prefix}.more", False)
    current = {start, st.session_state.get(f"{prefix}.method")}
    others = sorted(set(able) - set(first), key=lambda alias: _title(alias, members[able[alias]]))
    options = [alias for alias in first if alias in able]
    options += [alias for alias in others if more or alias in current]
    chosen = st.selectbox(
        "Method",
        options,
        index=options.index(start),
        format_func=lambda alias: _title(alias, members[able[alias]]),
        key=f"{prefix}.method",
        help="How space or time is divided and noise shared.",
    )
    if reason := recommended.get(chosen):
        st.caption(reason)
    if others:
        st.toggle("More methods, also variants by their papers’ names", key=f"{prefix}.more")
    cls = members[able[chosen]]
    epsilon = epsilon_slider(prefix)
    saved = saved if chosen == start else {}  # of the method that the address names
    parameters = parameters_form(f"{prefix}.{chosen}", cls, known[chosen][1], saved)
    return Choice(chosen, parameters, epsilon)


def parameters_form(
    prefix: str, cls: type[Method], preset: Mapping[str, Any], saved: Mapping[str, str]
) -> dict[str, Any]:
    """Form for parameters that differ from a preset, and the paper of the method."""
    with st.expander("Parameters", icon=":material/tune:"):
        if cls.advice:
            st.caption(f"Not the best choice for: {cls.advice}")
        parameters = {}
        fields = cls.parameter_fields()
        for name in sorted(set(saved) - set(fields)):
            permalink.refused("the parameter", name)
        for field in fields.values():
            default = preset.get(field.name, field.default)
            value = _widget(f"{prefix}.{field.name}", field, default, saved.get(field.name))
            if value != default:
                parameters[field.name] = value
        st.caption(cls.paper)
    return parameters


def title_of(alias: str) -> str:
    """Title of a method, never its internal name."""
    known = names()
    return METHODS[known[alias][0]].title if alias in known else alias


def _title(alias: str, cls: type[Method]) -> str:
    title = cls.title if alias == cls.name else f"{cls.title} · {alias}"
    return title if cls.guarantee != "none" else f"{title} — NOT PRIVATE"


def _widget(key: str, field: dataclasses.Field[Any], default: Any, saved: str | None) -> Any:
    """Input for one parameter; an optional number left empty means "chosen by the method"."""
    limits: Parameter = field.metadata["parameter"]
    label = field.name.replace("_", " ")
    kind = str(field.type)
    if limits.choices or kind.startswith("bool"):
        options = list(limits.choices or ("True", "False"))
        chosen = permalink.one_of(f"{label} =", saved, options, str(default))
        if not limits.choices:
            return st.checkbox(label, value=chosen == "True", key=key, help=limits.help)
        return st.selectbox(label, options, index=options.index(chosen), key=key, help=limits.help)
    cast: Any = int if kind.startswith("int") else float
    numbers = (limits.low, limits.high, default)
    low, high, start = (None if each is None else cast(each) for each in numbers)
    if limits.optional and saved == "None":
        start = None
    elif saved is not None:
        start = permalink.number(f"{label} =", saved, start, low, high, whole=cast is int)
    return st.number_input(
        label,
        low,
        high,
        start if start is None else cast(start),
        step=1 if cast is int else None,
        format=None if cast is int else "%g",
        placeholder="automatic" if limits.optional else None,
        key=key,
        help=limits.help,
    )
