"""What the public functions are given: held against their annotations, and refused in one line.

A value that may hold records is never shown, but its type.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from functools import wraps
from numbers import Integral, Number, Real
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from dpviz.errors import DpvizError

P = ParamSpec("P")
R = TypeVar("R")

PATH: Any = str | os.PathLike[str]

SHOWN = 60
"""Characters of a value in an error."""

LONGEST_NAME = 255
"""Bytes of a name in a folder, on every usual file system."""

FIELDS: dict[type, dict[str, Any]] = {}
"""What is known of the fields of classes."""

PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (Integral,),
    float: (Real, Decimal),
}
"""What stands for a plain type, NumPy's scalars too; True is no number."""

REMEDIES = {
    str: "give a text",
    bool: "give True or False",
    int: "give a whole number",
    float: "give a number",
    "Path": f"give the path of a file, with names of up to {LONGEST_NAME} bytes",
    "Progress": "give a function of (fraction, what)",
    "Texts": "give a list of texts",
    "Array": "give a NumPy array",
    "Alphabet": "give a dpviz.Alphabet",
    "Areas": "give dpviz.read_areas(FILE)",
    "Cells": "give dpviz.build.leaf_cells(RELEASE)",
    "DataHandle": "load them first, with dpviz.load",
    "Domain": "give a dpviz.Domain, such as Domain.from_bounds([west, south, east, north])",
    "Handle": "load them first, with dpviz.load",
    "Kinds": "give dpviz.domain.attributes.Kinds",
    "Ledger": "give dpviz.Ledger(FILE)",
    "Method": "give a name, or dpviz.method(NAME)",
    "Paths": "give dpviz.Paths.of([[0, 1]]), or dpviz.workload_of('corridor', graph)",
    "PointRelease": "give a release of points, from dpviz.build or dpviz.read",
    "Release": "give a release, from dpviz.build or dpviz.read",
    "RoadGraph": "give dpviz.read_graph(FILES)",
    "Values": "give dpviz.domain.attributes.Values",
}


