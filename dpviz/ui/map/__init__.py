"""The map that every page shares: a scene in; a drawn shape, the camera and clicks out."""

from dpviz.ui.map.component import MapEvents, Shape, map_overlay, map_view

__all__ = ["MapEvents", "Shape", "map_overlay", "map_view"]
