"""The ledger is never overspent, loses no spend, and notices what was not written by it."""

import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import unicodedata
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz import Ledger
from dpviz.errors import BudgetError, DpvizError, LedgerError
from dpviz.private.ledger import account_key, book, file
from dpviz.private.ledger.chain import seal_path
from dpviz.private.ledger.names import checked_name, clean_name
from tests.private.test_payment import handle

# Accounts


@pytest.mark.slow
@settings(max_examples=25)
@given(prices=st.lists(st.floats(1e-9, 3), min_size=1, max_size=12), total=st.floats(1e-6, 10.0))
def test_a_spend_passes_exactly_when_it_fits(tmp_path_factory, prices, total):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "l.sqlite")
    ledger.set_total("people", total)
    spent = Fraction(0)
    for price in prices:
        fits = spent + Fraction(repr(price)) <= Fraction(repr(total))
        if fits:
            ledger.spend("people", price, what="x")
            spent += Fraction(repr(price))
        else:
            with pytest.raises(BudgetError, match="is left"):
                ledger.spend("people", price, what="x")
    assert ledger.account("people").spent == float(spent)


def test_decimals_add_up_as_they_were_typed(ledger):
    ledger.set_total("people", 1.0)
    for _ in range(10):
        ledger.spend("people", 0.1, what="privtree")
    assert ledger.account("people").left == 0.0
    with pytest.raises(BudgetError, match=r"cannot spend epsilon=1e-300 on .*: 0 of 1 is left"):
        ledger.spend("people", 1e-300, what="privtree")


def test_delta_has_a_total_of_its_own(ledger):
    ledger.set_total("people", 1, 1e-6)
    ledger.spend("people", 0.1, 1e-6, what="kdtree")
    with pytest.raises(BudgetError, match="cannot spend delta=1e-07"):
        ledger.spend("people", 0.1, 1e-7, what="kdtree")


def test_a_total_is_set_once_and_covers_what_is_spent(ledger):
    ledger.spend("people", 2, what="privtree")
    with pytest.raises(BudgetError, match="has spent epsilon=2"):
        ledger.set_total("people", 1.5)
    ledger.set_total("people", 3)
    with pytest.raises(BudgetError, match="set once"):
        ledger.set_total("people", 10)
    assert ledger.account("people").left == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        *(
            ({"epsilon": each}, "epsilon=.*: give a positive, finite number")
            for each in (0, -1, np.nan, np.inf, 10**400, True, None, "x")
        ),
        *(({"delta": each}, "delta=.*: give a number from 0 to below 1") for each in (1, -1e-9)),
        ({"delta": math.nan}, "delta=nan: give a number"),
        *(({each: 5}, f"{each}=5: give a text") for each in ("what", "purpose", "unit", "release")),
        *(
            ({"purpose": f"a{each}b"}, "the purpose holds line breaks")
            for each in ("\n", "\x1b", "\u2028", "\udce9")
        ),
        ({"neighbours": "swap"}, "choose one of add-remove, replace"),
        ({"dataset": ["people"]}, "give a text"),
        ({"dataset": "a/b"}, "U\\+002F"),
    ],
)
def test_what_no_ledger_holds_is_refused_before_anything_is_written(ledger, words, line):
    with pytest.raises(BudgetError, match=line):
        ledger.spend(**{"dataset": "people", "epsilon": 1, "what": "x", **words})
    assert not ledger.path.exists()


def test_prices_to_replace_count_half_as_prices_to_add_or_remove(ledger):
    ledger.set_total("people", 1)
    ledger.spend("people", 1, what="x", neighbours="replace", unit="one person")
    ledger.spend("people", 0.5, what="x", unit="one person")
    account = ledger.account("people")
    assert (account.left, account.relation) == (0, "add or remove one person")
    assert [(row.epsilon, row.charged) for row in account.spends] == [(1, 0.5), (0.5, 0.5)]
    with pytest.raises(BudgetError, match="half the price to replace"):
        ledger.spend("people", 0.1, what="x", neighbours="replace", unit="one person")
    with pytest.raises(BudgetError, match="accounted for one person, not one record"):
        ledger.spend("people", 0.1, what="x")


def test_a_declaration_that_sensitive_data_are_public_holds_until_the_next_spend(ledger):
    ledger.set_total("people", 1)
    assert ledger.sensitive("PEOPLE.csv")
    assert not ledger.sensitive("others")
    ledger.declare_public("people")
    assert not ledger.sensitive("people")
    assert ledger.account("people").public
    ledger.spend("people", 0.5, what="x")
    assert ledger.sensitive("people")


