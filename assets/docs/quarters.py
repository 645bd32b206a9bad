"""Noisy counts of the four quarters of a map, with types: ``python quarters.py visits.csv``."""

import sys

import dpviz

DOMAIN = dpviz.Domain.from_bounds([14.4, -24.1, 15.0, -23.6])  # public: chosen, not computed


def map_of(path: str, epsilon: float) -> dpviz.CountRelease:
    """Pay for a map of the records in a file, and return it."""
    visits = dpviz.load(path, DOMAIN, columns=("lon", "lat"), unit="person", max_per_unit=5)
    return dpviz.build(visits, "ladder_tree", epsilon)


def quarters(release: dpviz.CountRelease) -> dict[str, dpviz.RangeAnswers]:
    """Return the count of each quarter with its interval."""
    west, south, east, north = release.domain.bounds
    x, y = (west + east) / 2, (south + north) / 2
    boxes = {"south-west": (west, south, x, y), "south-east": (x, south, east, y)}
    boxes |= {"north-west": (west, y, x, north), "north-east": (x, y, east, north)}
    return {name: release.count(box) for name, box in boxes.items()}


if __name__ == "__main__":
    for name, answer in quarters(map_of(sys.argv[1], epsilon=1.0)).items():
        print(f"{name}: {answer.count[0]:,.0f} ({answer.low[0]:,.0f} to {answer.high[0]:,.0f})")
