"""Audits: a lower bound on the real epsilon of a method, from repeated runs on neighbours.

A bound above the claim, at this confidence, refutes the claim; a bound below proves nothing. An
audit makes its own tiny data sets: it never sees real records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpviz.errors import ParameterError
from dpviz.evaluation.area_audit import area_subject, flow_subject
from dpviz.evaluation.exact import structure_loss, whole_loss
from dpviz.evaluation.point_audit import point_subject
from dpviz.evaluation.road_audit import road_subject
from dpviz.evaluation.search import Finding, Search
from dpviz.evaluation.sequence_audit import sequence_subject
from dpviz.evaluation.subject import Subject
from dpviz.methods import method_with
from dpviz.methods.registry import Method
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress

CONFIDENCE = 0.9999
"""The false-positive rate is at most 1e-4."""

MIN_EPSILON = 1e-4
"""The smallest claim that is tested: inputs hold records in proportion to 1/ε."""


@dataclass(frozen=True, kw_only=True)
class Audit(Finding):
    """The result of an audit.

    Attributes:
        epsilon: the claim; for a method without a guarantee, the claim of its paper.
        trials: runs on each input, search included.
        structure_epsilon: exact loss of the tree's structure, where it can be computed; it alone
            refutes a claim that it exceeds.
        exact_epsilon: exact loss of the whole release, where it can be computed: the same.
    """

    method: str
    epsilon: float
    delta: float
    confidence: float
    trials: int
    secure: bool
    structure_epsilon: float | None = None
    exact_epsilon: float | None = None

    @property
    def violates(self) -> bool:
        """True where the claim is refuted."""
        exact = self.structure_epsilon or 0.0, self.exact_epsilon or 0.0
        return max(self.epsilon_lower_bound, *exact) > self.epsilon


def small_builds(name: str, kind: str = "points", /, **parameters: Any) -> Any:
    """A method with the parameters that make its builds small, where ``parameters`` allow it."""
    cls = type(method_with(name, kind, parameters))
    return cls(**{**cls.tiny, **(cls.preset(name) or {}), **parameters})


SUBJECTS: dict[str, Callable[[Any, float], Subject]] = {
    "points": point_subject,
    "sequences": sequence_subject,
    "areas": area_subject,
    "flows": flow_subject,
    "roads": road_subject,
}
"""Subjects by kind of data, of a method and an epsilon."""


def audit(
    method: Method,
    epsilon: float = 1.0,
    *,
    trials: int = 40_000,
    confidence: float = CONFIDENCE,
    seed: int | None = 0,
    secure: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Try to refute a method's claim.

    Raises ParameterError: a claim below :data:`MIN_EPSILON`, fewer than 100 trials, or a confidence
    outside (0, 1).

    Args:
        method: a method of any kind with its parameters; see :func:`small_builds`.
        trials: runs on each of the two inputs, search included.
        confidence: confidence of the bound, for all events and inputs together.
        seed: seed of the simulated noise, whose distributions are those of the secure noise.
        secure: draw the noise of releases instead: slower, not repeatable.
    """
    epsilon = float(positive_epsilon(epsilon))
    if epsilon < MIN_EPSILON:
        raise ParameterError(f"epsilon={epsilon:g}: an audit needs at least {MIN_EPSILON:g}")
    subject = SUBJECTS[method.kind](method, epsilon)
    noise: Noise = SecureNoise() if secure else SimulatedNoise(seed)
    search = Search(subject, Budget(epsilon, method.delta), noise, trials, progress)
    return Audit(
        **vars(search.finding(confidence)),
        method=method.name,
        epsilon=epsilon,
        delta=method.delta,
        confidence=confidence,
        trials=trials,
        secure=secure,
        structure_epsilon=structure_loss(subject.structure),
        exact_epsilon=whole_loss(subject.structure),
    )
