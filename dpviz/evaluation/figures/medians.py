"""Figure 4 of the ICDE paper: the rank error of each private median, by depth.

G. Cormode et al., ICDE 2012, §8.2: 2^20 points, uniform over the integers of [0, 2^26), a binary
tree, ε = 0.01 per level, δ = 10^-4 per median for smooth sensitivity, samples of 1 %, cells of
length 2^10.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dpviz.build import build, from_points
from dpviz.domain import Domain
from dpviz.evaluation.experiments import SECONDS
from dpviz.evaluation.figures.report import Reproduction, Statement, least_of
from dpviz.evaluation.plots import Lines, line_figure
from dpviz.evaluation.rows import MeasureRow, means
from dpviz.evaluation.truth import exact_counts
from dpviz.private.handle import DataHandle
from dpviz.progress import Progress
from dpviz.releases.counts import PointRelease
from dpviz.trees.lattice import Float

POINTS = 1 << 20
SIDE = 1 << 26
LEVELS = 10
EPSILON = 0.01
"""For the medians of a level."""

MEDIANS: dict[str, dict[str, Any]] = {
    "EM": {"median": "exponential"},
    "EM, paper's ε/2": {"median": "exponential", "paper_constant": True},
    "EMs": {"median": "exponential", "sampling": 0.01},
    "SS": {"median": "smooth", "median_delta": 1e-4 * LEVELS},
    "SSs": {"median": "smooth", "median_delta": 1e-4 * LEVELS, "sampling": 0.01},
    "NM": {"median": "noisy_mean"},
    "cell": {"median": "cell", "log_grid": 16},
}


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure and compare."""
    handle = uniform_line(seed)
    build(handle, "kdtree", 1.0, seed=0, height=2, flatten=1, median="smooth")  # compile once
    rows: list[MeasureRow] = []
    for repeat in range(repeats):
        for at, (name, parameters) in enumerate(MEDIANS.items()):
            started = time.perf_counter()
            release = median_tree(handle, parameters, seed + 1000 * repeat + at)
            seconds = time.perf_counter() - started
            for depth, error in enumerate(rank_errors(handle, release).tolist()):
                rows.append(
                    MeasureRow(name, EPSILON, f"depth {depth}", repeat, "rank_error", error)
                )
            rows.append(MeasureRow(name, EPSILON, "tree", repeat, SECONDS, round(seconds, 3)))
            done = repeat * len(MEDIANS) + at + 1
            progress(done / (repeats * len(MEDIANS)), f"median trees: {name}")
    mean = means(rows)
    errors = {
        name: np.array([mean[name, EPSILON, f"depth {at}", "rank_error"] for at in range(LEVELS)])
        for name in MEDIANS
    }
    lines: Lines = {
        name: {depth: [error] for depth, error in enumerate(part.tolist())}
        for name, part in errors.items()
    }
    words = "Depth (2^20 records at depth 0, about 2^11 at depth 9)"
    seconds_of = least_of(rows, SECONDS)
    return Reproduction(
        "Private medians by depth (ICDE 2012, figure 4)",
        f"2^20 uniform points in [0, 2^26), a binary tree of {LEVELS} levels, ε = {EPSILON:g} for "
        f"the medians of each level, mean of {repeats} trees. The rank error of a cut is its "
        "distance from the median in ranks, 100 % where all records fall on one side. `uv run "
        "dpviz reproduce medians -o FOLDER` makes this page. Our exponential mechanism (EM) is "
        "ε-DP with ε in the exponent, where the paper's has ε/2; samples (EMs, SSs) are of 1 % and "
        "their amplification is exact. Seconds for a whole tree, all cells of a level at once: "
        + ", ".join(f"{name} {value:.2f}" for name, value in seconds_of.items())
        + ".",
        compare(errors, seconds_of),
        {"medians": rows},
        {"medians": line_figure({"": lines}, words, "Mean rank error", log_y=True)},
    )


def uniform_line(seed: int) -> DataHandle:
    """2^20 uniform integers in [0, 2^26)."""
    points = np.random.default_rng(seed).integers(0, SIDE, (POINTS, 1))
    return from_points(points, Domain((0.0,), (float(SIDE),)), public=True, name="uniform line")


