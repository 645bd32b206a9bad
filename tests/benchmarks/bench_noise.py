"""Noise and the builds that wait for it: ``uv run python -m tests.benchmarks.bench_noise``.

It measures in one run, on one core, in seconds of processor time (another program on the machine
then changes little), and writes the tables between the marks of ``assets/docs/noise.md``.
"""

import time
from pathlib import Path

import numpy as np

from dpviz import Domain
from dpviz.domain import default_columns
from dpviz.methods import method, of_kind
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import SecureNoise, SimulatedNoise

from .bench_speed import DOMAIN, clustered
from .pages import apart, shown, write_measured

SCALES = (0.05, 0.5, 2.0, 20.0, 1000.0, 1e6)
BUILDS = (
    ("privtree", {}),
    ("ladder_tree", {}),
    ("hot_grid", {}),
    ("quadtree", {"height": 10}),
    ("quadtree", {"height": 11}),
    ("dawa", {}),
)


def seconds(work, *arguments, repeats=3):
    """Least processor time of a few runs."""
    least = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work(*arguments)
        least = min(least, time.process_time() - start)
    return least


def draws_table():
    """Millions of draws a second, of every source."""
    yield (
        "| scale | NumPy | exact | own rates, NumPy | own rates, exact "
        "| NumPy ÷ exact | own rates |"
    )
    yield "|---|---|---|---|---|---|---|"
    for scale in SCALES:
        n = 1_000_000
        rates = np.random.default_rng(0).uniform(0.5 / scale, 2 / scale, n)
        numpy = n / seconds(SimulatedNoise(0).two_sided, n, 1 / scale) / 1e6
        one = n / seconds(SecureNoise().two_sided, n, 1 / scale) / 1e6
        each = n / seconds(SecureNoise().two_sided, n, rates) / 1e6
        many = n / seconds(SimulatedNoise(0).two_sided, n, rates) / 1e6
        yield (
            f"| {scale:g} | {numpy:.1f} | {one:.1f} | {many:.1f} | {each:.1f} "
            f"| {numpy / one:.1f} | {many / each:.1f} |"
        )
    codes = np.random.default_rng(1).integers(0, 2**52, n, dtype=np.uint64)
    yield ""
    many = n / seconds(np.sort, codes) / 1e6
    yield f"`np.sort` of as many 64-bit codes: {many:.1f} million a second."


def built(chosen, index, source):
    """A build with a budget of its own."""
    return chosen.build(index, Budget(1.0, chosen.delta), source)


def builds_table(index):
    """Builds with noise fit for release, and with NumPy's."""
    yield "| build, ε = 1 | exact | NumPy (not private) | exact ÷ NumPy |"
    yield "|---|---|---|---|"
    for name, parameters in BUILDS:
        chosen = method(name, **parameters)
        exact, numpy = (
            seconds(built, chosen, index, source, repeats=2)
            for source in (SecureNoise(), SimulatedNoise(0))
        )
        words = "".join(f", {parameter} = {value}" for parameter, value in parameters.items())
        ratio = exact / numpy
        yield f"| {name}{words} | {exact:.2f} s | {numpy:.2f} s | {ratio:.2f} |"


def peak(name):
    """Peak memory in MB of building 1.7 million points, in a process of its own."""
    index = PointIndex.from_points(DOMAIN, clustered(1_700_000))
    if name is not None:
        built(method(name), index, SecureNoise())
    # Not getrusage's peak, which includes that of the parent process.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def peaks():
    """Memory of the builds."""
    names = (None, "privtree", "ladder_tree")
    sizes = [f"{name or 'the index alone'} {apart(peak, name):.0f} MB" for name in names]
    yield "\nMemory at the peak, libraries and points included: " + ", ".join(sizes) + "."


def methods_table(index):
    """Every method at its defaults, with noise fit for release."""
    yield "| method, 4-D, ε = 1 | time |"
    yield "|---|---|"
    for name, cls in of_kind("points").items():
        if 4 in cls.dims:
            chosen = method(name)
            spent = seconds(built, chosen, index, SecureNoise(), repeats=1)
            yield f"| {name} | {spent:.2f} s |"


def report():
    yield "Millions of draws a second:\n"
    yield from draws_table()
    points = clustered(1_700_000)
    build = seconds(PointIndex.from_points, DOMAIN, points)
    yield f"\n1.7 million clustered points in 2-D, on an index that takes {build:.2f} s to make:\n"
    yield from builds_table(PointIndex.from_points(DOMAIN, points))
    yield from peaks()
    ends = clustered(2_000_000).reshape(-1, 4)
    domain = Domain(
        (*DOMAIN.lower, *DOMAIN.lower), (*DOMAIN.upper, *DOMAIN.upper), default_columns(4)
    )
    yield "\nOne million clustered trips in 4-D, every method at its defaults:\n"
    yield from methods_table(PointIndex.from_points(domain, ends))


if __name__ == "__main__":
    write_measured("noise.md", "bench_noise", shown(report()))
