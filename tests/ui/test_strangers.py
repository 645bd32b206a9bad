"""What a program asks past the pages: files without a place, too many of them, caches cleared."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dpviz.files import limits
from dpviz.ui import server
from tests.ui.loop import run

LARGEST = 2**20


@pytest.fixture
def files(monkeypatch):
    """Of a server with one visitor who was let in, and one who waits; 1 MB is the largest."""
    files = MemoryUploadedFileManager("")
    states = {"let in": SessionState(), "waits": SessionState()}
    states["let in"]["visit"] = "a place"

    visits = {
        name: SimpleNamespace(session=SimpleNamespace(session_state=state))
        for name, state in states.items()
    }
    runtime = SimpleNamespace(
        _session_mgr=SimpleNamespace(get_active_session_info=visits.get), uploaded_file_mgr=files
    )
    monkeypatch.setattr(Runtime, "_instance", runtime)
    before = config.get_option("server.maxUploadSize")
    config.set_option("server.maxUploadSize", 1)
    yield files
    config.set_option("server.maxUploadSize", before)


def put(session, *lengths, method="PUT", below=""):
    """Statuses of requests: each comes while the one before it is being answered."""
    statuses, coming = [], iter(lengths)

    async def request():
        length = next(coming, None)
        if length is None:
            return
        headers = {"host": "localhost"} | ({} if length == "" else {"content-length": length})
        scope = {
            "type": "http",
            "method": method,
            "path": f"{below}/_stcore/upload_file/{session}/file",
            "headers": [(name.encode(), str(each).encode()) for name, each in headers.items()],
        }
        await app(scope, None, send)

    async def app(scope, receive, send):
        await request()
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    for each in reversed(server.MIDDLEWARE):
        app = each.cls(app, *each.args, **each.kwargs)
    run(request())
    return statuses[::-1]


@pytest.mark.parametrize("below", ["", "/maps"])
@pytest.mark.parametrize(("session", "status"), [("let in", 204), ("waits", 403), ("none", 403)])
def test_only_who_was_let_in_sends_files(session, status, below, files):
    assert put(session, LARGEST, below=below) == [status]


@pytest.mark.parametrize("length", ["", "-1", "1e3", "٣", "9" * 16])
def test_a_file_says_how_long_it_is(length, files):
    assert put("let in", length) == [411]


def test_a_visit_holds_so_much_and_no_more_until_a_file_is_removed(files):
    for name in range(limits.UPLOADS.most):
        files.add_file("let in", UploadedFileRec(str(name), "a.csv", "text/csv", bytes(LARGEST)))
    assert put("let in", 1) == [413]
    assert put("let in", "", method="DELETE") == [204]
    files.remove_file("let in", "0")
    assert put("let in", LARGEST) == [204]


def test_files_that_are_still_coming_count(files):
    most = limits.UPLOADS.most
    assert put("let in", *[LARGEST] * (most + 1)) == [*[204] * most, 413]
    assert put("let in", *[LARGEST] * most) == [204] * most


class Session(AppSession):
    """Of a visitor, without a server."""

    def __init__(self):
        self._session_state = SessionState()

    def __del__(self):
        pass


def test_nobody_clears_what_all_visitors_share(monkeypatch):
    cleared = AppSession._handle_clear_cache_request
    monkeypatch.setattr(AppSession, "_handle_clear_cache_request", cleared)
    server.keep_caches()
    made = []
    shared = st.cache_resource(lambda: made.append("made"))
    shared()
    Session().handle_backmsg(BackMsg(clear_cache=True))
    shared()
    assert made == ["made"]
