"""Loops that are compiled at their first call."""

from dpviz.trees.compiled import compiled


def test_a_loop_is_compiled_where_its_code_cannot_be_kept():
    """As in a package that is read-only, for a user without a folder of caches."""
    nowhere = {}
    exec("def double(n): return 2 * n", nowhere)
    double = compiled()(nowhere["double"])
    assert double(21) == 42
    assert len(double.signatures) == 1
