"""The Dockerfile: an ordinary user, nothing written beside /data and /tmp, a health check."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import dpviz
from dpviz.ui.shared import access
from tests.benchmarks.visitors import visit
from tests.browser.conftest import ROOT, serving
from tests.ui.loop import run

DEPLOY = ROOT / "assets" / "docs" / "deploy"
ORDINARY = "10001:10001"

READ_ONLY = """
import errno, os, sys

refused, allowed = open({log!r}, "a"), {allowed!r}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def hook(event, given):
    if event == "open" and isinstance(given[2], int) and given[2] & WRITING:
        path = given[0]
    elif event in ("os.mkdir", "os.remove", "os.rename", "sqlite3.connect"):
        path = given[0]
    else:
        return
    if not isinstance(path, (str, bytes)):
        return
    path = os.fsdecode(path).removeprefix("file:").partition("?")[0]
    place = os.path.realpath(path)
    if not place.startswith((*allowed, "/dev/", "/proc/")) and ":memory:" not in place:
        refused.write(f"{{event}} {{place}}\\n")
        refused.flush()
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), place)


sys.addaudithook(hook)
code, sys.argv = sys.argv[1], ["app", *sys.argv[2:]]
exec(code)
"""

INSIDE = """
mount --make-rprivate /
for folder in {writable}; do mount --bind $folder $folder; done
mount -o remount,bind,ro /
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"
"""
"""As the container does it: all is read-only but two folders, and no rights are left."""

ALONE = ["unshare", "--user", "--map-user=10001", "--map-group=10001", "--keep-caps", "--mount"]
STREAMLIT = "import runpy; runpy.run_module('streamlit', run_name='__main__')"
DPVIZ = "from dpviz.cli import main; main()"
PROBE = "import os, sys; sys.exit(os.getuid() != 10001 or os.access(sys.argv[1], os.W_OK))"


def instructions():
    """Instructions of the Dockerfile, in order."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def environment():
    pairs = [shlex.split(rest) for word, rest in instructions() if word == "ENV"]
    return dict(pair.split("=", 1) for each in pairs for pair in each)


def test_the_image_ends_as_an_ordinary_user_with_a_health_check():
    steps = instructions()
    assert steps[0] == ("FROM", "python:3.12-slim")
    words = [word for word, _ in steps]
    assert steps[words.index("USER")] == ("USER", ORDINARY)
    assert "RUN" not in words[words.index("USER") :]
    assert "_stcore/health" in dict(steps)["HEALTHCHECK"]
    assert environment()["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] == "false"
    for word, rest in steps:
        if word == "COPY":  # every copied file exists
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
    extras = re.search(r"\.\[([\w,]+)\]", dict(steps)["RUN"])[1].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(known["optional-dependencies"])


def test_the_service_is_read_only_and_reached_from_here_only():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["user"] not in ("root", "0")
        assert service["mem_limit"]
    assert services["app"]["user"] == ORDINARY
    command = json.loads(dict(instructions())["CMD"])
    more = [each for each in services["app"]["command"] if each not in command]
    assert more == ["--server.allowedHosts=maps.example.org"]
    assert services["app"]["ports"] == ["127.0.0.1:8501:8501"]


def test_the_rules_of_the_example_are_understood(monkeypatch):
    secrets = tomllib.loads((DEPLOY / "secrets.example.toml").read_text())
    monkeypatch.setattr(access, "_secrets", lambda: secrets)
    monkeypatch.setattr(
        access, "user", lambda: {"email": "ann@example.org", "email_verified": True, "sub": "1"}
    )
    assert access.access() == access.Access("ann@example.org", owner=True)


@pytest.fixture
def container(tmp_path):
    """Arguments of Python that come before a module's name, and the environment of the image.

    Writes elsewhere than to the folders for /data and /tmp are refused by the kernel where it gives
    an ordinary user namespaces, as Docker does, and by a hook everywhere.
    """
    folders = {name: tmp_path / name.strip("/") for name in ("/data", "/tmp")}
    log = tmp_path / "data" / "refused"
    for folder in folders.values():
        folder.mkdir()
    log.touch()
    wrapper = tmp_path / "read_only.py"
    allowed = tuple(map(str, folders.values()))
    wrapper.write_text(READ_ONLY.format(log=str(log), allowed=allowed))
    inside = {
        name: re.sub(r"^/(data|tmp)", lambda match: str(folders[match[0]]), value)
        for name, value in environment().items()
    }
    inside["TMPDIR"] = str(folders["/tmp"])
    shell = INSIDE.format(writable=shlex.join(allowed)).strip().replace("\n", " && ", 2)
    start = [*ALONE, "sh", "-c", shell, "sh", sys.executable]
    alone = shutil.which("unshare") and shutil.which("setpriv")
    if (
        alone
        and not subprocess.run([*start, "-c", PROBE, str(ROOT)], capture_output=True).returncode
    ):
        become = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
        yield ["-c", become, *start, str(wrapper)], inside
    else:
        yield [str(wrapper)], inside
    assert log.read_text() == ""


@pytest.mark.slow
def test_the_container_serves_pages_on_a_read_only_file_system(container):
    wrapped, inside = container
    command = json.loads(dict(instructions())["CMD"])
    assert command[:3] == ["streamlit", "run", "/srv/app.py"]
    places = ("--server.address", "--server.port")
    options = [each for each in command[3:] if not each.startswith(places)]
    script = [*wrapped, STREAMLIT, "run", str(ROOT / "app.py"), *options]
    script += ["--server.address", "127.0.0.1", "--server.port"]
    check = json.loads(dict(instructions())["HEALTHCHECK"].partition("CMD ")[2])
    path, below = {"STREAMLIT_SERVER_BASE_URL_PATH": "maps"}, ("--server.baseUrlPath", "maps")
    with serving(None, *below, command=script, **inside, **path) as app:
        with urllib.request.urlopen(app, timeout=30) as answer:
            assert answer.headers["content-security-policy"]
        counts = {"runs": 0}
        run(visit(app, 0, time.monotonic(), counts))
        assert counts == {"runs": 1}
        probe = check[2].replace("127.0.0.1:8501", urlsplit(app).netloc)
        subprocess.run([sys.executable, *check[1:2], probe], env={**os.environ, **path}, check=True)


@pytest.mark.slow
def test_the_container_keeps_releases_and_the_ledger_in_its_volume(container, tmp_path):
    wrapped, inside = container
    visits = tmp_path / "visits.csv"
    visits.write_text("lon,lat\n14.5,-23.9\n")
    output = tmp_path / "data" / "release.parquet"
    build = [DPVIZ, "build", visits, "--bounds=14.4,-24.1,15,-23.6", "-o", output]
    words = [sys.executable, *wrapped, *map(str, build)]
    subprocess.run(words, env={**os.environ, **inside}, check=True, cwd="/")
    assert dpviz.read(output).header.private
    [account] = dpviz.Ledger(inside["DPVIZ_LEDGER"]).accounts()
    assert account.spent == 1.0


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_no_file_of_the_deployment_calls_home(file):
    text = file.read_text()
    assert "gatherUsageStats" not in text or "false" in text
    for host in re.findall(r"https?://([\w.-]+)", text):
        assert host.endswith(("example.org", "127.0.0.1")), host
    assert Path("/").joinpath("root").as_posix() not in text
