"""The subject of audits of sequence methods: sequences over three symbols, with one more."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpviz.evaluation.subject import Pair, Subject, neighbours_of
from dpviz.methods.sequences.base import SequenceMethod, SequenceTask
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.private.sequences import Sequences
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import GramTree, Model, Ranking
from dpviz.sequences.model import ContextTree

ALPHABET = Alphabet(("a", "b", "c"))

FEATURES = (
    "rows of the model",
    "what is released of its first symbol",
    "what is released of its first two symbols",
    "what is released of everything that it moves",
    "what is released of symbol b",
    "what is released of the end",
    "what is released in all",
)
"""Numbers for an attacker who knows every sequence and asks whether one more is there."""


def pairs(epsilon: float, l_top: int) -> Iterator[Pair]:
    """Neighbouring inputs; sizes follow the noise, which is of the order l_top/ε.

    A sequence hurts most if all its events are the same: then one count moves by l_top.
    """
    same, other, mixed = (0,) * l_top, (1,) * l_top, tuple(place % 3 for place in range(l_top))

    def times(of_noise: float) -> int:
        return math.ceil(of_noise / epsilon)

    yield "no sequence, or aaa", (), same
    for size in (times(1), times(4), times(15)):
        yield f"{size} times aaa, or one more", ((same, size),), same
    size = times(4)
    yield f"{size} times bbb, or aaa beside", ((other, size),), same
    name = f"aaa and bbb {size} times each, or aaa once more"
    yield name, ((same, size), (other, size)), same
    # A context's score is the number of next symbols that are not the most frequent: here the a's.
    low, high = times(13), times(26)
    name = f"aaa {low} times and bbb {high} times, or aaa once more"
    yield name, ((same, low), (other, high)), same
    yield f"{size} times abc, or aaa beside", ((mixed, size),), same
    yield f"{size} times aaa, or abc beside", ((same, size),), mixed
    yield f"{size} times a and its end, or one more", (((0,), size),), (0,)


def sequence_subject(method: SequenceMethod, epsilon: float) -> Subject:
    """Builds of a method on sequences."""

    def build(data: Sequences, budget: Budget, noise: Noise) -> Model:
        return method.build(SequenceTask(data, ALPHABET, budget, noise))

    cases = neighbours_of(pairs(epsilon, int(method.parameters()["l_top"])), Sequences.of)
    return Subject(cases, FEATURES, build, features, method.structure(epsilon, len(ALPHABET)))


def features(model: Model, target: tuple[int, ...]) -> list[float]:
    """The numbers of :data:`FEATURES`."""
    if isinstance(model, ContextTree):
        return _context_features(model, target)
    if isinstance(model, GramTree):
        return _gram_features(model, target)
    return _ranking_features(model, target)


def _context_features(tree: ContextTree, target: tuple[int, ...]) -> list[float]:
    """Counts: each event of the target is in one leaf."""
    text = (tree.size, *target)
    events = [tree.counts[tree.node(text[:at]), text[at]] for at in range(1, len(text))]
    both = tree.counts[tree.node(text[:2]), text[2]] if len(text) > 2 else 0.0
    root = tree.counts[0]
    numbers = [root[target[0]], both, sum(events), root[1], root[-1], root.sum()]
    return [float(each) for each in (len(tree), *numbers)]


def _gram_features(tree: GramTree, target: tuple[int, ...]) -> list[float]:
    """Counts: from each symbol of the target on, its text follows one path of the tree."""
    moved = 0.0
    for start in range(len(target)):
        row = 0
        for symbol in target[start:]:
            moved += tree.counts[row, symbol]
            row = int(tree.child[row, symbol])
            if row < 0:
                break
    both = tree.counts[tree.child[0, target[0]], target[1]] if len(target) > 1 else 0.0
    both = both if tree.child[0, target[0]] >= 0 else 0.0
    root, ends = tree.counts[0], tree.counts[:, -1].sum()
    numbers = [root[target[0]], both, moved, root[1], ends, root.sum()]
    return [float(each) for each in (len(tree), *numbers)]


def _ranking_features(ranking: Ranking, target: tuple[int, ...]) -> list[float]:
    """Points: the first of k strings has k, one that is not listed has none."""
    points = {string: len(ranking) - place for place, string in enumerate(ranking.strings)}
    points_of = {
        target[start:stop]
        for start in range(len(target))
        for stop in range(start + 1, len(target) + 1)
    }
    moved = sum(points.get(part, 0) for part in points_of)
    numbers = [points.get(part, 0) for part in (target[:1], target[:2])]
    return [float(each) for each in (len(ranking), *numbers, moved, points.get((1,), 0), 0, 0)]
