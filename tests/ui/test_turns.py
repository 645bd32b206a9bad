"""A limit on visitors and on work at a time; who leaves gives their place back."""

import threading

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.ui.shared import garbage, turns


def page():
    import streamlit as st

    from dpviz.ui.shared.turns import admitted, turn, wait_for_place

    if not admitted():
        wait_for_place()
    else:
        with turn():
            st.markdown("in")


@pytest.fixture
def few(monkeypatch):
    """Two visitors, one at work."""
    monkeypatch.setattr(limits, "VISITORS", limits.Limit(2, "visitors", "wait"))
    monkeypatch.setattr(turns, "_visits", type(turns._visits)())
    monkeypatch.setattr(turns, "_at_work", threading.BoundedSemaphore(1))


def nobody_works():
    free = turns._at_work.acquire(blocking=False)
    if free:
        turns._at_work.release()
    return free


def test_the_third_visitor_waits_until_one_leaves(few):
    visits = [AppTest.from_function(page, default_timeout=120).run() for _ in range(3)]
    assert [bool(each.markdown) for each in visits] == [True, True, False]
    assert "All places of this server are taken (2)." in visits[2].info[0].value
    assert visits[0].run().markdown[0].value == "in"
    del visits[0]
    garbage.sweep()
    assert visits[1].run().markdown[0].value == "in"
    assert not visits[1].info


def test_a_session_that_holds_itself_gives_its_place_back(few, monkeypatch):
    monkeypatch.setattr(turns, "_swept", -turns._AGAIN)
    for _ in range(2):
        session = {"visit": turns._Visit()}
        session["self"] = session
        turns._visits.add(session["visit"])
    del session
    assert AppTest.from_function(page, default_timeout=120).run().markdown[0].value == "in"


def test_one_works_at_a_time_and_a_rest_lets_others_work(few):
    seen, done = [], threading.Event()

    def other():
        with turns.in_turn(lambda: None):
            seen.append("other")
        done.set()

    with turns.turn():
        thread = threading.Thread(target=other)
        thread.start()
        assert not done.wait(0.3)
        with turns.resting():
            assert done.wait(30)
        assert seen == ["other"]
        assert not nobody_works()
    thread.join()
    with turns.resting():  # without a turn there is nothing to give
        assert nobody_works()


def test_a_page_that_fails_gives_its_turn_back(few):
    with pytest.raises(RuntimeError, match="odd"), turns.turn():
        raise RuntimeError("odd")
    assert nobody_works()


@pytest.mark.parametrize("given", ["0", "-1", "many", "1001", "²", ""])
def test_a_wrong_number_of_visitors_is_refused(monkeypatch, given):
    monkeypatch.setenv("DPVIZ_VISITORS", given)
    with pytest.raises(DataError, match="give a whole number from 1"):
        limits.visitors()


def test_the_owner_says_how_many_visitors(monkeypatch):
    monkeypatch.setenv("DPVIZ_VISITORS", "20")
    assert str(limits.visitors()) == "20 visitors at a time"


def test_a_build_that_is_cancelled_while_it_waits_for_its_turn_never_begins(few):
    from dpviz.ui.shared.account import CancelledError, Job

    begun = []
    job = Job(begun.append)
    with turns.turn():
        job.start()
        assert not job.ended
        job.cancelled = True
        job.thread.join(60)
    assert job.ended
    assert not begun
    assert isinstance(job.error, CancelledError)
    assert "nothing is spent" in str(job.error)
    assert nobody_works()


def test_a_page_that_is_asked_anew_as_its_turn_comes_gives_it_back(few, monkeypatch):
    class Notice:
        def info(self, *args, **kwargs):
            turns._at_work.release()  # the others are done

        def empty(self):
            raise RerunException(RerunData())  # as Streamlit ends a run at its next word

    monkeypatch.setattr(turns.st, "empty", Notice)
    assert turns._at_work.acquire(blocking=False)
    with pytest.raises(RerunException), turns.turn():
        pass
    assert turns._at_work.acquire(blocking=False)
