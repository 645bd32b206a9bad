"""Save and read a sequence release: Parquet, one row per context or string, with a header.

The header says which model the rows are of: ``contexts`` (also where it says nothing, as in older
files), ``grams`` or ``ranking``.
"""

from __future__ import annotations

import base64
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.header import Header
from dpviz.releases.points.files import opened, stated, write_file
from dpviz.releases.sequences.publish import SequenceRelease
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import GramTree, Model, Ranking
from dpviz.sequences.model import ContextTree, Mask
from dpviz.trees.lattice import Int

if TYPE_CHECKING:
    import pyarrow

KEY = b"dpviz_sequences"

KINDS: dict[type[Model], str] = {ContextTree: "contexts", GramTree: "grams", Ranking: "ranking"}
"""What the header calls each kind of model."""


def save(release: SequenceRelease, path: str | os.PathLike[str]) -> Path:
    """Write a release as Parquet."""
    import pyarrow.parquet as pq

    table = to_arrow(release)
    return write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def to_arrow(release: SequenceRelease) -> pyarrow.Table:
    """The table that :func:`save` writes.

    Contexts: ``first_child``, and ``counts`` of what follows. Grams: ``parent`` and ``symbol``, the
    string less its last symbol and that symbol (−1 for the empty string), and ``counts`` of its
    extensions. Ranking: the ``string``.
    """
    import pyarrow as pa

    model = release.model
    header = {
        **release.header.to_dict(),
        "model": KINDS[type(model)],
        "alphabet": list(release.alphabet.names),
        "follows": _packed(release.alphabet.follows),
    }
    if isinstance(model, Ranking):
        columns = {"string": pa.array([list(each) for each in model.strings], pa.list_(pa.int64()))}
    else:
        header |= {"ruled": model.follows is not None, "variance": model.variance}
        if isinstance(model, ContextTree):
            columns = {"first_child": pa.array(model.first_child)}
        else:
            columns = dict(zip(("parent", "symbol"), map(pa.array, _links(model)), strict=True))
        flat = pa.array(model.counts.ravel())
        columns["counts"] = pa.FixedSizeListArray.from_arrays(flat, model.size + 1)
    return pa.table(columns).replace_schema_metadata({KEY: json.dumps(header).encode()})


def read(path: str | os.PathLike[str]) -> SequenceRelease:
    """Read a sequence release.

    Raises:
        ReleaseError: not a sequence release, damaged, or of a newer schema.
    """
    return from_arrow(opened(path), Path(path).name)


def from_arrow(table: pyarrow.Table, name: str = "table") -> SequenceRelease:
    """The inverse of :func:`to_arrow`.

    Raises:
        ReleaseError: not a sequence release, damaged, or of a newer schema.
    """
    import pyarrow as pa

    values = stated(table, KEY, "sequence release", name)
    try:
        names = values.pop("alphabet")
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise ReleaseError("the alphabet is damaged")
        alphabet = Alphabet(tuple(names), _unpacked(values.pop("follows", None), len(names)))
        model = _model(table, alphabet, values)
        return SequenceRelease(alphabet, model, Header.from_dict(values))
    except DpvizError as error:
        raise ReleaseError(f"{name}: {error}") from error
    except (
        pa.ArrowException,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        OverflowError,
        BufferError,
    ) as error:
        raise ReleaseError(f"{name}: the release is damaged") from error


def _model(table: pyarrow.Table, alphabet: Alphabet, values: dict[str, Any]) -> Model:
    """The model in a table's rows; what the header says of it is taken out of ``values``."""
    kind, size = values.pop("model", "contexts"), len(alphabet)
    if kind == "ranking":
        return Ranking(size, _strings(table["string"]))
    if kind not in KINDS.values():
        raise ReleaseError(f"a model of kind {kind!r:.40}: update dpviz")
    variance = float(values.pop("variance", 0.0))
    if not (math.isfinite(variance) and variance >= 0):
        raise ReleaseError("the variance of the noise must be finite and not negative")
    follows = alphabet.follows if values.pop("ruled", False) else None
    counts = np.asarray(_numbers(table["counts"]), dtype=np.float64)
    counts = counts.reshape(len(table), size + 1)
    if kind == "contexts":
        return ContextTree(_whole(table["first_child"]), counts, variance, follows)
    child = _children(_whole(table["parent"]), _whole(table["symbol"]), size)
    return GramTree(child, counts, variance, follows)


def _links(model: GramTree) -> tuple[Int, Int]:
    """Of each string the row without its last symbol, and that symbol; −1 for the empty one."""
    parent, symbol = np.full((2, len(model)), -1, dtype=np.int64)
    above, last = np.nonzero(model.child >= 0)
    below = model.child[above, last]
    parent[below], symbol[below] = above, last
    return parent, symbol


def _children(parent: Int, symbol: Int, size: int) -> Int:
    """The inverse of :func:`_links`: the row of each extension, −1 where there is none."""
    above, last = parent[1:], symbol[1:]
    if (parent[:1] != -1).any() or (symbol[:1] != -1).any():
        raise ReleaseError("the strings do not begin with the empty one")
    if not ((above >= 0) & (above < len(parent)) & (last >= 0) & (last < size)).all():
        raise ReleaseError("a string without its parent, or with a symbol outside the alphabet")
    child = np.full((len(parent), size), -1, dtype=np.int64)
    child[above, last] = np.arange(1, len(parent))
    return child


def _strings(column: Any) -> tuple[tuple[int, ...], ...]:
    import pyarrow as pa

    if not (pa.types.is_list(column.type) and pa.types.is_integer(column.type.value_type)):
        raise ReleaseError("damaged: strings are lists of whole numbers")
    found = column.to_pylist()
    if any(string is None or None in string for string in found):
        raise ReleaseError("a column holds nulls")
    return tuple(map(tuple, found))


def _whole(column: Any) -> Int:
    numbers = _numbers(column)
    if numbers.dtype.kind not in "iu":
        raise ReleaseError("damaged: rows and symbols are whole numbers")
    return np.asarray(numbers, dtype=np.int64)


def _numbers(column: Any) -> Any:
    import pyarrow as pa

    column = column.combine_chunks()
    if column.null_count:
        raise ReleaseError("a column holds nulls")
    plain = column.flatten() if pa.types.is_fixed_size_list(column.type) else column
    if not (pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type)):
        raise ReleaseError("damaged: a column does not hold numbers")
    return np.from_dlpack(plain)


def _packed(follows: Mask | None) -> str | None:
    return None if follows is None else base64.b64encode(np.packbits(follows).tobytes()).decode()


def _unpacked(text: Any, size: int) -> Mask | None:
    if text is None:
        return None
    bits = np.unpackbits(np.frombuffer(base64.b64decode(str(text)), dtype=np.uint8))
    return bits[: size * size].reshape(size, size).astype(np.bool_)
