"""Audits: a lower bound on the real epsilon of a method, from repeated runs on neighbours.

A bound above the claim, at this confidence, refutes the claim; a bound below proves nothing. An
audit makes its own tiny data sets: it never sees a record of anyone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from dpviz.domain import Domain, default_columns
from dpviz.errors import ParameterError
from dpviz.evaluation.events import feature_names, features
from dpviz.evaluation.exact import structure_loss, whole_loss
from dpviz.evaluation.neighbours import Neighbours, neighbours
from dpviz.evaluation.search import Bench, Case, Finding, finding
from dpviz.methods import method_with
from dpviz.methods.points.base import PointMethod
from dpviz.methods.registry import Method
from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.private.budget import Budget, positive_epsilon
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, SecureNoise, SimulatedNoise
from dpviz.progress import Progress

M = TypeVar("M", bound=Method)

CONFIDENCE = 0.9999
"""The false-positive rate is at most 1e-4."""

LEAST = 1e-4
"""The smallest claim that is tested: inputs hold records in proportion to 1/ε."""


@dataclass(frozen=True, kw_only=True)
class Audit(Finding):
    """What an audit found, and of what.

    Attributes:
        epsilon: the claim, or for a method without a guarantee what its paper claims.
        confidence: of the bound.
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
        """Whether the claim is refuted."""
        exact = self.structure_epsilon or 0.0, self.exact_epsilon or 0.0
        return max(self.epsilon_lower_bound, *exact) > self.epsilon


def tiny(name: str, kind: str = "points", /, **parameters: Any) -> Any:
    """A method with the parameters that make its builds small, where ``parameters`` allow it."""
    cls = type(method_with(name, kind, parameters))
    return cls(**{**cls.tiny, **(cls.preset(name) or {}), **parameters})


class MethodBench(Bench[Case], Generic[Case, M]):
    """A bench of builds of a method, with noise that is simulated or that of releases.

    Args:
        method: with its parameters.
        epsilon: the claim to test.
        trials, progress: see :class:`~dpviz.evaluation.search.Bench`.
        seed: of the simulated noise.
        secure: draw the noise of releases.
    """

    def __init__(
        self,
        method: M,
        epsilon: float,
        trials: int,
        seed: int | None,
        secure: bool,
        progress: Progress | None,
    ) -> None:
        super().__init__(trials, method.delta, progress)
        if positive_epsilon(epsilon) < LEAST:
            raise ParameterError(f"epsilon={epsilon:g}: an audit needs at least {LEAST:g}")
        self.method, self.epsilon, self.secure = method, float(epsilon), secure
        self.noise: Noise = SecureNoise() if secure else SimulatedNoise(seed)

    @property
    def budget(self) -> Budget:
        """Of one release."""
        return Budget(self.epsilon, self.delta)

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """The inputs that an audit tries."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Of the features, in words."""

    def structure(self) -> Structure | SharedThreshold | None:
        """The split decisions of a build, as far as their exact loss can be computed."""
        return None

    @classmethod
    def audit(
        cls,
        method: M,
        epsilon: float = 1.0,
        *,
        trials: int = 40_000,
        confidence: float = CONFIDENCE,
        seed: int | None = 0,
        secure: bool = False,
        progress: Progress | None = None,
    ) -> Audit:
        """Try to refute a method's claim.

        Args:
            method: with its parameters; ``tiny`` of its kind chooses some that make builds fast.
            epsilon: the claim to test.
            trials: runs on each of the two inputs, search included.
            confidence: of the bound, for all events and inputs together.
            seed: of the simulated noise, whose distributions are those of the secure noise.
            secure: draw the noise of releases instead: slower, not repeatable.
            progress: called with the share of the trials that are done.

        Raises:
            ParameterError: a claim below :data:`LEAST`, fewer than 100 trials, or a confidence
                outside (0, 1).
        """
        bench = cls(method, epsilon, trials, seed, secure, progress)
        result = finding(bench, list(bench.cases()), bench.names, confidence)
        structure = bench.structure()
        return Audit(
            **vars(result),
            method=method.name,
            epsilon=bench.epsilon,
            delta=bench.delta,
            confidence=confidence,
            trials=trials,
            secure=secure,
            structure_epsilon=structure_loss(structure),
            exact_epsilon=whole_loss(structure),
        )


class PointBench(MethodBench[Neighbours, PointMethod]):
    """Builds of a spatial method, in the unit square or its like."""

    @cached_property
    def domain(self) -> Domain:
        """Of as many dimensions as the method takes, two where it takes them."""
        dims = 2 if 2 in self.method.dims else self.method.dims[0]
        return Domain((0.0,) * dims, (1.0,) * dims, default_columns(dims))

    def cases(self) -> Iterable[Neighbours]:
        """See :class:`MethodBench`."""
        return neighbours(self.method, self.epsilon, self.domain)

    @property
    def names(self) -> Sequence[str]:
        """See :class:`MethodBench`."""
        return feature_names(self.domain.dims)

    def structure(self) -> Structure | SharedThreshold | None:
        """See :class:`MethodBench`."""
        return self.method.structure(self.epsilon, self.domain.dims)

    def inputs(self, case: Neighbours) -> tuple[PointIndex, PointIndex]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        cells = np.concatenate([case.cells, case.target[None]])
        larger = PointIndex.from_cells(self.domain, cells, np.append(case.weights, 1))
        return larger, PointIndex.from_cells(self.domain, case.cells, case.weights)

    def features(self, case: Neighbours, data: PointIndex) -> list[float]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        nodes = self.method.build(data, self.budget, self.noise)
        return features(nodes, case.target, self.domain.side)


audit = PointBench.audit
