"""Commands on the ledger: what each sensitive data set has spent, and its total."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.root import Json, LedgerFile, app, emit
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.private.ledger import Account

ledger = typer.Typer(
    no_args_is_help=True, help="Show or limit the privacy budget of sensitive data sets."
)
app.add_typer(ledger, name="ledger")


@ledger.command()
def show(
    dataset: Annotated[
        str | None, typer.Argument(help="Name of one data set (default: all).")
    ] = None,
    file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Show what data sets have spent, and what is left."""
    opened = dpviz.Ledger(file)
    accounts = opened.accounts() if dataset is None else (opened.account(dataset),)
    require_ledger(file)
    facts = {"ledger": str(opened.path), "datasets": [dataclasses.asdict(row) for row in accounts]}
    text = "\n".join(map(_lines, accounts)) or f"{opened.path}: nothing spent"
    emit(facts, as_json, text)


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
    """Refuse a named ledger that does not exist.

    Raises:
        ParameterError: no such file.
    """
    if file is not None and not dpviz.Ledger(file).path.exists():
        raise ParameterError(f"--ledger {file!r}: no such file: check its name")


def _lines(account: Account) -> str:
    if account.total is None:
        head = f"{account.dataset}: {_price(account.spent, account.spent_delta)} spent, no total"
    else:
        head = (
            f"{account.dataset}: {_price(account.left, account.left_delta)} left of "
            f"{_price(account.total, account.total_delta)} (to {account.relation})"
        )
    if account.public:
        head += ", declared public by its owner although it was sensitive"
    rows = [
        f"  {row.at}  {_price(row.epsilon, row.delta):<20} {row.what:<20} {row.outcome:<9}"
        f" {row.release[:8]} {row.purpose}".rstrip()
        for row in account.spends
    ]
    return "\n".join([head, *rows])


def _price(epsilon: Any, delta: Any) -> str:
    return f"ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else "")
