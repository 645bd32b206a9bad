"""Audits of every registered method and preset, and the page that shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from dpviz.errors import DataError
from dpviz.evaluation.audit import Audit, audit, tiny
from dpviz.evaluation.figures.report import write_file
from dpviz.methods import METHODS
from dpviz.progress import Progress


def settings() -> list[str]:
    """Every registered method by name, then its presets that audit anything else.

    >>> [name for name in settings() if name.startswith("kd")]
    ['kd_pure', 'kd_true', 'kdtree', 'kd-hybrid', 'kd-cell', 'kd-noisymean']
    """
    found = []
    for name, kind in sorted(METHODS.items()):
        seen = []
        for word in (name, *kind.presets):
            if tiny(word) not in seen:
                seen.append(tiny(word))
                found.append(word)
    return found


def audit_all(
    epsilon: float,
    *,
    trials: int,
    confidence: float,
    seed: int = 0,
    processes: int = 2,
    progress: Progress | None = None,
) -> Iterator[tuple[str, Audit]]:
    """Audits of all :func:`settings`, as they are finished.

    Args:
        epsilon: the claim to test, for every one.
        trials: runs on each of two inputs.
        confidence: of each bound.
        seed: of the simulated noise.
        processes: worker processes, at least 1.
        progress: called with the share of the audits that are done.
    """
    import multiprocessing

    words = settings()
    pool = ProcessPoolExecutor(max(1, processes), multiprocessing.get_context("spawn"))
    try:
        running = {pool.submit(_one, word, epsilon, trials, confidence, seed) for word in words}
        for done, future in enumerate(as_completed(running), 1):
            word, found = future.result()
            if progress is not None:
                progress(done / len(words), word)
            yield word, found
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(word: str, epsilon: float, trials: int, confidence: float, seed: int) -> tuple[str, Audit]:
    os.environ["NUMBA_NUM_THREADS"] = "1"  # the workers share the cores already
    return word, audit(tiny(word), epsilon, trials=trials, confidence=confidence, seed=seed)


def page(found: Sequence[tuple[str, Audit]], command: str) -> str:
    """A Markdown page of audits that share ε, trials and confidence; accused methods first."""
    first = found[0][1]
    claimed = {word: tiny(word).private for word, _ in found}
    order = {word: at for at, word in enumerate(settings())}
    rows = sorted(found, key=lambda row: (claimed[row[0]], order[row[0]]))
    missing = [word for word in settings() if word not in claimed]
    wrong = [word for word, each in rows if each.violates and claimed[word]]
    lines = [
        "# Lower bounds on the real ε",
        "",
        (
            "Every registered method, its presets included"
            if not missing
            else "SO FAR WITHOUT " + ", ".join(missing)
        )
        + f", at ε = {first.epsilon:g}: "
        f"{first.trials:,} runs on each of two neighbouring inputs that were chosen to hurt it, "
        f"each bound at confidence {first.confidence:g}. A bound above ε refutes a claim; a bound "
        "below proves nothing, but near ε it shows that the audit has power. Parameters are those "
        "that make builds small; the structure's loss is calculated, not sampled. Made by",
        "",
        f"    uv run dpviz {command}",
        "",
        f"Of the {sum(claimed.values())} settings that claim ε-DP "
        + ("none is refuted." if not wrong else f"THESE ARE REFUTED: {', '.join(wrong)}."),
        "",
        "| method | claim | lower bound | structure's loss | verdict | inputs | event "
        "| P(event), more and less likely |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(word, each, claimed[word]) for word, each in rows]
    return "\n".join(lines) + "\n"


def _row(word: str, each: Audit, claimed: bool) -> str:
    structure = "" if each.structure_epsilon is None else f"{each.structure_epsilon:.3f}"
    claim = f"{each.epsilon:g}" if claimed else "NOT PRIVATE"
    verdict = f"**over {each.epsilon:g}**" if each.violates else "not refuted"
    more, fewer = each.probabilities
    cells = (
        *(f"`{word}`", claim, f"{each.epsilon_lower_bound:.3f}", structure, verdict),
        *(each.neighbours, each.event, f"{more:.3%}, {fewer:.3%}"),
    )
    return "| " + " | ".join(cells) + " |"


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write the page, whole or not at all.

    Raises:
        DataError: the folder does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"{path.name}: the output folder does not exist: create it first")
    write_file(path, text.encode())
