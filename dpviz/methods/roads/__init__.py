"""The registry of network methods: every file of this folder is one method, found by name.

Combinations are names too, in any order: ``min+opt+tru`` is the min-cut, the paper's tree search
and truncation.

>>> find("min+opt+tru").index, find("opt+min").truncation
('opt', 'off')
"""

from __future__ import annotations

from typing import Any

from dpviz.errors import ParameterError
from dpviz.methods.roads.base import METHODS, RoadMethod, method, names

__all__ = ["METHODS", "WORDS", "RoadMethod", "find", "names"]

WORDS: dict[str, dict[str, Any]] = {
    "tru": {"truncation": "workload"},
    "min": {"decomposition": "min"},
    "random": {"decomposition": "random"},
    "opt": {"index": "opt"},
    "best": {"index": "best"},
    "boost": {"index": "boost"},
    "hm": {"index": "hm"},
}
"""Parts of combined names; what is not named is left out."""


def _discover() -> None:
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def find(name: str, **parameters: Any) -> RoadMethod:
    """The method of a name, an alias, or a combination such as ``min+opt+tru``.

    Raises:
        ParameterError: an unknown name or parameter, a value out of range, or two words of a
            combination for the same step.
    """
    if "+" not in name:
        return method(name, **parameters)
    chosen: dict[str, Any] = {}
    for word in (part.strip().lower() for part in name.split("+")):
        if word not in WORDS:
            raise ParameterError(
                f"unknown part {word!r} of road method {name!r}: use {', '.join(WORDS)}"
            )
        (knob, value), *_ = WORDS[word].items()
        if knob in chosen:
            raise ParameterError(
                f"road method {name!r} names {knob} twice: keep {chosen[knob]} or {value}"
            )
        chosen[knob] = value
    defaults = {"truncation": "off", "decomposition": "min", "index": "flat"}
    return method("event-histogram", **{**defaults, **chosen, **parameters})


_discover()
