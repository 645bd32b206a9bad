"""What a method is anywhere in the project: a frozen dataclass of knobs, found by name.

Each engine (spatial, sequences, road networks) has its own registry of its own kind of method; the
limits and help of a knob feed the app's form, the flags, Hypothesis and the tables alike.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dpviz.errors import ParameterError


@dataclass(frozen=True)
class Knob:
    """Limits and help of one parameter, shared by the app's form, the flags and the tests.

    ``optional`` means that None is allowed (and usually the default): "chosen by the method".
    """

    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    log: bool = False


def knob(
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
        default=default, metadata={"knob": Knob(help, low, high, choices, optional, log)}
    )


@dataclass(frozen=True, kw_only=True)
class Method:
    """Base of every kind of method.

    Class attributes:
        name: the registered name.
        title: the name for people.
        guarantee: "ε-DP", "(ε,δ)-DP" or "none".
        paper: authors, title, venue, year.
        presets: other names for settings of it, with their parameters; names of papers are here.
        advice: when not to use it.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    guarantee: ClassVar[str] = "ε-DP"
    paper: ClassVar[str] = ""
    presets: ClassVar[dict[str, dict[str, Any]]] = {}
    advice: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = _checked(self.name, field, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @property
    def private(self) -> bool:
        """Whether the method with these parameters has a guarantee."""
        return self.guarantee != "none"

    @property
    def delta(self) -> float:
        """The delta that this setting needs; 0 for pure ε-DP."""
        return 0.0

    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value."""
        return dataclasses.asdict(self)

    @classmethod
    def knobs(cls) -> dict[str, dataclasses.Field[Any]]:
        """The dataclass fields of the parameters; limits stand in ``field.metadata["knob"]``."""
        return {field.name: field for field in dataclasses.fields(cls)}


R = TypeVar("R", bound=Method)
C = TypeVar("C", bound=type[Method])


class Registry(Generic[R]):
    """The methods of one engine by name; ``kind`` is what its messages call them."""

    def __init__(self, kind: str = "method") -> None:
        self.kind = kind
        self.members: dict[str, type[R]] = {}

    def register(self, cls: C) -> C:
        """Class decorator: enter a method under its name."""
        for word in (cls.name, *cls.presets):
            if word in self.names():
                raise ParameterError(f"{self.kind} name {word!r} is taken")
        self.members[cls.name] = cls  # type: ignore[assignment]
        return cls

    def names(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Every accepted name, aliases included: the method's name and the preset's parameters."""
        found: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in self.members}
        for name, cls in self.members.items():
            found.update({alias: (name, parameters) for alias, parameters in cls.presets.items()})
        return found

    def find(self, name: str, **parameters: Any) -> R:
        """The method of this name (or alias) with these parameters.

        Raises:
            ParameterError: an unknown name or parameter, or a value out of range.
        """
        known = self.names()
        folded = {each.lower(): each for each in known}
        if name.lower() not in folded:
            near = difflib.get_close_matches(name, known, 3)
            listed = ", ".join(self.members)
            hint = f"did you mean {' or '.join(near)}?" if near else f"one of {listed}"
            raise ParameterError(f"unknown {self.kind} {name!r}: {hint}")
        found, preset = known[folded[name.lower()]]
        cls = self.members[found]
        for word in parameters:
            if word not in cls.knobs():
                listed = ", ".join(cls.knobs()) or "none"
                raise ParameterError(
                    f"{self.kind} {found} has no parameter {word!r}: it has {listed}"
                )
        return cls(**{**preset, **parameters})


def _checked(owner: str, field: dataclasses.Field[Any], value: Any) -> Any:
    """The value in the type of the knob, or one clear line."""
    limits: Knob = field.metadata["knob"]
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
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or isinstance(value, bool):
        raise ParameterError(f"{what}: give a number")
    if kind.startswith("int") and number != math.floor(number):
        raise ParameterError(f"{what}: give a whole number")
    low, high = limits.low, limits.high
    if (low is not None and number < low) or (high is not None and number > high):
        raise ParameterError(f"{what}: give a number from {low:g} to {high:g}")
    return int(number) if kind.startswith("int") else number
