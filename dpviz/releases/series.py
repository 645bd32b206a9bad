"""A series: releases of days, weeks and four weeks of one table of areas, read as one.

A *node* is a release of one day, week or four weeks. Windows and running totals are sums of nodes
with the least variance (generalised least squares over the nodes of each four weeks), so a later
node may revise them; with ``final`` they are sums of nodes inside the window only, which are never
revised. Everything here sees releases only, so it costs no ε.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, Context, Decimal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpviz.checks import require_path
from dpviz.errors import DomainError, ParameterError, ReleaseError
from dpviz.lazy import pd, shapely
from dpviz.releases.answers import INTERVAL_SDS, MAX_SHOWN_ROWS, interval
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.table import SUM_COLUMNS, part_counts, part_sums, row_named
from dpviz.releases.counts import AreaRelease
from dpviz.releases.files import reading
from dpviz.releases.joint import EXACT, Estimate
from dpviz.releases.store import read
from dpviz.roads.forest import TINY
from dpviz.trees.lattice import Float, Int

SHARES = {1: "0.327", 7: "0.26", 28: "0.413"}
"""Share of ε of the nodes of each length in days: the cube root of the mean number of such nodes in
a running total of a year, which makes its variance least. They add up to one exactly."""

EVERY = {1: "1d", 7: "1w", 28: "4w"}
"""The step of time of a node, by its length in days; all but single days begin on Mondays."""

BLOCK = 28
MONDAY = 4
"""Number of the day on which the first four weeks after 1970-01-01 begin."""

FILE = re.compile(r"\d{4}-\d\d-\d\d-(1|7|28)d\.parquet")
KEY = "series"
"""Key of a header's ``extra`` for the series that a release belongs to."""

Node = tuple[int, int]
"""Number of the first day since 1970, and number of days."""


def prices(epsilon: float) -> dict[int, float]:
    """ε of a node by its length in days; they add up to at most ε, in exact decimals.

    >>> prices(2.0)
    {1: 0.654, 7: 0.52, 28: 0.826}
    """
    down = Context(prec=12, rounding=ROUND_DOWN)
    whole = Decimal(repr(epsilon))
    return {days: float(down.multiply(whole, Decimal(each))) for days, each in SHARES.items()}


def finished_nodes(start: int, until: int) -> list[Node]:
    """All nodes inside the days from ``start`` to before ``until``, by end, shortest first.

    >>> finished_nodes(4, 12)[6:]
    [(10, 1), (4, 7), (11, 1)]
    """
    nodes = [
        (first, days)
        for days in SHARES
        for first in range(start, until - days + 1)
        if days == 1 or (first - MONDAY) % days == 0
    ]
    return sorted(nodes, key=lambda node: (sum(node), node[1]))


def file_name(node: Node) -> str:
    """Name of a node's file, by its first day and its length.

    >>> file_name((19783, 7))
    '2024-03-01-7d.parquet'
    """
    return f"{day_text(node[0])}-{node[1]}d.parquet"


def day_text(day: int) -> str:
    """Text of a day in ISO 8601, from its number since 1970."""
    return str(np.datetime64(day, "D"))


def day_number(text: str) -> int:
    """Number of a day since 1970, from ISO 8601.

    Raises:
        DomainError: not a date.
    """
    try:
        return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
    except (TypeError, ValueError):
        raise DomainError(f"day {text!r}: give one such as 2024-03-01") from None


def identity(facts: Any) -> str:
    """Hash of plain values, such as the areas, or the frame by which the ledger knows a series."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def area_facts(areas: Areas) -> list[Any]:
    """Plain values of everything that decides which area a record is in."""
    shapes = shapely.to_wkb(areas.shapes, hex=True).tolist()
    return [areas.facts(), areas.names, areas.parent.tolist(), shapes]


def node_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Files of nodes in a folder, by name; none if there is no such folder."""
    return sorted(each for each in Path(folder).glob("*.parquet") if FILE.fullmatch(each.name))


def node_facts(release: AreaRelease, file: Path) -> dict[str, Any]:
    """Facts in the header of a node: ``frame``, ``file`` and ``known_on``.

    Raises:
        ReleaseError: the release is of no series, or its file was renamed.
    """
    stated = release.header.extra.get(KEY)
    if not isinstance(stated, dict) or not isinstance(stated.get("frame"), dict):
        raise ReleaseError(f"{file.name}: no release of a series: move it to another folder")
    if stated.get("file") != file.name:
        raise ReleaseError(f"{file.name} was called {stated.get('file')!r}: give its name back")
    return stated


def series_frame(areas: Areas, **facts: Any) -> dict[str, Any]:
    """Facts that all releases of a series share: plain values, with a hash of the areas."""
    return {**facts, "areas": identity(area_facts(areas))}


