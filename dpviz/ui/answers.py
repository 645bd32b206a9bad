"""A patch of Streamlit: a new run of a page keeps the answer to a browser that uploads a file.

A run that is interrupted empties the queue of messages to the browser. Where the queue holds the
address for a file that was just chosen, the file is never sent and nobody is told. Streamlit
mended the same loss of toasts in https://github.com/streamlit/streamlit/issues/7740, and not yet
this one. A test says when the patch is no longer needed.
"""

from __future__ import annotations

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

ANSWERS = ("file_urls_response", "backend_operation_response")
"""Types of messages that answer a question of the browser."""

_clear = ForwardMsgQueue.clear


def _clear_but_answers(
    self: ForwardMsgQueue,
    retain_lifecycle_msgs: bool = False,
    fragment_ids_this_run: list[str] | None = None,
) -> None:
    before = list(self._queue) if retain_lifecycle_msgs else []
    _clear(self, retain_lifecycle_msgs, fragment_ids_this_run)
    answers = (each for each in before if each.WhichOneof("type") in ANSWERS)
    self._queue += [each for each in answers if each not in self._queue]


def keep_answers() -> None:
    """Let every queue of this process keep its answers when it is cleared for a new run."""
    ForwardMsgQueue.clear = _clear_but_answers  # type: ignore[method-assign]
