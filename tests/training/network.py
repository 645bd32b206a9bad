"""Training of small dense networks: gradients by the chain rule, steps by Adam.

D. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.network import Float32, Network

DECAYS = 0.9, 0.999
TINY = 1e-8


def beginning(sizes: Sequence[int], seed: int) -> Network:
    """A network of layers of these sizes whose last layer says 0, whatever it is asked."""
    random = np.random.default_rng(seed)
    arrays: list[NDArray[Any]] = []
    for inputs, outputs in itertools.pairwise(sizes):
        arrays.append(random.normal(0.0, np.sqrt(2.0 / inputs), (inputs, outputs)))
        arrays.append(np.zeros(outputs))
    arrays[-2] = np.zeros_like(arrays[-2])
    return Network.of(arrays)


@dataclass
class Trainer:
    """A network that learns.

    Attributes:
        network: as it is; its arrays are changed in place.
        decay: weights shrink by so much times the rate at every step.
    """

    network: Network
    decay: float = 0.0
    _steps: int = 0
    _moments: list[tuple[Float32, Float32]] = field(default_factory=list)
    _seen: list[Float32] = field(default_factory=list)

    def forward(self, features: NDArray[Any]) -> Float32:
        """As the network, but what the layers see is kept for :meth:`step`."""
        self._seen = [np.asarray(features, dtype=np.float32)]
        *hidden, (weight, bias) = zip(*self.network, strict=True)
        for inner, shift in hidden:
            self._seen.append(np.maximum(self._seen[-1] @ inner + shift, 0))
        return self._seen[-1] @ weight + bias

    def step(self, slope: NDArray[Any], rate: float) -> None:
        """Move against the loss.

        Args:
            slope: of the loss by the output of :meth:`forward`, (n, outputs).
            rate: of learning.
        """
        self._steps += 1
        slope = np.asarray(slope, dtype=np.float32)
        for layer in reversed(range(len(self.network.weights))):
            weight, bias = self.network.weights[layer], self.network.biases[layer]
            seen = self._seen[layer]
            slopes = seen.T @ slope, slope.sum(axis=0)
            slope = (slope @ weight.T) * (seen > 0)
            weight *= np.float32(1.0 - rate * self.decay)
            self._moved(2 * layer, weight, slopes[0], rate)
            self._moved(2 * layer + 1, bias, slopes[1], rate)

    def _moved(self, which: int, array: Float32, slope: Float32, rate: float) -> None:
        if not self._moments:
            arrays = [array for layer in zip(*self.network, strict=True) for array in layer]
            self._moments = [(np.zeros_like(each), np.zeros_like(each)) for each in arrays]
        mean, square = self._moments[which]
        first, second = DECAYS
        mean += np.float32(1 - first) * (slope - mean)
        square += np.float32(1 - second) * (slope**2 - square)
        scale = rate * np.sqrt(1 - second**self._steps) / (1 - first**self._steps)
        array -= np.float32(scale) * mean / (np.sqrt(square) + np.float32(TINY))
