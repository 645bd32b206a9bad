"""Commands that write files for readers: a map in one file, a report, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import dpviz
from dpviz.cli.groups import MISSING, grouped, option
from dpviz.cli.outputs import require_free
from dpviz.cli.root import Json, Page, app, emit, numbers, print_stderr
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.exports import Presentation
    from dpviz.releases.release import Release

Releases = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE...", help="Release file (.parquet) of any kind, or two to compare."
    ),
]
Series = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE...",
        help="Release file (.parquet) of any kind, two to compare, or a series of up to twelve "
        "under a slider.",
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
        """The words as a presentation."""
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
    from dpviz.exports import map_page, release_page

    opened, asked = _read(releases, period), _rects(rect)
    _require_maps(opened, {"--rect": bool(asked), "--basemap": bool(basemap)})
    _require(".html", output, *releases, basemap or None)
    shown = words.presentation
    if len(opened) == 1:
        page = release_page(opened[0], shown, asked, basemap=basemap)
    else:
        maps = _require_no_time(opened)
        page = map_page(maps, rects=asked, presentation=shown, basemap=basemap)
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
    """Write a page to print: guarantee, map, answers, errors, budget.

    A release with time has the map of its whole period, unless --period names a part, and a chart
    of its steps.
    """
    from dpviz.exports import report_page

    opened, asked = _read(releases, period), _rects(rect)
    _require_maps(opened, {"--rect": bool(asked)})
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
    from dpviz.exports.stills import flat_maps, release_picture
    from dpviz.render.fonts import fonts
    from dpviz.render.projection import from_degrees

    opened = _read(releases, period)
    _require_maps(opened, {"--rect": bool(rect)})
    outlined = _rects([rect])[0] if rect else None
    maps, labels = flat_maps(opened)
    if outlined is not None:
        domain = maps[0].domain
        domain.boxes(from_degrees(outlined, domain.crs))  # raises, as for other files
    _require(".png", output, *releases)
    shown = words.presentation
    drawn = release_picture(opened, (), outlined, shown, size)
    _write(output, drawn, opened, as_json)
    if missing := fonts("".join([shown.title, shown.subtitle, *labels]))[1]:
        print_stderr(f"note: no font of this machine has {missing}: a box is drawn for each")


def _require(ending: str, output: str, *inputs: str | None) -> None:
    """Refuse an output with another ending, or one that must not be overwritten."""
    require_free(output, *inputs)
    if Path(output).suffix.lower() != ending:
        raise ParameterError(f"output {output!r}: give a file that ends in {ending}")


def _write(output: str, data: bytes, releases: Sequence[Release], as_json: bool) -> None:
    from dpviz.files.writing import write_bytes

    path = write_bytes(output, data)
    guarantees = [each.header.guarantee for each in releases]
    facts = {"output": str(path), "bytes": len(data), "guarantees": guarantees}
    lines = [f"{path}: {len(data) / 1e6:.1f} MB", *dict.fromkeys(guarantees)]
    emit(facts, as_json, "\n".join(lines))


def _read(paths: Sequence[str], period: str | None) -> list[Any]:
    """Read releases of any kind, and cut them to a period if one is given."""
    from dpviz.releases.counts import CountRelease

    opened = [dpviz.read(path) for path in paths]
    if period is None:
        return opened
    if not all(isinstance(each, CountRelease) for each in opened):
        raise ParameterError("--period: a release of sequences has no time: leave it out")
    return [each.during(period) for each in opened]


def _require_maps(releases: Sequence[Release], options: dict[str, bool]) -> None:
    """Refuse options that only maps of points and areas have, and several maps of other kinds."""
    given = [name for name, is_given in options.items() if is_given]
    others = [each.kind for each in releases if each.kind not in ("points", "areas")]
    if others and len(releases) > 1:
        raise ParameterError(f"a release of {others[0]} cannot be compared: give one release")
    if others and given:
        raise ParameterError(f"{given[0]} is for points and areas, not for {others[0]}")


def _require_no_time(releases: Sequence[Any]) -> Sequence[Any]:
    """Return the releases if none has time."""
    for each in releases:
        if each.domain.time is not None:
            start, end = map(each.domain.calendar.text, each.domain.period)
            raise ParameterError(
                "one of these releases has time: give the part that is drawn, such as "
                f"--period {start},{end}"
            )
    return releases


def _rects(texts: Sequence[str] | None) -> list[tuple[float, float, float, float]]:
    boxes = []
    for text in texts or []:
        values = numbers(text, "--rect")
        if len(values) != 4:
            raise ParameterError(f"--rect {text!r}: give four numbers, west,south,east,north")
        west, south, east, north = values
        boxes.append((west, south, east, north))
    return boxes
