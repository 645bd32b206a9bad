"""Pieces of one computation on several cores: the same results, and no thread that stays."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dpviz
from dpviz.progress import Reports, checkpoint, listening
from dpviz.trees import cores
from dpviz.trees.cores import parallel_map, run_both

DOMAIN = dpviz.Domain((0, 0), (1, 1))


@pytest.fixture
def two(monkeypatch):
    """As on a machine of two cores."""
    monkeypatch.setattr(cores, "cores", lambda: 2)


def test_results_stand_in_the_order_of_the_pieces_and_threads_end(two):
    before, together, threads = threading.active_count(), threading.Barrier(2), set()

    def work(piece):
        if piece < 2:
            together.wait(60)  # fails unless two run at a time
        threads.add(threading.get_ident())
        return piece * piece

    assert parallel_map(work, range(5)) == [0, 1, 4, 9, 16]
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    assert threading.active_count() == before


def test_two_pieces_at_once_are_the_first_here_and_the_other_meanwhile(two, monkeypatch):
    here, before, together = threading.get_ident(), threading.active_count(), threading.Barrier(2)

    def work():
        together.wait(60)  # fails unless both run at a time
        return threading.get_ident()

    first, other = run_both(work, work)
    assert first == here != other

    def fails():
        raise ValueError("no such piece")

    for pieces in ((fails, lambda: 1), (lambda: 1, fails)):
        with pytest.raises(ValueError, match="no such piece"):
            run_both(*pieces)
    started = threading.Event()

    def endless():
        started.set()
        while True:
            checkpoint()

    def cancelled():
        started.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_both(cancelled, endless)  # otherwise this test would never end
    assert threading.active_count() == before
    monkeypatch.setattr(cores, "cores", lambda: 1)
    assert run_both(threading.get_ident, threading.get_ident) == (here, here)


def test_what_a_piece_raises_or_a_listener_ends_the_rest(two, monkeypatch):
    """A thread takes the first piece and one more, the other another one; no more are begun."""
    begun, ended = [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            ended.set()
            super().shutdown()

    def work(piece):
        begun.append(piece)
        if failing and piece == 0:
            raise ValueError("no such piece")
        ended.wait(60)

    def cancel(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cores, "ThreadPoolExecutor", Pool)
    failing = True
    with pytest.raises(ValueError, match="no such piece"):
        parallel_map(work, range(1000))
    assert len(begun) <= 3

    failing = False
    begun.clear(), ended.clear()
    with listening(Reports(cancel)), pytest.raises(KeyboardInterrupt):
        parallel_map(work, range(1000))
    assert len(begun) <= 2


def test_a_release_is_the_same_on_one_core_and_on_two(monkeypatch):
    """Identical to the last bit, with levels and strips enough for both."""
    monkeypatch.setattr("dpviz.trees.density.STRIP_ROWS", 256)
    points = np.random.default_rng(1).beta(2, 5, (20_000, 2))
    handle = dpviz.from_points(points, DOMAIN, public=True)
    releases = []
    for available in (1, 2):
        monkeypatch.setattr(cores, "cores", lambda available=available: available)
        releases.append(dpviz.build(handle, "ladder_tree", 1.0, seed=3).nodes.columns)
    assert all(np.array_equal(releases[0][name], releases[1][name]) for name in releases[0])
