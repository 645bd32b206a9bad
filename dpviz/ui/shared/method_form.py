"""Form for a method: its name, epsilon and registered parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.methods import METHODS, names, of_kind
from dpviz.methods.registry import Method, Parameter
from dpviz.private.slots import PersonNoise
from dpviz.releases.areas.source import ChosenAreas
from dpviz.trees.prior import Prior
from dpviz.ui.shared import permalink

STEPS = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)
EPSILONS = (*(float(f"{step * ten:.3g}") for ten in (0.01, 0.1, 1) for step in STEPS), 10.0)
"""A log scale from 0.01 to 10, ten steps a decade."""

DEFAULT_EPSILON = 1.0
"""Default epsilon."""

REASONS = {
    "points": {
        "ladder_tree": "most accurate",
        "privtree": "the classic",
        "ugrid": "simplest",
        "areas": "for reports",
        "quadtree": "for teaching",
    },
    "roads": {
        "event-histogram": "follows the queries",
        "gs": "groups streets",
        "dwork": "simplest",
    },
    "flows": {"pairs": "for many areas", "all-pairs": "for few areas"},
}
"""First methods on the list of a kind, each with a reason; the first is the default.

The ladder tree is the most accurate in the measurements of ``assets/docs/results/everywhere.md``.
"""

AREAS = "Hexagons or districts"
"""Title of the method that counts public areas."""


@dataclasses.dataclass(frozen=True)
class ChosenPrior:
    """Public prior of a page: the name of its file, its data, and the facts that identify these."""

    name: str
    data: Prior = dataclasses.field(repr=False, compare=False)
    facts: str = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", repr(self.data.facts))


@dataclasses.dataclass(frozen=True)
class Choice:
    """Visitor's choice: method name or alias, parameters other than the defaults, epsilon.

    ``areas``: public areas that are counted in place of cells. ``sum_share``: the share of epsilon
    for sums of values. ``prior``: public data that the method follows. ``slots``: noise at (ε, δ)
    for persons of several records; None for pure ε.
    """

    name: str
    parameters: Mapping[str, Any]
    epsilon: float
    wishes: tuple[str, ...] = ()
    areas: ChosenAreas | None = None
    sum_share: float | None = None
    prior: ChosenPrior | None = None
    slots: PersonNoise | None = None

    @property
    def delta(self) -> float:
        """The δ that the release costs."""
        return 0.0 if self.slots is None else self.slots.spent_delta

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
    return float(f"{permalink.number('ε =', text, DEFAULT_EPSILON, EPSILONS[0], EPSILONS[-1]):g}")


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
    st.session_state.setdefault(place, DEFAULT_EPSILON)
    chosen = st.select_slider(
        "ε",
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
    saved: Mapping[str, str] | None = None,
    reasons: bool = True,
) -> Choice:
    """Slider of epsilon, selector of the method, and its parameters behind a button.

    Args:
        prefix: prefix of the widgets' keys.
        dims: dims of points; methods that cannot do them are left out.
        kind: kind of the data.
        public: methods without a guarantee are offered for public data only.
        start: the method shown first, where it is on offer; that of the address by default.
        saved: parameters as text; those of the address by default.
        reasons: say why to take the first methods; without, their names fit a narrow column.
    """
    epsilon, start = epsilon_slider(prefix), start or permalink.parameter("method")
    saved = permalink.pairs("set") if saved is None else saved
    name = method_choice(prefix, dims, kind=kind, public=public, start=start, reasons=reasons)
    with options(prefix, "Cells" if kind == "points" else "Options"):
        return Choice(name, method_parameters(prefix, name, kind, start, saved), epsilon)


def options(prefix: str, title: str = "Cells") -> Any:
    """Container behind a button of the bar."""
    return st.popover(title, key=f"{prefix}.options")


def method_choice(
    prefix: str,
    dims: int | None,
    *,
    kind: str,
    public: bool,
    start: str | None,
    areas: bool = False,
    reasons: bool = True,
) -> str:
    """Ask for a method: the recommended ones first, then those of research papers.

    Args: see :func:`method_form`; ``areas``: True to offer counts of public areas too.
    """
    members, known = of_kind(kind), names(kind)
    same = {alias: name for alias, (name, preset) in known.items() if not preset}
    able = {
        alias: name
        for alias, (name, _) in known.items()
        if same.get(alias, alias) == alias
        and (dims is None or dims in members[name].dims)
        and (public or members[name].guarantee != "none")
    }
    best = REASONS.get(kind, {})
    titles = {alias: _title(alias, members[name]) for alias, name in able.items()}
    if areas:
        titles["areas"] = AREAS
    first = {
        name: f"{titles[name]} · {why}" if reasons else titles[name].split(" (")[0]
        for name, why in best.items()
        if name in titles
    }
    others = sorted(set(titles) - set(first), key=titles.__getitem__)
    group = "Research: " if first else ""
    shown = first | {alias: f"{group}{titles[alias]}" for alias in others}
    usual = [*first, *(name for name in members if members[name].guarantee != "none")][0]
    start = permalink.one_of("method", same.get(start or "", start), shown, usual)
    place = f"{prefix}.method"
    if st.session_state.get(place) not in shown:
        st.session_state[place] = start
    return str(
        st.selectbox(
            "Method",
            list(shown),
            format_func=shown.__getitem__,
            key=place,
            label_visibility="collapsed",
            width=320,
        )
    )


def method_parameters(
    prefix: str, name: str, kind: str, start: str | None, saved: Mapping[str, str]
) -> dict[str, Any]:
    """Form for the parameters of a method; ``saved`` are those of the method ``start``."""
    known = names(kind)
    owner, preset = known[name]
    saved = saved if start is None or known.get(start) == known[name] else {}
    return parameters_form(f"{prefix}.{name}", of_kind(kind)[owner], preset, saved)


def parameters_form(
    prefix: str, cls: type[Method], preset: Mapping[str, Any], saved: Mapping[str, str]
) -> dict[str, Any]:
    """Form for parameters that differ from a preset, and the paper of the method."""
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
    """Input for one parameter, labelled by what it does; its name is in the help.

    An optional number left empty means "chosen by the method".
    """
    limits: Parameter = field.metadata["parameter"]
    label, name = limits.help, field.name.replace("_", " ")
    tip = f"On the command line: `--set {field.name}=…`"
    kind = str(field.type)
    if limits.choices or kind.startswith("bool"):
        options = list(limits.choices or ("True", "False"))
        chosen = permalink.one_of(f"{name} =", saved, options, str(default))
        if not limits.choices:
            return st.checkbox(label, value=chosen == "True", key=key, help=tip)
        return st.selectbox(label, options, index=options.index(chosen), key=key, help=tip)
    cast: Any = int if kind.startswith("int") else float
    numbers = (limits.low, limits.high, default)
    low, high, start = (None if each is None else cast(each) for each in numbers)
    if limits.optional and saved == "None":
        start = None
    elif saved is not None:
        start = permalink.number(f"{name} =", saved, start, low, high, whole=cast is int)
    return st.number_input(
        label,
        low,
        high,
        start if start is None else cast(start),
        step=1 if cast is int else None,
        format=None if cast is int else "%g",
        placeholder="automatic" if limits.optional else None,
        key=key,
        help=tip,
    )
