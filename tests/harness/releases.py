"""Seeded releases of every method and kind of data: columns and headers of their files."""

import io
import json
import re
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpviz

SMALL = {"height": 3, "max_depth": 5, "cells": 6, "log_cells": 3, "log_grid": 3, "order": 6}
SMALL |= {"workload": 20, "l_top": 6}
"""Sizes of structures, of the methods that have such a parameter."""

BOX = [14.0, -24.0, 15.0, -23.0]
STEPS = {"time": "t", "period": "2024-01-01,2024-01-08", "every": "6h"}
WEEK = {"time": "t", "cycle": "week", "every": "1h"}
KINDS = {"kind": "mode", "kinds": ("bike", "car", "walk")}
SUMS = {"value": "fare", "clip": (0, 50)}
FRAMES = {"plain": {}, "time": STEPS, "week": WEEK, "kinds": KINDS, "sums": SUMS}
FRAMES["all"] = STEPS | KINDS | SUMS
TRIPS = {"trips": ("trips.csv", {}), "timed": ("trips.csv", STEPS)}
TRIPS["events"] = ("events.csv", {"columns": ("lon", "lat")})
AREAS = ("h3:6", "rect=14,-24,14.5,-23;rect=14.5,-24,15,-23.4", "wards.geojson")
PUBLIC = {"public": True, "name": "harness"}


@cache
def table():
    """Skewed points in the box, with duplicates; a time, a kind, a value and a person of each."""
    random = np.random.default_rng(0)
    xy = np.concatenate([random.beta(2, 5, (500, 2)), random.normal(0.6, 0.01, (500, 2))])
    xy[:80] = xy[0]
    lon, lat = (np.clip(xy, 0, 0.999) + BOX[:2]).T
    time = pa.array(1704067200000 + random.integers(0, 7 * 86400000, 1000), pa.timestamp("ms"))
    mode, fare = random.choice(["bike", "car", "walk"], 1000), random.gamma(2, 5, 1000)
    who = np.arange(1000) // 5
    return pa.table({"lon": lon, "lat": lat, "t": time, "mode": mode, "fare": fare, "who": who})


@cache
def graph():
    """A grid of 7 × 7 crossings on the Earth, and files of trips and events on it."""
    nodes = [f"{n},{14 + n % 7 / 50},{-24 + n // 7 / 50}" for n in range(49)]
    ends = [(n, n + 1) for n in range(49) if n % 7 < 6] + [(n, n + 7) for n in range(42)]
    edges = [f"{at},{a},{b},{1 + at % 3}" for at, (a, b) in enumerate(ends)]
    random, rows, events = np.random.default_rng(1), ["trip,edge,t"], ["lon,lat"]
    for trip in range(300):
        row, start, day = random.integers(0, 7), random.integers(0, 4), 1 + trip % 7
        steps = range(start, start + random.integers(1, 7 - start))
        rows += [f"{trip},{6 * row + step},2024-01-0{day}T08:00:00Z" for step in steps]
        events += [f"{14 + random.uniform(0, 0.12)},{-24 + random.uniform(0, 0.12)}"]
    Path("nodes.csv").write_text("\n".join(["node,lon,lat", *nodes]))
    Path("edges.csv").write_text("\n".join(["edge,src,dst,length", *edges]))
    Path("trips.csv").write_text("\n".join(rows))
    Path("events.csv").write_text("\n".join(events))
    return dpviz.read_graph("nodes.csv", "edges.csv", crs="EPSG:4326")


def wards():
    features = []
    for at in range(4):
        west, south = 14 + at % 2 / 2, -24 + at // 2 / 2
        ring = [[west + x, south + y] for x, y in ((0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5), (0, 0))]
        named = {"district": f"d{at // 2}", "ward": f"w{at}"}
        shape = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": named, "geometry": shape})
    collection = {"type": "FeatureCollection", "features": features}
    Path("wards.geojson").write_text(json.dumps(collection))


