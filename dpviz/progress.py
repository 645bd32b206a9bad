"""How long work tells how far it is, and how it is cancelled."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Called with (fraction from 0 to 1, what is being done); raising an exception cancels the work."""
