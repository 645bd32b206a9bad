"""Tables that every engine holds, and the rows that NumPy gives for them."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpviz import Domain
from dpviz.private.index import PointIndex
from dpviz.private.load.selection import GRID_BITS

DOUBLE, WHOLE = pa.float64(), pa.int64()


@dataclass(frozen=True)
class Case:
    """A table with coordinates and a unit `who`, a public box, and the table's SQL types."""

    domain: Domain
    table: pa.Table
    types: dict

    @property
    def points(self):
        columns = (self.table[name].to_numpy() for name in self.domain.columns)
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])

    def expected(self, bits=None, rows=None):
        """The index by NumPy, of the chosen records."""
        points = self.points if rows is None else self.points[rows]
        bits = GRID_BITS[self.domain.dims] if bits is None else bits
        cells, _ = self.domain.to_lattice(points)
        shift = self.domain.bits - bits
        return PointIndex.from_cells(self.domain, (cells >> shift) << shift)

    def chosen(self, k, bits=None):
        """Rows of the k records of each unit inside the domain that the query keeps, salt ''."""
        dims, points = self.domain.dims, self.points
        bits = GRID_BITS[dims] if bits is None else bits
        cells, inside = self.domain.to_lattice(points)
        steps = cells >> (self.domain.bits - bits)
        numbers = [sum(int(s) << bits * (dims - 1 - axis) for axis, s in enumerate(row))
                   for row in steps]  # fmt: skip
        who, copies, units = self.table["who"].to_pylist(), defaultdict(int), defaultdict(list)
        for row, cell in zip(np.flatnonzero(inside), numbers, strict=True):
            copies[who[row], cell] += 1
            if who[row] is None:
                continue  # a record without a unit
            key = f"{who[row]} {cell} {copies[who[row], cell]}"
            units[who[row]].append((hashlib.md5(key.encode()).hexdigest(), int(row)))
        return np.array(sorted(row for keyed in units.values() for _, row in sorted(keyed)[:k]))


def digest(index):
    """One hash of an index's rows: equal means the same rows."""
    columns = (index.codes.astype("<u8").tobytes(), index.weights.astype("<i8").tobytes())
    return hashlib.sha256(b"|".join(columns)).hexdigest()


def made(seed, dims, names=None, kind=DOUBLE, who=WHOLE):
    """Random records of a random box, with every kind of edge that a column of numbers can have."""
    random = np.random.default_rng([seed, dims])
    lower = random.uniform(-180, 100, dims)
    if seed == 0:
        lower[:] = -0.0
    upper = lower + random.uniform(0.1, 60, dims)
    domain = Domain(tuple(lower), tuple(upper), names or ())
    points = random.uniform(lower - 0.05, upper + 0.05, (2_000, dims))
    step = (upper - lower) / 2 ** GRID_BITS[dims]
    points[20:620] = lower + random.integers(0, 900, (600, dims)) * step  # on borders of cells
    points[620:1200] = points[random.integers(1200, 1250, 580)]  # many records in one place
    points[0], points[1], points[2] = lower, upper, np.nextafter(upper, np.inf)
    points[3], points[4] = np.nextafter(lower, -np.inf), np.nextafter(upper, -np.inf)
    points[5], points[6], points[7] = np.nan, np.inf, -np.inf
    points[8, 0], points[9, -1], points[10, 0] = np.nan, np.inf, -np.inf
    points[11], points[12] = -0.0, 0.0
    points[13], points[14] = 1e308, 5e-324  # the largest and the smallest kind
    columns = [pa.array(column).cast(kind) for column in points.T]
    missing = np.zeros(len(points), dtype=bool)
    missing[15:18] = True
    columns[0] = pa.array(columns[0].to_numpy(), kind, mask=missing)
    units = random.integers(0, 150, len(points))
    units[:100] = 7  # one unit with many records
    unnamed = np.zeros(len(points), dtype=bool)
    unnamed[300:340] = True
    columns.append(pa.array(units, mask=unnamed).cast(who))
    table = pa.table(dict(zip([*domain.columns, "who"], columns, strict=True)))
    coordinate = "real" if kind == pa.float32() else "double precision"
    types = dict.fromkeys(domain.columns, coordinate)
    return Case(domain, table, {**types, "who": "text" if who == pa.string() else "bigint"})


EVIL = ('x"; DROP TABLE evil; --', "y`'$$; \\ é")

CASES = {
    **{f"plane{seed}": made(seed, 2) for seed in range(2)},
    "trips": made(0, 4),
    "space": made(1, 3),
    "line": made(2, 1),
    "singles": made(5, 2, kind=pa.float32()),
    "texts": made(6, 2, who=pa.string()),
    "evil": made(7, 2, EVIL),
    "aliases": made(8, 2, ("cell", "sort_key")),  # names that the query uses itself
}
