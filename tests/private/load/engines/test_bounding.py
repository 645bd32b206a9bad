"""Bounding in an engine chooses as many records per unit as NumPy, equally likely."""

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import dpviz
from tests.vault import index_of

pytestmark = pytest.mark.slow

PEOPLE = 4_000
VISITS = "AAABBC"
"""Each person was three times in place A, twice in B and once in C."""
STREETS = dpviz.Domain((0, 0), (4096, 4096))


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """A file and a folder with the same records: each person has a street of their own."""
    person = np.repeat(np.arange(PEOPLE), len(VISITS))
    place = np.tile([ord(each) - ord("A") for each in VISITS], PEOPLE)
    order = np.random.default_rng(1).permutation(len(person))
    table = pa.table({"lon": person[order] + 0.5, "lat": place[order] + 0.5, "who": person[order]})
    folder = tmp_path_factory.mktemp("visits")
    pq.write_table(table, folder / "visits.parquet")
    return {"file": folder / "visits.parquet", "folder": folder}


@pytest.mark.parametrize("source", ["file", "folder"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_every_choice_of_records_is_as_likely_as_by_drawing_without_replacement(visits, source, k):
    """Chi-square over the choices, which are independent from person to person.

    The salt is fresh, so the false-alarm probability is 1e-6 for each of the six tests.
    """
    handle = dpviz.load(visits[source], STREETS, unit="who", max_per_unit=k, bits=12)
    counts = index_of(handle).histogram([np.arange(4097) << 14, np.array([0, 1, 2, 3]) << 14])
    counts = counts[:PEOPLE]
    assert (counts.sum(axis=1) == k).all()
    seen = Counter(map(tuple, counts.tolist()))
    draws = list(combinations(VISITS, k))
    likely = Counter(tuple(draw.count(place) for place in "ABC") for draw in draws)
    assert set(seen) <= set(likely)
    expected = {choice: PEOPLE * n / len(draws) for choice, n in likely.items()}
    statistic = sum((seen[choice] - mean) ** 2 / mean for choice, mean in expected.items())
    assert statistic < chi2.isf(1e-6, len(likely) - 1)


def test_two_loads_of_sensitive_data_choose_anew(visits):
    first, second = (
        index_of(dpviz.load(visits["folder"], STREETS, unit="who", bits=12)).codes.tolist()
        for _ in range(2)
    )
    assert first != second


def test_a_long_id_is_one_of_its_own(tmp_path):
    """DuckDB compares ids beyond 63 bytes by a hash, which no other id shares."""
    ids = [*("a" * size for size in (63, 64, 65, 1_000)), "a" * 999 + "b", "\u00e9" * 32]
    ids += [hashlib.sha256(each.encode()).hexdigest()[:63] for each in ids]
    half = [0.5] * 2 * len(ids)
    pq.write_table(pa.table({"lon": half, "lat": half, "who": ids * 2}), tmp_path / "a.parquet")
    for source in (tmp_path, tmp_path / "a.parquet"):
        assert index_of(dpviz.load(source, STREETS, unit="who")).total == len(ids)
