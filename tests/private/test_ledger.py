"""The ledger cannot be overspent, by processes together or by a crash, and never loses a spend."""

import json
import math
import operator
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz import Ledger
from dpviz.errors import BudgetError, DataError, DpvizError, LedgerError
from dpviz.methods.points.ugrid import UniformGrid
from dpviz.private.ledger import book, file
from tests.private.kills import KINDS
from tests.private.test_payment import POINTS, handle
from tests.strategies import UNIT_SQUARE


def python(code, *words):
    """Start code in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def nursery(ledgers):
    """The process that forks; in one of its own, since forks of one with threads may hang."""
    places = {"DPVIZ_LEDGER": str(ledgers / "none.sqlite"), "DPVIZ_RELEASES": str(ledgers / "none")}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.private.forks"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **places},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def forked(nursery):
    """Run code in a child of its own; its exit code and what it printed."""

    def outcome(code, *words):
        places = {name: os.environ[name] for name in ("DPVIZ_LEDGER", "DPVIZ_RELEASES")}
        nursery.stdin.write(json.dumps([code, [*map(str, words)], places]) + "\n")
        nursery.stdin.flush()
        return json.loads(nursery.stdout.readline())

    return outcome


def test_decimals_add_up_exactly_and_no_further(ledger):
    ledger.set_total("people", 1.0)
    for _ in range(10):
        ledger.spend("people", 0.1, what="privtree")
    account = ledger.account("people")
    assert (account.spent, account.left) == (1.0, 0.0)
    with pytest.raises(BudgetError, match=r"cannot spend epsilon=1e-300 on .*: 0 of 1 is left"):
        ledger.spend("people", 1e-300, what="privtree")


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


def test_delta_has_a_total_of_its_own(ledger):
    ledger.set_total("people", 1, 1e-6)
    ledger.spend("people", 0.1, 1e-6, what="kdtree")
    with pytest.raises(BudgetError, match="cannot spend delta=1e-07"):
        ledger.spend("people", 0.1, 1e-7, what="kdtree")
    ledger.set_total("pure", 1)
    with pytest.raises(BudgetError, match="cannot spend delta"):
        ledger.spend("pure", 0.1, 1e-9, what="kdtree")


def test_a_total_is_set_once_and_covers_what_is_spent(ledger):
    ledger.spend("people", 2, what="privtree")
    with pytest.raises(BudgetError, match="has spent epsilon=2"):
        ledger.set_total("people", 1.5)
    ledger.set_total("people", 3)
    for again in (3, 10):
        with pytest.raises(BudgetError, match="set once"):
            ledger.set_total("people", again)
    assert ledger.account("people").left == 1


@pytest.mark.parametrize("amount", [0, -1, np.nan, np.inf, 10**400, True, None, "x"])
def test_amounts_that_are_none(ledger, amount):
    with pytest.raises(BudgetError, match=r"epsilon.*: give a (positive, finite )?number"):
        ledger.spend("people", amount, what="x")
    with pytest.raises(BudgetError, match=r"epsilon.*: give a (positive, finite )?number"):
        ledger.set_total("people", amount)
    assert ledger.accounts() == ()


@pytest.mark.parametrize("field", ["what", "purpose", "unit", "release"])
def test_what_is_no_text_is_not_written(ledger, field):
    """A number would come back from the file as a text, and the entry would not add up."""
    with pytest.raises(BudgetError, match=f"{field}=5: give a text"):
        ledger.spend("people", 1, **{"what": "x", field: 5})
    assert ledger.verify() == 0


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_names_that_are_none(ledger, name):
    with pytest.raises(BudgetError, match="needs a name"):
        ledger.spend(name, 1, what="x")


def test_names_are_never_sql(ledger):
    name = "x'); DROP TABLE spend; --"
    ledger.spend(name, 1, what=name, purpose=name)
    assert ledger.account(name).spends[0].purpose == name


def test_a_purpose_that_is_no_text_is_refused_as_such(ledger):
    with pytest.raises(BudgetError, match="the purpose is no Unicode text"):
        ledger.spend("people", 1, what="x", purpose="caf\udce9")


@pytest.mark.parametrize("break_", ["\n", "\x1b", "\u2028"])
def test_a_purpose_is_one_line(ledger, break_):
    with pytest.raises(BudgetError, match="line breaks or control characters: give one line"):
        ledger.spend("people", 1, what="x", purpose=f"a{break_}q: ε = 0 spent")
    assert ledger.account("people").spends == ()


def test_privacy_units_do_not_mix(ledger):
    ledger.spend("people", 1, what="x", unit="one record")
    with pytest.raises(BudgetError, match="accounted for one record, not one user"):
        ledger.spend("people", 1, what="x", unit="one user")
    assert len(ledger.account("people").spends) == 1


def test_rows_cannot_be_changed_or_removed(ledger):
    ledger.set_total("people", 5)
    paid = ledger.spend("people", 1, what="x")
    ledger.conclude(paid)
    with closing(sqlite3.connect(ledger.path)) as db:
        for change in (
            "DELETE FROM entry",
            "UPDATE entry SET body = ''",
            "UPDATE account SET last = 1",
            "DELETE FROM account",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(change)
    assert ledger.account("people").left == 4


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


def granted_together(spenders, ledger, folder):
    """How much of what so many processes ask for at once is granted."""
    go = folder / "go"
    started = [python(SPENDER, ledger.path, go) for _ in range(spenders)]
    go.touch()
    return sum(int(each.communicate(timeout=120)[0]) for each in started)


def test_the_user_s_folder_is_no_folder_called_tilde(tmp_path, monkeypatch):
    """No shell expands ``--ledger=~/a``: each folder one was in had a ledger of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "ann"))
    Ledger("~/named.sqlite").set_total("beta", 1.0)
    monkeypatch.setenv("DPVIZ_LEDGER", "~/of all.sqlite")
    Ledger().set_total("beta", 1.0)
    assert sorted(each.name for each in (tmp_path / "ann").glob("*.sqlite")) == [
        "named.sqlite",
        "of all.sqlite",
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["ann"]
    assert Ledger("~nobody at all/a.sqlite").path == Path("~nobody at all/a.sqlite")


def test_the_ledger_of_the_environment_is_one_in_all_folders(tmp_path, monkeypatch):
    """A total that was set in one folder held for no other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_LEDGER", "books/ledger.sqlite")
    for step in Ledger().accounts, lambda: Ledger().set_total("beta", 1.0):
        with pytest.raises(LedgerError, match=r"of its own.* the whole path, .*books.*; nothing"):
            step()
    assert not [*tmp_path.iterdir()]
    assert Ledger("ledger.sqlite").set_total("beta", 1.0).total == 1  # named where one is


def test_a_sqlite_without_strict_tables_is_named(ledger, monkeypatch):
    """As in the Python of some systems: a line about syntax helps nobody."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    for step in ledger.accounts, lambda: ledger.set_total("beta", 1.0):
        with pytest.raises(LedgerError, match=r"has SQLite .* needs 3\.37 or newer.* nothing was"):
            step()
    assert not ledger.path.exists()


def test_processes_together_cannot_overspend(ledger, tmp_path):
    ledger.set_total("people", 1.0)
    assert granted_together(3, ledger, tmp_path) == 10  # of 24 attempts
    assert ledger.account("people").left == 0


def test_processes_that_begin_the_same_ledger_share_it(ledger, tmp_path):
    assert granted_together(2, ledger, tmp_path) == 16 == len(ledger.account("people").spends)


def test_threads_together_cannot_overspend(ledger):
    """As two tabs of the app do."""
    ledger.set_total("people", 1.0)

    def attempt(_):
        try:
            dpviz.build(handle(), "ugrid", 0.25, ledger=ledger)
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(8))) == 4


