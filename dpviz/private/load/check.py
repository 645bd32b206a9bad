"""Check a source: exact counts of its records, for the data owner only, never released.

Each check reads as the build does, by the same code and with the same arguments, and gives how many
records are dropped and why, in the order of the reading steps, and how the columns were read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from dpviz.domain import Domain
from dpviz.private.load.notation import Notation, with_notation
from dpviz.private.load.roads import read_trips
from dpviz.private.load.selection import Selection
from dpviz.private.load.sequences import read_places, read_sequences
from dpviz.private.load.source import source_of
from dpviz.private.load.sources import read_points
from dpviz.private.load.tally import Tally
from dpviz.roads.graph import RoadGraph
from dpviz.sequences.alphabet import alphabet_of

HEADING = (
    "EXACT FACTS ABOUT THE RECORDS, FOR THEIR OWNER'S EYES ONLY: NO PART OF ANY RELEASE, "
    "NOT DIFFERENTIALLY PRIVATE"
)

Checked = tuple[dict[str, int], str]
"""How many records met which fate, and what they were read as."""


def check_points(
    source: str | os.PathLike[str],
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    table: str | None = None,
    **forms: Any,
) -> Checked:
    """Check records of places, read as :func:`dpviz.load` does.

    ``forms`` say how text is read, as there.

    Raises:
        DataError: the source cannot be read as points, or holds counts in place of records.
    """
    notation = Notation(**forms)
    chosen = Selection(
        domain, columns, crs, unit, max_per_unit, table=table, notation=notation, checking=True
    )
    handle = read_points(source_of(source, table), chosen)
    assert handle.tally is not None
    return handle.tally.facts, f"places: {handle.columns}"


def check_trips(source: str | os.PathLike[str], graph: RoadGraph, **how: Any) -> Checked:
    """Check trips on a road graph; ``how`` is of :func:`~dpviz.private.load.roads.read_trips`.

    Raises:
        DataError: the source cannot be read as trips.
    """
    facts = Tally()
    data = read_trips(source, graph, counts=facts, **with_notation(how))
    words = f"events, each on its nearest street: {data.placed}" if data.placed else "trips"
    return facts.facts, words


def check_sequences(source: str | os.PathLike[str], alphabet: str, **how: Any) -> Checked:
    """Check sequences; ``how`` is of :func:`~dpviz.private.load.sequences.read_sequences`.

    Raises:
        DataError: the source cannot be read as sequences.
    """
    return _counted("sequences", read_sequences, source, alphabet_of(alphabet), **how)


def check_places(source: str | os.PathLike[str], domain: Domain, **how: Any) -> Checked:
    """Check places in time; ``how`` is of :func:`~dpviz.private.load.sequences.read_places`.

    The cells do not matter here: a sequence is cut at session gaps alone.

    Raises:
        DataError: the source cannot be read as places in time.
    """
    return _counted("places in time", read_places, source, domain, **how)


def _counted(words: str, read: Callable[..., object], *what: Any, **how: Any) -> Checked:
    """Read as a build does, with a tally of what becomes of each record."""
    facts = Tally()
    read(*what, counts=facts, **with_notation(how))
    return facts.facts, words
