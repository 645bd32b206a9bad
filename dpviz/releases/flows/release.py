"""The type of a release of flows between areas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpviz.releases.counts import CountRelease
from dpviz.releases.flows.frame import Flows
from dpviz.releases.release import Release

if TYPE_CHECKING:
    from typing_extensions import TypeIs

FlowRelease = CountRelease[Flows]


def is_flows(release: Release) -> TypeIs[FlowRelease]:
    """Return whether a release is of flows between areas."""
    return release.kind == Flows.kind
