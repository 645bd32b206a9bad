"""The command that opens the app."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from dpviz.cli.groups import grouped, option
from dpviz.cli.root import app
from dpviz.errors import ParameterError

LOCAL_ADDRESSES = ("127.0.0.1", "0.0.0.0", "::")
"""Addresses under which this machine's browser finds the app at 127.0.0.1."""


@app.command("app")
@grouped
def run_app(
    release: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Release of any kind to open.")
    ] = None,
    port: int = option("Port on this machine.", default=8501, min=1, max=65535),
    address: str = option(
        "Network address to listen on: this machine only, or 0.0.0.0 for every network; then "
        "use a log-in (assets/docs/hosting.md) or your own authentication, and TLS.",
        default="127.0.0.1",
    ),
) -> None:
    """Open the app in a browser, with a release if one is given."""
    from streamlit.web import cli

    from dpviz.releases.files import header_of, metadata_of

    page = script()
    if release is not None:
        if not Path(release).is_file():
            raise ParameterError(f"{release}: no such file: check its name")
        header_of(metadata_of(release), Path(release).name)  # raises before a server starts
        os.environ["DPVIZ_OPEN"] = str(Path(release).resolve())
    require_free_port(address, port)
    sys.argv = ["streamlit", "run", str(page), "--server.port", str(port)]
    sys.argv += ["--server.address", address]
    if address not in LOCAL_ADDRESSES:  # a specific address: open the browser there
        named = f"[{address}]" if ":" in address else address
        sys.argv += ["--browser.serverAddress", named]
    if hasattr(signal, "SIGHUP"):  # the server handles SIGTERM itself
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    cli.main()


def require_free_port(address: str, port: int) -> None:
    """Refuse an address and port on which the server could not listen."""
    try:
        kind, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as trial:
            if os.name == "posix":  # on other systems it would share the port
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except OSError as error:
        raise ParameterError(
            f"--address {address} --port {port}: {error.strerror}: give another"
        ) from None


def script() -> Path:
    """Path of the app's script, beside Streamlit's settings: installed, or in a clone."""
    beside = Path(__file__).parents[2]
    for folder in beside / "dpviz_app", beside:
        if (folder / "app.py").is_file():
            return folder / "app.py"
    raise ParameterError("app.py is missing from the package: reinstall dpviz")
