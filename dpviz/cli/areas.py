"""What the commands on releases do with areas: how they are named, answered and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpviz.cli.building import Facts
from dpviz.cli.groups import option
from dpviz.cli.options import Attributes, Clock, Places
from dpviz.cli.root import as_rows, complain, emit, in_line
from dpviz.errors import ParameterError
from dpviz.lists import words

if TYPE_CHECKING:
    from dpviz.build import Areas
    from dpviz.releases.counts import AreaRelease


@dataclass(frozen=True, kw_only=True)
class Partition:
    """The public areas that records are counted by."""

    areas: str | None = option(
        "--areas",
        help="Count by area: a public file of polygons, h3:8 for hexagons, or "
        "'rect=W,S,E,N;rect=…' for rectangles.",
    )
    levels: str | None = option(
        "--levels", help="With --areas: columns that name the levels, country,district,ward."
    )
    name: str | None = option("--name", help="With --areas: the column that names them.")

    def read(
        self,
        source: str,
        places: Places,
        clock: Clock,
        attributes: Attributes,
        others: Any = None,
    ) -> Areas | None:
        """The areas, in the box that is stated, or else in their own extent; None without any.

        ``others`` are options that mean rectangles.

        Raises:
            ParameterError: options of areas without them, or a period or kinds beside them.
            DataError: the file cannot be read as areas.
        """
        if self.areas is None:
            if self.levels is not None or self.name is not None:
                raise ParameterError("--levels and --name are of areas: give --areas too")
            return None
        from dpviz.build import areas_of, stated_domain

        if clock.axis():
            raise ParameterError("--areas and --period: areas are counted without time; leave one")
        if attributes.axis():
            raise ParameterError("--areas and --kind or --sum: areas count all records; leave one")
        if others:
            raise ParameterError("--workload is of rectangles: leave it out, or --areas")
        stated = places.bounds is not None or stated_domain(source) is not None
        domain = places.domain(source) or stated_domain(source) if stated else None
        return areas_of(
            self.areas,
            domain,
            levels=words(self.levels, "--levels"),
            name_column=self.name,
            crs=places.crs or "EPSG:4326",
        )


def checked_name(method: str | None) -> str:
    """The method of a build without areas.

    Raises:
        ParameterError: one that needs them.
    """
    if (method or "").lower() == "areas":
        raise ParameterError("method areas needs its areas: give --areas FILE, or --areas h3:8")
    return method or "privtree"


def described(release: AreaRelease, _data: object) -> Facts:
    """What is printed of a release of areas."""
    facts = summary(release)
    return facts, [size_words(release)]


def summary(release: AreaRelease) -> dict[str, Any]:
    """Size of a release."""
    areas = release.frame
    sizes = [part.stop - part.start for part in areas.slices]
    return {"areas": len(areas), "levels": dict(zip(areas.levels, sizes, strict=True))}


def size_words(release: AreaRelease) -> str:
    """How many areas each level has.

    Two levels may be called alike in no file: their columns differ.
    """
    sizes = summary(release)["levels"]
    return "areas: " + ", ".join(
        f"{size:,} on level {in_line(name)}" for name, size in sizes.items()
    )


def answer_areas(release: AreaRelease, as_json: bool) -> None:
    """Counts of every area, finest last."""
    areas, answers = release.frame, release.answers
    columns = {
        "level": areas.level_of.tolist(),
        "name": areas.names,
        "parent": areas.parent_names,
        "count": answers.count.tolist(),
        "low": answers.low.tolist(),
        "high": answers.high.tolist(),
    }
    rows = as_rows(columns)
    lines = [
        f"{in_line(row['level'])} {in_line(row['name'])}: {row['count']:,.1f} "
        f"(95 % for the noise: {row['low']:,.0f} to {row['high']:,.0f})"
        + ("" if row["parent"] is None else f"  in {in_line(row['parent'])}")
        for row in rows
    ]
    emit({"areas": rows}, as_json, "\n".join([*lines, release.header.guarantee]))


def join_areas(
    release: AreaRelease,
    output: str,
    join: str | None,
    key: str | None,
    level: str | None,
    *,
    every_level: bool,
    as_json: bool,
) -> None:
    """Write an analyst's own file of areas with the counts of a release."""
    from dpviz.releases.export import export_joined

    if join is None:
        raise ParameterError("--key and --level are of a file of yours: give --join too")
    if key is None:
        raise ParameterError("--key is missing: the column of your file that names the areas")
    if every_level:
        raise ParameterError("--all-nodes and --join: a file has a row for each area of one level")
    rows, unmatched = export_joined(release, output, join, key, level)
    if unmatched and not as_json:
        complain(f"note: {unmatched:,} rows name no area, and have no count")
    facts = {"output": output, "rows": rows, "unmatched": unmatched}
    emit(facts, as_json, f"{output}: {rows:,} rows")
