"""What a program can ask of Streamlit past the pages: a place for files, and to clear all caches.

Streamlit takes files from whoever has a connection, as many as come, and clears what all visitors
share when one asks. It sees how large files are, never records.
"""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance
from streamlit.runtime.app_session import AppSession

from dpviz.files import limits
from dpviz.ui.shared.turns import holds_place

UPLOAD = "/_stcore/upload_file/"
"""Where a browser sends a file: its session and the file's name follow."""


class BoundedUploads:
    """Takes files of visitors who were let in, and of each only so much at a time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._coming: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD not in scope["path"]:
            await self._app(scope, receive, send)
            return
        session = scope["path"].rpartition(UPLOAD)[2].partition("/")[0]
        size = Headers(scope=scope).get("content-length", "")
        refusal = self._answer_to(session, size)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        self._coming[session] += int(size)
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= Counter({session: int(size)})

    def _answer_to(self, session: str, size: str) -> PlainTextResponse | None:
        runtime = get_instance()
        visit = runtime._session_mgr.get_active_session_info(session)
        if visit is None or not holds_place(visit.session.session_state):
            return PlainTextResponse("this visit takes no files", 403)
        if not (size.isascii() and size.isdigit() and len(size) < 16):
            return PlainTextResponse("give the length of what is sent", 411)
        held = runtime.uploaded_file_mgr.file_storage.get(session, {})  # type: ignore[attr-defined]
        holds = sum(len(file.data) for file in list(held.values())) + self._coming[session]
        most = limits.UPLOADS.most * config.get_option("server.maxUploadSize") * limits.MEBI
        if holds + int(size) > most:
            words = f"more than {limits.UPLOADS}: {limits.UPLOADS.remedy}"
            return PlainTextResponse(words, 413)
        return None


def keep_caches() -> None:
    """Let no visitor clear what all share; no page offers it."""

    def ignore(self: AppSession) -> None:
        """In place of Streamlit's own."""

    AppSession._handle_clear_cache_request = ignore  # type: ignore[method-assign]
