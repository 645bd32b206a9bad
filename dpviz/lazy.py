"""Lazy imports of slow libraries: each is loaded when an attribute is first used.

``from dpviz.lazy import pa, shapely`` at the head of a module costs nothing at start-up.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["alt", "duckdb", "exp", "geopandas", "h3", "jinja2", "mpl", "nx", "pa", "pc", "pd", "pq"]
__all__ += ["pv", "pyogrio", "pyproj", "scipy", "shapely", "sqlglot"]


class _Lazy:
    """Stand-in for a module, loaded at the first access to an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python, copy and inspect look these up on every object
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import altair as alt
    import duckdb
    import geopandas
    import h3.api.basic_int as h3
    import jinja2
    import matplotlib.figure as mpl
    import networkx as nx
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pv
    import pyarrow.parquet as pq
    import pyogrio
    import pyproj
    import scipy
    import shapely
    import sqlglot
    from sqlglot import exp
else:
    alt, duckdb = _Lazy("altair"), _Lazy("duckdb")
    exp, sqlglot = _Lazy("sqlglot.expressions"), _Lazy("sqlglot")
    geopandas, pd, h3 = _Lazy("geopandas"), _Lazy("pandas"), _Lazy("h3.api.basic_int")
    jinja2, mpl, nx = _Lazy("jinja2"), _Lazy("matplotlib.figure"), _Lazy("networkx")
    pa, pc = _Lazy("pyarrow"), _Lazy("pyarrow.compute")
    pq, pv = _Lazy("pyarrow.parquet"), _Lazy("pyarrow.csv")
    pyogrio, pyproj = _Lazy("pyogrio"), _Lazy("pyproj")
    scipy, shapely = _Lazy("scipy"), _Lazy("shapely")
