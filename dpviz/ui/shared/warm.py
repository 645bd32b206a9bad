"""What a server's first visitor would wait for, loaded while their browser starts or they read."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Thread, main_thread

from platformdirs import user_cache_dir

FIRST = ("dpviz.ui.shared.shell", "scipy.spatial", "scipy.sparse.csgraph")
"""Modules: the pages, and what the built-in city is made with."""

PAUSE = 4.0
"""Seconds in which the first page has the machine to itself."""

PACKAGE = Path(__file__).parents[2]
COMPILED = PACKAGE / "trees" / "kernels.py", PACKAGE / "roads" / "search.py"
"""The loops that many answers and the first map of roads need: some ten seconds for the compiler,
each."""
APART = """
import os, sys, time
os.nice(19)
time.sleep(float(sys.argv[2]))
sys.path.insert(0, sys.argv[1])
from dpviz.ui.shared.warm import loops, road_loops
loops()
road_loops()
"""


@cache
def preload() -> Thread:
    """Import the pages, and what makes the first map, while the first browser starts.

    Imports alone: who needs a module meanwhile waits for this very import, and nothing is done
    twice. Once for each process.
    """
    thread = Thread(target=_import, name="dpviz-preload", daemon=True)
    thread.start()
    return thread


def _import() -> None:
    for name in FIRST:
        importlib.import_module(name)


@cache
def warm() -> Thread:
    """Load the compiled loops apart from the page; once for each process."""
    thread = Thread(target=_load, name="dpviz-warm")
    thread.start()
    return thread


def _load() -> None:
    main_thread().join(PAUSE)
    if main_thread().is_alive():  # else the server has been stopped meanwhile
        loops()


def loops() -> None:
    """Ask what walks both compiled loops, of nobody's records."""
    import numpy as np

    from dpviz.build import build, from_points
    from dpviz.domain import Domain
    from dpviz.evaluation.truth import exact_counts
    from dpviz.releases.points.range_count import BULK

    domain = Domain((0.0, 0.0), (1.0, 1.0))
    nobody = from_points(np.zeros((0, 2)), domain, public=True)
    questions = np.tile(domain.bounds, (BULK, 1))
    exact_counts(nobody, questions)
    build(nobody, epsilon=1.0, seed=0, ledger=None).count(questions)


def compile_apart() -> subprocess.Popen[bytes] | None:
    """Compile all loops in a process that makes way for every other.

    Once for a copy of the program, whose cache on disk holds them then. In this process the
    compiler would hold up all pages. None where it has been done, where processes have no priority,
    or where there may be no more of them.
    """
    if not hasattr(os, "nice") or all(map(in_cache, COMPILED)):
        return None
    command = [sys.executable, "-P", "-c", APART, str(PACKAGE.parent), str(PAUSE)]
    nothing = subprocess.DEVNULL
    with suppress(OSError):
        return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    return None


def in_cache(module: Path) -> bool:
    """Whether one of numba's folders of caches holds every loop of a module, as it is now."""
    loops_of = module.read_text(encoding="utf-8").count("\n@compiled(")
    folders = [module.parent / "__pycache__"]  # unless one is named, or the package is read-only
    for place in os.environ.get("NUMBA_CACHE_DIR"), user_cache_dir("numba", False):
        folders += Path(place).glob(f"{module.parent.name}_*") if place else ()
    return any(_fresh(folder, module) >= loops_of for folder in folders)


def _fresh(folder: Path, module: Path) -> int:
    """Loops of a module that a folder of caches holds, not older than the module."""
    changed = module.stat().st_mtime
    cached = folder.glob(f"{module.stem}.*.nbi")
    return sum(each.stat().st_mtime > changed for each in cached)


def road_loops() -> None:
    """Ask what walks every loop of the search for trees over paths, of no record."""
    import numpy as np

    from dpviz.roads.search import best_tree, optimise, run_variance

    runs = np.array([0]), np.array([2]), np.array([1.0])
    bounds, size, levels = best_tree(2, np.array([2]), *runs)
    optimise(bounds, size, *runs)
    run_variance(bounds, size, levels.astype(np.float64), *runs)
