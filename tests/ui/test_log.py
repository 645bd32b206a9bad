"""The server logs the type and place of an error only, from any logger."""

import io
import logging
import threading

import pytest

from dpviz.ui.shared import log

SECRET = "record 51.50137 of /home/owner/visits.csv"


@pytest.fixture
def logged():
    """Output of a test logger while the log is redacted."""
    before, hook = logging.getLogRecordFactory(), threading.excepthook
    lines, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(lines)
    root.addHandler(handler)
    log.redact()
    yield lines.getvalue
    root.removeHandler(handler)
    logging.setLogRecordFactory(before)
    threading.excepthook = hook


def fail():
    try:
        float(SECRET)
    except ValueError as error:
        raise KeyError(SECRET) from error


def test_a_logged_error_is_its_kind_and_place(logged):
    try:
        fail()
    except KeyError as error:
        logging.getLogger("some.library").exception("failed at 100%")
        logging.getLogger("other").error("quoted: %s", error, stack_info=True)
    first, second = logged().splitlines()
    lines = fail.__code__.co_firstlineno
    assert first.startswith(f"failed at 100%: KeyError in {__name__}:{lines + 4} < {__name__}:")
    assert first.endswith(f"; after ValueError in {__name__}:{lines + 2}")
    assert second == "quoted: KeyError"


def test_a_thread_that_fails_says_no_more(logged):
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert logged().startswith("a thread failed: KeyError in ")
    assert SECRET not in logged()
    assert "/" not in logged()


def test_other_log_lines_are_unchanged(logged):
    logging.getLogger("x").warning("%d of %s", 3, "y")
    assert logged() == "3 of y\n"


def test_what_a_stranger_sends_moves_no_cursor_and_begins_no_line(logged):
    logging.getLogger("x").error("login: %s", "é\x1b[2J\u2028\nforged \ud800")
    assert logged() == "login: é\\x1b[2J\\u2028\\nforged \\ud800\n"
