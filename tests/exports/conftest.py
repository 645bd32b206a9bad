"""Releases to share: one of sensitive records, and two simulated ones of the built-in city."""

import numpy as np
import pytest

import dpviz

NAME = "clinic-visits"
DOMAIN = dpviz.Domain((10.0, 50.0), (11.0, 51.0))


@pytest.fixture(scope="session")
def records():
    """Sensitive points, and the file they came from."""
    rng = np.random.default_rng(20240229)
    return np.array([10.2, 50.3]) + rng.beta(2, 5, size=(5_003, 2)) * 0.6


@pytest.fixture(scope="session")
def sensitive(records, tmp_path_factory):
    """A private release of a file of records."""
    path = tmp_path_factory.mktemp("very-secret-folder") / f"{NAME}.csv"
    np.savetxt(path, records, delimiter=",", header="lon,lat", comments="")
    return dpviz.build(dpviz.load(path, DOMAIN), "privtree", epsilon=0.5)


@pytest.fixture(scope="session")
def pair():
    """Two simulated releases of the built-in city, one with many roots."""
    city = dpviz.load("city-50k")
    return [dpviz.build(city, "privtree", 1.0, seed=1), dpviz.build(city, "ugrid", 0.1, seed=2)]
