"""Server log: error types and code positions; never messages, values or paths.

An unexpected error's message may quote a record, and a traceback holds paths and source lines.
"""

from __future__ import annotations

import logging
import threading
import traceback
from typing import Any

FRAMES = 12
"""Number of innermost calls in the log."""

_ordinary = logging.getLogRecordFactory()


def redact() -> None:
    """Redact every error that this process logs from now on; see :func:`redacted`."""
    logging.setLogRecordFactory(_record)
    threading.excepthook = _thread_failed


def redacted(error: BaseException) -> str:
    """An error's type, with the modules and lines of its traceback, innermost first.

    >>> redacted(KeyError("a record"))
    'KeyError'
    """
    frames = list(traceback.walk_tb(error.__traceback__))[::-1][:FRAMES]
    places = [f"{frame.f_globals.get('__name__')}:{line}" for frame, line in frames]
    kind = type(error).__name__
    words = f"{kind} in {' < '.join(places)}" if places else kind
    hidden = None if error.__suppress_context__ else error.__context__
    before = error.__cause__ or hidden
    return f"{words}; after {redacted(before)}" if before is not None else words


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = _ordinary(*args, **kwargs)
    if isinstance(record.args, tuple):
        record.args = tuple(map(_in_one_line, record.args))
    if record.exc_info and record.exc_info[1] is not None:
        record.msg = f"{record.msg}: {redacted(record.exc_info[1])}"
    record.exc_info = record.stack_info = None
    return record


def _in_one_line(argument: Any) -> Any:
    """Reduce an error to its type, and escape control characters in untrusted text."""
    if isinstance(argument, BaseException):
        return type(argument).__name__
    if isinstance(argument, str) and not argument.isprintable():
        return "".join(
            each if each.isprintable() else each.encode("unicode_escape").decode()
            for each in argument
        )
    return argument


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None:
        logging.getLogger(__name__).error("a thread failed: %s", redacted(failed.exc_value))
