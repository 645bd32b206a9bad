"""The scenes that post-processing is trained on."""

import numpy as np
import pytest

from tests.training.fields import field, scene


@pytest.mark.parametrize("seed", [0, 4])
def test_a_scene_is_the_same_again_and_fills_nothing_but_its_square(seed):
    points, again = (field(seed).points(3000, np.random.default_rng(1)) for _ in range(2))
    assert points.shape == (3000, 2)
    assert np.array_equal(points, again)
    assert (points >= 0).all()
    assert (points < 1).all()
    fresh = scene(seed, 3000), scene(seed, 3000, draw=1)
    assert [handle._index.total for handle in fresh] == [3000, 3000]
    assert not np.array_equal(fresh[0]._index.codes, fresh[1]._index.codes)


def test_scenes_are_uneven_in_many_ways():
    """Shares of quarters squared and summed, by records: 1 in one quarter, 1/4 if even."""
    uneven = []
    for seed in range(4):
        cells = (field(seed).points(20_000, np.random.default_rng(2)) * 128).astype(int)
        fine = np.zeros((128, 128))
        np.add.at(fine, tuple(cells.T), 1)
        quarters = fine.reshape(64, 2, 64, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
        total = quarters.sum(axis=1)
        seen = total >= 40
        uneven.append(
            np.average((quarters**2).sum(axis=1)[seen] / total[seen] ** 2, weights=total[seen])
        )
    assert min(uneven) < 0.35
    assert max(uneven) > 0.7
