"""Registry of methods for every kind of data: frozen dataclasses of parameters, by name.

Methods on points, sequences and roads stand in one registry, each with its ``kind``; the limits and
help of a parameter feed the app's form, the flags, Hypothesis and the tables alike.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from dpviz.checks import require
from dpviz.errors import ParameterError
from dpviz.lists import number as number_of


@dataclass(frozen=True)
class Parameter:
    """Limits and help of one parameter, shared by the app's form, the flags and the tests.

    ``optional`` means that None is allowed (and usually the default): "chosen by the method".
    """

    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    log: bool = False


def parameter(
    default: Any,
    help: str,  # noqa: A002 - the field's own word for it
    low: float | None = None,
    high: float | None = None,
    *,
    choices: tuple[str, ...] = (),
    optional: bool = False,
    log: bool = False,
) -> Any:
    """A dataclass field with limits; the type follows from the default (or the annotation)."""
    return dataclasses.field(
        default=default, metadata={"parameter": Parameter(help, low, high, choices, optional, log)}
    )


@dataclass(frozen=True, kw_only=True)
class Method:
    """Base of every kind of method.

    Class attributes:
        kind: kind of data that it works on: "points", "sequences", "roads", "areas" or "flows".
        name: the registered name.
        title: the name for people.
        guarantee: "ε-DP", "(ε,δ)-DP" or "none".
        paper: authors, title, venue, year.
        presets: other names for settings of it, with their parameters; names of papers are here.
        advice: when not to use it.
        dims: the dimensions of points that it can do; none for other kinds of data.
        takes_prior: True if it has a field ``prior``, public data that it may follow.
        tiny: parameters that make a build on a handful of records fast, for audits and tests.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    guarantee: ClassVar[str] = "ε-DP"
    paper: ClassVar[str] = ""
    presets: ClassVar[dict[str, dict[str, Any]]] = {}
    advice: ClassVar[str] = ""
    dims: ClassVar[tuple[int, ...]] = ()
    takes_prior: ClassVar[bool] = False
    tiny: ClassVar[dict[str, Any]] = {}

    def __post_init__(self) -> None:
        for field in self.parameter_fields().values():
            value = _checked(self.name, field, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @property
    def private(self) -> bool:
        """True if the method with these parameters has a privacy guarantee."""
        return self.guarantee != "none"

    @property
    def delta(self) -> float:
        """The delta that this setting needs; 0 for pure ε-DP."""
        return 0.0

    def slot_shares(self, dims: int) -> list[float]:
        """Shares of ε of the levels that it measures, finest last, if a person is in K slots.

        A person moves at most one count by one in each slot (points: the cells of its ``grid``) and
        level. Empty for a method that measures anything else.
        """
        return []

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value."""
        return {name: getattr(self, name) for name in self.parameter_fields()}

    @classmethod
    def parameter_fields(cls) -> dict[str, dataclasses.Field[Any]]:
        """The fields of the parameters; limits stand in ``field.metadata["parameter"]``.

        A field without limits is a constant of the method, not a user's choice. Fields of a common
        base come after the method's own.
        """
        particular = inspect.get_annotations(cls)
        chosen = (field for field in dataclasses.fields(cls) if "parameter" in field.metadata)
        fields = sorted(chosen, key=lambda field: field.name not in particular)
        return {field.name: field for field in fields}

    @classmethod
    def preset(cls, name: str) -> dict[str, Any] | None:
        """The parameters that a name stands for, whatever its case; None where it is not a name."""
        known = {cls.name: {}, **cls.presets}
        return {word.lower(): values for word, values in known.items()}.get(name.lower())


KINDS = {
    "points": "method",
    "sequences": "sequence method",
    "roads": "road method",
    "areas": "area method",
    "flows": "flow method",
}
"""Kinds of data, and what messages call their methods."""

METHODS: dict[str, type[Method]] = {}
"""Every registered method by its name, whatever its ``kind``."""

PRIVTREE = (
    "J. Zhang, X. Xiao, X. Xie: PrivTree: A Differentially Private Algorithm for Hierarchical "
    "Decompositions. SIGMOD 2016"
)
"""The paper of methods on points and on sequences."""

C = TypeVar("C", bound=type[Method])


def register(cls: C) -> C:
    """Class decorator: enter a method under its name."""
    for word in (cls.name, *cls.presets):
        if word in names():
            raise ParameterError(f"method name {word!r} is taken")
    METHODS[cls.name] = cls
    return cls


def of_kind(kind: str) -> dict[str, Any]:
    """The registered methods on one kind of data, by name."""
    return {name: cls for name, cls in METHODS.items() if cls.kind == kind}


def names(kind: str | None = None) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every accepted name, aliases included: the method's name and the preset's parameters.

    Args:
        kind: kind of data; every kind by default.
    """
    members = METHODS if kind is None else of_kind(kind)
    words: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in members}
    for name, cls in members.items():
        words |= {alias: (name, parameters) for alias, parameters in cls.presets.items()}
    return words


