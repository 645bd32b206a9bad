"""Comparisons of counts of one release that share noise: differences, ratios and trends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dpviz.releases.answers import RangeAnswers, difference
from dpviz.releases.frame import Frame
from dpviz.releases.joint import Estimate, joint, ratio_of, require_known, trend_of
from dpviz.releases.points.quotient import Quotients, share_of
from dpviz.releases.points.region_count import Regions
from dpviz.trees.haar import HaarNoise


class Comparisons:
    """Methods of a release of counts that compare two of its counts, or many over time."""

    frame: Frame
    answers_to: Any
    count_regions: Any
    of: Any

    if TYPE_CHECKING:

        @property
        def noise(self) -> HaarNoise | None:
            """Exact noise of sums of nodes, if it is stated."""

        @property
        def kinds(self) -> tuple[str, ...]:
            """Names of the kinds."""

    def covariance(self, one: Any, other: Any) -> float:
        """Covariance of the noise of two counts.

        Args:
            one: a :class:`~dpviz.releases.subset.Subset`, or a place alone.
            other: likewise.

        Raises:
            ReleaseError: the release does not state it, as after non-linear post-processing.
            DpvizError: as :func:`~dpviz.releases.joint.joint`.
        """
        both = joint(self, [one, other])
        require_known(both)
        return float(both.known[0, 1])

    def compare(self, one: Any, other: Any, **basis: Any) -> Estimate:
        """The first count minus the second, with a 95 % interval for the noise of both.

        The interval is exact for areas and streets, but for areas in whole numbers from 0
        (``whole=True``): there it is of the noise only. Elsewhere standard deviations of counts of
        one tree add up, which is never too little for the noise.

        Raises DpvizError: as :func:`~dpviz.releases.joint.joint`.

        Args:
            one: a :class:`~dpviz.releases.subset.Subset`, or a place alone.
            other: likewise.
            **basis: ``quadrature=True`` or ``replicates=``, estimates of a narrower interval: see
                :func:`~dpviz.releases.joint.joint`.
        """
        return joint(self, [one, other], **basis).combined([1.0, -1.0])

    def ratio(self, one: Any, other: Any, **basis: Any) -> Estimate:
        """The first count divided by the second, with Fieller's 95 % interval.

        Arguments and errors are those of :meth:`compare`.
        """
        return ratio_of(joint(self, [one, other], **basis))

    def trend(self, subset: Any = None, weights: ArrayLike | None = None) -> Estimate:
        """Slope of the counts of a subset over steps of time, in records per step.

        Args:
            subset: as for :meth:`compare`; all steps of its period are taken.
            weights: weights of the steps, for another sum than the least-squares slope.

        Raises:
            DomainError: a release without steps, or a period of one step.
            ParameterError: another number of weights than of steps.
        """
        return trend_of(self, subset, weights)

    def difference(self, queries: ArrayLike, period: Any, other: Any) -> RangeAnswers:
        """Records in one period minus those in another, per rectangle.

        The interval is for the noise of both. Where its covariance is known, as of wavelets and of
        parts with independent noise, it is exact; otherwise standard deviations add up.

        Raises DomainError: see :meth:`count`.

        Args:
            queries: as for :meth:`count`.
            period: as for :meth:`count`.
            other: the period whose count is subtracted.
        """
        questions = self.frame.questions(queries, period), self.frame.questions(queries, other)
        one, two = map(self.answers_to, questions)
        shared = None
        if self.noise is not None:
            shared = self.noise.of_two_boxes(*questions[0], *questions[1])
        return RangeAnswers(
            **vars(difference(one, two, shared)),
            uniformity_sd=one.uniformity_sd + two.uniformity_sd,
            nodes=one.nodes + two.nodes,
        )

    def regions_by_kind(self, regions: Regions) -> dict[str, tuple[RangeAnswers, Quotients]]:
        """Counts and shares of each kind in regions; empty without kinds."""
        every = {name: self.of(name).count_regions(regions) for name in self.kinds}
        return {
            name: (counts, share_of(counts, [every[other] for other in every if other != name]))
            for name, counts in every.items()
        }
