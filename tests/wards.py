"""Made-up wards for tests and pictures."""

import numpy as np
import shapely

import dpviz
from dpviz.releases.areas.hierarchy import hierarchy


def voronoi(domain, size, seed):
    """Cells of random places, in districts of the nearest larger places, in the whole."""
    random = np.random.default_rng(seed)
    places = random.uniform(domain.lower, domain.upper, (size, 2))
    frame = shapely.box(*domain.bounds)
    cells = shapely.voronoi_polygons(shapely.multipoints(places), extend_to=frame, ordered=True)
    shapes = shapely.intersection(shapely.get_parts(cells), frame)
    heads = places[: max(1, round(size**0.5))]
    near = np.argmin(((places[:, None] - heads) ** 2).sum(axis=2), axis=1)
    titles = ("whole", "district", "ward")
    words = [("all", f"district {head}", f"{row}") for row, head in enumerate(near)]
    order, names, parent = hierarchy(words, titles)
    return dpviz.Areas(domain, titles, tuple(names), parent, shapes[order])
