"""Districts: to measure their counts, or to add up the cells of a tree that follows the data?

Districts are public Voronoi cells of seeded random places: of uneven size, and drawn without a look
at the records. Errors are those of districts' counts, mean over all of them.
"""

from __future__ import annotations

import itertools

import numpy as np

from dpviz.build import AreaData, build, load
from dpviz.datasets import dataset
from dpviz.domain import Domain
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, comparison, table
from dpviz.evaluation.truth import exact_areas
from dpviz.lazy import shapely
from dpviz.progress import Progress
from dpviz.releases.areas.hierarchy import hierarchy
from dpviz.releases.areas.partition import Areas
from dpviz.releases.points.region_count import Regions
from dpviz.trees.lattice import Float

DATA = "city-250k"
EPSILONS = (0.01, 0.1, 1.0)
SIZES = (10, 100, 1_000, 5_000)
ENOUGH = 10.0
"""Records of a mean district times ε, from which on districts are said to be better measured."""

WAYS = {
    "measured": "measured, one level",
    "hierarchy": "measured, with a level above and the whole",
    "privtree": "added up, PrivTree",
    "quadtree": "added up, quadtree",
}
"""How districts are counted, and what the page calls it."""

Errors = dict[tuple[int, float, str], float]
"""(districts, ε, way) → mean absolute error of a district's count."""

OUTPUTS = Outputs(
    "Districts: measured, or added up from a tree's cells?",
    {"districts": "districts,epsilon,way,mean_absolute_error,error_of_the_whole"},
)


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure, and say which way is better when."""
    handle = load(DATA)
    errors: Errors = {}
    totals: Errors = {}
    for at, size in enumerate(SIZES):
        single, nested = (voronoi(handle.domain, size, seed, levels) for levels in (1, 3))
        measured = {"measured": AreaData(handle, single), "hierarchy": AreaData(handle, nested)}
        exact = exact_areas(measured["measured"]).astype(np.float64)
        regions = Regions(single.names, single.shapes, np.ones(size))
        for epsilon in EPSILONS:
            for way in WAYS:
                misses = []
                for repeat in range(repeats):
                    if way in measured:
                        data = measured[way]
                        release = build(data, "areas", epsilon, seed=seed + repeat)
                        counts = release.nodes.count[data.areas.first_leaf :]
                        counts = counts[np.argsort(_numbers(data.areas))]
                    else:
                        tree = build(handle, way, epsilon, seed=seed + repeat)
                        counts = tree.count_regions(regions).count
                    misses.append(counts - exact)
                errors[size, epsilon, way] = float(np.abs(misses).mean())
                totals[size, epsilon, way] = float(np.abs(np.sum(misses, axis=1)).mean())
        progress((at + 1) / len(SIZES), f"{size:,} districts")
    rows = OUTPUTS.rows(
        (*setting, f"{error:.6g}", f"{totals[setting]:.6g}") for setting, error in errors.items()
    )
    statements = compare(errors, totals)
    page = comparison(
        OUTPUTS.title,
        f"Mean absolute error of the noisy count of a district, of {dataset(DATA).title} in "
        f"{', '.join(f'{size:,}' for size in SIZES)} districts: public Voronoi cells of random "
        "places, drawn without a look at the records. In brackets, the error of their sum. Mean of "
        f"{repeats} releases with default parameters and simulated noise. "
        "`uv run dpviz reproduce districts -o FOLDER` makes this page.\n\n"
        + "\n".join(error_table(errors, totals)),
        statements,
        claimed="we say",
    )
    return Reproduction(statements, page, {"districts": rows})


def voronoi(domain: Domain, size: int, seed: int, levels: int) -> Areas:
    """Public districts: cells of random places, and with three levels nearest larger ones.

    >>> from dpviz.domain import Domain
    >>> areas = voronoi(Domain((0, 0), (1, 1)), 12, 0, 3)
    >>> [part.stop - part.start for part in areas.slices], float(areas.surface[0].round(9))
    ([1, 3, 12], 1.0)
    """
    random = np.random.default_rng(seed)
    places = random.uniform(domain.lower, domain.upper, (size, 2))
    frame = shapely.box(*domain.bounds)
    cells = shapely.voronoi_polygons(shapely.multipoints(places), extend_to=frame, ordered=True)
    shapes = shapely.intersection(shapely.get_parts(cells), frame)
    heads = places[: max(1, round(size**0.5))]
    near = np.argmin(((places[:, None] - heads) ** 2).sum(axis=2), axis=1)
    words = [("all", f"district {head}", f"{row}") for row, head in enumerate(near)]
    titles = ("whole", "district", "ward")[-levels:]
    order, names, parent = hierarchy([each[-levels:] for each in words], titles)
    return Areas(domain, titles, tuple(names), parent, shapes[order])


def _numbers(areas: Areas) -> Float:
    return np.array([float(name) for name in areas.names[areas.first_leaf :]])


def compare(errors: Errors, totals: Errors) -> list[Statement]:
    """What the documentation says, and what we find."""
    settings = [(size, epsilon) for size in SIZES for epsilon in EPSILONS]

    def wins(first: str, second: str, of: Errors, least: int = 0) -> int:
        return sum(
            of[(*each, first)] < of[(*each, second)] for each in settings if each[0] >= least
        )

    def ratios(enough: bool) -> list[float]:
        return [
            errors[(*each, "privtree")] / errors[(*each, "measured")]
            for each in settings
            if (dataset(DATA).size / each[0] * each[1] >= ENOUGH) == enough
        ]

    large, small = ratios(True), ratios(False)
    many = [each for each in settings if each[0] >= 100]
    few = wins("hierarchy", "measured", totals) - wins("hierarchy", "measured", totals, 100)
    n = len(settings)
    return [
        Statement(
            f"districts known beforehand are better measured, from ε × records = {ENOUGH:g} on",
            f"there PrivTree has from {min(large):.1f} to {max(large):.0f} times the error; "
            f"a quadtree more than measured districts in {wins('measured', 'quadtree', errors)} of "
            f"all {n} settings",
            min(large) > 1,
        ),
        Statement(
            "smaller ones are better added up from PrivTree's cells, which share their noise",
            f"below, PrivTree has from {min(small):.2f} to {max(small):.1f} times the error",
            max(small) < 1,
        ),
        Statement(
            "levels above the districts make their sums better, from a hundred districts on",
            f"the whole has less error with them in {wins('hierarchy', 'measured', totals, 100)} "
            f"of {sum(size >= 100 for size, _ in settings)} such settings, and of fewer districts "
            f"in {few}",
            all(totals[(*each, "hierarchy")] < totals[(*each, "measured")] for each in many),
        ),
    ]


def error_table(errors: Errors, totals: Errors) -> list[str]:
    """A row for each setting, the best way in bold, as lines of Markdown."""
    rows = []
    for size, epsilon in itertools.product(SIZES, EPSILONS):
        best = min(WAYS, key=lambda way, at=(size, epsilon): errors[(*at, way)])  # type: ignore[misc]
        cells = []
        for way in WAYS:
            text = f"{errors[size, epsilon, way]:,.1f}"
            text = f"**{text}**" if way == best else text
            cells.append(f"{text} ({totals[size, epsilon, way]:,.0f})")
        rows.append([f"{size:,}", f"{epsilon:g}", *cells])
    return table(("districts", "ε", *WAYS.values()), rows)
