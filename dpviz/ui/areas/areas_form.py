"""Form for counting by hexagons or by areas of a public file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.domain import Domain
from dpviz.domain.calendar import fixed_step, step_words
from dpviz.domain.crs import DEGREES
from dpviz.errors import DomainError, DpvizError
from dpviz.lazy import h3
from dpviz.methods import of_kind
from dpviz.methods.request import by_area
from dpviz.private.areas import records_in_no_area
from dpviz.releases.areas.area_file import area_columns
from dpviz.releases.areas.hexagons import FINEST_RESOLUTION
from dpviz.releases.areas.partition import MAX_LEVELS, Areas
from dpviz.releases.areas.source import H3, ChosenAreas, areas_of
from dpviz.releases.areas.table_steps import table_steps
from dpviz.render.cells import domain_bounds
from dpviz.render.projection import areas as surfaces
from dpviz.ui.points.columns_form import POINT_STEPS
from dpviz.ui.shared import permalink
from dpviz.ui.shared.area_form import checked_area, public_box
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice, parameters_form
from dpviz.ui.shared.panels import ErrorsShown, refuse
from dpviz.ui.shared.preflight import OWNER_ONLY, switched_on
from dpviz.ui.shared.text import sizes_in_words
from dpviz.ui.shared.uploads import chosen_layer, upload_path

METHOD = "areas"
HEXAGONS, POLYGONS = "Hexagons", "Districts of a file"
MAX_AREAS = 20_000
"""Areas of one map; the command line takes up to the limit of files."""

EVERY = ("1h", "6h", "1d", "1w", "1mo")
"""Steps of time that a table may have, if they fit the period."""

STEP_LABEL = "Count in steps of"

UNCOUNTED = "records in none of them are left out"
"""Words on areas that need not fill their box."""

DEFAULT_COUNTS = 400
"""Least number of hexagons, or of pairs of them, that the form starts with."""


def areas_choice(
    prefix: str,
    domain: Domain,
    epsilon: float,
    saved: Mapping[str, str],
    every: str | None = None,
) -> Choice | None:
    """Areas and parameters of a release of areas; None while areas are missing.

    Args:
        prefix: prefix of the widgets' keys.
        domain: the domain of the records; with time, they are counted by its steps.
        epsilon: epsilon of the release.
        saved: parameters from a permalink, as text.
        every: step of time of a series; None to ask for one.
    """
    counted = _counted(prefix)
    every = every or _step(prefix, domain)
    areas = None
    with ErrorsShown():
        place = domain.without_time.counts_only
        areas = (_hexagons if counted == HEXAGONS else _polygons)(prefix, place)
    if areas is None or (every is None and domain.time is not None):
        return None
    areas = replace(areas, every=every)
    _describe(areas.areas)
    parameters = parameters_form(f"{prefix}.{METHOD}", of_kind(METHOD)[METHOD], {}, saved)
    return Choice(METHOD, parameters, epsilon, areas=areas)


def frame_areas(prefix: str, crs: str, box: Domain | None = None) -> ChosenAreas | None:
    """Areas that records are read into; None while they are missing.

    Args:
        prefix: prefix of the widgets' keys.
        crs: of the records, and so of the areas.
        box: the public box; by default hexagons ask for theirs, and districts lie in their extent.
    """
    areas = None
    with ErrorsShown():
        if _counted(prefix) == POLYGONS:
            areas = _polygons(prefix, box, crs)
        elif (box := box or _box(prefix, crs)) is not None:
            areas = _hexagons(prefix, box, ends=2)
    if areas is not None:
        _describe(areas.areas)
    return areas


def _box(prefix: str, crs: str) -> Domain | None:
    bounds = public_box(prefix, crs, None)
    if bounds is None:
        return None
    box = Domain.from_bounds(bounds, crs=crs)
    checked_area(box)
    return box


def _counted(prefix: str) -> str:
    """Ask for the kind of areas."""
    return str(
        st.segmented_control(
            "Count by",
            [HEXAGONS, POLYGONS],
            default=HEXAGONS,
            required=True,
            key=f"{prefix}.counted",
            help="Fixed beforehand, and public. Districts: a file of wards that add up to "
            "districts.",
        )
    )


def _describe(areas: Areas) -> None:
    """Levels of areas, with their numbers."""
    st.caption(f"{sizes_in_words(areas.levels, areas.sizes)}; {UNCOUNTED}")


def show_uncounted(prefix: str, source: Any, chosen: ChosenAreas) -> None:
    """Number of the records of a file that are in none of the areas, for their owner only."""
    if source.name is not None or not switched_on(prefix):
        return
    number, asked = 0, (source.key, chosen.areas, chosen.every)

    def count() -> int:
        return records_in_no_area(by_area(source.data, chosen.areas, chosen.every))

    with suppress(DpvizError):  # a step that does not fit is refused where it is chosen
        number = cached(f"{prefix}.uncounted", asked, count)
    if number:
        st.warning(
            f"{OWNER_ONLY}: {number:,} records are in none of the areas, and left out.",
            icon=":material/fact_check:",
        )


def _step(prefix: str, domain: Domain) -> str | None:
    """Ask for the step of time of a table; None without time, or where no step fits."""
    if domain.time is None:
        return None
    able = _fitting(domain)
    if not able:
        _offer_step(prefix, domain)
        return None
    asked = permalink.parameter("every")
    start = permalink.one_of("the step", asked, able, able[len(able) // 2])
    chosen = st.selectbox(
        STEP_LABEL,
        able,
        able.index(start),
        format_func=step_words,
        key=f"{prefix}.areas.every",
        help="Each step has its own noise at the same price: choose the longest step that your "
        "question allows.",
    )
    return str(chosen)


def _offer_step(prefix: str, domain: Domain) -> None:
    """Offer steps for times that are read without one; a choice also sets the step of reading."""
    data = f"{prefix}.every"
    steps = POINT_STEPS if data in st.session_state and not domain.step else ()
    read = next((step for step in steps if _fitting(domain, step)), None)
    if read is None:
        refuse(
            "No step fits these times. In the form of the data, under “Time”, let the period begin "
            "and end at midnight, and choose the step 1 hour."
        )
        return
    place = f"{prefix}.areas.every"

    def choose() -> None:
        st.session_state[data] = read
        st.session_state[place] = st.session_state[place]  # other options need a new selector

    st.selectbox(
        STEP_LABEL,
        _fitting(domain, read),
        index=None,
        placeholder="Choose a step of time",
        format_func=step_words,
        key=place,
        on_change=choose,
        help=f"Times are then read in steps of {step_words(read)}.",
    )
    refuse(f"Choose a step of time: under “Areas”, “{STEP_LABEL}”.", "schedule")


def _fitting(domain: Domain, step: str | None = None) -> list[str]:
    """Steps in which records of a domain can be counted, if their times are read in ``step``."""
    fitting = []
    for every in EVERY:
        with suppress(DomainError):
            read = domain if step is None else replace(domain, step=fixed_step(step))
            table_steps(read, every)
            fitting.append(every)
    return fitting


def _hexagons(prefix: str, domain: Domain, ends: int = 1) -> ChosenAreas:
    asked = (permalink.parameter("areas") or "").removeprefix(H3)
    what = "resolution of hexagons"
    start = permalink.number(
        what, asked, _default_resolution(domain, ends), 0, FINEST_RESOLUTION, whole=True
    )
    resolution = st.number_input(
        "Resolution of H3",
        0,
        FINEST_RESOLUTION,
        int(start),
        key=f"{prefix}.resolution",
        help="0: cells of 1,100 km; 15: cells of 1 m. Each step divides their width by about 2.6.",
    )
    source = f"{H3}{int(resolution)}"
    areas = cached(
        f"{prefix}.areas.h3", (source, domain), lambda: _drawable_hexagons(source, domain)
    )
    return ChosenAreas(source, areas=areas)


def _drawable_hexagons(source: str, domain: Domain) -> Areas:
    """Make hexagons; refuse too many for a page, by an estimate and then by their number."""
    cells = _square_km(domain) / h3.average_hexagon_area(int(source.removeprefix(H3)), "km^2")
    _check_number(cells / 2)  # half of it: the estimate is rough
    return _drawable(areas_of(source, domain))


def _default_resolution(domain: Domain, ends: int) -> int:
    """Default resolution: about as many counts as a map shows well, one per choice of ends."""
    surface = _square_km(domain)
    fine = (
        r
        for r in range(FINEST_RESOLUTION + 1)
        if (surface / h3.average_hexagon_area(r, "km^2")) ** ends >= DEFAULT_COUNTS
    )
    return next(fine, FINEST_RESOLUTION)


def _square_km(domain: Domain) -> float:
    return float(surfaces([domain_bounds(domain)])[0])


def _polygons(prefix: str, domain: Domain | None, crs: str = DEGREES) -> ChosenAreas | None:
    file = st.file_uploader(
        "Areas: GeoJSON, GeoPackage, GeoParquet or zipped Shapefile",
        key=f"{prefix}.areas.file",
        help="A PUBLIC file: polygons that do not overlap, one row for each of the finest. Their "
        "borders and names are part of the release.",
    )
    if file is None:
        refuse("Choose a public file of polygons under “Areas”.", "upload_file")
        return None
    upload = upload_path(f"{prefix}.areas", file)
    try:
        layer = chosen_layer(f"{prefix}.areas", file)
        path, key = f"{upload}{layer}", f"{file.file_id}{layer}"
        columns = cached(f"{prefix}.areas.columns", key, lambda: area_columns(path))
        levels = _levels(prefix, columns, key)
        areas = cached(
            f"{prefix}.areas.read",
            (key, levels, domain, crs),
            lambda: _drawable(areas_of(path, domain, levels=levels, crs=crs)),
        )
    except DpvizError as error:
        refuse(str(error).replace(upload.name, "the file"))
        return None
    return ChosenAreas(f"{file.name}{layer}", levels, file.file_id, areas=areas)


def _levels(prefix: str, columns: tuple[str, ...], key: str) -> tuple[str, ...]:
    if not columns:
        return ()
    chosen = st.multiselect(
        "Columns that name the levels, coarsest first",
        columns,
        default=columns[:1],
        max_selections=MAX_LEVELS,
        key=f"{prefix}.areas.levels.{key}",
        help="For instance country, district, ward, where each row of the file is a ward. ε is "
        "shared among the levels: name only those that you will publish.",
    )
    return tuple(map(str, chosen))


def _drawable(areas: Areas) -> Areas:
    _check_number(len(areas))
    return areas


def _check_number(areas: float) -> None:
    if areas > MAX_AREAS:
        about = float(f"{areas:.2g}")
        raise DpvizError(
            f"some {about:,.0f} areas, and a page shows up to {MAX_AREAS:,}: choose a coarser "
            "level, or build it on the command line"
        )


def areas_link(choice: Choice) -> dict[str, str | None]:
    """Address parameters of hexagons and the step; uploaded files are not in the address."""
    areas = choice.areas
    return {
        "areas": None if areas is None or areas.uploaded else areas.source,
        "every": None if areas is None else areas.every,
    }