def test_the_clock_does_not_matter(ledger, monkeypatch):
    ledger.set_total("people", 1)
    for moment in ("2040-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "not a time"):
        monkeypatch.setattr(book, "_now", lambda moment=moment: moment)
        ledger.spend("people", 0.3, what="x")
    assert [row.at[:4] for row in ledger.account("people").spends] == ["2040", "1970", "not "]
    with pytest.raises(BudgetError, match=r"0\.1 of 1 is left"):
        ledger.spend("people", 0.3, what="x")


# Names


@pytest.mark.parametrize(
    ("name", "twins"),
    [
        ("café", ["cafe\u0301", "CAFÉ", "ｃａｆé", " café ", "café.csv", "Café.CSV.gz"]),
        ("people", ["People", "ｐｅｏｐｌｅ", "people.SENSITIVE.parquet"]),
        ("my visits", ["my  visits", "My\u00a0Visits.tsv"]),
        ("straße", ["STRASSE", "strasse.parquet"]),
        ("наука", ["Наука", "НАУКА"]),
    ],
)
def test_spellings_of_one_name_are_one_account_under_the_first(ledger, name, twins):
    for each in (name, *twins):
        ledger.spend(each, 0.5, what="x")
    (account,) = ledger.accounts()
    assert (account.dataset, account.spent) == (name, 0.5 * (1 + len(twins)))


def test_other_names_are_other_accounts():
    names = "people", "people2", "peoples", "cafe", "café", "my_visits", "my visits", ".csv", "日本"
    assert len({account_key(name) for name in names}) == len(names)


def test_no_character_makes_a_second_account_of_the_same_look():
    """A code point behind a name is refused, is a visible one, or leaves the account.

    All of the first 13,312, which hold every script but ideographs and some signs, and many others.
    """
    others = random.Random(7).sample(range(0x3400, sys.maxunicode + 1), 20_000)
    for number in [*range(0x3400), *others]:
        letter = chr(number)
        try:
            name = checked_name(f"people{letter}")
        except BudgetError:
            continue
        added = name.removeprefix("people")
        if account_key(name) != "people":
            assert added
            assert all(unicodedata.category(each)[0] in "LN" or each in " ._-" for each in added), (
                f"U+{number:04X}"
            )
    for letter in "\ufe0f\u3164\uffa0\u115f\u2800\u200b\u00ad\U000e0100\u034f":
        with pytest.raises(BudgetError, match=r"^data set name 'peo.*: name it with letters"):
            checked_name(f"peo{letter}ple")


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb\0", "x'); DROP TABLE entry; --", 5])
def test_a_name_that_is_refused_costs_nothing(ledger, name):
    for step in (
        lambda: ledger.spend(name, 1, what="x"),
        lambda: ledger.account(name),
        lambda: dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)), name=name),
        lambda: dpviz.load("a.csv", dpviz.Domain((0, 0), (1, 1)), name=name),
    ):
        with pytest.raises(DpvizError, match=r"name"):
            step()
    assert not ledger.path.exists()


def test_a_file_s_name_becomes_a_clean_one_that_pays(ledger, tmp_path):
    path = tmp_path / "peo\u3164ple\ufe0f (2).csv"
    path.write_text("x,y\n0.5,0.5\n")
    data = dpviz.load(path, dpviz.Domain((0, 0), (1, 1)), columns=("x", "y"))
    dpviz.build(data, "ugrid", 0.5, ledger=ledger)
    assert data.name == "peo_ple_ _2_" == ledger.accounts()[0].dataset
    assert checked_name(clean_name("\u2800/\\")) == "_"


# Processes, crashes and interrupts


