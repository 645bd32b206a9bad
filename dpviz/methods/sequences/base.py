"""Base class of sequence methods: a frozen dataclass of parameters, a theorem and ``build``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpviz.errors import ParameterError
from dpviz.methods.registry import PRIVTREE, Method, parameter, register
from dpviz.methods.structure import Structure
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.private.sequences import Sequences
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import Model

__all__ = ["PRIVTREE", "SequenceMethod", "SequenceTask", "parameter", "register"]


@dataclass(frozen=True, eq=False)
class SequenceTask:
    """Input of a sequence method: private sequences over a public alphabet, and the budget."""

    sequences: Sequences
    alphabet: Alphabet
    budget: Budget
    noise: Noise


@dataclass(frozen=True, kw_only=True)
class SequenceMethod(Method):
    """Base of every sequence method."""

    kind: ClassVar[str] = "sequences"

    def structure(self, epsilon: float, size: int) -> Structure | None:
        """The split decisions of a build at this price over ``size`` symbols; None without any."""
        return None

    def build(self, task: SequenceTask) -> Model:
        """Spend the budget on a model; nothing else is retained."""
        raise ParameterError(f"method {self.name} has no build: define it")
