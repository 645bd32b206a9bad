"""Builds in Python pay for the unit of their data, and what was paid for is not overwritten."""

import os

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz import Ledger
from dpviz.errors import BudgetError, ReleaseError
from tests.strategies import UNIT_SQUARE

POINTS = np.random.default_rng(0).random((500, 2))


def handle(name="people", **options):
    return dpviz.from_points(POINTS, UNIT_SQUARE, name=name, **options)


def test_an_account_is_for_one_privacy_unit_whatever_its_bound():
    table = pa.table({"x": POINTS[:, 0], "y": POINTS[:, 1], "user": np.arange(500) // 5})
    for most in (1, 3):
        data = dpviz.load(table, UNIT_SQUARE, unit="user", max_per_unit=most, name="people")
        dpviz.build(data, "ugrid", 0.25)
    account = Ledger().account("people")
    assert {row.unit for row in account.spends} == {"one user"}
    assert account.spent == 0.5  # the price of one person
    with pytest.raises(BudgetError, match="accounted for one user"):
        dpviz.build(handle(), "ugrid", 0.25)


@pytest.mark.slow
def test_a_release_that_was_paid_for_is_not_saved_over(tmp_path):
    """A notebook that runs again pays again; its first release would be gone."""
    path = tmp_path / "release.parquet"
    free = dpviz.build(handle(public=True, name="free"), "ugrid", 0.5)
    for _ in range(2):
        free.save(path)
    first = dpviz.build(handle(), "ugrid", 0.5)
    for _ in range(2):  # saving it again changes nothing
        assert dpviz.read(first.save(path)).header == first.header
    other = dpviz.build(handle(), "ugrid", 0.5)
    for release, beside in ((free, ""), (other, "; this one, paid for too, is kept: ")):
        with pytest.raises(ReleaseError, match="is a release that was paid for") as refused:
            release.save(path)
        assert beside in str(refused.value)
    assert dpviz.read(path).header == first.header
    (beside_it,) = tmp_path.glob("release-*.parquet")
    assert str(refused.value).endswith(beside_it.name)
    assert dpviz.read(beside_it).header == other.header


def test_a_release_that_was_paid_for_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """The ledger says released once it has: after a power cut the two would not agree."""
    path, synced = tmp_path / "release.parquet", []
    monkeypatch.setattr("os.fsync", lambda file: synced.append((path.exists(), os.fstat(file))))
    dpviz.build(handle(public=True, name="free"), "ugrid", 0.5).save(path)
    assert not synced
    path.unlink()
    release = dpviz.build(handle(), "ugrid", 0.5)
    synced.clear()  # the ledger
    release.save(path)
    ((named, synced_file),) = synced
    assert not named
    assert os.path.samestat(synced_file, path.stat())


def test_a_file_that_claims_any_number_names_no_other_folder(tmp_path):
    path, claimed = tmp_path / "release.parquet", tmp_path / "claimed.parquet"
    release = dpviz.build(handle(), "ugrid", 0.5)
    content = release.save(path).read_bytes()
    other = content.replace(release.header.extra["release_id"].encode(), b"../../" + 26 * b"x")
    assert other != content
    claimed.write_bytes(other)
    with pytest.raises(ReleaseError, match="is a release that was paid for"):
        dpviz.read(claimed).save(path)
    assert path.read_bytes() == content
    names = {"release.parquet", "claimed.parquet", "release-.parquet"}
    assert {each.name for each in tmp_path.glob("*.parquet")} == names