SPENDER = """
import sys, pathlib
from dpviz import Ledger
from dpviz.errors import BudgetError
ledger, go = Ledger(sys.argv[1]), pathlib.Path(sys.argv[2])
while not go.exists(): pass
done = 0
for _ in range(8):
    try:
        ledger.spend("people", 0.1, what="privtree"); done += 1
    except BudgetError:
        pass
print(done)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("total", "granted"), [(1.0, 10), (None, 24)])
def test_processes_together_cannot_overspend(ledger, tmp_path, total, granted):
    """Even if both create the ledger."""
    if total is not None:
        ledger.set_total("people", total)
    words = [sys.executable, "-c", SPENDER, str(ledger.path), str(tmp_path / "go")]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    (tmp_path / "go").touch()
    assert sum(int(each.communicate(timeout=120)[0]) for each in started) == granted
    assert len(ledger.account("people").spends) == granted


@pytest.mark.parametrize(("step", "paid"), [("chain.append", 0), ("seal", 1), ("progress", 1)])
def test_an_interrupt_leaves_a_failed_spend_or_none(ledger, monkeypatch, step, paid):
    """Before the commit nothing is paid; after it the build fails, and its spend stays."""
    ledger.set_total("people", 1)
    interrupts = iter([KeyboardInterrupt])

    def interrupted(works):
        def wrapped(*words, **options):
            for each in interrupts:
                raise each
            return works(*words, **options)

        return wrapped

    progress = interrupted(lambda *_: None) if step == "progress" else None
    if step == "chain.append":
        monkeypatch.setattr(book.chain, "append", interrupted(book.chain.append))
    elif step == "seal":
        monkeypatch.setattr(book, "write_seal", interrupted(book.write_seal))
    with pytest.raises(KeyboardInterrupt):
        dpviz.build(handle(), "quadtree", 0.5, height=8, ledger=ledger, progress=progress)
    assert [row.outcome for row in ledger.account("people").spends] == ["failed"] * paid
    ledger.verify()


# The file


FULL = """
import os, resource, signal, sys
import dpviz
from dpviz.errors import LedgerError
from dpviz.methods.points.ugrid import UniformGrid
UniformGrid.build = lambda *_: print("NOISE WAS DRAWN", flush=True)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
data = dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)), name="points")
for room_left in (0, 100, 5_000, 20_000):
    if os.fork() == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room_left, resource.RLIM_INFINITY))
        try:
            dpviz.build(data, "ugrid", 0.4, ledger=dpviz.Ledger(sys.argv[1]), purpose="p" * 20_000)
        except LedgerError as error:
            print(error, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX")
def test_the_system_refusing_a_write_anywhere_spends_nothing(ledger):
    """The journal, or a page in the midst of the commit, does not fit, says the system itself."""
    ledger.set_total("points", 1)
    child = [sys.executable, "-c", FULL, str(ledger.path)]
    out = subprocess.run(child, capture_output=True, text=True, timeout=100, check=True).stdout
    assert out.count("nothing was spent") == 4
    assert "NOISE" not in out
    ledger.spend("points", 1, what="x")


def test_a_ledger_that_cannot_be_used_is_refused_in_one_line(ledger, tmp_path, monkeypatch):
    def refused(line, ledger=ledger):
        with pytest.raises(LedgerError, match=f"{line}.*nothing was spent$"):
            ledger.spend("people", 0.5, what="x")

    refused("the ledger is a folder: name a file in it", Ledger(tmp_path))
    (tmp_path / "file").touch()
    refused("the ledger cannot be made", Ledger(tmp_path / "file" / "ledger.sqlite"))
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE a (b)")
    refused("damaged, or not a ledger", Ledger(tmp_path / "other.sqlite"))
    ledger.set_total("people", 1)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(file, "WAIT_SECONDS", 0.05)
        refused("in use by another process")
    with closing(sqlite3.connect(ledger.path)) as other:
        other.execute("PRAGMA user_version = 2")
    refused("ledger version 2, this dpviz reads version 4")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    refused("has SQLite .* needs 3.37 or newer")


def test_the_user_s_folder_is_no_folder_called_tilde(tmp_path, monkeypatch):
    """No shell expands ``--ledger=~/a``: each current folder would get its own ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "ann"))
    Ledger("~/named.sqlite").set_total("beta", 1.0)
    monkeypatch.setenv("DPVIZ_LEDGER", "~/of all.sqlite")
    Ledger().set_total("beta", 1.0)
    names = sorted(each.name for each in (tmp_path / "ann").glob("*.sqlite"))
    assert names == ["named.sqlite", "of all.sqlite"]
    monkeypatch.setenv("DPVIZ_LEDGER", "books/ledger.sqlite")
    with pytest.raises(LedgerError, match=r"in each folder.* the whole path, .*books.*; nothing"):
        Ledger().accounts()
    assert [each.name for each in tmp_path.iterdir()] == ["ann"]


@pytest.mark.skipif(os.name != "posix", reason="rights of a file are POSIX")
def test_only_the_owner_may_read_the_ledger(ledger):
    ledger.spend("people", 1, what="x")
    assert [each.stat().st_mode & 0o077 for each in ledger.files] == [0, 0]


# Tampering and damage


def spent_twice(ledger):
    ledger.set_total("people", 1)
    ledger.record_outcome(ledger.spend("people", 0.25, what="x"))
    ledger.spend("people", 0.25, what="x")


@pytest.mark.parametrize("change", ["DELETE FROM entry", "UPDATE entry SET body = ''"])
def test_rows_cannot_be_changed_or_removed(ledger, change):
    spent_twice(ledger)
    with closing(sqlite3.connect(ledger.path)) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute(change)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entry SET body = replace(body, '0.25', '0.05') WHERE id = 2",
        "UPDATE entry SET hash = '' WHERE id = 4",
        "DELETE FROM entry WHERE id = 3",
        "DELETE FROM entry WHERE id = 4",
        "DELETE FROM entry",
        "UPDATE entry SET id = 9 WHERE id = 4",
        "UPDATE entry SET body = CAST(x'ff' AS TEXT) WHERE id = 2",
    ],
)
def test_an_edit_by_hand_is_one_clear_refusal_with_the_way_out(ledger, edit):
    """Past all triggers, as with a database browser; a refusal that is held holds no lock."""
    spent_twice(ledger)
    with closing(sqlite3.connect(ledger.path)) as db, db:
        for statement in ("DROP TRIGGER entry_stays", "DROP TRIGGER entry_fixed", edit):
            db.execute(statement)
    before, held = ledger.path.read_bytes(), []
    for attempt in (
        ledger.verify,
        lambda: ledger.spend("people", 0.75, what="x"),
        lambda: ledger.account("people"),
        lambda: dpviz.build(handle(), "ugrid", 0.1, ledger=ledger),
    ):
        with pytest.raises(LedgerError, match=r"damaged.*restore a copy.*nothing was") as refusal:
            attempt()
        held.append(refusal)
    assert ledger.path.read_bytes() == before
    with closing(sqlite3.connect(ledger.path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")


PAGE = 4096


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda whole: b"", "gone or empty"),
        (lambda whole: whole[: len(whole) // 2], "damaged"),
        (lambda whole: b"hello" * 100, "damaged"),
        (lambda whole: whole[:PAGE] + b"\xff" * PAGE + whole[2 * PAGE :], "damaged"),
    ],
)
def test_a_damaged_ledger_is_refused_and_left_alone(ledger, damage, line):
    spent_twice(ledger)
    damaged = damage(ledger.path.read_bytes())
    ledger.path.write_bytes(damaged)
    for attempt in (
        lambda: ledger.spend("people", 0.1, what="x"),
        lambda: ledger.set_total("people", 9),
        lambda: ledger.account("people"),
    ):
        with pytest.raises(LedgerError, match=line):
            attempt()
    assert ledger.path.read_bytes() == damaged


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
    with pytest.raises(LedgerError, match="not the ledger that was used here"):
        ledger.account("people")
    ledger.path.unlink()
    for attempt in (lambda: ledger.account("people"), lambda: ledger.spend("p", 1, what="x")):
        with pytest.raises(LedgerError, match="the ledger is gone or empty, but its seal exists"):
            attempt()

    shutil.copy(tmp_path / "copy.sqlite", ledger.path)
    # Two new entries: the total, and that an older copy was accepted.
    assert ledger.verify(accept=True) == 2
    assert ledger.account("people").left == 1
    ledger.path.unlink()
    ledger.verify(accept=True)
    assert ledger.accounts() == ()


@pytest.mark.parametrize("text", [None, "", "dpviz-seal 1", "é" * 99, "dpviz-seal 9 0"])
def test_a_ledger_without_its_seal_works_and_gets_one(ledger, text):
    spent_twice(ledger)
    seal_path(ledger.path).unlink()
    if text is not None:
        seal_path(ledger.path).write_text(text, encoding="utf-8")
    assert ledger.account("people").left == 0.5
    assert "dpviz-seal 00000000000000000004" in seal_path(ledger.path).read_text()


def test_no_flipped_bit_lets_more_pass_than_is_left(ledger):
    spent_twice(ledger)
    for number in range(60):
        ledger.spend("others", 0.001, what=f"x{number}")
    whole, seal = ledger.path.read_bytes(), seal_path(ledger.path).read_bytes()
    draw, refused = random.Random(7), 0
    for _ in range(60):
        bits = bytearray(whole)
        bits[draw.randrange(len(bits))] ^= 1 << draw.randrange(8)
        ledger.path.write_bytes(bits)
        seal_path(ledger.path).write_bytes(seal)
        ledger.path.with_name(f"{ledger.path.name}-journal").unlink(missing_ok=True)
        with pytest.raises((BudgetError, LedgerError)) as caught:
            ledger.spend("people", 0.51, what="x")
        refused += caught.type is LedgerError
    assert refused > 30