def require_frame(folder: str | os.PathLike[str], frame: dict[str, Any]) -> None:
    """Refuse a folder that holds a series with another frame.

    Raises:
        ParameterError: areas, kinds, zone, unit, bound, start or ε differ.
    """
    for file in node_files(folder)[:1]:
        before = node_facts(read(file, "areas"), file)["frame"]
        for name in (each for each, now in frame.items() if before.get(each) != now):
            was = "other areas" if name == "areas" else f"{name} {before.get(name)!r}"
            raise ParameterError(
                f"folder {Path(folder).name!r} holds a series with {was}: give the same, or a new "
                "folder"
            )


def weights(nodes: Int, variance: Float, windows: Int, *, final: bool = False) -> Float:
    """Weights of nodes in the best unbiased estimates of windows, float64 (n, w).

    Args:
        nodes: first day and number of days of each, (n, 2).
        variance: variance of each node's count, (n,).
        windows: first day of each window, and the first day after it, (w, 2).
        final: True for sums of the largest nodes inside the window only.

    Returns:
        NaN for a window that does not follow from these nodes.
    """
    result = np.zeros((len(nodes), len(windows)))
    of_node, of_window = (nodes[:, 0] - MONDAY) // BLOCK, (windows - [MONDAY, MONDAY + 1]) // BLOCK
    blocks = np.unique(of_window)
    for block in range(*(blocks[[0, -1]] + [0, 1])) if len(blocks) else ():
        rows = np.flatnonzero(of_node == block)
        which = np.flatnonzero((of_window[:, 0] <= block) & (block <= of_window[:, 1]))
        first, size = nodes[rows].T
        days = MONDAY + BLOCK * block + np.arange(BLOCK)[:, None]
        holds = ((first <= days) & (days < first + size)).astype(np.float64)
        wanted = ((windows[which, 0] <= days) & (days < windows[which, 1])).astype(np.float64)
        if final:
            inside = (holds.T @ wanted == size[:, None]).astype(np.float64)
            larger = (holds.T @ holds == size[:, None]) & (size > size[:, None])
            each = inside * (larger @ inside == 0)
        else:  # the smallest norm of weights times sds gives the smallest variance
            sd = np.sqrt(np.maximum(variance[rows], TINY))
            each = (np.linalg.pinv(holds / sd) @ wanted) / sd[:, None]
        result[np.ix_(rows, which)] = each
        result[:, which[(np.abs(holds @ each - wanted) > 1e-6).any(axis=0)]] = np.nan
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """Finished nodes of one series, with their estimates.

    Attributes:
        first: release of the first node; its areas, kinds and facts are those of all.
        nodes: first day since 1970 and number of days of each node, int64 (n, 2).
        counts: estimates, float64 (n, kinds or 1, areas).
        variance: noise variances, float64 (n, areas).
        sums: sums of values and the variances of their noise, likewise; None without values.
        known_on: the day on which each node's records were read: later records are not in it.
        charged: largest ε that the nodes charge to a day: more than the series states where clocks
            go back at midnight.
    """

    kind: ClassVar[str] = KEY
    first: AreaRelease
    nodes: Int
    counts: Float
    variance: Float
    known_on: tuple[str, ...]
    charged: float
    sums: tuple[Float, Float] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that all releases of the series share: see :func:`series_frame`."""
        shared: dict[str, Any] = self.first.header.extra[KEY]["frame"]
        return shared

    @property
    def start(self) -> int:
        """First day of running totals, since 1970."""
        return day_number(self.facts["start"])

    @property
    def areas(self) -> Areas:
        """The public partition."""
        return self.first.frame

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds; empty without kinds."""
        return self.first.kinds

    @property
    def until(self) -> int:
        """The first day after all nodes."""
        return int(self.nodes.sum(axis=1).max())

    def _repr_html_(self) -> str:
        """Windows and running totals that end last."""
        html: str = self.table(last=True).to_html(index=False, max_rows=MAX_SHOWN_ROWS)
        return html

    def count(
        self, area: str, period: Any, kind: str | None = None, *, final: bool = False
    ) -> Estimate:
        """Records of one area in whole days, with a 95 % interval for the noise.

        Args:
            area: name of an area.
            period: first day and the first one after the last, such as "2024-03-01,2024-03-08".
            kind: one kind; all together by default.
            final: True for a sum of nodes inside the period only.

        Raises:
            DataError: no such area.
            DomainError: an invalid period, days without a release, or no such kind.
        """
        row, ends = row_named(self.areas, area), period
        window = [*map(day_number, ends.split(",") if isinstance(ends, str) else ends)]
        if len(window) != 2 or window[0] >= window[1]:
            raise DomainError(f"period {period!r}: give two days, such as 2024-03-01,2024-03-08")
        if kind is not None and kind not in self.kinds:
            raise DomainError(f"no kind {kind!r}: choose one of {', '.join(self.kinds) or 'none'}")
        which = [self.kinds.index(kind)] if kind is not None else range(self.counts.shape[1])
        weight = weights(self.nodes, self.variance[:, -1], np.array([window]), final=final)[:, 0]
        if np.isnan(weight).any():
            raise DomainError(
                f"period {' to before '.join(map(day_text, window))}: some of its days have no "
                "release that answers it: choose days of the series, or a longer period"
            )
        value = float(weight @ self.counts[:, which, row].sum(axis=1))
        half = INTERVAL_SDS * float(np.sqrt(len(which) * (weight**2 @ self.variance[:, row])))
        return Estimate(value, value - half, value + half, EXACT)

    def table(self, *, last: bool = False, final: bool = False) -> pd.DataFrame:
        """Counts of windows and running totals of every area and kind, by the day they end on.

        Columns: level, name; kind; window (``7 days``, or ``running total``), start and end
        (exclusive); count, noise_sd, low, high; with values also sum, sum_sd, sum_low, sum_high;
        known_on. Windows that no release answers are left
        out.

        Args:
            last: True for only the windows that end on the last day.
            final: True for sums of nodes inside each window only.
        """
        ends = np.arange(self.until if last else self.start + 1, self.until + 1)
        spans = [(f"{days} day{'s' * (days > 1)}", ends - days) for days in SHARES]
        spans.append(("running total", np.full_like(ends, self.start)))
        blocks = [self._rows(name, np.c_[starts, ends], final) for name, starts in spans]
        return pd.concat(blocks, ignore_index=True)

    def _rows(self, name: str, windows: Int, final: bool) -> pd.DataFrame:
        windows = windows[windows[:, 0] >= self.start]
        weight = weights(self.nodes, self.variance[:, -1], windows, final=final)
        answered = ~np.isnan(weight).any(axis=0)
        weight, windows = weight[:, answered], windows[answered]
        _, kinds, areas = self.counts.shape
        read_on = np.array(self.known_on, dtype=object)
        last_read = [str(read_on[np.abs(each) > 1e-9].max()) for each in weight.T]
        times, every = len(windows) * kinds, kinds * areas
        columns: dict[str, Any] = {"level": np.tile(self.areas.level_of, times)}
        columns["name"] = [*self.areas.names] * times
        if self.kinds:
            columns["kind"] = np.tile(np.repeat(self.kinds, areas), len(windows))
        columns["window"] = name
        for at, side in enumerate(("start", "end")):
            columns[side] = np.repeat([*map(day_text, windows[:, at].tolist())], every)
        columns |= _added(weight, self.counts, self.variance)
        if self.sums is not None:
            added = _added(weight, *self.sums, whole=False)
            columns |= {each: added[of_count] for each, of_count in SUM_COLUMNS.items()}
        return pd.DataFrame(columns | {"known_on": np.repeat(np.array(last_read, object), every)})


