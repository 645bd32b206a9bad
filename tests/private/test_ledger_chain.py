"""The ledger notices what was not written by it; old ledgers, many names and relations add up."""

import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from dpviz import Ledger
from dpviz.errors import BudgetError, LedgerError
from dpviz.files.writing import write_bytes
from dpviz.private.ledger import account_key, chain, file
from dpviz.private.ledger.amounts import parsed
from dpviz.private.ledger.entries import Entry, Head
from dpviz.private.ledger.seal import seal_path


def changed(path, *statements):
    """Rows edited past all triggers, as somebody with a database browser might."""
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for statement in (*(f"DROP TRIGGER {name}" for (name,) in triggers), *statements):
            db.execute(statement)


def spent_twice(ledger):
    ledger.set_total("people", 1)
    ledger.conclude(ledger.spend("people", 0.25, what="x"))
    ledger.spend("people", 0.25, what="x")


EDITS = {
    "amount": ["UPDATE entry SET body = replace(body, '0.25', '0.05') WHERE id = 2"],
    "sum": ["UPDATE entry SET body = replace(body, '0.50', '0.10') WHERE id = 4"],
    "name": ["UPDATE entry SET account = 'others' WHERE id = 2"],
    "middle row": ["DELETE FROM entry WHERE id = 3"],
    "last row": ["DELETE FROM entry WHERE id = 4", "UPDATE account SET last = 2"],
    "all rows of an account": ["DELETE FROM entry WHERE account = 'people'", "DELETE FROM account"],
    "account": ["DELETE FROM account"],
    "account's last": ["UPDATE account SET last = 2"],
    "huge total": ["UPDATE entry SET body = replace(body, '\"1.0\"', '\"1e99999999\"')"],
    "no body": ["UPDATE entry SET body = '{}' WHERE id = 4"],
    "no text": ["UPDATE entry SET body = CAST(x'ff' AS TEXT) WHERE id = 2"],
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("long", [False, True])
def test_an_edit_by_hand_is_one_clear_refusal_with_the_way_out(ledger, monkeypatch, edit, long):
    if long:  # a ledger that is too long to be checked whole at every opening
        monkeypatch.setattr(chain, "WHOLE", 1)
    spent_twice(ledger)
    changed(ledger.path, *EDITS[edit])
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerError, match=r"damaged.*restore a copy.*ledger verify.*nothing was"):
        ledger.verify()
    for attempt in (
        lambda: ledger.spend("people", 0.75, what="x"),
        lambda: ledger.account("people"),
    ):
        with pytest.raises((LedgerError, BudgetError)):  # a long one may hold: the sum stands
            attempt()
        if not long:
            with pytest.raises(LedgerError, match="damaged"):
                attempt()
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize("edit", ["amount", "name", "account", "no body", "no text"])
@pytest.mark.parametrize("long", [False, True])
def test_a_refusal_that_somebody_holds_on_to_keeps_no_lock(ledger, monkeypatch, edit, long):
    """As a log may: its frames hold what was being read, which must be done with."""
    spent_twice(ledger)
    if long:
        monkeypatch.setattr(chain, "WHOLE", 1)
        seal_path(ledger.path).unlink()  # so that all entries are new
    changed(ledger.path, *EDITS[edit])
    held = []
    for attempt in (ledger.verify, ledger.accounts, lambda: ledger.spend("people", 0.1, what="x")):
        try:
            attempt()
        except LedgerError as refusal:
            held.append(refusal)
    with closing(sqlite3.connect(ledger.path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
    assert "damaged" in str(held[0])


def test_an_older_copy_another_ledger_and_a_lost_one_are_noticed_and_may_be_accepted(
    ledger, tmp_path
):
    ledger.set_total("people", 1)
    shutil.copy(ledger.path, tmp_path / "copy.sqlite")
    ledger.spend("people", 0.5, what="x")
    other = Ledger(tmp_path / "other.sqlite")
    for _ in range(3):
        other.spend("people", 0.1, what="x")

    shutil.copy(tmp_path / "copy.sqlite", ledger.path)
    with pytest.raises(LedgerError, match="an older copy: it has 1 of the 2 entries that were"):
        ledger.spend("people", 1, what="x")
    shutil.copy(other.path, ledger.path)
    with pytest.raises(LedgerError, match="another one than was used here"):
        ledger.account("people")
    ledger.path.unlink()
    for attempt in (lambda: ledger.account("people"), lambda: ledger.spend("p", 1, what="x")):
        with pytest.raises(LedgerError, match="the ledger is gone, its seal is still there"):
            attempt()

    shutil.copy(tmp_path / "copy.sqlite", ledger.path)
    assert ledger.verify(accept=True) == 2  # the total, and that an older copy was accepted
    assert ledger.account("people").left == 1
    ledger.path.unlink()
    ledger.verify(accept=True)
    assert ledger.accounts() == ()


@pytest.mark.parametrize("seal", [None, "", "dpviz-seal 1", "é" * 99, "dpviz-seal 9 0 00000000"])
def test_a_ledger_without_its_seal_works_and_gets_one(ledger, seal):
    spent_twice(ledger)
    seal_path(ledger.path).unlink()
    if seal is not None:
        seal_path(ledger.path).write_text(seal, encoding="utf-8")
    assert ledger.account("people").left == 0.5
    assert "dpviz-seal 00000000000000000004" in seal_path(ledger.path).read_text()
    assert ledger.verify() == 4


def flips(ledger, count, price):
    """The ledger after each of many single flipped bits either refuses or holds what it held."""
    spent_twice(ledger)
    for number in range(60):
        ledger.spend("others", 0.001, what=f"x{number}")
    whole, seal = ledger.path.read_bytes(), seal_path(ledger.path).read_text()
    draw = random.Random(7)
    refused = 0
    for _ in range(count):
        bits = bytearray(whole)
        bits[draw.randrange(len(bits))] ^= 1 << draw.randrange(8)
        ledger.path.write_bytes(bits)
        seal_path(ledger.path).write_text(seal)
        for rest in ledger.path.parent.glob("ledger.sqlite-*"):
            rest.unlink()
        try:
            ledger.spend("people", price, what="x")
        except BudgetError:
            assert price > 0.5
        except LedgerError:
            refused += 1
        else:
            assert price <= 0.5
            assert ledger.account("people").left == 0.5 - price
    return refused


@pytest.mark.parametrize("count", [60, pytest.param(1500, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(("price", "long"), [(0.51, False), (0.5, False), (0.51, True)])
def test_no_flipped_bit_lets_more_pass_than_is_left(ledger, monkeypatch, price, long, count):
    if long:  # it looks at what is asked for
        monkeypatch.setattr(chain, "WHOLE", 1)
    assert flips(ledger, count, price) > count / (59 if long else 14)


@pytest.mark.parametrize("text", ["1e99999999", "nan", "-1", "1/3", "", "٣", "1_0", "0x1", "inf"])
def test_amounts_that_no_ledger_writes(text):
    with pytest.raises(ValueError, match="no number"):
        parsed(text)
    assert parsed("1e-300") == Decimal("1e-300")


TWINS = {
    "café": ["cafe\u0301", "CAFÉ", "ｃａｆé", " café ", "café.csv", "Café.CSV.gz"],
    "people": ["People", "ｐｅｏｐｌｅ", "рeople", "реорlе", "ΡEOPLE", "people.SENSITIVE.parquet"],
    "my visits": ["my  visits", "My Visits.tsv"],
    "straße": ["STRASSE", "strasse.parquet"],
    "наука": ["Наука", "НАУКА"],
}


@pytest.mark.parametrize("name", TWINS)
def test_spellings_of_one_name_are_one_account_that_shows_the_first(ledger, name):
    ledger.set_total(name, 1)
    for twin in TWINS[name]:
        ledger.spend(twin, 0.1, what="x")
    assert [account.dataset for account in ledger.accounts()] == [name]
    account = ledger.account(TWINS[name][0])
    assert account.dataset == name
    assert account.spent == pytest.approx(0.1 * len(TWINS[name]))


def test_other_names_stay_other_accounts():
    names = [
        "people",
        "people2",
        "peoples",
        "cafe",
        "café",
        "my_visits",
        "my visits",
        ".csv",
        "日本",
    ]
    assert len({account_key(name) for name in names}) == len(names)


def test_every_name_pays_or_none_does(ledger):
    ledger.set_total("a", 1)
    ledger.set_total("b", 0.4)
    with pytest.raises(BudgetError, match=r"cannot spend epsilon=0.5 on data set 'b'"):
        ledger.spend(["a", "b"], 0.5, what="x")
    assert (ledger.account("a").spent, ledger.account("b").spent) == (0, 0)
    release = ledger.spend(["a", "b", "A.csv", "c"], 0.4, what="x")
    ledger.conclude(release)
    for name in "abc":
        account = ledger.account(name)
        assert [(row.release, row.epsilon, row.outcome) for row in account.spends] == [
            (release, 0.4, "released")
        ]


def test_prices_to_replace_count_half_as_prices_to_add_or_remove(ledger):
    ledger.set_total("people", 1)
    ledger.spend("people", 1, what="x", neighbours="replace", unit="one person")
    ledger.spend("people", 0.5, what="x", unit="one person")
    account = ledger.account("people")
    assert (account.left, account.relation) == (0, "add or remove one person")
    assert [(row.epsilon, row.charged) for row in account.spends] == [(1, 0.5), (0.5, 0.5)]
    with pytest.raises(BudgetError, match="half the price to replace"):
        ledger.spend("people", 0.1, what="x", neighbours="replace", unit="one person")
    with pytest.raises(BudgetError, match="choose one of add-remove, replace"):
        ledger.spend("people", 0.1, what="x", neighbours="swap", unit="one person")


def test_a_declaration_that_sensitive_data_are_public_is_kept(ledger):
    assert ledger.sensitive(["people"]) == ()
    ledger.set_total("people", 1)
    assert ledger.sensitive(["PEOPLE.csv", "others"]) == ("PEOPLE.csv",)
    ledger.declare_public(["people"])
    assert ledger.sensitive(["people"]) == ()
    assert ledger.account("people").public
    ledger.spend("people", 0.5, what="x")
    assert ledger.sensitive(["people"]) == ("people",)
    assert ledger.account("people").left == 0.5


OLD = Path(__file__).parent / "ledger_1.sql"
"""Made by the code of version 1 and dumped as SQL."""


def old(path):
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLD.read_text(encoding="utf-8"))


def test_an_old_ledger_goes_on_with_all_that_was_spent(ledger):
    old(ledger.path)
    account = ledger.account("people")
    assert (account.total, account.spent, account.left) == (2.0, 0.9, 1.1)
    assert [(row.epsilon, row.outcome, row.unit) for row in account.spends] == [
        (0.5, "released", "one user"),
        (0.3, "failed", "one user"),
        (0.1, "paid", "one user"),
    ]
    both = ledger.account("café")  # two accounts then, one now: the smaller total counts
    assert (both.total, both.spent) == (1.0, 0.75)
    ledger.spend("people", 1.1, what="x", unit="one user")
    with pytest.raises(BudgetError, match="0 of 2 is left"):
        ledger.spend("people", 0.001, what="x", unit="one user")
    assert ledger.verify() > 0
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("SELECT count(*) FROM spend").fetchone() == (5,)  # the old rows stay


def test_a_tampered_old_ledger_is_refused_and_left_alone(ledger):
    old(ledger.path)
    changed(ledger.path, "UPDATE total SET epsilon = '1e99999999'")
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerError, match="damaged"):
        ledger.account("people")
    assert ledger.path.read_bytes() == before
    assert ledger.path.read_bytes()[60:64] == b"\0\0\0\1"


def filled(ledger, rows, accounts=1):
    """A ledger with many entries, written in one transaction."""
    with file.opened(ledger.path, write=True) as db:
        head, states = Head(), {}
        for number in range(rows):
            key = f"people {number % accounts}"
            entry = Entry("spend", "then", key, key, "0.1", "0.0", unit="one record", what="x")
            states[key] = entry.applied(states.get(key))
            body = Entry(**{**vars(entry), "state": states[key]})
            head = chain.append(db, head, body)


def milliseconds(ledger, spends):
    """Processor time of a spend, the least of several."""
    ledger.spend("people 0", 0.1, what="x")  # seals what was filled in
    times = []
    for _ in range(spends):
        began = time.process_time()
        ledger.spend("people 0", 0.1, what="x")
        times.append(time.process_time() - began)
    return 1e3 * min(times)


def test_a_spend_takes_as_long_however_many_there_were(ledger):
    """A check of the whole chain would take four times the limit."""
    rows = 3_000
    filled(ledger, rows, accounts=7)
    assert milliseconds(ledger, 10) < 20
    assert ledger.account("people 0", history=False).spent > rows / 7 * 0.1


def test_left_over_files_of_killed_processes_are_swept(ledger):
    stale = ledger.path.with_name(f".ledger-{'0' * 16}-stale")
    stale.touch()
    os.utime(stale, (0, 0))
    ledger.spend("people", 1, what="x")
    assert not stale.exists()
    stale.touch()  # beside a ledger that is there
    busy = stale.with_name(f".ledger-{'1' * 16}-busy")
    busy.touch()
    os.utime(stale, (0, 0))
    ledger.spend("people", 1, what="x")
    assert not stale.exists()
    assert busy.exists()


@pytest.mark.parametrize(
    "name", [".ledger-2026.sqlite", ".ledger-personal", ".dpviz-ledger.sqlite"]
)
def test_a_ledger_whose_name_begins_as_our_temporary_files_do_stays(tmp_path, name):
    """It and its seal were swept an hour after the last spend: all could be spent once more."""
    path, other = tmp_path / name, Ledger(tmp_path / "other.sqlite")
    Ledger(path).set_total("people", 1)
    Ledger(path).spend("people", 1, what="x")
    for each in Ledger(path).files:
        os.utime(each, (0, 0))
    write_bytes(tmp_path / "a.csv", b"")
    other.spend("others", 1, what="x")
    with pytest.raises(BudgetError, match="0 of 1 is left"):
        Ledger(path).spend("people", 1, what="x")
