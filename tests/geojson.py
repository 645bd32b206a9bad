"""GeoJSON as a test writes it."""

import json

import shapely


def feature(shape, **properties):
    geometry = shapely.geometry.mapping(shape)
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def lines(*each):
    """The text of a collection of bare lines, of points."""
    return collection(feature(shapely.LineString(points)) for points in each)


def collection(features):
    return json.dumps({"type": "FeatureCollection", "features": list(features)})
