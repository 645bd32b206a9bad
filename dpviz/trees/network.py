"""Small dense networks for post-processing: their weights lie in a file beside this module.

They are trained on made-up scenes (``tests/training``) and see noisy and public numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.progress import checkpoint

Float32 = NDArray[np.float32]

ROWS = 1 << 14
"""Rows at a time: what is between two layers stays in the processor's cache."""


class Network(NamedTuple):
    """Layers in a row, with rectifiers between them.

    Attributes:
        weights: of each layer, (inputs, outputs).
        biases: of each layer, (outputs,).
    """

    weights: tuple[Float32, ...]
    biases: tuple[Float32, ...]

    def __call__(self, features: NDArray[Any]) -> Float32:
        """What the last layer says of each row: (n, inputs) in, (n, outputs) out; or of blocks of
        rows, (k, m, inputs) and (k, m, outputs), each a product of its own.
        """
        output = np.empty((*features.shape[:-1], len(self.biases[-1])), dtype=np.float32)
        for start in range(0, len(features), ROWS):
            checkpoint()
            values = np.asarray(features[start : start + ROWS], dtype=np.float32)
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                values = values @ weight
                values += bias
                np.maximum(values, 0, out=values)
            np.matmul(values, self.weights[-1], out=output[start : start + ROWS])
        output += self.biases[-1]
        return output

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]]) -> Network:
        """From weights and biases in turn."""
        columns = [np.asarray(array, dtype=np.float32) for array in arrays]
        return cls(tuple(columns[::2]), tuple(columns[1::2]))

    def save(self, path: Path) -> None:
        """Write the weights in half precision; the same weights give the same bytes."""
        layers = zip(self.weights, self.biases, strict=True)
        arrays = [array.astype(np.float16) for layer in layers for array in layer]
        np.savez(path, *arrays)


@cache
def trained(name: str) -> Network:
    """The network whose weights lie beside this module, by the name of its file."""
    with np.load(Path(__file__).with_name(f"{name}.npz")) as file:
        return Network.of([file[array] for array in file.files])
