"""Methods on sequences, found by name: a new one is a new file here."""

import importlib
import pkgutil

from dpviz.methods.sequences.base import METHODS, SequenceMethod, find, names

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["METHODS", "SequenceMethod", "find", "names"]
