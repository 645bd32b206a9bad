"""Audits of every registered method and preset, and the page that shows them."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from dpviz.errors import ParameterError
from dpviz.evaluation.audit import SUBJECTS, Audit, audit, tiny
from dpviz.evaluation.rows import markdown
from dpviz.evaluation.workers import finished
from dpviz.methods import METHODS, names, of_kind
from dpviz.methods.registry import Method
from dpviz.methods.roads.base import COMBINATIONS
from dpviz.progress import Progress


def settings(kind: str = "points") -> list[str]:
    """Every registered method of a kind by name, then its presets that audit anything else.

    >>> [name for name in settings() if name.startswith("kd")]
    ['kd_pure', 'kd_true', 'kdtree', 'kd-hybrid', 'kd-cell', 'kd-noisymean']
    >>> settings("sequences")
    ['markov', 'ngram', 'topk_em', 'trips', 'truncate']
    >>> settings("roads")[-4:]
    ['flows', 'gs', 'normalization', 'min+opt+tru']
    """
    words, seen = [], []
    presets = [(name, *cls.presets) for name, cls in sorted(of_kind(kind).items())]
    for word in (*itertools.chain(*presets), *(COMBINATIONS if kind == "roads" else ())):
        if tiny(word, kind) not in seen:
            seen.append(tiny(word, kind))
            words.append(word)
    return words


STEERING = ("axes", "looks", "switch")
"""Whole-number parameters that steer a method; :func:`small` keeps the others, sizes, small."""

FAR = 100.0
"""A threshold beyond is never reached by an audit's records, and far below zero all is split."""


def extremes() -> list[str]:
    """Every method that claims privacy, with one parameter at an end or at another choice.

    >>> [word for word in extremes() if word.startswith("agrid")]
    ['agrid alpha=0.05', 'agrid alpha=0.95']
    """
    words = []
    kinds = ("points", "sequences", "areas")
    for name in itertools.chain(*(sorted(of_kind(kind)) for kind in kinds)):
        plain = small(name)
        for key, field in METHODS[name].parameter_fields().items():
            limits, value = field.metadata["parameter"], plain.parameters()[key]
            whole = str(field.type).startswith("int")
            ends: list[Any] = list(limits.choices) or [limits.low, limits.high]
            if isinstance(value, bool):
                ends = [False, True]
            elif not limits.choices and (key not in STEERING if whole else limits.high > FAR):
                ends = [] if whole else [max(0.0, limits.low), FAR]
            elif key == "axes":
                ends = [1, 2]
            for end in ends:
                word = f"{name} {key}={end:g}" if isinstance(end, float) else f"{name} {key}={end}"
                if end != value and small(word).private:
                    words.append(word)
    return words


def group(name: str) -> list[str] | None:
    """The settings that a name stands for, or None: one of four groups."""
    groups = {
        "all": lambda: list(itertools.chain(*map(settings, SUBJECTS))),
        "sequences": lambda: settings("sequences"),
        "roads": lambda: settings("roads"),
        "extremes": extremes,
    }
    return groups[name.lower()]() if name.lower() in groups else None


def small(word: str, /, **parameters: Any) -> Method:
    """The method of a setting, on data of any kind, with small builds.

    Args:
        word: a name, and after it parameters as ``key=value`` between spaces.
        **parameters: more of them.

    Raises:
        ParameterError: an unknown name or parameter, or a value out of range.
    """
    word, *pairs = word.split() or [word]
    parameters = {**dict(pair.partition("=")[::2] for pair in pairs), **parameters}
    if pairs:
        parameters = {**_low(word), **parameters}
    known = {each.lower(): METHODS[name].kind for each, (name, _) in names().items()}
    kind = "roads" if "+" in word else known.get(word.lower())
    if kind is None:
        near = difflib.get_close_matches(word, names(), 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see dpviz methods, or sequences"
        raise ParameterError(f"unknown method {word!r}: {hint}")
    method: Method = tiny(word, kind, **parameters)
    return method


def _low(name: str) -> dict[str, Any]:
    """A tree of few levels, whatever a parameter at its end makes of it."""
    fields = METHODS[name].parameter_fields() if name in of_kind("points") else {}
    return {"max_depth": 4} if "max_depth" in fields else {}


def audit_all(
    words: Sequence[str],
    epsilon: float,
    *,
    trials: int,
    confidence: float,
    seed: int = 0,
    processes: int = 2,
    progress: Progress | None = None,
) -> Generator[tuple[str, Audit], None, None]:
    """Audits of many settings, as they are finished.

    Args:
        words: of a :func:`group`.
        epsilon: the claim to test, for every one.
        trials: runs on each of two inputs.
        confidence: of each bound.
        seed: of the simulated noise.
        processes: worker processes; 0 audits in this one.
        progress: called with the share of the audits that are done.
    """
    work = partial(_one, epsilon=epsilon, trials=trials, confidence=confidence, seed=seed)
    for done, (word, result) in enumerate(finished(work, words, processes), 1):
        if progress is not None:
            progress(done / len(words), word)
        yield word, result


def _one(word: str, **options: Any) -> tuple[str, Audit]:
    return word, audit(small(word), **options)


HEAD = (
    *("method", "claim", "lower bound", "structure's loss", "verdict", "inputs", "event"),
    "P(event), more and less likely",
)


def table(results: Sequence[tuple[str, Audit]]) -> list[str]:
    """A Markdown table of settings and their audits, those without a claim first."""
    rows = []
    for word, each in sorted(results, key=lambda result: (small(result[0]).private, result[0])):
        structure = "" if each.structure_epsilon is None else f"{each.structure_epsilon:.3f}"
        claim = f"{each.epsilon:g}" if small(word).private else "NOT PRIVATE"
        verdict = f"**over {each.epsilon:g}**" if each.violates else "not refuted"
        chances = ", ".join(f"{each:.3%}" for each in each.probabilities)
        bound = f"{each.epsilon_lower_bound:.3f}"
        rows.append([f"`{word}`", claim, bound, structure, verdict, each.neighbours, each.event])
        rows[-1].append(chances)
    return markdown(HEAD, rows)