def method(name: str, kind: str | None = None, **parameters: Any) -> Any:
    """The method of this name (or alias) with these parameters: the one look-up.

    Args:
        name: the name, in upper or lower case.
        kind: kind of data that it must work on; any by default.
        **parameters: parameters that replace those of the preset and the defaults.

    Raises:
        ParameterError: an unknown name or parameter, a value out of range, or a method on another
            kind of data.

    >>> method("quad-opt").budget, method("min+opt+tru", "roads").index
    ('geometric', 'opt')
    """
    require(name, str, "name", ParameterError)
    return method_with(name, kind, parameters)


def method_with(name: str, kind: str | None, parameters: Mapping[str, Any]) -> Any:
    """:func:`method` with its parameters as a mapping, so that any name can be one."""
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"kind={kind!r}: choose one of {', '.join(KINDS)}")
    noun = "method" if kind is None else KINDS[kind]
    members = METHODS if kind is None else of_kind(kind)
    for cls in members.values():
        preset = cls.preset(name)
        if preset is None:
            continue
        for word in parameters:
            if word not in cls.parameter_fields():
                listed = ", ".join(cls.parameter_fields()) or "none"
                raise ParameterError(
                    f"{KINDS[cls.kind]} {cls.name} has no parameter {word!r}: it has {listed}"
                )
        return cls(**{**preset, **parameters})
    elsewhere = {word.lower(): METHODS[owner].kind for word, (owner, _) in names().items()}
    if name.lower() in elsewhere:
        raise ParameterError(
            f"method {name} works on {elsewhere[name.lower()]}, the data are {kind}: choose "
            f"one of {', '.join(members)}"
        )
    near = difflib.get_close_matches(name, names(kind), 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(members)}"
    raise ParameterError(f"unknown {noun} {name!r}: {hint}")


def _checked(owner: str, field: dataclasses.Field[Any], value: Any) -> Any:
    """Convert a value to the type of the parameter, or refuse it."""
    limits: Parameter = field.metadata["parameter"]
    what = f"{owner}: {field.name}={value!r}"
    if value is None or (isinstance(value, str) and value.lower() in {"none", "auto", ""}):
        if limits.optional:
            return None
        raise ParameterError(f"{what}: give a value")
    kind = str(field.type)
    if limits.choices:
        if value not in limits.choices:
            raise ParameterError(f"{what}: choose one of {', '.join(limits.choices)}")
        return value
    if kind.startswith("bool"):
        words = {"true": True, "yes": True, "1": True, "on": True}
        words |= {"false": False, "no": False, "0": False, "off": False}
        if isinstance(value, bool):
            return value
        if str(value).lower() not in words:
            raise ParameterError(f"{what}: give true or false")
        return words[str(value).lower()]
    try:
        number = number_of(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or isinstance(value, bool):
        raise ParameterError(f"{what}: give a number")
    if kind.startswith("int") and not number.is_integer():
        raise ParameterError(f"{what}: give a whole number")
    low, high = limits.low, limits.high
    if (low is not None and number < low) or (high is not None and number > high):
        raise ParameterError(f"{what}: give a number from {low:g} to {high:g}")
    return int(number) if kind.startswith("int") else number
