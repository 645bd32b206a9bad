"""File columns of a sequence release: one row per context or string.

The header names the model of the rows: ``contexts``, ``grams`` or ``ranking``.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from dpviz.errors import ReleaseError
from dpviz.files import arrow
from dpviz.lazy import pa
from dpviz.releases.files import MAX_VALUES, numbers, whole_numbers, with_header
from dpviz.releases.header import Header
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import GramTree, Model, Ranking
from dpviz.sequences.model import ContextTree, Mask
from dpviz.trees.lattice import Int

MODELS: dict[type[Model], str] = {ContextTree: "contexts", GramTree: "grams", Ranking: "ranking"}
"""Name of each kind of model in the header."""

NEEDED = ("first_child", "parent", "symbol", "counts", "string")
"""Columns that reading needs, of those that the model has."""


def to_columns(alphabet: Alphabet, model: Model, header: Header) -> pa.Table:
    """Convert a model to the table of a release.

    Contexts: ``first_child``, and ``counts`` of what follows. Grams: ``parent`` and ``symbol``, the
    string less its last symbol and that symbol (−1 for the empty string), and ``counts`` of its
    extensions. Ranking: the ``string``.
    """
    follows = None
    if alphabet.follows is not None:
        follows = base64.b64encode(np.packbits(alphabet.follows).tobytes()).decode()
    facts: dict[str, Any] = {
        "model": MODELS[type(model)],
        "alphabet": list(alphabet.names),
        "follows": follows,
    }
    if isinstance(model, Ranking):
        strings = pa.array([list(each) for each in model.strings], pa.list_(pa.int64()))
        return with_header({"string": strings}, "sequences", header, facts)
    facts |= {"ruled": model.follows is not None, "variance": model.variance}
    if isinstance(model, ContextTree):
        if model.root_variance is not None:
            facts["root_variance"] = model.root_variance
        columns = {"first_child": arrow.numbers(model.first_child)}
    else:
        columns = dict(zip(("parent", "symbol"), map(arrow.numbers, _links(model)), strict=True))
    counts = arrow.numbers(model.counts.ravel())
    columns["counts"] = pa.FixedSizeListArray.from_arrays(counts, model.counts.shape[1])
    return with_header(columns, "sequences", header, facts)


def from_columns(table: pa.Table, stated: dict[str, Any]) -> tuple[Alphabet, Model]:
    """The inverse of :func:`to_columns`; removes the model's fields from ``stated``."""
    names = tuple(stated.pop("alphabet"))
    alphabet = Alphabet(names, _unpacked(stated.pop("follows", None), len(names)))
    kind, size = stated.pop("model"), len(alphabet)
    beside = stated.pop("root_variance", None)
    beside = None if beside is None else float(beside)
    variance, ruled = float(stated.pop("variance", 0.0)), stated.pop("ruled", False)
    if kind == "ranking":
        return alphabet, Ranking(size, _strings(table))
    if len(table) * (size + 1) > MAX_VALUES:
        raise ReleaseError(f"more than {MAX_VALUES:,} counts: this version reads no more")
    counts = np.asarray(numbers(table, "counts", size + 1), dtype=np.float64)
    follows = alphabet.follows if ruled else None
    if kind == "contexts":
        child = whole_numbers(table, "first_child")
        return alphabet, ContextTree(child, counts, variance, follows, beside)
    child = _children(whole_numbers(table, "parent"), whole_numbers(table, "symbol"), size)
    return alphabet, GramTree(child, counts, variance, follows)


def _links(model: GramTree) -> tuple[Int, Int]:
    """Row of each string's prefix and its last symbol; −1 for the empty string."""
    parent, symbol = np.full((2, len(model)), -1, dtype=np.int64)
    above, last = np.nonzero(model.child >= 0)
    below = model.child[above, last]
    parent[below], symbol[below] = above, last
    return parent, symbol


def _children(parent: Int, symbol: Int, size: int) -> Int:
    """The inverse of :func:`_links`: row of each extension, −1 if there is none."""
    above, last = parent[1:], symbol[1:]
    if (parent[:1] != -1).any() or (symbol[:1] != -1).any():
        raise ReleaseError("the strings do not begin with the empty one")
    if not ((above >= 0) & (above < len(parent)) & (last >= 0) & (last < size)).all():
        raise ReleaseError("a string without its parent, or with a symbol outside the alphabet")
    child = np.full((len(parent), size), -1, dtype=np.int64)
    child[above, last] = np.arange(1, len(parent))
    return child


def _strings(table: pa.Table) -> tuple[tuple[int, ...], ...]:
    if "string" not in table.column_names:
        raise ReleaseError("column 'string' is missing")
    column = table["string"].combine_chunks()
    if not (pa.types.is_list(column.type) and pa.types.is_integer(column.type.value_type)):
        raise ReleaseError("column 'string' does not hold lists of whole numbers")
    strings = column.to_pylist()
    if any(string is None or None in string for string in strings):
        raise ReleaseError("column 'string' holds nulls")
    return tuple(map(tuple, strings))


def _unpacked(text: Any, size: int) -> Mask | None:
    if text is None:
        return None
    bits = np.unpackbits(np.frombuffer(base64.b64decode(text), dtype=np.uint8))
    if len(bits) != -(-size * size // 8) * 8:
        raise ReleaseError("the header's rule of the alphabet is of another size")
    return bits[: size * size].reshape(size, size).astype(np.bool_)
