"""Parse untrusted files in a child process with limits of time and memory.

GDAL and GEOS are large programs in C; a file that makes them run on, take all memory or crash ends
its child, and the reader gets one clear line. A fork server, started once, has the libraries
loaded and forks a child for each task in some 20 ms. A child's result comes back as an Arrow table
in memory, never as a pickle, which could run code. It sees the records of the file that it reads,
and ends with its task.

Where the system cannot fork (Windows) the task runs in this process, without these limits; macOS
keeps the limit of time and not the one of memory.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from dpviz import errors
from dpviz.errors import DataError, DpvizError
from dpviz.files import limits

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")
DONE, REFUSED = b"+", b"-"
WALL_CLOCK_FACTOR = 6
"""Limit of wall-clock time, as a multiple of a child's CPU time limit."""
_FRUGAL = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # Arrow's default pool reserves a gigabyte
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Environment that keeps libraries from reserving memory, which counts against a child's limit."""
SANDBOXED = {
    "GDAL_SKIP": "ADBC,AmigoCloud,CSW,Carto,EEDA,Elasticsearch,GDALG,GPSBabel,HTTP,NGW,OAPIF,"
    "OGCAPI,OGR_VRT,PLSCENES,WFS"
}
"""Environment that disables GDAL drivers which open other files and addresses."""

_PROGRAM = "from dpviz.files.sandbox import main; main()"
"""Program of the fork server, which loads no method, release or plan. With ``-P`` it imports
no module from the current folder, which may hold untrusted files."""

_GRACE = 30.0
"""Seconds beyond its own limits after which an unresponsive child is abandoned."""


def run_in_sandbox(
    task: str, *arguments: Any, where: str, size: int = 0, needs: tuple[str, ...] = ()
) -> Any:
    """Run a task in a child process with limits of time and memory; return its Arrow table.

    Raises DpvizError: raised by the task; or a DataError if the child exceeded its limits.

    Args:
        task: ``module:function``, of this package; it returns a ``pyarrow.Table``.
        arguments: arguments of the task, as JSON values.
        size: size of the file in bytes; a large one may take more time and memory.
        needs: libraries that the fork server loads once for all children.
    """
    if not CAN_FORK:
        return _result(task, arguments)
    with _sink() as sink:
        status = _fork_server.run(
            task, arguments, needs, sink.fileno(), seconds(size), memory(size)
        )
        content = _content(sink)
    if status == DONE:
        import pyarrow as pa

        return pa.ipc.open_stream(pa.py_buffer(content)).read_all()
    if status == REFUSED:
        kind, words = json.loads(bytes(content))
        raise getattr(errors, kind)(words)
    raise DataError(
        f"{where} cannot be read within {limits.CHILD_SECONDS} and the memory for it: it is "
        f"damaged or too complex; {limits.CHILD_SECONDS.remedy}"
    )


def seconds(size: int) -> int:
    """CPU time limit of a child that reads a file of this many bytes."""
    return limits.CHILD_SECONDS.most + size // limits.CHILD_SPEED.most


def memory(size: int) -> int:
    """Memory limit, in bytes, of a child that reads a file of this many bytes."""
    return limits.CHILD_MEMORY.most + limits.GROWTH.most * size


