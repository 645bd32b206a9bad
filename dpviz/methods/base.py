"""What a spatial method is: a frozen dataclass of knobs, a theorem, and ``build``.

A method edits nothing but its own file: the app's form, the flags of the command line, the table of
methods, the contract tests and the audit follow from the registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpviz.errors import ParameterError
from dpviz.registry import Knob, Recipe, Registry, knob

if TYPE_CHECKING:
    from dpviz.decomposition import Decomposition
    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms import Noise

__all__ = ["METHODS", "Knob", "Method", "knob", "method", "names", "register"]


@dataclass(frozen=True, kw_only=True)
class Method(Recipe):
    """Base of every spatial method.

    Class attributes:
        dims: the dimensions it can do.
    """

    dims: ClassVar[tuple[int, ...]] = (2, 4)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Spend the budget on a decomposition. Whatever is not in the result is forgotten."""
        raise ParameterError(f"method {self.name} has no build")


REGISTRY: Registry[Method] = Registry("method")
METHODS = REGISTRY.members
"""Every registered method by its name."""

register = REGISTRY.register
names = REGISTRY.names
method = REGISTRY.find
