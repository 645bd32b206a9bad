"""The command and the Python that build what was planned."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.wishes import Wish


def words_of(options: Sequence[tuple[str, Any]]) -> list[str]:
    """Options as words; a value that begins with a minus is tied to its option."""
    words: list[str] = []
    for name, value in options:
        words += [f"{name}={value}"] if str(value).startswith("-") else [name, str(value)]
    return words


def command_of(
    domain: Domain,
    method: str,
    parameters: Mapping[str, Any],
    epsilon: float,
    wishes: Sequence[Wish],
    source: str | None,
    unit: str | None,
    max_per_unit: int,
) -> str:
    """``dpviz build`` of a plan."""
    options: list[tuple[str, Any]] = [
        ("--bounds", ",".join(f"{side:.12g}" for side in domain.bounds)),
        *([("--crs", domain.crs)] if domain.crs != "EPSG:4326" else []),
        ("--method", method),
        *(("--set", f"{name}={value:g}") for name, value in parameters.items()),
        ("--epsilon", f"{epsilon:g}"),
        *_unit_options(unit, max_per_unit),
        *(("--want", str(wish)) for wish in wishes),
        ("--output", "release.parquet"),
    ]
    return shlex.join(["dpviz", "build", source or "FILE", *words_of(options)])


def _unit_options(unit: str | None, max_per_unit: int) -> list[tuple[str, Any]]:
    if unit is None and max_per_unit == 1:
        return []
    return [("--unit", unit or "COLUMN"), ("--max-per-unit", max_per_unit)]


def python_of(
    domain: Domain,
    method: str,
    parameters: Mapping[str, Any],
    epsilon: float,
    wishes: Sequence[Wish],
    source: str | None,
    unit: str | None,
    max_per_unit: int,
) -> str:
    """The same in Python."""
    crs = "" if domain.crs == "EPSG:4326" else f", crs={domain.crs!r}"
    reading = ""
    if unit is not None or max_per_unit > 1:
        reading = f", unit={unit or 'COLUMN'!r}, max_per_unit={max_per_unit}"
    given = "".join(f", {name}={value!r}" for name, value in parameters.items())
    return "\n".join(
        [
            "import dpviz",
            "",
            f"domain = dpviz.Domain({domain.lower}, {domain.upper}{crs})",
            f"data = dpviz.load({source or 'FILE'!r}, domain{reading})",
            f"wishes = {[str(wish) for wish in wishes]!r}",
            f"release = dpviz.build(data, {method!r}, {epsilon!r}, wishes=wishes{given})",
            'release.save("release.parquet")',
        ]
    )
