"""The audit of road methods: with one trip against without it, on a street of four edges.

A lower bound on the real ε at confidence 1 − 1e-6 must not exceed the claim; and it must exceed a
claim that is false, or the audit could not find anything.
"""

import numpy as np
import pytest

from dpviz.evaluation.audit import small_builds
from dpviz.evaluation.road_audit import EDGES, road_subject, street
from dpviz.evaluation.search import Search
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.releases.roads.streets import Streets

pytestmark = pytest.mark.slow

CONFIDENCE = 1 - 1e-6


def test_the_audit_finds_a_false_claim():
    """Noise for ε = 6, claimed as 1.5."""
    subject = road_subject(small_builds("dwork", "roads"), 1.5)
    search = Search(subject, Budget(6.0), SimulatedNoise(0), 900)
    assert search.finding(CONFIDENCE).epsilon_lower_bound > 1.5


@pytest.mark.parametrize("word", ["min+opt+tru", "gs", "flows"])
def test_features_are_those_of_the_estimates(word):
    subject = road_subject(small_builds(word, "roads"), 1.0)
    for case in subject.cases:
        assert len(case.larger) == len(case.smaller) + 1
        release = subject.build(case.larger, Budget(1.0), SimulatedNoise(3))
        count = Streets(street(), release.domains).answers(release.nodes).count
        along = count[list(case.target)]
        expected = [along[0], along.min(), along.max(), along.sum(), count.sum()]
        np.testing.assert_allclose(subject.features(release, case.target)[:5], expected)
    assert len(count) == EDGES
