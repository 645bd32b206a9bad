"""A method as a measurement of OpenDP, whose combinators then do the accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpviz.build import build, from_points
from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods import method as method_named
from dpviz.private.budget import positive_epsilon
from dpviz.releases.release import Release

if TYPE_CHECKING:
    import numpy as np


def as_measurement(
    domain: Domain, method: str = "ladder_tree", epsilon: float = 1.0, **parameters: Any
) -> Any:
    """A measurement of OpenDP: from an array of points, by symmetric distance, to a release.

    Its price by pure ε is exact: d records more or less cost d times ε. The ledger is not asked, as
    OpenDP's own accounting is in charge. Call ``opendp.enable_features("contrib",
    "honest-but-curious")`` before.

    Args:
        domain: the public box.
        method: a method on points that is ε-DP.
        epsilon: the price of one record.
        **parameters: of the method.

    Raises:
        ParameterError: a method without pure ε, or invalid parameters.
        ImportError: opendp is not installed.

    >>> import dpviz, numpy as np, opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> box = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
    >>> measurement = dpviz.as_measurement(box, "ugrid", epsilon=0.5, cells=4)
    >>> measurement.map(1), measurement.map(3)
    (0.5, 1.5)
    >>> len(measurement(np.random.default_rng(0).random((100, 2))).nodes)
    21
    """
    try:
        from opendp import measurements, prelude
    except ModuleNotFoundError as error:
        raise ImportError(
            "dpviz.as_measurement needs opendp: pip install 'dpviz[opendp]'"
        ) from error
    chosen = method_named(method, "points", **parameters)
    price = positive_epsilon(epsilon)
    if not chosen.private or chosen.delta:
        raise ParameterError(f"method {chosen.name}: choose one that is pure ε-DP")

    def is_array(points: Any) -> bool:
        return getattr(points, "ndim", 0) == 2 and points.shape[1] == domain.dims

    def measure(points: np.ndarray[Any, Any]) -> Release:
        data = from_points(points, domain, name="measurement")
        return build(data, chosen, price, ledger=None)

    return measurements.make_user_measurement(
        prelude.user_domain("points", is_array),
        prelude.symmetric_distance(),
        prelude.max_divergence(),
        measure,
        lambda distance: _times(price, distance),
    )


def _times(price: float, distance: int) -> float:
    """A price times a number of records, rounded up."""
    exact = Fraction(price) * distance
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
