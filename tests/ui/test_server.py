"""The server answers this machine alone, no page of another site, and calls nothing outside."""

import os
import runpy
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from itertools import chain
from pathlib import Path

import pytest
from streamlit import config, file_util

from dpviz.cli.serve import require_free_port
from dpviz.errors import ParameterError
from dpviz.ui import server
from tests.browser.conftest import ROOT, serving
from tests.leftovers import HEARING
from tests.ui.loop import answers

README = ["-m", "streamlit", "run", str(ROOT / "app.py")]
COMMAND = ["-m", "dpviz", "app"]
INSTALLED = ["-P", *COMMAND]


def answer(headers, kind="http", path="/"):
    """Status and headers, or the code of a websocket's end, of a request through the guard."""

    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    return answers(server.Guard(page), headers, type=kind, path=path)[0]


@pytest.fixture
def options():
    """Options of Streamlit's configuration, put back afterwards."""
    names = ("address", "allowedHosts", "corsAllowedOrigins")
    names = tuple(f"server.{name}" for name in names)
    before = {name: config.get_option(name) for name in names}
    config.set_option("server.address", "127.0.0.1")
    yield config.set_option
    for name, value in before.items():
        config.set_option(name, value)


@pytest.mark.parametrize("below", ["", "/maps/private"])
def test_the_size_of_uploads_is_answered_to_nobody(below, options):
    """Streamlit gave it to all, before a login too: 105,008 bytes were 5,000 records of 21."""
    for path in ("/_stcore/metrics", "/_stcore/metrics/"):
        assert answer({"host": "localhost"}, path=below + path)["status"] == 404
    assert answer({"host": "localhost"}, path=f"{below}/_stcore/health")["status"] == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost", "localhost.:8501", "[::1]:8501"])
def test_this_machine_is_answered_with_every_header(host, options):
    response = answer({"host": host, "origin": f"http://{host}"})
    assert response["status"] == 200
    assert {name.decode() for name, _ in response["headers"]} == set(server.HEADERS)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},  # a name that was made to resolve to this machine
        {"host": "127.0.0.1.evil.example"},
        {"host": "127.0.0.1:8501@evil.example"},
        {"host": "[::1"},
        {},
        {"host": "localhost:8501", "origin": "http://localhost:3000"},
        {"host": "localhost:8501", "origin": "https://evil.example"},
        {"host": "localhost:8501", "origin": "null"},
    ],
    ids=str,
)
def test_strangers_are_refused(headers, options):
    assert answer(headers)["status"] == 403
    assert answer(headers, "websocket") == {"type": "websocket.close", "code": 1008}


def test_an_owner_may_name_hosts_and_origins(options):
    proxied = {"host": "maps.example.org", "origin": "https://maps.example.org"}
    assert answer(proxied)["status"] == 403
    options("server.allowedHosts", ["maps.example.org"])
    assert answer(proxied)["status"] == 200
    assert answer({"host": "evil.example"})["status"] == 403
    options("server.allowedHosts", ["*.example.org"])
    assert answer(proxied)["status"] == 200
    rewritten = {"host": "127.0.0.1:8501", "origin": "https://maps.example.org"}
    assert answer(rewritten)["status"] == 403
    options("server.corsAllowedOrigins", ["https://maps.example.org"])
    assert answer(rewritten)["status"] == 200


def test_a_server_opened_to_all_answers_to_any_name(options):
    options("server.address", "0.0.0.0")
    assert answer({"host": "192.0.2.7:8501"})["status"] == 200
    assert answer({"host": "192.0.2.7:8501", "origin": "https://evil.example"})["status"] == 403


