"""Map: a notebook widget of releases, with readable rectangle and answers; by anywidget.

Its program in the browser is the viewer of the one-file map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from dpviz.checks import require
from dpviz.errors import ReleaseError
from dpviz.exports.html import packed_map
from dpviz.exports.pack import compressed, deck
from dpviz.exports.page import environment
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.releases.release import Release
from dpviz.render.client.assemble import script, style
from dpviz.render.projection import degree_boxes, from_degrees

HEIGHT = 460
"""Pixels of the map."""


class Map(anywidget.AnyWidget):  # type: ignore[misc]
    """Releases on a map in a notebook: one, two to swipe, or a series under a slider.

    Attributes:
        rectangle: the query rectangle, drawn or set from Python: west, south, east, north in
            degrees, or None. A drawn rectangle outside the domain becomes None; one set from Python
            raises a DomainError.
        answer: the release's answer to the rectangle, or a tuple with one answer per release; None
            without a rectangle.
        camera: longitude, latitude and zoom of the view; None before the map is moved. Link maps of
            different domains by ``traitlets.link((a, "camera"), (b, "camera"))``.

    >>> import dpviz
    >>> city = dpviz.load("city-50k")
    >>> shown = dpviz.Map(dpviz.build(city, epsilon=1.0, seed=1))
    >>> shown.rectangle = (14.5, -24.0, 14.7, -23.8)
    >>> bool(shown.answer.low[0] < shown.answer.count[0])
    True
    """

    _esm = script("hosts/widget.js")
    _spec = traitlets.Dict().tag(sync=True)
    _columns = traitlets.Bytes().tag(sync=True)
    _deck = traitlets.Bytes().tag(sync=True)
    _map_css = traitlets.Unicode().tag(sync=True)
    _page_css = traitlets.Unicode().tag(sync=True)
    rectangle = traitlets.Tuple(*[traitlets.Float()] * 4, allow_none=True, default_value=None).tag(
        sync=True
    )
    camera = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    answer = traitlets.Any(None, allow_none=True, read_only=True)

    def __init__(
        self,
        *releases: PointRelease | AreaRelease,
        labels: Sequence[str] = (),
        rectangle: Sequence[float] | None = None,
        height: int = HEIGHT,
    ) -> None:
        """Show releases on a map.

        Args:
            releases: up to twelve of the same domain; 2-D. Or one of areas.
            labels: one label per release; by default method and ε.
            rectangle: the first query rectangle.
            height: height of the map in pixels.

        Raises:
            ReleaseError: no release or too many, not 2-D, or not of one domain.
            DomainError: the rectangle is invalid, or outside the domain.
        """
        for each in releases:
            require(each, Release, "release", ReleaseError)
            if each.kind not in ("points", "areas"):
                raise ReleaseError(
                    f"dpviz.Map shows releases of points and areas, this is one of {each.kind}: "
                    "put the release itself at the end of a cell"
                )
        box = None if rectangle is None else degree_boxes([rectangle])[0]
        packed = packed_map(releases, labels, height=height)
        self.releases = releases
        badges = [
            dict(zip(("kind", "text"), each.header.privacy_status, strict=True))
            | ({"label": name} if len(packed.names) > 1 else {})
            for each, name in zip(packed.releases, packed.names, strict=True)
        ]
        super().__init__(
            _spec=packed.spec | {"badges": badges, "live": packed.live},
            _columns=compressed(packed.block),
            _deck=deck(),
            _map_css=style(),
            _page_css=environment().get_template("page.css").render(),
            rectangle=box,
        )

    @traitlets.validate("rectangle")  # type: ignore[untyped-decorator]
    def _inside(self, proposal: Any) -> Any:
        if proposal["value"] is not None:
            domain = self.releases[0].domain
            domain.boxes(from_degrees(proposal["value"], domain.crs))
        return proposal["value"]

    @traitlets.observe("rectangle")  # type: ignore[untyped-decorator]
    def _answer_rectangle(self, _change: Any) -> None:
        self.set_trait("answer", self._answers())

    def _answers(self) -> RangeAnswers | tuple[RangeAnswers, ...] | None:
        rectangle: Any = self.rectangle
        if rectangle is None:
            return None
        inside = from_degrees(rectangle, self.releases[0].domain.crs)
        answers = tuple(each.count(inside) for each in self.releases)
        return answers if len(answers) > 1 else answers[0]
