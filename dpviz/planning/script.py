"""Code that makes a release of points or areas. From public facts alone.

The code of a release follows from its header. The header never holds a seed or the name of a file:
the caller supplies both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from dpviz.datasets import DATASETS
from dpviz.domain import Domain, calendar, default_columns
from dpviz.domain.crs import DEGREES
from dpviz.domain.zones import ZONE
from dpviz.errors import ReleaseError
from dpviz.lists import listed
from dpviz.methods import method_with
from dpviz.methods.points.declared import Declared
from dpviz.planning.code import FILE, WORKLOAD, Code, arguments, options_of, shell
from dpviz.queries.wishes import parse_all
from dpviz.releases.areas.area_file import NUMBERED
from dpviz.releases.areas.source import words_of
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas, is_points
from dpviz.releases.header import Header
from dpviz.releases.points.promises import KEY as PROMISES

AREAS = "AREAS"
"""Where the name of the file of areas is not known."""

CALLED = {"value": "sum"}
"""Arguments of a domain whose option of the command has another name."""

_RECORD = "(?:record|sequence|trip|event)"
_BOUNDED = re.compile(rf"one (?:'({_RECORD})'|(.+)) with at most ([0-9]{{1,18}}) {_RECORD}s?")
"""A column that is called as a record is stands in quotes."""


@dataclass(frozen=True, kw_only=True)
class Script(Code):
    """Command and Python that build a release of points or areas.

    If the source is built in, ``domain`` is its own.

    Attributes:
        domain: public.
        wishes: in words.
        unit, max_per_unit: the column of the privacy unit, and the bound.
        bits: of a public grid that records are moved to.
        areas: a file of areas that are counted in place of cells, or ``h3:8`` or ``rect=W,S,E,N``.
        levels: columns of that file that name its areas, the finest last; one names them alone.
        sum_share: of epsilon, for sums of values; None for the usual one.
        table: the layer or sheet of the file that holds them, where it has several.
        workload: that was declared; of queries without the file that held them.
    """

    domain: Domain
    wishes: Sequence[str] = ()
    unit: str | None = None
    max_per_unit: int = 1
    bits: int | None = None
    areas: str | None = None
    levels: Sequence[str] = ()
    sum_share: float | None = None
    table: str | None = None
    workload: Declared | None = None

    @classmethod
    def of(
        cls,
        release: PointRelease | AreaRelease,
        source: str | None = None,
        seed: int | None = None,
        areas: str | None = None,
    ) -> Script:
        """Return the command and Python that made a release, from its header.

        Args:
            release: of points or of areas.
            source: its records, where the reader knows them.
            seed: of a simulation, where the reader knows it.
            areas: the file of its areas, where the reader knows it.

        Raises:
            ReleaseError: made from another release, or seeded though it is not simulated.
            ParameterError: a header that names a method or a parameter that there is not.
        """
        header = release.header
        if {"marginal", "period", "kind"} & set(header.extra):
            raise ReleaseError("a part of another release is not built: ask for the code of that")
        of_points = is_points(release)  # areas are built without a workload
        workload = Declared.from_dict(header.extra.get("workload")) if of_points else None
        settings = settings_of(header, release.kind, seed, workload)
        known = DATASETS.get(header.source)
        if source is None and header.synthetic and known is not None:
            source = header.source
        return cls(
            domain=release.domain,
            wishes=_promises(header),
            source=source,
            dataset=dataset_of(header, source),
            builtin=header.synthetic and known is not None and known.domain == release.domain,
            public="records" in header.extra,
            bits=_whole(header.extra.get("bits")),
            sum_share=_sum_share(header),
            workload=workload,
            notation=header.extra.get("notation", {}),
            **settings,
            **_areas(release, areas),
            **unit_of(header),
        )

    def command(self, output: str = "release.parquet") -> str:
        """``dpviz build``, as a shell takes it."""
        options: list[tuple[str, Any]] = []
        if not self.builtin:
            stated = {"bounds": self.domain.place.bounds, **self._stated()}
            stated |= self._notation
            options += options_of({CALLED.get(name, name): each for name, each in stated.items()})
            options += [("--bits", self.bits)] if self.bits else []
        options += [("--table", self.table)] if self.table else []
        options += [("--areas", self.areas)] if self.areas else []
        if self.levels:
            several = ("--levels", listed(self.levels))
            options.append(several if self.levels[1:] else ("--name", self.levels[0]))
        if self.unit is not None:
            options += [("--unit", self.unit), ("--max-per-unit", self.max_per_unit)]
        options += self._method_options()
        if self.workload is not None:
            options.append(("--workload", self.workload.text or WORKLOAD))
        options += [("--sum-share", self.sum_share)] if self.sum_share is not None else []
        options += self._noise_options()
        options += [("--want", wish) for wish in self.wishes]
        options.append(("--output", output))
        flags = ["--public"] if self.simulated or (self.public and not self.builtin) else []
        return shell(["dpviz", "build", self.source or FILE], options, flags)

    def _lines(self) -> list[str]:
        reading = self._notation
        if self.unit is not None:
            reading |= {"unit": self.unit, "max_per_unit": self.max_per_unit}
        reading |= {"public": True} if self.public and not self.builtin else {}
        reading |= {"bits": self.bits} if self.bits and not self.builtin else {}
        reading |= {"table": self.table} if self.table else {}
        reading |= self._paid_as
        given: dict[str, Any] = {"areas": self.areas} if self.areas and not self.levels else {}
        given |= {"wishes": list(self.wishes)} if self.wishes else {}
        given |= {"sum_share": self.sum_share} if self.sum_share is not None else {}
        lines = [] if self.builtin else [f"domain = {self._domain()}"]
        source = [repr(self.source or FILE), *([] if self.builtin else ["domain"])]
        lines.append(f"data = dpviz.load({', '.join([*source, *arguments(reading)])})")
        if self.levels:
            named = {"levels": tuple(self.levels)}
            (columns,) = arguments(named if self.levels[1:] else {"name_column": self.levels[0]})
            lines.append(f"areas = dpviz.read_areas({self.areas!r}, data.domain, {columns})")
        if self.workload is not None and self.workload.text is None:
            rectangles = f"np.loadtxt({WORKLOAD!r}, delimiter=',', skiprows=1, ndmin=2)"
            lines += ["import numpy as np", f"queries = {rectangles}"]
        elif self.workload is not None:
            given |= {"workload": self.workload.text}
        words = ["areas=areas"] if self.levels else []
        words += ["workload=queries"] if lines[-1].startswith("queries") else []
        return [*lines, self._built(words, given)]

    def _domain(self) -> str:
        domain, place, stated = self.domain, self.domain.place, arguments(self._stated())
        if domain.time is None and domain.kinds is None and domain.values is None:
            return f"dpviz.Domain({', '.join([repr(place.lower), repr(place.upper), *stated])})"
        return f"dpviz.Domain.from_bounds({', '.join([repr(list(place.bounds)), *stated])})"

    def _stated(self) -> dict[str, Any]:
        """Domain options other than bounds and defaults, for :meth:`Domain.from_bounds`."""
        domain, place = self.domain, self.domain.place
        usual = {"columns": default_columns(place.dims), "crs": DEGREES, "zone": ZONE}
        stated: dict[str, Any] = {"columns": place.columns, "crs": place.crs}
        if domain.time is not None:
            period = domain.period if domain.span is None else domain.span
            words = map(calendar.Calendar(domain.zone).words, period)
            worth = None if domain.hour_worth is None else f"{domain.hour_worth:.15g}m"
            stated |= {"time": domain.time, "period": tuple(words), "zone": domain.zone}
            stated |= {"cycle": domain.cycle, "hour_worth": worth}
            stated["every"] = calendar.step_text(domain.step) if domain.step else None
        if domain.kinds is not None:
            stated |= {"kind": domain.kinds.column, "kinds": domain.kinds.names}
        if domain.values is not None:
            clip = domain.values.low, domain.values.high
            stated |= {"value": domain.values.column, "clip": clip, "grid": domain.values.grid}
        return {name: each for name, each in stated.items() if each not in (None, usual.get(name))}

    @property
    def _question(self) -> str:
        return f"release.count({list(self.domain.bounds)!r})"


def _areas(release: PointRelease | AreaRelease, path: str | None) -> dict[str, Any]:
    """Source of a release's areas, and their columns; areas given in words need none."""
    if not is_areas(release):
        return {}
    areas = release.frame
    if (words := words_of(areas)) is not None:
        return {"areas": words}
    numbered = areas.levels == (NUMBERED,)
    return {"areas": path or AREAS, "levels": () if numbered else areas.levels}