def listening(port):
    """Addresses on which this machine listens at a port, as the kernel writes them."""
    rows = []
    for table in ("tcp", "tcp6"):
        rows += [row.split() for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    return {
        row[1].rpartition(":")[0]
        for row in rows
        if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port
    }


LOOPBACK = {"http://127.0.0.1": "0100007F", "http://[::1]": f"{'0' * 24}01000000"}
"""As the kernel writes it."""


@pytest.fixture
def trap():
    """The trap for all outgoing HTTP, and the environment that leads there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy")
        yield listener, {**dict.fromkeys(names, proxy), "NO_PROXY": ""}


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_a_port_or_an_address_that_cannot_be_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=f"--port {port}: Address already in use"):
            require_free_port("127.0.0.1", port)
    require_free_port("127.0.0.1", port)
    for nowhere in "nothing.invalid", "203.0.113.9", "a b":
        with pytest.raises(ParameterError, match=f"--address {nowhere} --port {port}: "):
            require_free_port(nowhere, port)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        (
            "DPVIZ_LEDGER",
            "l.sqlite",
            "DPVIZ_LEDGER=l.sqlite: a relative path names another ledger in each folder",
        ),
        ("DPVIZ_RELEASES", "mine", "DPVIZ_RELEASES=mine: what is published here would not be in"),
        ("DPVIZ_BASEMAP", "none.geojson", "DPVIZ_BASEMAP=none.geojson: no such file"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anybody_comes(name, value, line, monkeypatch, capsys):
    """Two were a traceback, the others not looked at: a list of releases in each folder."""
    server.check_settings()
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(ROOT / "app.py"))
    assert capsys.readouterr().err.startswith(f"error: {line}")


def install(folder):
    """Lay out the package and what goes beside it as a wheel does."""
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    moved = packaged["targets"]["wheel"]["force-include"]
    for source, place in moved.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes((ROOT / source).read_bytes())
    (folder / "dpviz").mkdir()
    for each in (ROOT / "dpviz").iterdir():
        if f"dpviz/{each.name}" not in moved:  # a package links to all other files
            (folder / "dpviz" / each.name).symlink_to(each)


def test_the_settings_of_an_installed_app_are_where_streamlit_looks_for_them(tmp_path):
    install(tmp_path)
    script = str(tmp_path / "dpviz_app" / "app.py")
    main_script = file_util.get_main_script_streamlit_file_path(script, "config.toml")
    assert Path(main_script).read_bytes() == (ROOT / ".streamlit" / "config.toml").read_bytes()


def keeps_to_itself(address, trap):
    """It listens on this machine only, refuses other sites' pages, and calls no other server."""
    where, _, port = address.rpartition(":")
    if sys.platform == "linux":
        assert listening(int(port)) == {LOOPBACK[where]}
    for path in ("/", "/_stcore/health", "/nothing-there"):
        with urllib.request.urlopen(address + path, timeout=60) as page:
            response = {name.lower() for name, _ in page.getheaders()}
        assert set(server.HEADERS) <= response
    with pytest.raises(urllib.error.HTTPError, match="404"):  # reveals the size of uploads
        urllib.request.urlopen(f"{address}/_stcore/metrics", timeout=60)
    asked = urllib.request.Request(address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked, timeout=60)
    asked = {"Origin": "https://evil.example", "Host": address.removeprefix("http://")}
    asked |= {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    asked["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    request = urllib.request.Request(f"{address}/_stcore/stream", headers=asked)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=60)
    trap.settimeout(0.2)
    with pytest.raises(TimeoutError):
        trap.accept()


@pytest.mark.slow
def test_as_the_readme_starts_it_it_listens_on_this_machine_alone(tmp_path, trap):
    """Started from another folder, without an address option."""
    listener, outside = trap
    environment = {"STREAMLIT_SERVER_HEADLESS": "true", **outside}
    command = [*README, "--server.port"]
    with serving(None, command=command, cwd=tmp_path, **environment) as address:
        keeps_to_itself(address, listener)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals of POSIX")
@pytest.mark.parametrize(
    ("sign", "way"), [("SIGINT", "a module"), ("SIGHUP", "installed"), ("SIGTERM", "IPv6")]
)
def test_our_command_listens_on_this_machine_alone_and_what_ends_it_is_no_traceback(
    sign, way, tmp_path, trap
):
    """Streamlit handles signals itself and passes them on at its end.

    The browser is sent where it listens: of IPv6, it was sent where nothing answered.
    """
    listener, outside = trap
    command = [*HEARING, sys.executable, *(INSTALLED if way == "installed" else COMMAND)]
    place = {"--address": "::1"} if way == "IPv6" and has_ipv6() else {}
    if way == "installed":
        install(tmp_path)
        outside["PYTHONPATH"] = str(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        place["--port"] = str(free.getsockname()[1])
    environment = {"STREAMLIT_SERVER_HEADLESS": "true", "PYTHONUNBUFFERED": "1", **outside}
    with subprocess.Popen(
        [*command, *chain.from_iterable(place.items())],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            address = next(line for line in process.stdout if "URL" in line).split()[-1]
            host = "[::1]" if "--address" in place else "127.0.0.1"
            assert address == f"http://{host}:{place['--port']}"
            keeps_to_itself(address, listener)
            process.send_signal(getattr(signal, sign))
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "Traceback" not in output
    assert (process.returncode, output.splitlines()[-1]) == (130, "cancelled")


@pytest.mark.slow
def test_requests_to_other_servers_reach_the_trap(trap):
    """Proves that the trap works, with a request that Streamlit makes by default at start-up."""
    listener, outside = trap
    code = "from streamlit import net_util; net_util.get_external_ip()"
    control = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, **outside}, stderr=subprocess.DEVNULL
    )
    listener.settimeout(30)
    listener.accept()[0].close()
    control.terminate()
    control.wait(120)


def test_the_settings_keep_the_server_on_this_machine():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["address"] == "127.0.0.1"
    # A file watcher would delay all requests.
    assert settings["server"]["fileWatcherType"] == "none"
    assert settings["browser"] == {"serverAddress": "127.0.0.1", "gatherUsageStats": False}


def test_other_sites_may_embed_the_page_of_a_release_and_no_other():
    assert "frame-ancestors *" in server.EMBEDDED["content-security-policy"]
    assert "frame-ancestors 'self'" in server.HEADERS["content-security-policy"]
    assert set(server.HEADERS) - set(server.EMBEDDED) == {"x-frame-options"}
