"""Audits of every registered method and preset, and the page that shows them."""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

from dpviz.errors import ParameterError
from dpviz.evaluation.area_audit import AreaBench
from dpviz.evaluation.audit import Audit, MethodBench, PointBench, tiny
from dpviz.evaluation.road_audit import RoadBench
from dpviz.evaluation.sequence_audit import SequenceBench
from dpviz.evaluation.workers import worker_pool
from dpviz.methods import METHODS, names, of_kind
from dpviz.methods.registry import Method
from dpviz.methods.roads.base import COMBINATIONS
from dpviz.progress import Progress

OVER = "**over"
"""How the verdict on a refuted claim begins."""


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


BENCHES: dict[str, type[MethodBench[Any, Any]]] = {
    "points": PointBench,
    "sequences": SequenceBench,
    "areas": AreaBench,
    "roads": RoadBench,
}
"""By kind, what runs its methods."""

STEERING = ("axes", "switch")
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
        "all": lambda: list(itertools.chain(*map(settings, BENCHES))),
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


def audited(method: Method, epsilon: float, **options: Any) -> Audit:
    """The audit of a method of any of these kinds; see :func:`dpviz.evaluation.audit.audit`."""
    return BENCHES[method.kind].audit(method, epsilon, **options)


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
        processes: worker processes, at least 1.
        progress: called with the share of the audits that are done.
    """
    pool = worker_pool(max(1, processes))
    try:
        running = {pool.submit(_one, word, epsilon, trials, confidence, seed) for word in words}
        for done, future in enumerate(as_completed(running), 1):
            word, result = future.result()
            if progress is not None:
                progress(done / len(words), word)
            yield word, result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(word: str, epsilon: float, trials: int, confidence: float, seed: int) -> tuple[str, Audit]:
    result = audited(small(word), epsilon, trials=trials, confidence=confidence, seed=seed)
    return word, result


def page(
    results: Sequence[tuple[str, Audit]], command: str, others: Mapping[str, str] | None = None
) -> str:
    """A Markdown page of audits that share ε, trials and confidence; refuted methods first.

    Args:
        results: settings and their audits.
        command: that made them.
        others: rows of other settings, from :func:`existing_rows`.
    """
    first = results[0][1]
    words = group("all") or []
    rows = {**(others or {}), **{word: _row(word, each) for word, each in results}}
    claimed = {word: small(word).private for word in rows}
    ordered = sorted(rows, key=lambda word: (claimed[word], words.index(word)))
    missing = [word for word in words if word not in rows]
    wrong = [word for word in ordered if OVER in rows[word] and claimed[word]]
    lines = [
        "# Lower bounds on the real ε",
        "",
        (
            "Every registered method on points, sequences, areas and roads, presets included"
            if not missing
            else "SO FAR WITHOUT " + ", ".join(missing)
        )
        + f", {_settled(first)} "
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
    lines += [rows[word] for word in ordered]
    return "\n".join(lines) + "\n"


def existing_rows(path: str | os.PathLike[str], like: Audit) -> dict[str, str]:
    """Rows of a page that exists, by setting: an audit is repeatable, so they need no new run.

    Raises:
        ParameterError: the page is of other audits than ``like``.
    """
    path = Path(path)
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    if _settled(like) not in text or f"confidence {like.confidence:g}." not in text:
        raise ParameterError(f"{path.name} holds audits of another ε or size: choose another page")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    return {word: line for word, line in rows.items() if word in (group("all") or [])}


def _settled(each: Audit) -> str:
    return (
        f"at ε = {each.epsilon:g}: {each.trials:,} runs on each of two neighbouring inputs that "
        "are the worst case we know for it,"
    )


def _row(word: str, each: Audit) -> str:
    claimed = small(word).private
    structure = "" if each.structure_epsilon is None else f"{each.structure_epsilon:.3f}"
    claim = f"{each.epsilon:g}" if claimed else "NOT PRIVATE"
    verdict = f"{OVER} {each.epsilon:g}**" if each.violates else "not refuted"
    more, fewer = each.probabilities
    cells = (
        *(f"`{word}`", claim, f"{each.epsilon_lower_bound:.3f}", structure, verdict),
        *(each.neighbours, each.event, f"{more:.3%}, {fewer:.3%}"),
    )
    return "| " + " | ".join(cells) + " |"
