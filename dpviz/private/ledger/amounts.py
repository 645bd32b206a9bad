"""Amounts of the ledger: exact decimals, whatever their sizes and however many are added."""

from __future__ import annotations

import decimal
import math
import re
from decimal import Decimal

from dpviz.errors import BudgetError

_SHAPE = re.compile(r"\d{1,400}(\.\d{1,1200})?([eE][+-]?\d{1,4})?", re.ASCII)
_EXACT = decimal.Context(
    prec=4000,  # a double has at most 309 digits before the point and 1074 after it
    Emax=9999,
    Emin=-9999,
    traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow, decimal.DivisionByZero],
)


def amount(value: float, name: str) -> Decimal:
    """An amount as its shortest decimal: 0.1 ten times is 1, as whoever typed it means.

    Raises:
        BudgetError: no number, not positive, or not finite.
    """
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except OverflowError:  # an integer that no float holds
        number = value = math.inf
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise BudgetError(f"{name}={value!r}: give a positive, finite number such as 1")
    return Decimal(repr(number))


def probability(value: float) -> Decimal:
    """A delta as its shortest decimal.

    Raises:
        BudgetError: no number from 0 to below 1.
    """
    try:
        if not isinstance(value, bool) and 0 <= float(value) < 1:
            return Decimal(repr(float(value)))
    except (OverflowError, TypeError, ValueError):
        pass
    raise BudgetError(f"delta={value!r}: give a number from 0 to below 1, such as 1e-6")


def parsed(text: str) -> Decimal:
    """An amount that the ledger holds.

    Raises:
        ValueError: no number that the ledger writes.
    """
    if not _SHAPE.fullmatch(text):
        raise ValueError("an amount is no number")
    return Decimal(text)


def total(first: Decimal, second: Decimal) -> Decimal:
    """The exact sum."""
    return _EXACT.add(first, second)


def left(whole: Decimal, spent: Decimal) -> Decimal:
    """The exact difference, which may be below zero."""
    return _EXACT.subtract(whole, spent)


def half(whole: Decimal) -> Decimal:
    """The exact half."""
    return _EXACT.divide(whole, Decimal(2))
