"""Under which names the ledger has a source that its owner does not name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpviz.errors import BudgetError
from dpviz.private.ledger.names import account_key
from dpviz.private.load.engines import scheme_of
from dpviz.private.load.tables.memory import is_frame
from dpviz.private.load.tables.opening import named


def accounts_of(source: Any, table: str | None = None) -> tuple[str, ...]:
    """The public name of a source, and that of its file where the ledger takes it for another one:
    a total that was set for either of them holds.

    >>> accounts_of("days.csv.gz"), accounts_of("days.2030.zip")
    (('days',), ('days', 'days.2030.zip'))
    """
    name = named(source, table)
    if is_frame(source) or scheme_of(str(source)) is not None:
        return (name,)
    file = Path(source).name
    try:
        same = account_key(file) == account_key(name)
    except BudgetError:  # no name of an account: said when it is to be paid for
        same = True
    return (name,) if same else (name, file)
