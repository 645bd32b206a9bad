"""Check arguments of public functions: one line with the argument, the value and the remedy.

Only arguments that would be misread silently are checked: a text instead of a list of texts, a word
instead of True or False, an object of another class. Of a value that may hold records, messages
show the type only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Set
from numbers import Integral, Number
from types import NoneType
from typing import Any

from dpviz.errors import DpvizError

NUMPY_ERRORS: dict[str, Any] = {
    "divide": "warn",
    "over": "warn",
    "under": "ignore",
    "invalid": "warn",
}
"""NumPy's default handling of floating-point errors. With other settings, which a caller may have
made, a build could fail after payment, depending on exact counts."""

MAX_SHOWN = 60
"""Maximum number of characters of a value in an error message."""

MAX_NAME_BYTES = 255
"""Longest file name in bytes on common file systems."""

REMEDIES = {
    "str": "give a text",
    "ndarray": "give a NumPy array",
    "Areas": "give dpviz.read_areas(FILE)",
    "Callable": "give a function of (fraction, what)",
    "DataHandle": "load them first, with dpviz.load",
    "Domain": "give a dpviz.Domain, such as Domain.from_bounds([west, south, east, north])",
    "Handle": "load them first, with dpviz.load",
    "Ledger": "give dpviz.Ledger(FILE)",
    "Method": "give a name, or dpviz.method(NAME)",
    "Paths": "give dpviz.Paths.of([[0, 1]]), or dpviz.workload_of('corridor', graph)",
    "CountRelease": "give a release of points, from dpviz.build or dpviz.read",
    "Release": "give a release, from dpviz.build or dpviz.read",
}


def require(value: Any, kind: Any, name: str, error: type[DpvizError]) -> None:
    """Refuse a value that is not an instance of a class or of a union of classes."""
    if not isinstance(value, kind):
        kinds = [each for each in getattr(kind, "__args__", (kind,)) if each is not NoneType]
        remedies = [REMEDIES.get(each.__name__, f"give a {each.__name__}") for each in kinds]
        if len(remedies) > 1 and REMEDIES["str"] in remedies:  # the other remedy is more specific
            remedies.remove(REMEDIES["str"])
        raise error(f"{described(name, value)}: {' or '.join(remedies)}")


def as_number(value: Any) -> float:
    """Convert to float: NaN if not a number or boolean, infinity if an integer is too large."""
    try:
        return math.nan if type(value).__name__ in ("bool", "bool_") else float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def texts(value: Any, name: str, error: type[DpvizError]) -> tuple[str, ...]:
    """A list of texts as a tuple; anything else raises ``error``."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Set | Mapping):
        items = tuple(value)
        if all(isinstance(each, str) for each in items):
            return tuple(map(str, items))  # NumPy's text for it would be np.str_('…')
    raise error(f"{described(name, value)}: give a list of texts")


def flag(value: Any, name: str, error: type[DpvizError]) -> bool:
    """True or False, as Python or NumPy has them; anything else raises ``error``."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise error(f"{described(name, value)}: give True or False")
    return bool(value)


def whole(value: Any, name: str, error: type[DpvizError]) -> int:
    """A whole number; anything else raises ``error``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise error(f"{described(name, value)}: give a whole number")
    return int(value)


def require_path(value: Any, error: type[DpvizError], name: str = "path") -> None:
    """Refuse a value that cannot be a file name."""
    try:
        given = b"" if isinstance(value, bytes) else os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        given = b""
    longest = max(map(len, given.split(os.sep.encode())))
    if not given.strip() or b"\0" in given or longest > MAX_NAME_BYTES:
        raise error(
            f"{described(name, value)}: give the path of a file, with names of up to "
            f"{MAX_NAME_BYTES} bytes"
        )


def described(name: str, value: Any) -> str:
    """Argument in an error message: a plain value, shortened; else its type.

    >>> described("columns", 5), described("domain", [[1.0, 2.0]])
    ('columns=5', 'domain of type list')
    """
    short = isinstance(value, int) and abs(value) < 10**MAX_SHOWN
    of_numpy = isinstance(value, Number) and type(value).__module__ == "numpy"
    if not (short or of_numpy or isinstance(value, (NoneType, str, float))):
        return f"{name} of type {type(value).__name__}"
    text = repr(value)
    return f"{name}={text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + '…'}"
