"""Long work can be cancelled between any two steps, also where no noise is drawn."""

import numpy as np
import pytest

import dpviz
from dpviz.errors import PrivacyError
from dpviz.progress import Reports, checkpoint, listening

DOMAIN = dpviz.Domain((0, 0), (1, 1))


class StoppedError(dpviz.DpvizError):
    """Exception that the listener raises."""


def stopping(after, reports):
    """A progress function that keeps its reports and cancels at a given one."""

    def progress(fraction, what):
        reports.append(what)
        if len(reports) > after:
            raise StoppedError("stopped")

    return progress


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("ladder_tree", {}), ("hot_grid", {}), ("kdtree", {"height": 4}), ("dawa", {"log_cells": 6})],
)
def test_a_build_is_cancelled_at_its_first_step_in_the_middle_and_late(method, parameters):
    """The payment stays, and no release is made."""
    points = np.random.default_rng(1).beta(2, 5, (20_000, 2))
    data = dpviz.from_points(points, DOMAIN, name="data", public=False)
    ledger, reports = dpviz.Ledger(), []

    def build(after):
        reports.clear()
        progress = stopping(after, reports)
        return dpviz.build(data, method, 0.5, progress=progress, ledger=ledger, **parameters)

    build(10**9)
    whole = len(reports)
    assert whole > 20
    assert set(reports[-5:]) <= {"drawing noise", "computing"}
    # The trees are random: another build may have a few steps fewer.
    for after in (0, whole // 2, whole - whole // 8):
        with pytest.raises(PrivacyError, match="which stays spent: stopped"):
            build(after)
        assert len(reports) == after + 1
    outcomes = [row.outcome for row in ledger.account("data").spends]
    assert outcomes == ["released", "failed", "failed", "failed"]


def test_a_step_repeats_the_last_report_of_its_own_build_and_of_no_other():
    outer, inner = [], []
    checkpoint()
    with listening(Reports(lambda *report: outer.append(report))):
        checkpoint()
        reports = Reports(lambda *report: inner.append(report))
        with listening(reports):
            reports(0.25, "drawing noise")
            checkpoint()
        with listening(None):
            checkpoint()
        checkpoint()
    checkpoint()
    assert outer == [(0.0, "computing")] * 2
    assert inner == [(0.25, "drawing noise")] * 2
