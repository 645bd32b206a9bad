"""Commands that write files for readers: a map in one file, a report, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.outputs import require_free
from dpviz.cli.queries import open_map
from dpviz.cli.root import Json, Page, app, emit, numbers, print_stderr
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.exports import Presentation
    from dpviz.releases.counts import AreaRelease, PointRelease

Releases = Annotated[
    list[str],
    typer.Argument(metavar="RELEASE...", help="Release file (.parquet), or two to compare."),
]
Series = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE...",
        help="Release file (.parquet), two to compare, or a series of up to twelve under a slider.",
    ),
]
Rects = Annotated[
    list[str] | None,
    typer.Option("--rect", help="Rectangle to answer, W,S,E,N in degrees; repeatable."),
]
Period = Annotated[
    str | None, typer.Option(help="Part of the period to draw, A,B, for releases with time.")
]
Size = Literal["screen", "print"]


@dataclass(frozen=True)
class Words:
    """Options that say how a release is presented."""

    title: str = option("Title.", default="")
    subtitle: str = option("One line below the title.", default="")
    noun: str = option("Plural of what is counted, such as crimes.", default="")
    note: list[str] | None = option("Note on a place, LON,LAT,TITLE[,TEXT]; repeatable.")

    @property
    def presentation(self) -> Presentation:
        """The words as a presentation.

        Raises:
            ParameterError: a note of another form, or too many.
        """
        from dpviz.exports import Note, Presentation

        notes = []
        for each in self.note or []:
            lon, lat, name, text = [*each.split(",", 3), "", "", ""][:4]
            try:
                notes.append(Note(float(lon), float(lat), name.strip(), text.strip()))
            except ValueError:
                raise ParameterError(f"--note {each!r}: give LON,LAT,TITLE,TEXT") from None
        return Presentation(self.title, self.subtitle, self.noun, tuple(notes))


@app.command()
@grouped
def share(
    releases: Series,
    words: Words,
    output: Page,
    rect: Rects = None,
    basemap: str = option(
        "Public file of streets, water and places to draw below the cells.", default=""
    ),
    period: Period = None,
    as_json: Json = False,
) -> None:
    """Write an interactive map as one HTML file for any browser.

    The file needs no network and no server. To embed it in a web page, put it beside the page and
    write <iframe src="map.html" width="100%" height="600"></iframe>. A release with time gets a
    slider, unless --period names a part.
    """
    from dpviz.exports import map_page

    opened, asked = _read_maps(releases, period), _rects(rect)
    maps, labels = _time_steps(opened)
    _require(".html", output, *releases, basemap or None)
    page = map_page(
        maps, labels=labels, rects=asked, presentation=words.presentation, basemap=basemap
    )
    _write(output, page.encode(), opened, as_json)


@app.command()
@grouped
def report(
    releases: Releases,
    words: Words,
    output: Page,
    rect: Rects = None,
    period: Period = None,
    as_json: Json = False,
) -> None:
    """Write a page to print: guarantee, map, answers, errors, budget."""
    from dpviz.exports import report_page

    opened, asked = _require_no_time(_read_maps(releases, period)), _rects(rect)
    _require(".html", output, *releases)
    page = report_page(opened, rects=asked, presentation=words.presentation)
    _write(output, page.encode(), opened, as_json)


@app.command()
@grouped
def picture(
    releases: Releases,
    words: Words,
    output: str = option("Picture to write (.png).", "-o", default=MISSING),
    rect: str | None = option("Rectangle to outline, W,S,E,N in degrees."),
    size: Size = option(
        "Size: screen (a slide of 1920 × 1080) or print (A4 landscape at 300 dpi).",
        default="screen",
    ),
    period: Period = None,
    as_json: Json = False,
) -> None:
    """Write a picture of the map of one or two releases (.png)."""
    from dpviz.exports.html import labels_of
    from dpviz.render.fonts import fonts
    from dpviz.render.picture import comparison_png
    from dpviz.render.projection import from_degrees
    from dpviz.render.view import check

    opened = _require_no_time(_read_maps(releases, period))
    outlined = _rects([rect])[0] if rect else None
    check(opened, 2)
    if outlined is not None:
        domain = opened[0].domain
        domain.boxes(from_degrees(outlined, domain.crs))  # raises as for other files
    labels = labels_of(opened)
    _require(".png", output, *releases)
    shown = words.presentation
    drawn = comparison_png(
        opened,
        labels,
        outlined,
        title=shown.title,
        subtitle=shown.subtitle,
        noun=shown.noun,
        pins=shown.pins,
        size=size,
    )
    _write(output, drawn, opened, as_json)
    if missing := fonts("".join([shown.title, shown.subtitle, *labels]))[1]:
        print_stderr(f"note: no font of this machine has {missing}: a box is drawn for each")


def _require(ending: str, output: str, *inputs: str | None) -> None:
    """Refuse an output with another ending, or one that must not be overwritten."""
    require_free(output, *inputs)
    if Path(output).suffix.lower() != ending:
        raise ParameterError(f"output {output!r}: give a file that ends in {ending}")


def _write(
    output: str, data: bytes, releases: Sequence[PointRelease | AreaRelease], as_json: bool
) -> None:
    from dpviz.files.writing import write_bytes

    path = write_bytes(output, data)
    guarantees = [each.header.guarantee for each in releases]
    facts = {"output": str(path), "bytes": len(data), "guarantees": guarantees}
    lines = [f"{path}: {len(data) / 1e6:.1f} MB", *dict.fromkeys(guarantees)]
    emit(facts, as_json, "\n".join(lines))


def _read_maps(paths: Sequence[str], period: str | None) -> list[PointRelease | AreaRelease]:
    """Read releases of points or areas, and cut them to a period if one is given."""
    from dpviz.releases.points.window import during

    opened: list[Any] = [open_map(path) for path in paths]  # releases of areas have no time
    return opened if period is None else [during(each, period) for each in opened]


def _require_no_time(
    releases: Sequence[PointRelease | AreaRelease],
) -> Sequence[PointRelease | AreaRelease]:
    """Return the releases if none has time.

    Raises:
        ParameterError: one has it.
    """
    for each in releases:
        if each.domain.time is not None:
            start, end = map(each.domain.calendar.text, each.domain.period)
            which = "this release" if len(releases) == 1 else "one of these releases"
            raise ParameterError(
                f"{which} has time: give the part that is drawn, such as --period {start},{end}"
            )
    return releases


def _time_steps(
    releases: Sequence[PointRelease | AreaRelease],
) -> tuple[Sequence[PointRelease | AreaRelease], Sequence[str]]:
    """Maps of a release's time steps, with their starts; without time the releases unchanged."""
    from dpviz.releases.counts import is_points
    from dpviz.releases.points.window import windows

    first, *others = releases
    if is_points(first) and not others and first.domain.time is not None:
        return windows(first)
    return _require_no_time(releases), ()


def _rects(texts: Sequence[str] | None) -> list[tuple[float, float, float, float]]:
    boxes = []
    for text in texts or []:
        values = numbers(text, "--rect")
        if len(values) != 4:
            raise ParameterError(f"--rect {text!r}: give four numbers, west,south,east,north")
        west, south, east, north = values
        boxes.append((west, south, east, north))
    return boxes
