"""Limit on the total size of a session's files; Streamlit limits only the size of each."""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance

from dpviz.files import limits

UPLOAD = "/_stcore/upload_file/"
"""Path prefix of uploads; the session and the file follow."""


class UploadLimit:
    """Refuse an upload without a stated length, or over the limit of the session."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._coming: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to the app."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD not in scope["path"]:
            await self._app(scope, receive, send)
            return
        session = scope["path"].rpartition(UPLOAD)[2].partition("/")[0]
        headers = Headers(scope=scope)
        text = headers.get("content-length", "")
        # A chunked body may be longer than the stated length.
        if "transfer-encoding" in headers or not (text.isascii() and text.isdigit()):
            await PlainTextResponse("state a Content-Length", 411)(scope, receive, send)
            return
        size = int(text[:16])
        most = limits.UPLOADS.most * config.get_option("server.maxUploadSize") * limits.MEBI
        if self._held(session) + size > most:
            words = f"more than {limits.UPLOADS}: {limits.UPLOADS.remedy}"
            await PlainTextResponse(words, 413)(scope, receive, send)
            return
        self._coming[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= Counter({session: size})

    def _held(self, session: str) -> int:
        """Bytes of a session's files, including uploads in progress."""
        files = get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
        held = list(files.get(session, {}).values())
        return sum(len(file.data) for file in held) + self._coming[session]