CRASH = """
import os, signal, sys
import dpviz
from dpviz.methods.points.ugrid import UniformGrid
from dpviz.private.ledger import book, file
path, step, out, kind = sys.argv[1:]
def die(*args, **options): os.kill(os.getpid(), signal.SIGKILL)
if step == "create":
    file.os.link = die
elif step == "row":                      # before the row is written
    book.uuid.uuid4 = die
elif step == "commit":                   # the row is written, the transaction open
    execute = file.Connection.execute
    file.Connection.execute = lambda db, *sql: die() if sql[0] == "COMMIT" else execute(db, *sql)
elif step == "noise":                    # paid, nothing drawn
    from dpviz.methods.points.ugrid import UniformGrid
    from dpviz.methods.roads.histogram import EventHistogram
    from dpviz.methods.sequences.markov import Markov
    for method in (UniformGrid, EventHistogram, Markov):
        method.build = die
elif step == "conclude":
    book.Ledger.conclude = die
elif step == "save":
    import dpviz.releases.files
    dpviz.releases.files.Path.replace = die
from dpviz import Ledger
from tests.private.kills import KINDS
data, method, queries = KINDS[kind]()
release = dpviz.build(data, method, 0.4, workload=queries, ledger=Ledger(path))
dpviz.save(release, out)
"""

