"""Keep at most K records of each privacy unit, chosen with secret randomness.

The choice among a unit's records depends on a fresh secret key, the unit's id and its number of
records, and on no other unit. So adding or removing one unit changes the retained records by at
most that unit's K records, under every key.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.trees.lattice import Int

_PUBLIC = b"public records: nobody is left out in secret"


def fresh_key() -> bytes:
    """A secret key of 128 bits from the operating system."""
    return secrets.token_bytes(16)


def numbered(ids: Sequence[Any]) -> tuple[Int, Any]:
    """A number for each id (n,), −1 if it is missing; and the distinct ids by number.

    Ids are equal if their texts are equal byte by byte; see :func:`dpviz.private.load.words.texts`.
    """
    column = pa.chunked_array(list(ids), pa.large_binary()).combine_chunks()
    encoded = pc.dictionary_encode(column)
    return arrow.number_array(encoded.indices, null=-1).astype(np.int64), encoded.dictionary


def bounded(unit: Int, ids: Any, k: int, *, public: bool = False) -> Int:
    """Row numbers (m,), ascending, of at most `k` random records of each unit.

    Stability: one unit more or less changes the retained records by at most its k records.

    Args:
        unit: number of each record's privacy unit (n,), at least 0.
        ids: distinct ids by number, from :func:`numbered`.
        k: the bound, at least 1.
        public: use a fixed key, so that the choice is repeatable; never for sensitive data, as it
            would reveal which records were dropped.
    """
    size = np.bincount(unit, minlength=len(ids))
    over = size > k
    if not over.any():
        return np.arange(len(unit))
    key = _PUBLIC if public else fresh_key()
    seed = np.zeros(len(ids), dtype=np.uint64)
    seed[over] = [_seed(key, ids[number].as_py()) for number in np.flatnonzero(over).tolist()]
    row = np.flatnonzero(over[unit])
    row = row[np.argsort(unit[row], kind="stable")]
    owner = unit[row]
    place = _place_within(owner)
    with np.errstate(over="ignore"):
        turn = _mixed(seed[owner] + place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    order = np.lexsort([turn, owner])
    within = ~over[unit]
    within[row[order[place < k]]] = True  # owners stand in the same order before and after
    return np.flatnonzero(within)


def _seed(key: bytes, unit: bytes) -> int:
    """A keyed hash of the unit's id, as the seed of its random choice."""
    return int.from_bytes(hashlib.blake2b(unit, key=key[:64], digest_size=8).digest(), "little")


def _place_within(owner: Int) -> Int:
    """Position of each item among the items of its owner, from 0; ``owner`` is grouped."""
    if not len(owner):
        return owner
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    return np.arange(len(owner)) - np.repeat(starts, np.diff(np.append(starts, len(owner))))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 finaliser: a bijection that scatters (Steele, Lea, Flood, OOPSLA 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
