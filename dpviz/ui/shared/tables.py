"""Database tables that the server's owner offers to visitors.

They stand in the server's secrets (``.streamlit/secrets.toml``), never on a page, and so does all
that a visitor must not choose: the address, the columns, the public box, the privacy unit, whether
the records are public, and the name under which the ledger pays. A sensitive table is offered only
once its owner has set its total, so that no visitor can set it or spend without limit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.errors import DataError, DpvizError
from dpviz.private.ledger import Ledger
from dpviz.private.load.data import load
from dpviz.private.payment import require_public
from dpviz.ui.shared.access import section

DAY = 86_400.0
_NEEDED = {"url", "table", "bounds"}
_OPTIONAL = {"title", "columns", "crs", "bits", "unit", "max_per_unit", "public"}


def offered(dims: int, *, sensitive: bool = False) -> dict[str, str]:
    """Titles of the offered tables with this many dimensions, by ledger name.

    Args:
        dims: of the tables.
        sensitive: leave out what is public.
    """
    tables = {}
    for name, facts in _configured().items():
        try:
            stated = _stated(name, facts)
            account = Ledger().account(name)
            ready = not sensitive if stated["public"] else account.total is not None
        except DpvizError:
            continue  # a visitor cannot fix it
        if ready and stated["domain"].dims == dims and name not in DATASETS:
            tables[name] = str(facts.get("title", name))
    return tables


def table_handle(name: str) -> Any:
    """Handle of an offered table, counted once for all visitors.

    Raises:
        DpvizError: the table cannot be read; no message quotes the address.
    """
    facts = _configured()[name]
    handle = _counted(name, json.dumps(dict(facts), sort_keys=True, default=str), facts)
    require_public(Ledger(), handle)
    return handle


def reserved_names() -> tuple[str, ...]:
    """Names of all configured tables, offered or not: uploads may not use them."""
    return tuple(_configured())


@st.cache_resource(show_spinner="Counting records in the database …", max_entries=4, ttl=DAY)
def _counted(name: str, stated: str, _facts: Mapping[str, Any]) -> Any:
    return load(**_stated(name, _facts))


def _configured() -> dict[str, Mapping[str, Any]]:
    """The section ``[dpviz.tables]`` of the secrets; empty without secrets."""
    tables = section("dpviz").get("tables")
    every = tables.items() if isinstance(tables, Mapping) else ()
    return {str(name): facts for name, facts in every if isinstance(facts, Mapping)}


def _stated(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`dpviz.load` for a table; missing or unknown settings are refused.

    Raises:
        DpvizError: a setting is missing, unknown, of a wrong type, or not a box.
    """
    wrong = (_NEEDED - set(facts)) | (set(facts) - _NEEDED - _OPTIONAL)
    if wrong:
        raise DataError(f"table {name}: missing or unknown in the secrets: {', '.join(wrong)}")
    columns, bits = facts.get("columns"), facts.get("bits")
    try:
        names = None if columns is None else tuple(map(str, columns))
        of_points = len(names or ()) == 1 and len(facts["bounds"]) == 4
        crs = str(facts.get("crs", "EPSG:4326"))
        return {
            "source": str(facts["url"]),
            "domain": Domain.from_bounds(facts["bounds"], () if of_points else names or (), crs),
            "table": str(facts["table"]),
            "columns": names,
            "bits": None if bits is None else int(bits),
            "unit": facts.get("unit"),
            "max_per_unit": int(facts.get("max_per_unit", 1)),
            "public": facts.get("public") is True,
            "name": name,
        }
    except (TypeError, ValueError):
        raise DataError(
            f"table {name}: no box, or a value of a wrong kind in the secrets"
        ) from None
