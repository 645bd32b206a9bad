"""The answer to a browser that asked where to send a file survives a new run of the page."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from dpviz.ui import answers


def kinds(clear, **how):
    """What is left in a queue of a page that is cleared with an answer, words and an end in it."""
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
    [
        ({"retain_lifecycle_msgs": True}, ["file_urls_response", "script_finished"]),
        ({}, []),
    ],
)
def test_a_new_run_keeps_the_answer_and_the_end_of_a_session_keeps_nothing(how, left):
    assert kinds(answers._clear_but_answers, **how) == left


def test_a_run_of_a_fragment_keeps_the_answer_once():
    how = {"retain_lifecycle_msgs": True, "fragment_ids_this_run": ["part"]}
    assert kinds(answers._clear_but_answers, **how).count("file_urls_response") == 1


def test_streamlit_still_loses_the_answer():
    """If this fails, delete dpviz/ui/answers.py: Streamlit keeps the answer by itself."""
    assert kinds(answers._clear, retain_lifecycle_msgs=True) == ["script_finished"]