def _added(
    weight: Float, values: Float, variance: Float, *, whole: bool = True
) -> dict[str, Float]:
    """Windows as weighted sums of nodes, with their intervals: (w·kinds·areas,) each."""
    n, kinds, _ = values.shape
    sd = np.repeat(np.sqrt((weight**2).T @ variance)[:, None], kinds, axis=1)
    return interval((weight.T @ values.reshape(n, -1)).ravel(), sd.ravel(), whole=whole)


def read_series(folder: str | os.PathLike[str]) -> Series:
    """Read all releases of a series in a folder.

    Raises:
        ReleaseError: no folder, none of its files is of a series, or they are of several series.
    """
    require_path(folder, ReleaseError)
    files = node_files(folder)
    if not files:
        raise ReleaseError(f"{Path(folder).name}: no series: 'dpviz series update' begins one")
    releases: list[AreaRelease] = [read(each, "areas") for each in files]
    stated = [*map(node_facts, releases, files)]
    for each, file in zip(stated, files, strict=True):
        if each["frame"] != stated[0]["frame"]:
            raise ReleaseError(
                f"{file.name} and {files[0].name} are of different series: keep one in each folder"
            )
    names = [file.stem.removesuffix("d").rpartition("-") for file in files]
    with reading(files[0].name):
        return Series(
            first=releases[0],
            nodes=np.array([(day_number(day), int(days)) for day, _, days in names]),
            counts=np.concatenate([part_counts(each).swapaxes(0, 1) for each in releases]),
            variance=np.stack([each.parts[0].nodes.variance for each in releases]),
            sums=_sums(releases),
            known_on=tuple(str(each["known_on"]) for each in stated),
            charged=_charged(releases),
        )


def _charged(releases: list[AreaRelease]) -> float:
    """Largest sum of ε of the releases that charge one day, in exact decimals."""
    charges: defaultdict[int, Decimal] = defaultdict(Decimal)
    for header in (each.header for each in releases):
        for day in range(*map(day_number, header.extra["calendar"]["days"])):
            charges[day] += Decimal(repr(header.epsilon))
    return float(max(charges.values()))


def _sums(releases: list[AreaRelease]) -> tuple[Float, Float] | None:
    firsts = [each.parts[0].sums for each in releases]
    known = [each.variance for each in firsts if each is not None]
    if len(known) < len(firsts):
        return None
    return np.concatenate([part_sums(each).swapaxes(0, 1) for each in releases]), np.stack(known)
