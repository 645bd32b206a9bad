"""A browser that asked where to send a file gets its answer, whatever the page does meanwhile."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from dpviz.ui.answers import keep_answers


@pytest.fixture
def queue(monkeypatch):
    """Of a page that has more to say, and owes a browser the address for its file."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    keep_answers()
    queue = ForwardMsgQueue()
    answer, words, end = ForwardMsg(), ForwardMsg(), ForwardMsg()
    answer.file_urls_response.response_id = "asked"
    words.delta.new_element.markdown.body = "of the run before"
    end.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    for message in (answer, words, end):
        queue.enqueue(message)
    return queue


def kinds(queue):
    return sorted(message.WhichOneof("type") for message in queue.flush())


def test_a_new_run_keeps_the_answer_and_drops_what_the_last_one_had_to_say(queue):
    queue.clear(retain_lifecycle_msgs=True)
    assert kinds(queue) == ["file_urls_response", "script_finished"]


def test_a_run_of_a_part_of_the_page_keeps_the_answer_once(queue):
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["part"])
    assert kinds(queue).count("file_urls_response") == 1


def test_the_end_of_a_session_keeps_nothing(queue):
    queue.clear()
    assert kinds(queue) == []


def test_twice_is_once(queue):
    before = ForwardMsgQueue.clear
    keep_answers()
    assert ForwardMsgQueue.clear is before
