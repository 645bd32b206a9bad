"""The guarantee in words: what is said of ε bears it, on the screen and in files."""

import dataclasses

import dpviz
from dpviz.exports.facts import protection, relation, statement

DOMAIN = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"))


def test_a_large_epsilon_is_not_said_to_hide_a_record():
    """At ε = 10 one could "hardly tell", by a factor of 22,026."""
    data = dpviz.from_points([[0.5, 0.5]], DOMAIN)
    header = dpviz.build(data, "ugrid", 1.0, cells=1, ledger=None).header
    assert "can hardly tell whether one record was" in statement(header)[1]
    loose = statement(dataclasses.replace(header, epsilon=10.0, delta=1e-6))[1]
    assert "hardly" not in loose
    assert "e^ε = 22,026, but for events of total probability δ = 1e-06." in loose
    assert loose.endswith("This is a weak guarantee; at ε = 1 the factor is 2.72.")
    assert loose == protection("one record", 10.0, 1e-6)
    for epsilon, hardly, weak in ((1.09, True, False), (1.11, False, False), (3.1, False, True)):
        words = protection("one record", epsilon)
        assert ("hardly" in words, "weak" in words) == (hardly, weak)


def test_the_privacy_unit_is_said_once():
    data = dpviz.from_points([[0.5, 0.5]], DOMAIN)
    header = dpviz.build(data, "ugrid", 1.0, cells=1, ledger=None).header
    assert (header.unit, relation(header)) == ("one record", "add or remove")
    assert relation(dataclasses.replace(header, unit="one trip")) == "add or remove one record"