def median_tree(handle: DataHandle, parameters: dict[str, Any], seed: int) -> PointRelease:
    """A binary tree that spends :data:`EPSILON` on the medians of each level.

    The cells are measured once, with that much: what every later median costs is nothing.
    """
    levels = 1 if parameters["median"] == "cell" else LEVELS
    release: PointRelease = build(
        handle,
        "kdtree",
        2 * EPSILON * levels,
        seed=seed,
        ledger=None,
        height=LEVELS,
        flatten=1,
        prune=0,
        median_share=0.5,
        **parameters,
    )
    return release


def rank_errors(handle: DataHandle, release: PointRelease) -> Float:
    """Mean of |left − n/2| / (n/2) over the cuts of each depth that have records to cut."""
    nodes = release.nodes
    rects = release.domain.to_coordinates(np.hstack([nodes.lo, nodes.hi]))
    counts = exact_counts(handle, rects)
    errors = np.full(LEVELS, np.nan)
    for depth, part in enumerate(nodes.levels[:LEVELS]):
        rows = np.arange(part.start, part.stop)
        rows = rows[(nodes.n_children[rows] == 2) & (counts[rows] > 0)]
        half = counts[rows] / 2
        errors[depth] = (np.abs(counts[nodes.first_child[rows]] - half) / half).mean()
    return errors


def compare(means: dict[str, Float], seconds: dict[str, float]) -> list[Statement]:
    """The statements of §8.2 on figure 4, and what we find."""
    shown = {
        name: f"{100 * part[0]:.2g} % to {100 * part[-1]:.2g} %" for name, part in means.items()
    }
    others = [name for name in means if not name.startswith("EM")]
    best = all((means["EM"] <= means[name]).all() for name in [*others, "EMs"])
    beaten = [
        f"{name} at depth {depth}"
        for name in [*others, "EMs"]
        for depth in range(LEVELS)
        if means[name][depth] < means["EM"][depth]
    ]
    em_speed = seconds["EM"] / seconds["EMs"]
    ss_speed = seconds["SS"] / seconds["SSs"]
    deep, top = LEVELS - 1, 0
    return [
        Statement(
            "EM is always the most accurate: almost true medians for large data, moderate error "
            "for 2^11 points",
            f"EM {shown['EM']} from the root to depth {deep}; SS {shown['SS']}, NM {shown['NM']}, "
            f"cell {shown['cell']}" + (f". Beaten by: {', '.join(beaten)}" if beaten else ""),
            best,
        ),
        Statement(
            "Sampling improves the accuracy of smooth sensitivity (SSs better than SS)",
            f"mean over depths: SSs {100 * means['SSs'].mean():.2g} %, "
            f"SS {100 * means['SS'].mean():.2g} %",
            bool(means["SSs"].mean() < means["SS"].mean()),
        ),
        Statement(
            "The reverse is true for EM (EMs worse than EM)",
            f"mean over depths: EMs {100 * means['EMs'].mean():.2g} %, "
            f"EM {100 * means['EM'].mean():.2g} %",
            bool(means["EMs"].mean() > means["EM"].mean()),
        ),
        Statement(
            "Sampling is about an order of magnitude faster",
            f"trees are {em_speed:.1f} times (EM) and {ss_speed:.1f} times (SS) as fast with a 1 % "
            "sample; all cells of a level are cut in one vectorised pass, and keeping the records "
            "sorted, which sampling does not save, is most of what is left",
            min(em_speed, ss_speed) > 5,
        ),
        Statement(
            "The noisy mean gives poor medians for smaller data",
            f"at depth {deep}: NM {100 * means['NM'][deep]:.2g} %, "
            f"EM {100 * means['EM'][deep]:.2g} %",
            bool(means["NM"][deep] > 2 * means["EM"][deep]),
        ),
        Statement(
            "Cells have a larger error for large data",
            f"cell {100 * means['cell'][top]:.2g} % at the root, EM {100 * means['EM'][top]:.2g} %",
            bool(means["cell"][top] > means["EM"][top]),
        ),
        Statement(
            "Cells are much slower than the others",
            f"a tree over cells takes {seconds['cell']:.2g} s, with EM {seconds['EM']:.2g} s",
            seconds["cell"] > 2 * seconds["EM"],
        ),
    ]
