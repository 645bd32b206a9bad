"""The bound per unit by priorities: lemmas 1 to 3 of its module, and an even choice."""

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.private.load import bounding
from dpviz.private.load.bounding import bounded, number_ids, slots_of
from dpviz.trees.ragged import Ragged
from tests.private.load.stability import often

SLOTS = st.tuples(st.integers(0, 3), st.integers(-2, 2))
"""Few, so that records of one unit are often equal."""

records = st.lists(st.tuples(st.integers(0, 3), SLOTS), min_size=1, max_size=30)
keys = st.binary(min_size=16, max_size=16)


def kept(rows, k, key):
    """The bag of retained records (unit, slot)."""
    import pyarrow as pa

    unit, ids = number_ids([pa.array([str(who).encode() for who, _ in rows], pa.large_binary())])
    columns = np.array([slot for _, slot in rows], dtype=np.int64).reshape(-1, 2).T
    with patch.object(bounding, "fresh_key", lambda: key):
        chosen = bounded(unit, ids, k, lambda over: [each[over] for each in columns])
    return Counter(rows[row] for row in chosen.tolist())


def apart(one, two):
    return ((one - two) + (two - one)).total()


@given(records, st.integers(0, 3), SLOTS, st.integers(1, 12), keys)
@example([(0, (0, 0))] * 20, 0, (1, 0), 10, b"k" * 16)
@example([(0, (0, at)) for at in range(30)], 0, (1, 0), 10, b"k" * 16)
@often(200)
def test_one_row_moves_two_records_and_one_unit_k(rows, who, slot, k, key):
    before, after = kept(rows, k, key), kept([*rows, (who, slot)], k, key)
    assert apart(before, after) <= 2
    others = [row for row in rows if row[0] != who]
    alone = kept(others, k, key) if others else Counter()
    assert apart(before, alone) <= k
    assert all(before[row] == alone[row] for row in before if row[0] != who)
    sizes = Counter(unit for unit, _ in rows)
    assert Counter(unit for unit, _ in before.elements()) == {
        unit: min(size, k) for unit, size in sizes.items()
    }


@given(st.data(), records, st.integers(1, 8), keys)
@often(100)
def test_the_order_of_rows_does_not_matter(data, rows, k, key):
    assert kept(data.draw(st.permutations(rows)), k, key) == kept(rows, k, key)


@given(records, SLOTS, st.integers(1, 8))
@often(50)
def test_the_lemmas_hold_where_all_hashes_are_equal(rows, slot, k):
    """No step needs a good hash: equal priorities are separated by slot and number."""
    with patch.object(bounding, "_mixed", np.zeros_like):
        assert apart(kept(rows, k, b"k"), kept([*rows, (0, slot)], k, b"k")) <= 2
        assert kept(rows[::-1], k, b"k") == kept(rows, k, b"k")


def test_every_record_of_a_unit_is_as_likely():
    """4,000 keys, 3 of 8 records: false alarm below 1e-6 by a bound of 5.5 standard deviations."""
    rows = [(0, (at // 2, 0)) for at in range(4)] + [(0, (0, at)) for at in range(1, 5)]
    times = Counter()
    for number in range(4_000):
        times += kept(rows, 3, number.to_bytes(16, "little"))
    for row, copies in Counter(rows).items():
        expected = 4_000 * 3 / 8 * copies
        assert abs(times[row] - expected) < 5.5 * np.sqrt(4_000 * copies), row


def test_records_of_items_have_slots_of_their_content_and_moment():
    rows = Ragged.of([[1, 2], [1], [2], [1, 2], [1, 2]])
    when = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    columns = np.array(slots_of(rows, when)(np.arange(5)))
    same = (columns[:, :, None] == columns[:, None, :]).all(axis=0)
    assert np.argwhere(np.triu(same, 1)).tolist() == [[0, 3]]
    content = np.array(slots_of(rows)(np.array([4, 0])))
    assert (content[:, 0] == content[:, 1]).all()


@pytest.mark.parametrize("public", [True, False])
def test_only_a_public_choice_is_repeatable(public):
    unit, ids = np.zeros(60, dtype=np.int64), number_ids([_column(b"ann")])[1]
    chosen = [bounded(unit, ids, 20, lambda over: [over], public=public).tolist() for _ in range(2)]
    assert (chosen[0] == chosen[1]) is public  # 60 choose 20: equal with probability 2e-16


def _column(*values):
    import pyarrow as pa

    return pa.array(values, pa.large_binary())
