"""Save and read a sequence release: Parquet, one row per context, with a header."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DpvizError, ReleaseError
from dpviz.files import opened, stated, write_file
from dpviz.release import Header
from dpviz.sequences.data import Alphabet
from dpviz.sequences.model import ContextTree, Mask
from dpviz.sequences.publish import SequenceRelease

if TYPE_CHECKING:
    import pyarrow

KEY = b"dpviz_sequences"


def save(release: SequenceRelease, path: str | os.PathLike[str]) -> Path:
    """Write a release as Parquet."""
    import pyarrow.parquet as pq

    table = to_arrow(release)
    return write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def to_arrow(release: SequenceRelease) -> pyarrow.Table:
    """The table that :func:`save` writes: ``first_child``, and ``counts`` of what follows."""
    import pyarrow as pa

    model = release.model
    header = {
        **release.header.to_dict(),
        "alphabet": list(release.alphabet.names),
        "follows": _packed(release.alphabet.follows),
        "ruled": model.follows is not None,
        "variance": model.variance,
    }
    counts = pa.FixedSizeListArray.from_arrays(pa.array(model.counts.ravel()), model.size + 1)
    columns = {"first_child": pa.array(model.first_child), "counts": counts}
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
        follows = _unpacked(values.pop("follows", None), len(names))
        ruled, variance = bool(values.pop("ruled", False)), float(values.pop("variance", 0.0))
        first_child, counts = (_numbers(table[each]) for each in ("first_child", "counts"))
        if first_child.dtype.kind not in "iu":
            raise ReleaseError("damaged: children are whole numbers")
        counts = np.asarray(counts, dtype=np.float64).reshape(len(table), len(names) + 1)
        rule = follows if ruled else None
        model = ContextTree(first_child.astype(np.int64), counts, variance, rule)
        return SequenceRelease(Alphabet(tuple(names), follows), model, Header.from_dict(values))
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
