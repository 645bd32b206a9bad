"""Figures of the papers, redone: each is one module with ``reproduce``, found by name.

Built-in public data and simulated noise only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpviz.errors import ParameterError
from dpviz.evaluation.figures import fanout, heights, kdtrees, matching, medians
from dpviz.evaluation.figures.report import Reproduction, Statement
from dpviz.progress import Progress, silent

FIGURES: dict[str, Callable[[int, int, Progress], Reproduction]] = {
    module.__name__.rpartition(".")[2]: module.reproduce
    for module in (fanout, medians, kdtrees, heights, matching)
}
"""Figures by name, as functions of (repeats, seed, progress)."""


def reproduce(
    name: str,
    folder: Path,
    repeats: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Statement]:
    """Write ``NAME*.csv``, ``NAME*.png`` and ``NAME.md`` into a folder that holds none of them.

    Returns the papers' statements, and what we find. Raises ParameterError: an unknown name, a
    missing folder, fewer than one repetition, or files in place of those that would be written.
    """
    if name not in FIGURES:
        raise ParameterError(f"figure {name!r}: choose one of {', '.join(FIGURES)}")
    if not folder.is_dir():
        raise ParameterError(f"output {str(folder)!r}: the folder does not exist: create it first")
    if repeats < 1:
        raise ParameterError(f"repeats={repeats}: give at least 1")
    for path in folder.glob(f"{name}*"):
        if path.suffix in {".csv", ".png", ".md"}:
            raise ParameterError(f"output {str(path)!r} exists: name another folder, or move it")
    redone = FIGURES[name](repeats, seed, progress or silent)
    redone.write(folder, name)
    return redone.statements
