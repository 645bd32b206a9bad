"""Check a source: exact counts of its records, for the data owner only, never released.

A check reads as the build does, by the same code and with the same arguments, and gives how many
records are dropped and why, in the order of the reading steps, and how the columns were read.
"""

from __future__ import annotations

from typing import Any

from dpviz.domain import Domain
from dpviz.domain.zones import ZONE
from dpviz.private.load.flows import read_flows
from dpviz.private.load.forms import masks_of
from dpviz.private.load.notation import with_notation
from dpviz.private.load.roads import read_trips
from dpviz.private.load.selection import Selection
from dpviz.private.load.sequences import read_places, read_sequences
from dpviz.private.load.source import File, source_of
from dpviz.private.load.sources import read_points
from dpviz.private.load.survey import time_forms
from dpviz.private.load.tally import Tally
from dpviz.releases.flows.frame import Flows
from dpviz.roads.graph import RoadGraph
from dpviz.roads.steps import Steps
from dpviz.sequences.alphabet import Alphabet

CHECK_HEADING = (
    "EXACT FACTS ABOUT THE RECORDS, FOR THEIR OWNER'S EYES ONLY: NO PART OF ANY RELEASE, "
    "NOT DIFFERENTIALLY PRIVATE"
)


def check_source(
    source: Any, domain: Domain | RoadGraph | Alphabet | Flows, **how: Any
) -> tuple[Tally, str]:
    """Exact counts of a source's records by outcome, and a description of their form.

    Raises DataError: the source cannot be read in this form, or holds counts instead of records.

    Args:
        domain: decides the form of the records: points, or places in time if ``how`` names a time;
            trips or events on streets; sequences of symbols; flows between areas.
        **how: further arguments of the reader. The cells of places do not matter: sequences are cut
            at session gaps.
    """
    facts, how = Tally(), with_notation(how)
    if isinstance(domain, Flows):
        read_flows(source, domain, counts=facts, **how)
        words = f"flows: {', '.join(how['columns'])}"
    elif isinstance(domain, RoadGraph):
        data = read_trips(source, domain, counts=facts, **how)
        words = f"events, each on its nearest street: {data.placed}" if data.placed else "trips"
    elif isinstance(domain, Alphabet):
        read_sequences(source, domain, counts=facts, **how)
        words = "sequences"
    elif "time" in how:
        read_places(source, domain, counts=facts, **how)
        words = "places in time"
    else:
        chosen = Selection(domain, checking=True, **how)
        points = read_points(source_of(source, chosen.table), chosen)
        facts, words = points.tally or facts, f"places: {points.columns}"
    return facts, words


def time_advice(
    source: Any,
    domain: Domain | RoadGraph | Alphabet | Flows,
    *,
    table: str | None = None,
    time: str | None = None,
    steps: Steps | None = None,
    zone: str = ZONE,
    time_format: str | None = None,
    **_reading: Any,
) -> str:
    """Another time format for a file that writes its times so, for the data owner only.

    It takes the arguments of :func:`check_source`; empty if there is nothing to advise.
    """
    clock = steps or domain
    column, zone = time or getattr(clock, "time", None), getattr(clock, "zone", zone)
    if column is None or not isinstance(source_of(source, table), File):
        return ""
    forms = time_forms(source, column, table=table, zone=zone, time_format=time_format)
    if not forms.better:
        return ""
    form = f"{forms.unread}{masks_of(forms.unread)}"
    return f"times look like {form}: try --time-format {' or '.join(forms.better)}"
