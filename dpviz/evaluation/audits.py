"""Audits of every registered method and preset, and the page that shows them."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from dpviz.errors import ParameterError
from dpviz.evaluation.audit import SUBJECTS, Audit, audit, small_builds
from dpviz.evaluation.rows import markdown
from dpviz.methods import METHODS, names, of_kind
from dpviz.methods.registry import Method
from dpviz.methods.roads.base import COMBINATIONS
from dpviz.progress import Progress, part_of


def settings(kind: str = "points") -> list[str]:
    """Every registered method of a kind by name, then its presets that audit anything else.

    >>> [name for name in settings() if name.startswith("kd")]
    ['kd_pure', 'kd_true', 'kdtree', 'kd-hybrid', 'kd-cell', 'kd-noisymean']
    >>> settings("sequences")
    ['markov', 'ngram', 'topk_em', 'truncate']
    >>> settings("roads")[-4:]
    ['flows', 'gs', 'normalization', 'min+opt+tru']
    """
    words, seen = [], []
    presets = [(name, *cls.presets) for name, cls in sorted(of_kind(kind).items())]
    for word in (*itertools.chain(*presets), *(COMBINATIONS if kind == "roads" else ())):
        if small_builds(word, kind) not in seen:
            seen.append(small_builds(word, kind))
            words.append(word)
    return words


def group(name: str) -> list[str] | None:
    """The settings that a name stands for, or None where it names a method."""
    name = name.lower()
    if name == "all":
        return list(itertools.chain(*map(settings, SUBJECTS)))
    return settings(name) if name in ("sequences", "roads") else None


def small_method(name: str, /, **parameters: Any) -> Method:
    """The method of a name or preset, on data of any kind, with small builds."""
    known = {each.lower(): METHODS[method].kind for each, (method, _) in names().items()}
    kind = "roads" if "+" in name else known.get(name.lower())
    if kind is None:
        near = difflib.get_close_matches(name, names(), 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see dpviz methods, or sequences"
        raise ParameterError(f"unknown method {name!r}: {hint}")
    method: Method = small_builds(name, kind, **parameters)
    return method


def audit_all(
    words: Sequence[str],
    epsilon: float,
    parameters: Mapping[str, Any] | None = None,
    *,
    progress: Progress | None = None,
    **how: Any,
) -> Generator[tuple[str, Audit], None, None]:
    """Audits of settings, as they are finished; ``how`` as for :func:`audit`."""
    for at, word in enumerate(words):
        report = None if progress is None else part_of(progress, at, len(words))
        yield word, audit(small_method(word, **(parameters or {})), epsilon, progress=report, **how)


HEAD = (
    *("method", "claim", "lower bound", "structure's loss", "verdict", "inputs", "event"),
    "P(event), more and less likely",
)


def table(results: Sequence[tuple[str, Audit]]) -> list[str]:
    """A Markdown table of settings and their audits, those without a claim first."""
    rows = []
    for word, each in sorted(
        results, key=lambda result: (small_method(result[0]).private, result[0])
    ):
        structure = "" if each.structure_epsilon is None else f"{each.structure_epsilon:.3f}"
        claim = f"{each.epsilon:g}" if small_method(word).private else "NOT PRIVATE"
        verdict = f"**over {each.epsilon:g}**" if each.violates else "not refuted"
        chances = ", ".join(f"{each:.3%}" for each in each.probabilities)
        bound = f"{each.epsilon_lower_bound:.3f}"
        rows.append([f"`{word}`", claim, bound, structure, verdict, each.neighbours, each.event])
        rows[-1].append(chances)
    return markdown(HEAD, rows)
