"""Uploaded files: kept in memory under generated names, deleted with the session.

On Linux an upload is a nameless file in memory, which ends with this process, however it ends.
Elsewhere it is a file in a private folder, which only this user may read, removed at exit. The
visitor's own name for the file never becomes a path.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.files.foreign import LAYER
from dpviz.files.limits import COLUMNS
from dpviz.private.load.points import columns as source_columns
from dpviz.private.load.tables.opening import tables_in
from dpviz.releases.points.region_file import polygon_layers
from dpviz.ui.shared.memory import cached

IN_MEMORY = hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir()
_KEY = "uploads"


def upload_path(place: str, file: Any) -> Path:
    """Path of an uploaded file, valid until the session ends or the file is replaced.

    Args:
        place: the key of the uploader; its last part names the file in messages.
        file: file of ``st.file_uploader``; its bytes are copied once, not at every touch of the
            page.
    """
    held: dict[str, _SessionUpload] = st.session_state.setdefault(_KEY, {})
    if place not in held or held[place].file_id != file.file_id:
        if place in held:
            held.pop(place).close()
        held[place] = _SessionUpload(file, place.rpartition(".")[2])
    return held[place].path


def upload_columns(path: Path, table: str | None = None) -> Sequence[Any]:
    """Columns of an upload, or of one of its tables; read once.

    Raises:
        DataError: it cannot be read, or has more of them than a form can offer.
    """

    def read() -> Sequence[Any]:
        columns = source_columns(path, table)
        COLUMNS.check(len(columns), "the file")  # each selector lists all columns
        return columns

    return cached(f"{path}.columns", table, read)


def chosen_table(place: str, path: Path, file: Any) -> str | None:
    """Ask for a layer or sheet of an upload; None if there are not several.

    Raises:
        DataError: the file cannot be read.
    """
    label = "Layer" if path.suffix == ".gpkg" else "Sheet"
    return _one_of_several(f"{place}.table", label, file, lambda: tables_in(path))


def chosen_layer(place: str, file: Any) -> str:
    """Suffix of the path that names the layer of an uploaded polygon file.

    It is asked for if the file has several layers, and empty otherwise.

    Raises:
        DataError: the file cannot be read.
    """
    path = upload_path(place, file)
    layer = _one_of_several(f"{place}.layer", "Layer", file, lambda: polygon_layers(path))
    return "" if layer is None else f"{LAYER}{layer}"


def _one_of_several(
    place: str, label: str, file: Any, read: Callable[[], Sequence[str]]
) -> str | None:
    """Ask for one of the names in a file; None if there are fewer than two."""
    names = cached(f"{place}s", file.file_id, read)
    if len(names) < 2:
        return None
    return str(st.selectbox(label, names, key=f"{place}.{file.file_id}"))


class _SessionUpload:
    """One upload, closed with its session at the latest."""

    def __init__(self, file: Any, name: str) -> None:
        content = file.getbuffer()
        folder = Path(tempfile.mkdtemp(dir=private_folder()))
        self.file_id: str = file.file_id
        self.path = folder / f"{name}{_safe_suffix(file.name)}"
        descriptor = None
        try:
            if IN_MEMORY:
                descriptor = os.memfd_create("dpviz-upload")
                with os.fdopen(os.dup(descriptor), "wb") as target:
                    target.write(content)
                self.path.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
            else:
                with os.fdopen(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as target:
                    target.write(content)
        finally:
            self.close = weakref.finalize(self, _close, folder, descriptor)


def _safe_suffix(name: str) -> str:
    """Suffix of an untrusted file name in lower case; empty unless a few letters and digits."""
    ending = Path(name).suffix.lower()
    return ending if re.fullmatch(r"\.[a-z0-9]{1,11}", ending) else ""


def _close(folder: Path, descriptor: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # first: another upload may get the same number
    if descriptor is not None:
        with contextlib.suppress(OSError):
            os.close(descriptor)


@cache
def private_folder() -> Path:
    """Temporary folder of this process, readable by this user only, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="dpviz-private-"))  # 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
