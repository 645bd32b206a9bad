"""Figures of the papers, redone: each is one module with ``reproduce``, found by name.

Built-in public data and simulated noise only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpviz.errors import ParameterError
from dpviz.evaluation.figures import (
    attributes,
    coverage,
    districts,
    fanout,
    heights,
    hours,
    intervals,
    kdtrees,
    matching,
    medians,
)
from dpviz.evaluation.figures.report import Reproduction, Statement
from dpviz.progress import Progress, silent

_MODULES = (
    *(fanout, medians, kdtrees, heights, intervals),
    *(matching, districts, attributes, coverage, hours),
)
FIGURES: dict[str, Callable[[int, int, Progress], Reproduction]] = {
    module.__name__.rpartition(".")[2]: module.reproduce for module in _MODULES
}
"""What can be redone, from (repeats, seed, progress)."""

OUTPUTS = {module.__name__.rpartition(".")[2]: module.OUTPUTS for module in _MODULES}
"""What each writes."""


def reproduce(
    name: str,
    folder: Path,
    repeats: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Statement]:
    """Write ``NAME*.csv``, ``NAME*.png`` and ``NAME.md`` into a folder, over those of earlier runs.

    Returns:
        The papers' statements, and what we find.

    Raises:
        ParameterError: an unknown name, no such folder, fewer than one repetition, or other files
            in place of those that would be written.
        ReleaseError: likewise a folder, a ledger or a release that was paid for.
    """
    if name not in FIGURES:
        raise ParameterError(f"figure {name!r}: choose one of {', '.join(FIGURES)}")
    if not folder.is_dir():
        raise ParameterError(f"output {str(folder)!r}: the folder does not exist: create it first")
    if repeats < 1:
        raise ParameterError(f"repeats={repeats}: give at least 1")
    OUTPUTS[name].require_place(folder, name)
    redone = FIGURES[name](repeats, seed, progress or silent)
    redone.write(folder, name)
    return redone.statements