STEPS = {
    "create": (0, None),
    "row": (0, None),
    "commit": (0, None),
    "noise": (1, "paid"),
    "conclude": (1, "paid"),
    "save": (1, "released"),
    "none": (1, "released"),
}
"""Where a build is killed: how many rows are paid then, and what they say of the release."""

QUICK = {"commit", "noise", "save"}
"""Steps of which the payment is not the same whatever the kind of data."""


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        pytest.param(
            kind, step, marks=[] if kind == "points" or step in QUICK else pytest.mark.campaign
        )
        for kind in ("points", "roads", "sequences")
        for step in STEPS
    ],
)
def test_a_kill_at_any_step_never_gives_an_unpaid_release(forked, ledger, tmp_path, kind, step):
    paid, outcome = STEPS[step]
    output = tmp_path / "release.parquet"
    if step != "create":
        ledger.set_total(kind, 1)
    code, _ = forked(CRASH, ledger.path, step, output, kind)
    assert code == (0 if step == "none" else -signal.SIGKILL)
    spends = ledger.account(kind).spends
    assert [row.outcome for row in spends] == [outcome] * paid
    assert output.exists() == (step == "none")
    if output.exists():
        assert dpviz.read(output).header.extra["release_id"] == spends[0].release
    # Whatever happened, the ledger works on and counts what was paid.
    if step == "create":
        ledger.set_total(kind, 1)
    assert ledger.account(kind).left == pytest.approx(1 - 0.4 * paid)
    unit = {"points": "one record", "roads": "one trip", "sequences": "one sequence"}[kind]
    ledger.spend(kind, 0.6, what="x", unit=unit)


KILLS = """
import sys
from tests.private.kills import main
main(int(sys.argv[1]))
"""


@pytest.mark.parametrize("kills", [2, pytest.param(300, marks=pytest.mark.campaign)])
def test_a_kill_at_any_moment_of_a_build_leaves_the_ledger_right(forked, kills):
    code, out = forked(KILLS, kills)
    assert code == 0
    came = json.loads(out)
    assert {kind: sum(came[kind].values()) for kind in came} == dict.fromkeys(KINDS, kills)


KEEPER = """
import sys
from dpviz import Ledger
ledger = Ledger(sys.argv[1])
while True:
    print(ledger.spend("people", 0.001, what="privtree"), flush=True)
"""


def test_a_kill_at_any_moment_loses_no_spend_that_was_granted(ledger):
    """Also between the pages of a commit: the next one to open undoes it by the journal."""
    ledger.set_total("people", 100)
    granted = set()
    for delay in np.random.default_rng(3).uniform(0.0, 0.05, size=4):
        process = python(KEEPER, ledger.path)
        granted.add(process.stdout.readline().strip())  # it runs
        time.sleep(delay)
        process.kill()
        granted.update(line.strip() for line in process.communicate(timeout=120)[0].splitlines())
        account = ledger.account("people")
        recorded = {row.release for row in account.spends}
        assert {each for each in granted if len(each) == 32} <= recorded
        assert account.spent == pytest.approx(0.001 * len(recorded), abs=1e-12)
    assert len(granted) > 4


