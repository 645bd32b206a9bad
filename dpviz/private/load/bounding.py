"""Keep at most K records of each privacy unit: those with the K smallest keyed priorities.

A record's *slot* is what it adds to the release (lattice cell, kind, value; the items of a
sequence): a function of that record alone. Equal records of a unit are numbered 0, 1, 2 …, and the
priority of a record is a hash of a fresh secret key, the unit's id, the slot and that number. So
counts stay counts of records, and records of one slot are alike.

Let V be the set of (slot, number) of a unit's records, and kept(V) its K smallest by priority, slot
and number: a total order on all pairs. For every key:

*Lemma 1. One unit more or less moves the retained records by at most K.* kept(V) is a function of
the key, the unit's id and V, and has at most K members; other units' kept sets do not read V.

*Lemma 2. j records more or less of one unit move its retained records by at most 2·min(j, K)*,
counted as the symmetric difference. Numbers of equal records have no gaps, so V gains or loses
exactly j pairs: (slot, m) of the next number, or of the last one. Of the K smallest of V at most
min(j, K) are among the lost pairs, and as many of the next ones take their places; a gain is a loss
read backwards.

*Lemma 3. The order of rows does not matter*: V has none.

No step needs the hash to be strong: its quality only makes the choice even. SQL engines order by
(salted hash of unit, cell and number; cell; number), the same order with other hashes, so the
lemmas hold there too; see :mod:`dpviz.private.load.cellquery`.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.trees.lattice import Int
from dpviz.trees.ragged import Ragged

Slots = Callable[[Int], Sequence[Int]]
"""Slots of some rows: int64 columns, which are equal for records that add the same."""

_PUBLIC = b"public records: nobody is left out in secret"
_STEP = np.uint64(0x9E3779B97F4A7C15)
"""Distance of the seeds of SplitMix64."""


def fresh_key() -> bytes:
    """A secret key of 128 bits from the operating system."""
    return secrets.token_bytes(16)


def number_ids(ids: Sequence[Any]) -> tuple[Int, Any]:
    """A number for each id (n,), −1 if it is missing; and the distinct ids by number.

    Ids are equal if their texts are equal byte by byte; see :func:`dpviz.private.load.words.texts`.
    """
    column = pa.chunked_array(list(ids), pa.large_binary()).combine_chunks()
    encoded = pc.dictionary_encode(column)
    return arrow.number_array(encoded.indices, null=-1).astype(np.int64), encoded.dictionary


def per_time(unit: Int, ids: Any, time: Int) -> tuple[Int, Any]:
    """Numbers (n,) and ids of the pairs of a privacy unit and a unit of time.

    With these pairs as units, :func:`bounded` bounds each unit's records of each unit of time
    separately: what it retains of a pair is a function of the key, the pair and its records, so
    records of other times change nothing. Eight bytes of the time before the id make all pairs
    different.

    Args:
        unit: number of each record's privacy unit (n,), at least 0.
        ids: distinct ids by number, from :func:`number_ids`.
        time: number of each record's unit of time (n,).
    """
    times, place = np.unique(time, return_inverse=True)
    pairs, number = np.unique(unit * len(times) + place, return_inverse=True)
    who, when = np.divmod(pairs, len(times)) if len(times) else (pairs, pairs)
    words = pa.array([int(each).to_bytes(8, "little", signed=True) for each in times[when]])
    named = (words.cast(pa.large_binary()), ids.take(arrow.numbers(who)).cast(pa.large_binary()))
    return number, pc.binary_join_element_wise(*named, pa.scalar(b"", pa.large_binary()))


def bounded(unit: Int, ids: Any, k: int, slots: Slots, *, public: bool = False) -> Int:
    """Row numbers (m,), ascending, of the `k` records of least priority of each unit.

    Stability: one unit more or less moves the retained records by at most k, one record more or
    less by at most 2 (the module's lemmas). A unit of at most k records keeps all of them.

    Args:
        unit: number of each record's privacy unit (n,), at least 0.
        ids: distinct ids by number, from :func:`number_ids`.
        k: the bound, at least 1.
        slots: called once, with the row numbers of the units that have more than k records.
        public: use a fixed key, so that the choice is repeatable; never for sensitive data, as it
            would reveal which records were dropped.
    """
    size = np.bincount(unit, minlength=len(ids))
    over = size > k
    if not over.any():
        return np.arange(len(unit))
    seed = _seeds(ids, over, public)
    rows = np.flatnonzero(over[unit])
    owner, columns = unit[rows], slots(rows)
    order = _by_priority(owner, seed[owner], columns)
    within = ~over[unit]
    within[rows[order[_place_within(owner[order]) < k]]] = True
    return np.flatnonzero(within)


def one_in_each(unit: Int, ids: Any, part: Int, slot: Int, *, public: bool = False) -> Int:
    """Row numbers (m,), ascending, of the record of least priority of each unit in each part.

    It is a function of the key, the unit's id and its records in that part.

    Args:
        part: part of each record (n,), from 0.
        slot: a number that is equal for records that add the same (n,).
        public: use a fixed key, as for :func:`bounded`.
    """
    pair = unit * (int(part.max(initial=0)) + 1) + part
    seed = _seeds(ids, np.bincount(unit, minlength=len(ids)) > 1, public)
    order = _by_priority(pair, seed[unit], [slot]) if len(unit) else unit
    return np.sort(order[_place_within(pair[order]) < 1])


def slots_of(records: Ragged, when: NDArray[np.float64] | None = None) -> Slots:
    """Slots of records that are rows of items: a digest of 128 bits, and the moment.

    Different rows of items have different digests unless BLAKE2b has a collision.
    """

    def slots(rows: Int) -> Sequence[Int]:
        content = np.ascontiguousarray(records.item, dtype=np.int64).data
        ends = zip(records.start[rows].tolist(), records.start[rows + 1].tolist(), strict=True)
        digests = [
            hashlib.blake2b(content[start:stop], digest_size=16).digest() for start, stop in ends
        ]
        words = np.frombuffer(b"".join(digests), dtype=np.int64).reshape(-1, 2).T
        moments = [] if when is None else [when[rows].view(np.int64)]
        return [*words, *moments]

    return slots


def _seeds(ids: Any, chosen: NDArray[np.bool_], public: bool) -> NDArray[np.uint64]:
    """Seeds of the priorities of some units, by a fresh key; 0 for the others."""
    key = _PUBLIC if public else fresh_key()
    seed = np.zeros(len(ids), dtype=np.uint64)
    seed[chosen] = [_seed(key, ids[number].as_py()) for number in np.flatnonzero(chosen).tolist()]
    return seed


def _by_priority(owner: Int, seed: NDArray[np.uint64], columns: Sequence[Int]) -> Int:
    """Order of records by owner, then by priority, slot and number among equal ones."""
    with np.errstate(over="ignore"):
        priority = seed
        for column in columns:
            priority = _mixed(priority + column.view(np.uint64) * _STEP)
        key = _sort_key(owner, priority)
        order = np.argsort(key)
        if not (tied := _tied(key[order])).any():
            return order
        rows = order[tied]  # equal records among them
        if _runs([key[rows]]).max() != _runs([each[rows] for each in (key, *columns)]).max():
            rows = rows[np.lexsort([each[rows] for each in (*columns, owner)])]
        copies = _place_within(_runs([each[rows] for each in (*columns, owner)]))
        number = np.zeros(len(owner), dtype=np.int64)
        number[rows] = copies
        later = rows[copies > 0]
        priority[later] = _mixed(priority[later] + copies[copies > 0].view(np.uint64) * _STEP)
    key = _sort_key(owner, priority)
    order = np.argsort(key)
    if _tied(key[order]).any():  # different records with the same hash
        order = np.lexsort([number, *columns, priority, owner])
    return order


def _sort_key(owner: Int, priority: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Owner and priority in one word, which is faster to sort; it may tie different priorities."""
    bits = int(owner.max()).bit_length()
    if bits == 0:
        return priority
    return (owner.view(np.uint64) << np.uint64(64 - bits)) | (priority >> np.uint64(bits))


def _tied(key: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """True for sorted keys that are equal to a neighbour."""
    again = np.zeros(len(key) + 1, dtype=np.bool_)
    np.equal(key[1:], key[:-1], out=again[1:-1])
    return again[1:] | again[:-1]


def _runs(columns: Sequence[NDArray[Any]]) -> Int:
    """Number of the run of equal rows that each row is in."""
    first = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return np.cumsum(first)


def _seed(key: bytes, unit: bytes) -> int:
    """A keyed hash of the unit's id, as the seed of its priorities."""
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
