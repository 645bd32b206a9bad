"""Commands on a series: releases of days, weeks and four weeks under one calendar account."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.data import Data
from dpviz.cli.groups import MISSING, given, grouped, option, require_applicable
from dpviz.cli.outputs import locked, require_free, require_writable, save_release
from dpviz.cli.root import Epsilon, Json, LedgerFile, app, as_rows, emit, print_stderr, progress
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.private.areas import AreaData
    from dpviz.releases.series import Node

series = typer.Typer(no_args_is_help=True, help="Publish every day: releases that add up.")
app.add_typer(series, name="series")

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="Folder of the series' releases.")]

TAKES = {
    "a series": "unit max_per_unit table columns crs decimal thousands time_format order bounds "
    "time zone areas levels name kind kinds sum clip grid"
}
"""Options of the records; those of the period follow from the node."""


@series.command()
@grouped
def update(
    folder: Folder,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="File or folder of records, or a database.")
    ],
    data: Data,
    start: str = option("First day of the series, such as 2024-03-01.", default=MISSING),
    until: str | None = option("First day that is not released; no day is before it is over."),
    since: str | None = option("First day of the records in SOURCE, if older ones were deleted."),
    dataset: str = option("Name of the data set in the ledger.", default=MISSING),
    epsilon: Epsilon = 1.0,
    again: bool = option("Pay again for releases whose files are lost.", default=False),
    ledger: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Release every day, week and four weeks that are over; each is paid once.

    Example: dpviz series update daily visits.csv --areas wards.gpkg --unit person --time visited_at
    --zone Europe/Berlin --start 2024-03-04 --dataset visits

    For a daily job: a second run changes nothing and pays nothing. The data set needs a calendar
    by day; all releases of the series together charge at most epsilon to any day.
    """
    from dpviz.domain.units import TimeUnits
    from dpviz.domain.zones import zone_name
    from dpviz.private.budget import positive_epsilon
    from dpviz.private.ledger import Ledger, account_key
    from dpviz.releases import series as nodes
    from dpviz.releases.series import day_number, day_text

    require_applicable("a series", given(data), TAKES)
    needed = {"areas": data.frame.areas, "time": data.clock.time, "unit": data.units.unit}
    for name, value in needed.items():
        if value is None:
            raise ParameterError(f"--{name} is missing: a series needs --areas, --time and --unit")
    units = TimeUnits("day", zone_name(data.clock.zone))
    today = int(units.of_moments([time.time()])[0])
    first, end = day_number(start), today if until is None else min(today, day_number(until))
    oldest = first if since is None else day_number(since)
    if not first <= end <= today:
        raise ParameterError(
            f"--until {day_text(end)}: give a day from --start {day_text(first)}, up to today "
            f"({day_text(today)} in {units.zone}): only days that are over are released"
        )
    price = nodes.prices(positive_epsilon(epsilon))
    data = replace(data, units=replace(data.units, per="day"))
    areas, how = data.arguments(source)
    how["name"] = dataset
    axis = data.attributes.axis()
    values = {name: axis[name] for name in ("value", "clip", "grid") if name in axis}
    frame = nodes.series_frame(
        areas,
        dataset=account_key(dataset),
        epsilon=float(epsilon),
        unit=data.units.unit,
        max_per_unit=data.units.max_per_unit,
        start=day_text(first),
        zone=units.zone,
        time=data.clock.time,
        kind=axis.get("kind"),
        kinds=list(axis.get("kinds", ())),
        **values,
    )
    with _folder(folder), locked(str(Path(folder) / "series.parquet")):
        nodes.require_frame(folder, frame)
        account, number = Ledger(ledger), nodes.identity(frame)
        paid = {spend.purpose for spend in account.account(dataset).spends}
        new_files, lost_files = [], []
        for node in nodes.finished_nodes(first, end):
            output = Path(folder) / nodes.file_name(node)
            purpose = f"series {number}: {output.stem}"
            if purpose in paid and not (again or output.exists()):
                lost_files.append(output.name)
            if output.exists() or output.name in lost_files or node[0] < oldest:
                continue
            require_writable(str(output))
            require_free(str(output), source, *data.files, ledger=ledger)
            handle = _records(data, source, areas, how, node)
            handle.facts[nodes.KEY] = {
                "frame": frame,
                "file": output.name,
                "known_on": day_text(today),
            }
            release = dpviz.build(
                handle, epsilon=price[node[1]], ledger=account, purpose=purpose, conclude=False
            )
            save_release(release.save, str(output), account, release.header.extra["release_id"])
            new_files.append(output.name)
    spent = account.account(dataset)
    shown: dict[str, Any] = {"folder": folder, "until": day_text(end), "released": new_files}
    shown |= {"lost": lost_files, "spent": spent.spent, "longer": spent.longer}
    if lost_files and not as_json:
        print_stderr(
            f"warning: files are lost ({', '.join(lost_files)}): pay for them again by --again"
        )
    text = f"{folder}: {len(new_files)} new releases of days before {day_text(end)}; "
    emit(shown, as_json, f"{text}at most ε = {spent.spent:g} charged to a day")


@series.command()
@grouped
def table(
    folder: Folder,
    final: bool = option(
        "Add finished releases alone: such numbers are never revised.", default=False
    ),
    output: str | None = option("File for all days (.csv); otherwise the last is printed.", "-o"),
    as_json: Json = False,
) -> None:
    """Show windows of 1, 7 and 28 days and running totals of each area, with 95 % intervals."""
    from dpviz.files.writing import write_file
    from dpviz.render.nearby import with_place_names

    if output is not None:
        if Path(output).suffix.lower() != ".csv":
            raise ParameterError(f"output {output!r}: give a .csv file")
        require_free(output, folder)
    read = dpviz.read_series(folder)
    windows = read.table(last=output is None, final=final)
    windows = with_place_names(windows, read.areas, read.first.header.source)
    if output is not None:
        write_file(output, lambda temporary: windows.to_csv(temporary, index=False))
        emit({"output": output, "rows": len(windows)}, as_json, f"{output}: {len(windows):,} rows")
        return
    rows = as_rows({name: windows[name].tolist() for name in windows.columns})
    rounded = windows.round({"count": 1, "noise_sd": 2})
    shown = rounded.to_string(index=False, float_format="{:.6g}".format)
    emit({"rows": rows}, as_json, shown)


@contextmanager
def _folder(name: str) -> Iterator[None]:
    """Make the folder of a series where there is none, and remove it if nothing was released."""
    folder = Path(name)
    new = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        yield
    finally:
        if new:
            with suppress(OSError):  # it holds releases
                folder.rmdir()


def _records(data: Data, source: str, areas: Any, how: dict[str, Any], node: Node) -> AreaData:
    """Read the records of one node's days, counted by area."""
    from dpviz.private.areas import AreaData
    from dpviz.releases.series import EVERY, day_text

    first, days = node
    period = f"{day_text(first)},{day_text(first + days)}"
    timed = replace(data, clock=replace(data.clock, period=period, every=EVERY[days]))
    domain = timed.record_domain(areas)
    points = dpviz.load(source, domain, progress=progress(), bits=domain.bits, **how)
    return AreaData(points, areas, EVERY[days])
