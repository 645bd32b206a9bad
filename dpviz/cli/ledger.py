"""Commands on the ledger: what each sensitive data set has spent, and its total."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.root import Json, LedgerFile, app, emit
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.private.ledger import Account
    from dpviz.private.ledger.balance import Piece

ledger = typer.Typer(
    no_args_is_help=True, help="Show or limit the privacy budget of sensitive data sets."
)
app.add_typer(ledger, name="ledger")


@ledger.command()
def show(
    dataset: Annotated[
        str | None, typer.Argument(help="Name of one data set (default: all).")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="Show this period A,B of a data set with a calendar; B is outside."),
    ] = None,
    file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Show what data sets have spent, and what is left."""
    opened = dpviz.Ledger(file)
    if dataset is None and period is not None:
        raise ParameterError(f"--period {period!r}: name the data set too")
    named = None if dataset is None else opened.account(dataset, period)
    accounts = opened.accounts() if named is None else (named,)
    require_ledger(file)
    pieces = [opened.calendar(row.dataset) if row.frame else () for row in accounts]
    facts = {
        "ledger": str(opened.path),
        "datasets": [
            {**dataclasses.asdict(row), "calendar": [dataclasses.asdict(each) for each in parts]}
            for row, parts in zip(accounts, pieces, strict=True)
        ],
    }
    text = "\n".join(map(_lines, accounts, pieces)) or f"{opened.path}: nothing spent"
    emit(facts, as_json, text)


@ledger.command()
@grouped
def calendar(
    dataset: Annotated[str, typer.Argument(help="Name of the data set in the ledger.")],
    unit: str = option("Unit of time: day, week (from Monday) or month.", default=MISSING),
    zone: str = option("Time zone of its clocks, such as Europe/Berlin or UTC.", default=MISSING),
    file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Account per person and day, week or month from now on; it is permanent.

    The data set's builds then bound each person per day, and only days that a build reads are
    charged. What was spent before counts twice on every day.
    """
    opened = dpviz.Ledger(file)
    account = opened.begin_calendar(dataset, unit, zone)
    emit(dataclasses.asdict(account), as_json, _lines(account, opened.calendar(dataset)))


@ledger.command("set")
@grouped
def set_total(
    dataset: Annotated[str, typer.Argument(help="Name of the data set in the ledger.")],
    epsilon: float = option("Lifetime budget (permanent), for one privacy unit.", default=MISSING),
    delta: float = option("Lifetime delta (permanent).", default=0.0),
    file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Set the lifetime budget of a data set; it is permanent."""
    account = dpviz.Ledger(file).set_total(dataset, epsilon, delta)
    emit(dataclasses.asdict(account), as_json, _lines(account))


@ledger.command()
@grouped
def verify(
    file: LedgerFile = None,
    accept: bool = option(
        "Accept a restored, older or new ledger; the ledger records that.", default=False
    ),
    as_json: Json = False,
) -> None:
    """Check that the ledger is complete, unchanged and the latest copy."""
    opened = dpviz.Ledger(file)
    entries = opened.verify(accept=accept)
    require_ledger(file)
    facts = {"ledger": str(opened.path), "entries": entries}
    number = "1 entry, as it was" if entries == 1 else f"{entries:,} entries, all as they were"
    text = f"{opened.path}: {number} written"
    emit(facts, as_json, text if opened.path.exists() else f"{opened.path}: no ledger yet")


def require_ledger(file: str | None) -> None:
    """Refuse a named ledger that does not exist."""
    if file is not None and not dpviz.Ledger(file).path.exists():
        raise ParameterError(f"--ledger {file!r}: no such file: check its name")


def _lines(account: Account, pieces: Sequence[Piece] = ()) -> str:
    if account.total is None:
        head = f"{account.dataset}: {_price(account.spent, account.spent_delta)} spent, no total"
    else:
        head = (
            f"{account.dataset}: {_price(account.left, account.left_delta)} left of "
            f"{_price(account.total, account.total_delta)} (to {account.relation})"
        )
    if account.public:
        head += ", declared public by its owner although it was sensitive"
    if account.rho is not None:
        head += f"; together {account.rho:.4g}-zCDP (ρ)"
    rows = [
        f"  {row.at}  {_price(row.epsilon, row.delta):<20} {row.what:<20} {row.outcome:<9}"
        f" {row.release[:8]} {row.period} {row.purpose}".rstrip()
        for row in account.spends
    ]
    if account.frame:
        from dpviz.releases.header import WEAKER, longer_words

        head += "" if account.total is not None else f" (to {account.relation})"
        head += f"\n  {WEAKER}{longer_words(account.longer)}"
        each = account.frame.replace(" ", " in ")
        rows[:0] = [
            f"  {piece.start or '…'} to before {piece.end or '…'}: "
            f"{_price(piece.epsilon, piece.delta)} per {each}"
            for piece in pieces
            if piece.epsilon
        ]
    return "\n".join([head, *rows])


def _price(epsilon: Any, delta: Any) -> str:
    return f"ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else "")
