"""The network that post-processing uses, and how it is trained."""

import numpy as np

from dpviz.trees.network import ROWS, Network
from tests.training.network import Trainer, beginning


def some(seed: int = 0) -> Network:
    random = np.random.default_rng(seed)
    shapes = (5, 7), (7,), (7, 6), (6,), (6, 3), (3,)
    return Network.of([random.normal(size=shape) for shape in shapes])


def test_a_network_is_its_layers_with_rectifiers_between():
    network, features = some(), np.random.default_rng(1).normal(size=(ROWS + 5, 5))
    values = features
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        values = np.maximum(values @ weight + bias, 0)
    expected = values @ network.weights[-1] + network.biases[-1]
    np.testing.assert_allclose(network(features), expected, rtol=1e-4, atol=1e-4)


def test_weights_are_written_in_the_same_bytes_and_read_again(tmp_path):
    for name in "ab":
        some().save(tmp_path / f"{name}.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as file:
        again = Network.of([file[name] for name in file.files])
    features = np.ones((2, 5))
    np.testing.assert_allclose(again(features), some()(features), rtol=0.01)


def test_gradients_are_those_of_finite_differences():
    """A tiny first step of Adam has the sign of the gradient; so each sign is compared."""
    features = np.random.default_rng(2).normal(size=(11, 5))
    before, trainer = some(3), Trainer(some(3))
    trainer.step(trainer.forward(features), 1e-3)  # of the loss ½ Σ output²

    def loss(network: Network) -> float:
        return 0.5 * float((network(features).astype(np.float64) ** 2).sum())

    for old, new in zip(
        before.weights + before.biases,
        trainer.network.weights + trainer.network.biases,
        strict=True,
    ):
        for at in np.ndindex(old.shape):
            value = old[at]
            old[at] = value + 1e-2
            above = loss(before)
            old[at] = value - 1e-2
            slope = (above - loss(before)) / 2e-2
            old[at] = value
            if abs(slope) > 0.05:
                assert np.sign(old[at] - new[at]) == np.sign(slope)


def test_training_learns_what_a_network_can_say():
    random = np.random.default_rng(4)
    trainer = Trainer(beginning((2, 24, 1), seed=5))
    first = last = 0.0
    for _ in range(600):
        features = random.uniform(-1, 1, (128, 2))
        wrong = trainer.forward(features)[:, 0] - np.abs(features[:, 0] - features[:, 1])
        last = float((wrong**2).mean())
        first = first or last
        trainer.step(wrong[:, None] / len(wrong), 0.01)
    assert last < 0.02 * first
