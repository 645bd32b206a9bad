"""The registry: every file of this folder is one method, found by name.

>>> "privtree" in METHODS
True
>>> method("quad-opt").budget
'geometric'
"""

from __future__ import annotations

from dpviz.methods.points.base import METHODS, Knob, PointMethod, knob, method, names

__all__ = ["METHODS", "Knob", "PointMethod", "knob", "method", "names"]


def _discover() -> None:
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


_discover()