FULL = """
import resource, signal, sys
import dpviz
from dpviz import Ledger
from dpviz.errors import LedgerError
from tests.private.kills import points
import dpviz.methods.points.ugrid as method
method.UniformGrid.build = lambda *_: print("NOISE WAS DRAWN")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
data, method, _ = points()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    dpviz.build(data, method, 0.4, ledger=Ledger(sys.argv[1]), purpose="p" * 20_000)
except LedgerError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX")
@pytest.mark.parametrize("room_left", [0, 100, 5_000, 30_000])
def test_the_system_refusing_a_write_anywhere_spends_nothing(forked, ledger, room_left):
    """The journal, or a page in the midst of the commit, does not fit, says the system itself."""
    ledger.set_total("points", 1)
    code, out = forked(FULL, ledger.path, room_left)
    assert code == 0
    assert "nothing was spent" in out
    assert "NOISE" not in out
    account = ledger.account("points")
    assert (account.left, account.spends) == (1.0, ())
    ledger.spend("points", 1, what="x")


def test_the_row_is_on_disk_before_noise_is_drawn(ledger, monkeypatch):
    seen = []
    monkeypatch.setattr(
        UniformGrid, "build", lambda *_: seen.extend(Ledger(ledger.path).account("people").spends)
    )
    with pytest.raises(DpvizError):
        dpviz.build(handle(), "ugrid", 0.5, ledger=ledger)
    assert [(row.epsilon, row.outcome) for row in seen] == [(0.5, "paid")]


def test_a_failed_build_keeps_its_spend_and_says_so_without_quoting_records(ledger, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret 51.50137")

    monkeypatch.setattr(UniformGrid, "build", fail)
    message = r"failed after epsilon=0.5 was paid, which stays spent: RuntimeError$"
    with pytest.raises(DpvizError, match=message) as caught:
        dpviz.build(handle(), "ugrid", 0.5, ledger=ledger)
    assert caught.value.__cause__ is None
    account = ledger.account("people")
    assert account.spent == 0.5
    assert account.spends[0].outcome == "failed"


def test_a_cancelled_build_keeps_its_spend(ledger):
    def cancel(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dpviz.build(handle(), "quadtree", 0.5, height=8, ledger=ledger, progress=cancel)
    assert ledger.account("people").spends[0].outcome == "failed"


@pytest.mark.parametrize(("step", "paid"), [("chain.append", False), ("seal", True)])
def test_an_interrupt_within_the_payment_leaves_a_failed_spend_or_none(
    ledger, monkeypatch, step, paid
):
    """Before the commit nothing is paid; after it the build ends before it began."""
    interrupts, works = iter([KeyboardInterrupt]), operator.attrgetter(step)(book)

    def interrupted(*words, **options):
        for each in interrupts:
            raise each
        return works(*words, **options)

    ledger.set_total("people", 1)
    monkeypatch.setattr(f"dpviz.private.ledger.book.{step}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dpviz.build(handle(), "ugrid", 0.5, ledger=ledger)
    account = ledger.account("people")
    assert [row.outcome for row in account.spends] == ["failed"] * paid
    assert account.spent == 0.5 * paid
    ledger.verify()


def test_what_is_refused_costs_nothing(ledger):
    for options in ({"method": "quad_exact"}, {"seed": 1}, {"method": "nothing"}, {"delta": 0.1}):
        with pytest.raises(DpvizError):
            dpviz.build(handle(), ledger=ledger, **options)
    dpviz.build(handle(public=True), "ugrid", seed=1, ledger=ledger)
    assert not ledger.path.exists()


def test_the_clock_does_not_matter(ledger, monkeypatch):
    ledger.set_total("people", 1)
    for moment in ("2040-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "not a time"):
        monkeypatch.setattr(book, "_now", lambda moment=moment: moment)
        ledger.spend("people", 0.3, what="x")
    assert [row.at[:4] for row in ledger.account("people").spends] == ["2040", "1970", "not "]
    with pytest.raises(BudgetError, match=r"0\.1 of 1 is left"):
        ledger.spend("people", 0.3, what="x")


PAGE = 4096
DAMAGES = {
    "empty": lambda whole: b"",
    "half": lambda whole: whole[: len(whole) // 2],
    "other": lambda whole: b"hello" * 100,
    "page": lambda whole: whole[:PAGE] + b"\xff" * PAGE + whole[2 * PAGE :],
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_ledger_is_refused_and_left_alone(ledger, how):
    ledger.set_total("people", 1)
    ledger.spend("people", 0.5, what="x")
    damaged = DAMAGES[how](ledger.path.read_bytes())
    ledger.path.write_bytes(damaged)
    for attempt in (
        lambda: dpviz.build(handle(), "ugrid", 0.1, ledger=ledger),
        lambda: ledger.set_total("people", 9),
        lambda: ledger.account("people"),
    ):
        with pytest.raises(LedgerError, match="damaged"):
            attempt()
    assert ledger.path.read_bytes() == damaged


def test_a_folder_in_place_of_a_ledger_is_one_clear_line(tmp_path):
    """It was said to be about rights, or a full disk."""
    line = r": the ledger is a folder: name a file in it; nothing was spent$"
    for touch in (
        lambda ledger: ledger.account("people"),
        lambda ledger: ledger.spend("people", 0.5, what="x"),
    ):
        with pytest.raises(LedgerError, match=line):
            touch(Ledger(tmp_path))


def limited(monkeypatch, statement, mode="rw"):
    """SQLite itself refuses to write, as it does on a full or read-only disk."""
    connect = sqlite3.connect

    def opened(address, **options):
        db = connect(address.replace("mode=rw", f"mode={mode}"), **options)
        db.execute(statement)
        return db

    monkeypatch.setattr(file.sqlite3, "connect", opened)


def test_a_read_only_ledger_refuses_the_spend(ledger, monkeypatch):
    ledger.set_total("people", 1)
    with monkeypatch.context() as patched:
        limited(patched, "PRAGMA query_only = 0", mode="ro")
        with pytest.raises(LedgerError, match=r"cannot be read or written.*nothing was spent"):
            dpviz.build(handle(), "ugrid", 0.1, ledger=ledger)
    assert ledger.account("people").spends == ()


def test_a_full_disk_refuses_the_spend_and_keeps_those_before(ledger, monkeypatch):
    ledger.set_total("people", 1)
    with monkeypatch.context() as patched:
        limited(patched, "PRAGMA max_page_count = 1")
        with pytest.raises(LedgerError, match=r"full disk.*nothing was spent"):
            dpviz.build(handle(), "ugrid", 0.01, ledger=ledger, purpose="p" * 10_000)
    assert ledger.account("people").spent == 0
    ledger.spend("people", 0.5, what="x")


def test_a_folder_that_cannot_be_made_refuses_the_spend(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="the ledger cannot be made"):
        Ledger(tmp_path / "file" / "ledger.sqlite").spend("people", 1, what="x")


def test_a_busy_ledger_refuses_the_spend(ledger, monkeypatch):
    ledger.set_total("people", 1)
    monkeypatch.setattr(file, "WAIT", 0.05)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="in use by another process"):
            ledger.spend("people", 0.5, what="x")
    assert ledger.account("people").spent == 0


@pytest.mark.skipif(os.name != "posix", reason="rights of a file are POSIX")
def test_only_the_owner_may_read_the_ledger(ledger):
    ledger.spend("people", 1, what="x")
    assert Path(ledger.path).stat().st_mode & 0o077 == 0


def test_a_unit_and_its_bound(tmp_path, ledger):
    path = tmp_path / "people.parquet"
    columns = {"x": POINTS[:, 0], "y": POINTS[:, 1], "user": np.arange(500) // 5}
    pq.write_table(pa.table(columns), path)
    for bound in (1, 3):
        data = dpviz.load(path, UNIT_SQUARE, unit="user", max_per_unit=bound)
        dpviz.build(data, "ugrid", 0.25, ledger=ledger)
    account = ledger.account("people")
    assert {row.unit for row in account.spends} == {"one user"}
    assert account.spent == 0.5  # the price for a person, whatever the bound
    with pytest.raises(BudgetError, match="accounted for one user"):
        dpviz.build(dpviz.load(path, UNIT_SQUARE), "ugrid", 0.25, ledger=ledger)
    with pytest.raises(DataError):
        dpviz.load(path, UNIT_SQUARE, unit="user", max_per_unit=0)


@pytest.mark.parametrize("delta", [2, 1, -1e-9, math.nan, math.inf])
def test_a_delta_is_a_probability_below_1(ledger, delta):
    for pay in (ledger.set_total, partial(ledger.spend, what="x")):
        with pytest.raises(BudgetError, match=r"delta=.*: give a number from 0 to below 1, such a"):
            pay("people", 1, delta)
    assert not ledger.path.exists()
    assert ledger.set_total("people", 1, 1e-6).left_delta == 1e-6
