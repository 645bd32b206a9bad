"""Each patch does what it is for, and is still needed."""

import pytest
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.state.session_state import SessionState

from dpviz.ui import patches
from tests.ui.loop import run
from tests.ui.opening import app_of


def kinds(clear, **how):
    """Message types left in a page's queue of an answer, text and end after it is cleared."""
    queue = ForwardMsgQueue()
    answer, words, end = ForwardMsg(), ForwardMsg(), ForwardMsg()
    answer.file_urls_response.response_id = "asked"
    words.delta.new_element.markdown.body = "of the run before"
    end.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    for message in (answer, words, end):
        queue.enqueue(message)
    clear(queue, **how)
    return sorted(message.WhichOneof("type") for message in queue.flush())


@pytest.mark.parametrize(
    ("how", "left"),
    [({"retain_lifecycle_msgs": True}, ["file_urls_response", "script_finished"]), ({}, [])],
)
def test_a_new_run_keeps_the_answer_and_the_end_of_a_session_keeps_nothing(how, left):
    assert kinds(patches._clear_but_answers, **how) == left


def test_a_run_of_a_fragment_keeps_the_answer_once():
    how = {"retain_lifecycle_msgs": True, "fragment_ids_this_run": ["part"]}
    assert kinds(patches._clear_but_answers, **how).count("file_urls_response") == 1


def test_streamlit_still_loses_the_answer():
    """If this fails, delete that patch: Streamlit keeps the answer by itself."""
    assert kinds(patches._clear, retain_lifecycle_msgs=True) == ["script_finished"]


def spooled():
    """Return whether an upload of 2 MB is written to disk while it is parsed."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    body = head + bytes(2**21) + b"\r\n--b--\r\n"

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def parsed():
        headers = [(b"content-type", b"multipart/form-data; boundary=b")]
        async with Request({"type": "http", "headers": headers}, receive).form() as form:
            return form["file"].file._rolled

    return run(parsed())


def test_an_upload_is_parsed_in_memory_and_without_the_patch_on_disk(monkeypatch):
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 2**20)
    assert spooled()  # if this fails, delete that patch
    patches.apply()
    assert not spooled()


def values(monkeypatch, register):
    """The ε that a browser is told and then reports, if it gets no message of the first run."""
    monkeypatch.setattr(SessionState, "register_widget", register)
    app = app_of("publish")
    app.query_params.update({"data": "city-50k", "epsilon": "2"})
    app.run()
    app._run(WidgetStates())  # a browser that has made no widget
    slider = app.select_slider(key="publish.epsilon")
    told = list(slider.proto.raw_value)
    if not told:  # the browser makes the slider with its default
        slider.set_value(float(slider.options[int(slider.proto.default[0])]))
    app.run()
    return told, app.session_state["publish.epsilon"]


def test_a_browser_that_missed_a_run_is_told_the_values_again(monkeypatch):
    assert values(monkeypatch, patches._register_until_reported) == (["2"], 2.0)


def test_streamlit_still_tells_a_value_once(monkeypatch):
    """If this fails, delete that patch: Streamlit repeats what no browser has reported."""
    assert values(monkeypatch, patches._register) == ([], 0.01)