def typed(error: type[DpvizError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: a function that refuses what is not of the types that it states.

    Of plain types, texts, lists of texts, paths, functions and classes of this project; arrays and
    other numbers are for the function itself. An iterable of texts arrives as a tuple. It runs with
    NumPy's :func:`usual` settings.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature, hints = inspect.signature(function), dict[str, Any]()

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # it says so itself, with its name
            hints.update({} if hints else hints_of(function))  # once its module is whole
            for name, hint in hints.items():
                if name not in bound.arguments:
                    continue
                value = bound.arguments[name]
                if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                    for each in value:
                        fitting(each, hint, name, error)
                else:
                    bound.arguments[name] = fitting(value, hint, name, error)
            with usual():
                return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


def usual() -> AbstractContextManager[Any]:
    """NumPy's own way with what a double cannot hold. Where a notebook has set another, a build
    failed after it was paid, and whether it did hung on exact counts. Nobody has set any of what
    nobody has loaded.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return nullcontext()
    settings: AbstractContextManager[Any] = numpy.errstate(
        divide="warn", over="warn", under="ignore", invalid="warn"
    )
    return settings


def check_fields(frozen: Any, error: type[DpvizError]) -> None:
    """The same for the fields of a frozen dataclass, at the start of its ``__post_init__``."""
    hints = FIELDS.setdefault(type(frozen), {})
    hints.update({} if hints else fields_of(type(frozen)))
    for name, hint in hints.items():
        value = getattr(frozen, name)
        fitted = fitting(value, hint, name, error)
        if fitted is not value:
            object.__setattr__(frozen, name, fitted)


def fitting(value: Any, hint: Any, name: str, error: type[DpvizError]) -> Any:
    """The value if it fits an annotation, lists of texts as tuples.

    Raises:
        DpvizError: of the class ``error``: it does not.
    """
    hints = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    as_path = any(get_origin(each) is os.PathLike for each in hints)
    if as_path and isinstance(value, (str, os.PathLike)) and _is_path(value):
        return value
    for each in hints:
        fits, fitted = (False, None) if as_path and each is str else _fits(value, each)
        if fits:
            return fitted
    remedies = [each for each in dict.fromkeys(map(_remedy, hints)) if each]
    if len(remedies) > 1 and REMEDIES[str] in remedies:  # of what, says the other one
        remedies.remove(REMEDIES[str])
    raise error(f"{described(name, value)}: {' or '.join(remedies)}")


def described(name: str, value: Any) -> str:
    """What was given, for an error: a plain value cut, of any other its type.

    >>> described("columns", 5), described("domain", [[1.0, 2.0]])
    ('columns=5', 'domain of type list')
    """
    short = isinstance(value, int) and abs(value) < 10**SHOWN
    of_numpy = isinstance(value, Number) and type(value).__module__ == "numpy"
    if not (short or of_numpy or isinstance(value, (NoneType, str, float))):
        return f"{name} of type {type(value).__name__}"
    text = repr(value)
    return f"{name}={text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}"


def _fits(value: Any, hint: Any) -> tuple[bool, Any]:
    """Whether a value fits one annotation that is no union; and the value."""
    origin = _origin(hint)
    if hint in PLAIN:
        known = isinstance(value, PLAIN[hint]) and (hint is not float or _is_float(value))
        return known and not _is_bool(value), value
    if hint is bool:
        return _is_bool(value), value
    if hint in (None, NoneType):
        return value is None, value
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint), value
    if origin is Callable:
        return callable(value), value
    if origin in (tuple, Sequence, Iterable):
        return _fits_items(value, origin, get_args(hint)[0])
    kind = origin if isinstance(origin, type) else hint
    if isinstance(kind, type) and (_is_array(kind) or kind.__module__.startswith("dpviz.")):
        return isinstance(value, kind), value
    return origin is not os.PathLike, value


def _fits_items(value: Any, origin: Any, item: Any) -> tuple[bool, Any]:
    """The same for a list of texts, or of sequences of them; of others nothing is asked."""
    if item is not str and item != Sequence[str]:
        return True, value
    ordered = origin is Iterable or not isinstance(value, (Set, Mapping))
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or not ordered:
        return False, value
    items = tuple(value)
    nested = item is not str
    return all(isinstance(each, str) or (nested and _fits(each, item)[0]) for each in items), items


def _is_bool(value: Any) -> bool:
    """Whether a value is True or False, as Python or NumPy has them."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__.startswith("bool"))


def _is_array(kind: Any) -> bool:
    """Whether a type is NumPy's of arrays."""
    return getattr(kind, "__module__", "") == "numpy" and kind.__name__ == "ndarray"


def _is_float(value: Any) -> bool:
    """Whether a number has a place among the floats."""
    try:
        float(value)
    except (OverflowError, TypeError):
        return False
    return True


def _is_path(value: str | os.PathLike[str]) -> bool:
    """Whether a text can name a file."""
    try:
        name = os.fsencode(os.fspath(value))
    except (TypeError, UnicodeEncodeError):
        return False
    longest = max(map(len, name.split(os.sep.encode())))
    return bool(name.strip()) and b"\0" not in name and longest <= LONGEST_NAME


def _origin(hint: Any) -> Any:
    """What an annotation was made of: in newer NumPy, arrays have an alias of their own."""
    origin = get_origin(hint)
    return get_origin(getattr(origin, "__value__", None)) or origin


def _remedy(hint: Any) -> str:
    """What to give instead; empty where that goes without saying."""
    origin = _origin(hint)
    if hint in (None, NoneType):
        return ""
    if origin is os.PathLike:
        return REMEDIES["Path"]
    if origin is Callable:
        return REMEDIES["Progress"]
    if _is_array(origin):
        return REMEDIES["Array"]
    if origin is Literal:
        return f"give {' or '.join(get_args(hint))}"
    if origin in (tuple, Sequence, Iterable):
        return REMEDIES["Texts"]
    return REMEDIES.get(hint) or REMEDIES.get(getattr(origin or hint, "__name__", ""), "")


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the parameters that are checked, by name."""
    where = getattr(function, "__globals__", {})
    stated = {
        name: each.annotation
        for name, each in inspect.signature(function).parameters.items()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
        and each.annotation is not inspect.Parameter.empty
    }
    return {name: _evaluated(hint, where) for name, hint in stated.items()}


def fields_of(frozen: type) -> dict[str, Any]:
    """The annotations of the fields of a class."""
    where = vars(sys.modules[frozen.__module__])
    return {name: _evaluated(hint, where) for name, hint in inspect.get_annotations(frozen).items()}


def _evaluated(hint: Any, where: Mapping[str, Any]) -> Any:
    """An annotation, or Any where it names what is imported for type checkers only."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, dict(where))
    except NameError:
        return Any
