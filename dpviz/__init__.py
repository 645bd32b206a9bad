"""dpviz: private locations in, a differentially private map out.

>>> import dpviz, numpy as np
>>> domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
>>> points = np.random.default_rng(0).beta(2, 5, size=(10_000, 2))
>>> people = dpviz.from_points(points, domain, name="people")
>>> release = dpviz.build(people, method="privtree", epsilon=1.0)  # the ledger pays
>>> answer = release.count([0.1, 0.1, 0.5, 0.5])
>>> bool(answer.low[0] < answer.count[0] < answer.high[0])
True
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpviz.api import *  # noqa: F403
    from dpviz.notebook.widget import Map

    __version__: str

__all__ = [  # noqa: F405
    "METHODS",
    "Alphabet",
    "Answers",
    "Areas",
    "CountRelease",
    "Decomposition",
    "Domain",
    "DpvizError",
    "Estimate",
    "Flows",
    "Header",
    "Ledger",
    "Map",
    "Matching",
    "Paths",
    "Plan",
    "Prior",
    "RangeAnswers",
    "Release",
    "RoadGraph",
    "SequenceRelease",
    "Series",
    "SplitRelease",
    "Subset",
    "Timeline",
    "as_measurement",
    "build",
    "cell_counts",
    "cell_sql",
    "export",
    "from_counts",
    "from_points",
    "hexagons",
    "load",
    "match",
    "method",
    "plan",
    "prior",
    "read",
    "read_areas",
    "read_graph",
    "read_series",
    "replicated",
    "save",
    "workload_of",
]


class _Package(ModuleType):
    """Module class that keeps ``dpviz.build`` the function when module ``build`` is loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


if not TYPE_CHECKING:  # else a misspelt name would have any type

    def __getattr__(name: str) -> Any:
        """Import a public name on first use: many commands of the command line need none."""
        if name == "__version__":  # stated once, in pyproject.toml
            from importlib.metadata import version

            return version("dpviz")
        if name not in __all__:
            raise AttributeError(f"module 'dpviz' has no attribute {name!r}")
        if name != "Map":
            from dpviz import api

            return getattr(api, name)
        try:
            from dpviz.notebook.widget import Map
        except ModuleNotFoundError as error:
            raise ImportError("dpviz.Map needs anywidget: pip install 'dpviz[notebook]'") from error
        return Map


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
