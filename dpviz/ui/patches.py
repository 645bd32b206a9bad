"""Three patches of the web server, each with a test that fails once it is not needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.formparsers import MultiPartParser
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.state.session_state import SessionState

ANSWERS = ("file_urls_response", "backend_operation_response")
"""Types of messages that answer a request of the browser."""

_clear = ForwardMsgQueue.clear
_register = SessionState.register_widget


def apply() -> None:
    """Keep the answer to a browser that uploads a file, widgets' values, and uploads in memory."""
    # An interrupted run empties the queue of messages to the browser. If the queue holds the upload
    # address of a file that was just chosen, the file is never sent and no error is shown.
    # Fixed upstream for toasts only: https://github.com/streamlit/streamlit/issues/7740
    ForwardMsgQueue.clear = _clear_but_answers  # type: ignore[method-assign]
    # A value that the session holds is sent to the browser once. If the messages of that run are
    # lost (a newer run drops them), the browser makes the widget with its default, such as the
    # least ε, which counts from then on. Streamlit sends it again only with ``persist_state``,
    # which also keeps the value of a widget that is gone.
    SessionState.register_widget = _register_until_reported  # type: ignore[method-assign]
    # The upload parser writes files over 1 MB to the temporary folder. Proposed as a parameter:
    # https://github.com/Kludex/starlette/pull/3190
    MultiPartParser.spool_max_size = 2**40


def _clear_but_answers(
    self: ForwardMsgQueue,
    retain_lifecycle_msgs: bool = False,
    fragment_ids_this_run: list[str] | None = None,
) -> None:
    before = list(self._queue) if retain_lifecycle_msgs else []
    _clear(self, retain_lifecycle_msgs, fragment_ids_this_run)
    answers = (each for each in before if each.WhichOneof("type") in ANSWERS)
    self._queue += [each for each in answers if each not in self._queue]


def _register_until_reported(self: SessionState, metadata: Any, user_key: str | None) -> Any:
    """Tell the browser a widget's value in each run until the browser reports the widget."""
    silent = metadata.id in self._old_state and metadata.id not in self._new_widget_state
    result = _register(self, metadata, user_key)
    changed = silent and result.value != metadata.deserializer(None)
    return replace(result, value_changed=True) if changed else result