def _promises(header: Header) -> tuple[str, ...]:
    stated = header.extra.get(PROMISES)
    if not isinstance(stated, list) or not all(isinstance(each, str) for each in stated):
        return ()
    return tuple(str(wish) for wish in parse_all(stated))


def settings_of(
    header: Header, kind: str, seed: int | None, workload: Declared | None = None
) -> dict[str, Any]:
    """Return a header's method, ε and noise settings as arguments of :class:`Code`.

    Parameters at the method's defaults are left out, unless the workload sets them otherwise.

    Raises:
        ReleaseError: a seed for what is not simulated.
        ParameterError: a header that names a method or a parameter that there is not.
    """
    simulated = header.guarantee.startswith("NOT PRIVATE")
    if seed is not None and not simulated:
        raise ReleaseError("private noise is never repeated: leave the seed out")
    chosen = method_with(header.method, kind, header.parameters)
    plain = type(chosen)().parameters()
    follow = {} if workload is None else workload.following(header.method, {})
    return {
        "method": header.method,
        "parameters": {
            name: value
            for name, value in chosen.parameters().items()
            if value != plain[name] or name in follow
        },
        "epsilon": header.epsilon,
        "neighbours": "replace" if header.neighbouring.startswith("replace") else "add-remove",
        "simulated": simulated,
        "seed": seed,
    }


def dataset_of(header: Header, source: str | None) -> str | None:
    """The ledger's name of the records, where it is not that of their file, if that is known.

    By the file's they would be paid for from an account of their own, once more.
    """
    from dpviz.private.ledger import account_key
    from dpviz.private.ledger.names import clean_name

    if source is None or not header.source:
        return None
    file = PurePath(source).name
    keys = {account_key(clean_name(each)) for each in (file, header.source)}
    return None if file and len(keys) == 1 else header.source


def unit_of(header: Header) -> dict[str, Any]:
    """The column of the privacy unit and its bound, as the header says them; nothing without."""
    match = _BOUNDED.fullmatch(header.unit)
    if match is None:
        return {}
    return {"unit": match[1] or match[2], "max_per_unit": int(match[3])}


def _sum_share(header: Header) -> float | None:
    """Share of ε spent on sums of values; None if it is the default half."""
    price = [row["epsilon"] for row in header.budget if row["purpose"] == "sums of values"]
    share = round(price[0] / header.epsilon, 6) if price else 0.5
    return None if share == 0.5 else share


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None
