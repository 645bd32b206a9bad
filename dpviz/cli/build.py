"""The command that builds a release of points or of areas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.areas import Partition, checked_name
from dpviz.cli.areas import described as described_areas
from dpviz.cli.building import Facts, build_release
from dpviz.cli.groups import grouped
from dpviz.cli.options import Attributes, Bits, Clock, Order, Places, TableName, TextForms, Units
from dpviz.cli.rectangles import rectangles
from dpviz.cli.releases import summary
from dpviz.cli.root import app, progress
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.build import DataHandle
    from dpviz.methods.points.declared import Declared
    from dpviz.releases.counts import PointRelease


@app.command()
@grouped
def build(
    source: Annotated[
        str,
        typer.Argument(help="A file or folder of records, a database's URL, or a built-in name."),
    ],
    order: Order,
    places: Places,
    clock: Clock,
    attributes: Attributes,
    forms: TextForms,
    units: Units,
    partition: Partition,
    method: Annotated[
        str | None,
        typer.Option(help="A name or alias, see 'dpviz methods'; privtree, or areas with --areas."),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="What it is for: uniform, hot (small squares where records are), districts, "
            "several with weights (uniform=3,hot=1), or a CSV file of public rectangles. "
            "Parameters follow by a public rule, where --set names none."
        ),
    ] = None,
    table: TableName = None,
    bits: Bits = None,
    want: Annotated[
        list[str] | None,
        typer.Option(help="A promise for the header, as of 'dpviz plan'; repeat at will."),
    ] = None,
    sum_share: Annotated[
        float | None,
        typer.Option(help="With --sum: the share of epsilon for sums, half by default."),
    ] = None,
) -> None:
    """Spend epsilon on one release of a data set; the ledger pays unless the data are public."""
    from dpviz.build import AreaData

    for_what = workload_rule(workload)
    areas = partition.read(source, places, clock, attributes, workload)

    def points() -> DataHandle:
        handle: DataHandle = dpviz.load(
            source,
            areas.domain if areas is not None else places.domain(source, clock, attributes),
            **places.reading(),
            **forms.reading(),
            **units.reading(),
            public=order.public or None,
            name=order.dataset,
            table=table,
            bits=bits,
            progress=progress(),
        )
        return handle

    shared: dict[str, Any] = {"columns_named": bool(places.names), "wishes": want or ()}
    read = [source, partition.areas, workload]
    if areas is None:
        name, shared["sum_share"] = checked_name(method), sum_share
        build_release("points", name, order, read, points, described, for_what, **shared)
        return
    if sum_share is not None:
        raise ParameterError("--sum-share is of --sum: leave it out")
    counted = lambda: AreaData(points(), areas)  # noqa: E731
    build_release("areas", method or "areas", order, read, counted, described_areas, **shared)


def workload_rule(workload: str | None) -> Callable[[DataHandle], Declared | None]:
    """How a declared workload is had once the domain is known; what is none is refused now.

    Raises:
        ParameterError: neither words nor a file.
    """
    from dpviz.methods.points.declared import Declared, is_worded

    if workload is None:
        return lambda data: None
    if is_worded(workload) or not Path(workload).is_file():
        declared = Declared.worded(workload)
        return lambda data: declared

    def of_file(data: DataHandle) -> Declared:
        return Declared.of(rectangles(workload, data.domain.columns), data.domain)

    return of_file


def described(release: PointRelease, _data: object) -> Facts:
    """What is printed of a release of points."""
    facts = summary(release)
    nodes, leaves, depth = facts["nodes"], facts["leaves"], facts["depth"]
    return facts, [f"{nodes:,} nodes, {leaves:,} leaves, depth {depth}"]
