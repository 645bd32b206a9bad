"""Which tests are slow, and in what order several processes take them: the one place for both.

A test is slow, and left out by ``-m "not slow"``, if it

- drives a browser (fixture ``browser``), but for the few named in ``SMOKE``: one look at each page
  and at a shared file;
- starts a Java for Spark (fixture ``java``, or a parameter "spark");
- checks all types while mypy has no cache of what it checked before;
- is a campaign;
- stands in ``slow.txt``, as those do that took 0.4 seconds or more of a quiet processor;
- or carries the mark ``slow`` itself.

What is left still comes into every room.
"""

from compileall import compile_file
from importlib import import_module
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.points.range_count import BULK
from dpviz.roads.search import best_tree, optimise, run_variance

HERE = Path(__file__).parent
LONG = frozenset((HERE / "slow.txt").read_text(encoding="utf-8").splitlines())
"""Tests, with or without the words of one case."""

SMOKE = (
    "test_a_page_is_open_to_everyone",
    "test_a_file_answers_as_the_engine_does",
)
"""Tests of the browser that are not slow unless they are marked so themselves."""


LIBRARIES = ("streamlit.testing.v1", "numba", "pandas", "geopandas", "scipy.stats", "altair")
"""What nearly every process imports."""


def compile_part(number, workers):
    """Compiles a share of our modules, and libraries beginning with another one than others do.

    Processes that start together would each compile everything: what one has done the next finds.
    The last one compiles the loops that all of them, and the servers they start, will run; the
    first one those of roads.
    """
    for path in sorted((HERE.parent / "dpviz").rglob("*.py"))[number::workers]:
        compile_file(path, quiet=2)  # where it is not yet
    for place in range(len(LIBRARIES)):
        import_module(LIBRARIES[(number + place) % len(LIBRARIES)])
    if number == workers - 1:
        compile_counting()
    if number == 0:
        compile_search()


def compile_counting():
    """Runs both loops that count boxes."""
    domain = dpviz.Domain((0.0, 0.0), (1.0, 1.0))
    empty = dpviz.from_points(np.zeros((0, 2)), domain, public=True)
    boxes = np.tile(domain.bounds, (BULK, 1))
    exact_counts(empty, boxes)
    dpviz.build(empty, epsilon=1.0, seed=0, ledger=None).count(boxes)


def compile_search():
    """Runs every loop of the search for trees over paths."""
    runs = np.array([0]), np.array([2]), np.array([1.0])
    bounds, size, levels = best_tree(2, np.array([2]), *runs)
    optimise(bounds, size, *runs)
    run_variance(bounds, size, levels.astype(np.float64), *runs)


def rotated(number, workers):
    """All folders and files of tests, in the order in which one process collects them.

    Pytest compiles a module of tests when it collects it: what one process comes to first, the
    others find compiled.
    """
    places = sorted([*HERE.glob("*/__init__.py"), *HERE.glob("test_*.py")])
    places = [place.parent if place.name == "__init__.py" else place for place in places]
    sizes = [sum(file.stat().st_size for file in (place, *place.rglob("*.py"))) for place in places]
    before = [end - size for end, size in zip(accumulate(sizes), sizes, strict=True)]
    start = sum(each < sum(sizes) * number / workers for each in before)
    return places[start:] + places[:start]


def drives_a_browser(item):
    return "browser" in getattr(item, "fixturenames", ())


def starts_java(item):
    given = getattr(item, "callspec", None)
    names = getattr(item, "fixturenames", ())
    values = [] if given is None else given.params.values()  # some are no texts to be compared
    return "java" in names or any(each == "spark" for each in values if isinstance(each, str))


def begins_a_cache(item):
    return item.name.endswith("[mypy]") and not (HERE.parent / ".mypy_cache").exists()


def mark(item):
    """Adds the mark ``slow`` where the rule above says so."""
    smoke = getattr(item, "originalname", None) in SMOKE
    if (
        (drives_a_browser(item) and not smoke)
        or starts_java(item)
        or begins_a_cache(item)
        or item.get_closest_marker("campaign")
        or not LONG.isdisjoint((item.nodeid, item.nodeid.partition("[")[0]))
    ):
        item.add_marker(pytest.mark.slow)


def arranged(items, workers):
    """The same tests, each of ``workers`` equal parts in a row being what one process starts with.

    Who is done takes the later half of what another has still to do. So what one server, one
    browser or one Java serves comes together and first, and short tests come last.
    """
    java = [each for each in items if starts_java(each)]
    heads = [
        [each for each in items if each.name.endswith("[mypy]")] + java,
        [each for each in items if drives_a_browser(each)],
    ]
    heads += [[] for _ in range(workers - 2)]
    first = {id(each) for head in heads for each in head}
    rest = [each for each in items if id(each) not in first]
    order, size = [], len(items) // workers
    for head in heads[:workers]:
        room = max(size - len(head), 0)
        order += head + rest[:room]
        del rest[:room]
    return order + rest