def _sink() -> Any:
    """Open an unnamed temporary file, in memory where the system supports it."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("dpviz"), "w+b")
    return tempfile.TemporaryFile()


def _content(sink: Any) -> Any:
    size = os.fstat(sink.fileno()).st_size
    return mmap.mmap(sink.fileno(), size, access=mmap.ACCESS_READ) if size else b""


def _result(task: str, arguments: Any) -> Any:
    module, _, function = task.partition(":")
    return getattr(importlib.import_module(module), function)(*arguments)


class _ForkServer:
    """Handle on the fork server, the process that forks children."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.stop)

    def run(
        self, task: str, arguments: Any, needs: tuple[str, ...], sink: int, time: int, room: int
    ) -> bytes:
        """Run a task; return its status: DONE, REFUSED, or nothing if its child died."""
        order = json.dumps([task, arguments, needs, time, room]).encode()
        ours, theirs = socket.socketpair()
        with ours, contextlib.suppress(TimeoutError):
            with theirs:
                self._send(order, sink, theirs.fileno())
            ours.settimeout(WALL_CLOCK_FACTOR * time + _GRACE)
            return ours.recv(1)
        return b""

    def warm(self) -> None:
        """Start the fork server in advance."""
        if CAN_FORK:
            with self._lock:
                self._started()

    def stop(self) -> None:
        """End the server and its children at once, even while it loads libraries."""
        line, process = self._line, self._process
        self._line = self._process = None
        if line is not None:
            line.close()
        if process is not None and self._owner == os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(_GRACE)

    def _send(self, order: bytes, sink: int, answer: int) -> None:
        """Write an order into the file that will hold its result; tell the server to read it there.

        A socket would cut a long order.
        """
        with self._lock:
            for attempt in (1, 2):
                line = self._started()
                try:
                    os.pwrite(sink, order, 0)
                    socket.send_fds(line, [b"?"], [sink, answer])
                    if line.recv(1):
                        return
                except OSError:
                    pass
                self.stop()
                if attempt == 2:
                    raise DataError("too little memory to read a file safely: free some")

    def _started(self) -> socket.socket:
        if self._line is None or self._owner != os.getpid():
            ours, theirs = socket.socketpair()
            with theirs:
                room = str(Path(__file__).parents[2])
                search = os.pathsep.join(filter(None, [room, os.getenv("PYTHONPATH")]))
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, **_FRUGAL, **SANDBOXED, "PYTHONPATH": search},
                    process_group=0,  # process group, to stop the children as well
                )
            self._line, self._owner = ours, os.getpid()
        return self._line


_fork_server = _ForkServer()
warm = _fork_server.warm


_PRELOADED = ("pyarrow.compute", "numpy.ma")
"""Modules that Arrow loads at the first array: loaded once here, they save each child 0.1 s."""


class _ImportBlocker:
    """Import hook that hides pandas and geopandas, which take one or two seconds to load."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ImportError for the hidden libraries."""
        if name.partition(".")[0] in ("pandas", "geopandas"):
            raise ImportError(name)


def main() -> None:
    """Fork a child for every order on standard input; end with the parent."""
    sys.meta_path.insert(0, _ImportBlocker())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped automatically
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and closes the socket
    with socket.socket(fileno=os.dup(0)) as line:
        while True:
            asked, files, _, _ = socket.recv_fds(line, 1, 2)
            if not asked:
                os._exit(0)  # the parent is waiting: skip the interpreter's cleanup
            order = os.pread(files[0], os.fstat(files[0]).st_size, 0)
            os.ftruncate(files[0], 0)
            task, arguments, needs, time, room = json.loads(order)
            for name in (*_PRELOADED, *needs, task.partition(":")[0]):
                importlib.import_module(name)
            if os.fork() == 0:
                line.close()
                _limit(time, room)
                _child(task, arguments, *files)
            for file in files:
                os.close(file)
            line.send(b"!")


def _child(task: str, arguments: Any, sink: int, answer: int) -> None:
    """Do one task and exit; even after an error nothing else runs in this process."""
    try:
        status = DONE
        with os.fdopen(sink, "wb") as file:
            try:
                table = _result(task, arguments)
                import pyarrow as pa

                with pa.ipc.new_stream(file, table.schema) as stream:
                    stream.write_table(table)
            except DpvizError as error:
                status = REFUSED
                file.write(json.dumps([type(error).__name__, str(error)]).encode())
        os.write(answer, status)
    finally:
        os._exit(0)


def _limit(time: int, room: int) -> None:
    import resource

    signal.alarm(
        WALL_CLOCK_FACTOR * time
    )  # SIGALRM's default action kills the process, even inside C code
    for what, most in (
        (resource.RLIMIT_DATA, room),
        (resource.RLIMIT_FSIZE, room),
        (resource.RLIMIT_CPU, time),
        (resource.RLIMIT_CORE, 0),  # a core dump would contain records
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit is already set
            resource.setrlimit(what, (most, most))
    with contextlib.suppress(OSError):
        os.nice(5)  # the web server has priority
