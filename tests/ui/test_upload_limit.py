"""Upload limit per session, over a real socket."""

import asyncio
import socket
import threading
from types import SimpleNamespace

import pytest
import uvicorn
from starlette.responses import Response
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dpviz.files import limits
from dpviz.ui.upload_limit import UPLOAD, UploadLimit
from tests.ui.loop import run

LARGEST = 2**20


@pytest.fixture
def files(monkeypatch):
    """Files of all sessions, of 1 MiB each at most."""
    files = MemoryUploadedFileManager("")
    monkeypatch.setattr(Runtime, "_instance", SimpleNamespace(uploaded_file_mgr=files))
    before = config.get_option("server.maxUploadSize")
    config.set_option("server.maxUploadSize", 1)
    yield files
    config.set_option("server.maxUploadSize", before)


@pytest.fixture
def port(files):
    """A server that answers 204 to what the limit hands on."""
    settings = uvicorn.Config(UploadLimit(Response(status_code=204)), log_level="critical")
    server = uvicorn.Server(settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


def status(port, *headers, body=b"x", method="PUT"):
    """The status that answers a request to the upload address."""
    head = f"{method} /maps/_stcore/upload_file/session/file HTTP/1.1\r\nHost: localhost\r\n"
    head += "".join(f"{header}\r\n" for header in (*headers, "Connection: close"))
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        line.sendall(head.encode() + b"\r\n" + body)
        return int(line.recv(64).split()[1])


CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"


@pytest.mark.parametrize("stated", [(), ("Content-Length: 1",)])
def test_an_upload_in_chunks_is_refused(port, stated):
    assert status(port, *stated, "Transfer-Encoding: chunked", body=CHUNKS) == 411


def test_a_session_holds_so_much_until_a_file_is_removed(port, files):
    for name in range(limits.UPLOADS.most):
        files.add_file("session", UploadedFileRec(str(name), "a.csv", "text/csv", bytes(LARGEST)))
    assert status(port, "Content-Length: 1") == 413
    assert status(port, method="DELETE") == 204
    files.remove_file("session", "0")
    assert status(port, "Content-Length: 1") == 204


def test_files_that_are_still_coming_count(files):
    statuses = []

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def requests():
        refused = asyncio.Event()

        async def app(scope, receive, send):
            await refused.wait()
            await Response(status_code=204)(scope, receive, send)

        limit = UploadLimit(app)
        headers = [(b"content-length", str(LARGEST).encode())]
        scope = {"type": "http", "method": "PUT", "headers": headers, "path": f"{UPLOAD}session/a"}
        coming = [asyncio.create_task(limit(scope, None, send)) for _ in range(limits.UPLOADS.most)]
        await asyncio.sleep(0)
        await limit(scope, None, send)
        refused.set()
        await asyncio.gather(*coming)

    run(requests())
    assert statuses == [413, *[204] * limits.UPLOADS.most]
