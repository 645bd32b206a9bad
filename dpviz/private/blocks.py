"""Releases of one tree for each category, at (ε, δ) for persons of many records.

Categories are public disjoint blocks of records. A person has one record in each of at most J of
them (:meth:`~dpviz.private.load.persons.Persons.one_in_each`), and every block has a mechanism and
noise of its own, with a budget r for one record that was fixed beforehand.

*Theorem. With at most m records moved in each of J blocks, the release is (ε, δ)-DP for δ =
delta_upper(ε, J, m·r)* (P. Kairouz, S. Oh, P. Viswanath, ICML 2015). In each of at most J blocks m
records more or less are seen by an r-DP mechanism, so it is m·r-DP there by group privacy, and
dominated by randomised response at m·r; the other blocks see the same records. A composition of
such mechanisms is dominated by that of J randomised responses, whose hockey stick is
:func:`~dpviz.private.mechanisms.accounting.delta_upper`. It is also J·m·r-DP. To replace a person
moves two records in a block, m = 2.

This holds for every method that is pure ε-DP for one record, also one whose tree follows the data,
since a block's tree sees one record of a person. It fails for one tree over all records: a leaf
that holds all records of a person tells them apart as K·r does. For few blocks r is hardly larger
than ε/J, which is taken then, and the release is ε-DP.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from dpviz.private.budget import Budget, per_record
from dpviz.private.handle import Handle, bound_words
from dpviz.private.mechanisms.accounting import largest_rate

MIN_GAIN = 1.01
"""Least ratio of r to its share of a pure ε for which a release costs a delta."""


@dataclass(frozen=True)
class BlockNoise:
    """Budget of one record in each of several blocks, at (ε, δ) for all of a person.

    Attributes:
        epsilon, delta: the price for one person, as asked.
        blocks: J, most blocks of a person.
        moved: m, records of a block that move: 1, or 2 to replace a person.
        bound: most slots of a person, as asked; a slot is a block.
        weighted: False, as a person has one record in a block.
    """

    epsilon: float
    delta: float
    blocks: int
    moved: int
    bound: int
    weighted: ClassVar[bool] = False

    @cached_property
    def rate(self) -> float:
        """The r of one record in one block."""
        pure = per_record(self.epsilon, self.blocks * self.moved)
        rate = largest_rate(self.epsilon, self.delta, self.blocks) / self.moved
        return rate if rate >= MIN_GAIN * pure else pure

    @property
    def gain(self) -> float:
        """Noise of pure counts of records divided by the noise that is drawn."""
        return self.rate / per_record(self.epsilon, self.bound * self.moved)

    @property
    def spent_delta(self) -> float:
        """The delta that the release costs: none where ε pays for all blocks."""
        pure = per_record(self.epsilon, self.blocks * self.moved)
        return self.delta if self.rate > pure else 0.0

    @property
    def scale(self) -> float:
        """Price of a person divided by that of one record in one block."""
        return self.epsilon / self.rate

    @property
    def words(self) -> str:
        """Counted records, noise and second guarantee, in words."""
        pure = "pure ε-DP"
        if self.spent_delta:
            pure = f"also {self.blocks * self.moved * self.rate:.4g}-DP"
        return f"counts of persons per category, ε = {self.rate:.4g} in each; {pure}"

    def unit(self, data: Handle[Any]) -> str:
        """The privacy unit in words, with its bound."""
        return data.accounted_unit + bound_words(self.bound, "slots")

    @property
    def facts(self) -> dict[str, Any]:
        """Header fields of a release of blocks."""
        return {"counts": "persons", "slots": self.bound, "asked_delta": self.delta}

    def theorem(self, row: str) -> str:
        """Theorem behind a row of the budget of one record in one block, for all of a person."""
        return f"one block: {row}; {self.blocks:,} blocks: randomised response composed exactly"

    def budget(self) -> Budget:
        """Budget of a method for the records of one block."""
        return Budget(self.rate)
