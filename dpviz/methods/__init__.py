"""Methods by name, for every kind of data; a new method is a new file in one of its folders.

>>> "privtree" in METHODS, sorted(of_kind("sequences"))
(True, ['markov', 'ngram', 'topk_em', 'truncate'])
"""

from __future__ import annotations

import importlib
import pkgutil

from dpviz.methods.registry import (
    KINDS,
    METHODS,
    Method,
    Parameter,
    method,
    method_with,
    names,
    of_kind,
    parameter,
)

__all__ = [
    "KINDS",
    "METHODS",
    "Method",
    "Parameter",
    "method",
    "method_with",
    "names",
    "of_kind",
    "parameter",
]

for _kind in KINDS:
    _folder = importlib.import_module(f"{__name__}.{_kind}")
    for _module in pkgutil.iter_modules(_folder.__path__):
        importlib.import_module(f"{_folder.__name__}.{_module.name}")