@cache
def data(label):
    """The handle of a label of `labels`."""
    if label in FRAMES or label in AREAS:
        domain = dpviz.Domain.from_bounds(BOX, ("lon", "lat"), **FRAMES.get(label, {}))
        return dpviz.load(table(), domain, columns=("lon", "lat"), **PUBLIC)
    if label in TRIPS:
        file, how = TRIPS[label]
        return dpviz.load(file, graph(), **how, **PUBLIC)
    if label == "symbols":
        letters = np.minimum(np.random.default_rng(2).geometric(0.4, (300, 4)), 6)
        walks = pa.table({"walk": [["abcdef"[s - 1] for s in row] for row in letters]})
        return dpviz.load(walks, dpviz.Alphabet(tuple("abcdef")), **PUBLIC)
    if label == "places":
        box = dpviz.Domain.from_bounds(BOX, ("lon", "lat"))
        how = {"kind": "sequences", "time": "t", "unit": "who", "side": 3, "gap": 200.0}
        return dpviz.load(table(), box, max_per_unit=5, **how, **PUBLIC)
    if label == "flows":
        box = dpviz.Domain.from_bounds(BOX, ("lon", "lat"))
        areas = dpviz.read_areas("wards.geojson", box, levels=("district", "ward"))
        moved = {"to_lon": np.roll(table()["lon"], 1), "to_lat": np.roll(table()["lat"], 1)}
        ends = table().select(["lon", "lat"])
        for name, column in moved.items():
            ends = ends.append_column(name, pa.array(column))
        return dpviz.load(ends, dpviz.Flows(areas), columns=tuple(ends.column_names), **PUBLIC)
    dims = int(label[0])
    domain, random = dpviz.Domain((0.0,) * dims, (1.0,) * dims), np.random.default_rng(dims)
    return dpviz.from_points(random.beta(2, 5, (800, dims)), domain, **PUBLIC)


def labels(cls, name):
    """The kinds of data that a method or a preset is tried on."""
    if cls.kind == "points":
        cubes = [f"{dims}-D" for dims in cls.dims if dims != 2]
        return ("plain",) if name in cls.presets else (*FRAMES, *cubes)
    pairs = {"areas": AREAS, "flows": ("flows",)}
    return {**pairs, "roads": TRIPS, "sequences": ("symbols", "places")}[cls.kind]


def cases():
    graph()
    wards()
    for owner, cls in dpviz.METHODS.items():
        for name in (owner, *cls.presets):
            for label in labels(cls, name):
                yield f"{name} {label}", partial(stored, cls, name, label)


def path_of(name, label):
    return re.sub(r"\W+", "-", f"{name} {label}") + ".parquet"


def stored(cls, name, label):
    """Columns and header of the file of a seeded release."""
    sizes = {} if cls.kind == "roads" else SMALL
    chosen = {key: sizes[key] for key in sizes.keys() & cls.parameter_fields().keys()}
    if label in ("3-D", "4-D"):
        chosen |= {key: 2 for key in ("cells", "log_grid", "log_cells", "height") if key in chosen}
    if label in AREAS:
        chosen["areas"] = label
    if label.endswith("geojson"):
        box, levels = data(label).domain, ("district", "ward")
        chosen["areas"] = dpviz.read_areas(label, box, levels=levels)
    if cls.kind == "roads":
        chosen["workload"] = dpviz.workload_of("clustered:3", graph())
    release = dpviz.build(data(label), name, 1.0, seed=7, **chosen)
    return file_facts(release.save(path_of(name, label)))


def file_facts(path):
    """Bytes of each column, and each key of the metadata; of those in JSON key by key."""
    read = pq.read_table(path)
    for name, column in zip(read.column_names, read.columns, strict=True):
        sink, alone = io.BytesIO(), pa.table({"": column.combine_chunks()})
        with pa.ipc.new_stream(sink, alone.schema) as stream:
            stream.write_table(alone)
        yield f"column {name}", sink.getvalue()
    for key, value in (read.schema.metadata or {}).items():
        if key != b"ARROW:schema":
            parsed = json.loads(value)
            yield from ((f"{key.decode()}.{name}", parsed[name]) for name in parsed)
