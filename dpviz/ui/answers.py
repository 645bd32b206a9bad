"""What Streamlit owes a browser that asked for it, kept when a page runs again.

A new run of a page empties the queue of what the last one had still to say. Among it can be the
answer to a browser that asked where to send a file: without it the file that a person has just
chosen is never sent, and nobody learns of it. It sees messages to a browser, never records.
"""

from __future__ import annotations

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

ANSWERS = ("file_urls_response", "backend_operation_response")
"""Messages that answer a question of the browser, whatever the page does meanwhile."""


def keep_answers() -> None:
    """Let every queue of this process keep its answers when it is cleared for a new run."""
    if getattr(ForwardMsgQueue.clear, "keeps_answers", False):
        return
    clear_all = ForwardMsgQueue.clear

    def clear(
        self: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        before = list(self._queue) if retain_lifecycle_msgs else []
        clear_all(self, retain_lifecycle_msgs, fragment_ids_this_run)
        self._queue += [
            message
            for message in before
            if message.WhichOneof("type") in ANSWERS and message not in self._queue
        ]

    clear.keeps_answers = True  # type: ignore[attr-defined]
    ForwardMsgQueue.clear = clear  # type: ignore[method-assign]
