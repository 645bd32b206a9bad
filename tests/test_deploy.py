"""The Dockerfile: an ordinary user, nothing written beside /data and /tmp, a health check."""

import json
import re
import shlex
import tomllib
import urllib.request
from pathlib import Path

import pytest
import yaml

from dpviz.ui.shared import access
from tests.browser.conftest import ROOT, serving

DEPLOY = ROOT / "assets" / "deploy"
ORDINARY = "10001:10001"

READ_ONLY = """
import errno, os, runpy, sys

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
    place = os.path.realpath(os.fsdecode(path))
    if not place.startswith((*allowed, "/dev/", "/proc/")) and ":memory:" not in place:
        refused.write(f"{{event}} {{place}}\\n")
        refused.flush()
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), place)


sys.addaudithook(hook)
sys.argv = ["streamlit", *sys.argv[1:]]
runpy.run_module("streamlit", run_name="__main__")
"""


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
    for word, rest in steps:
        if word == "COPY":  # what it copies is here
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
    extras = re.search(r"\.\[([\w,]+)\]", dict(steps)["RUN"])[1].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(known["optional-dependencies"])


def test_the_services_are_read_only_and_only_the_app_is_reached_from_here():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["database"]["image"] == "postgres:17"
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
    assert "ports" not in services["database"]
    assert services["database"]["networks"] == ["inside"]


def test_the_rules_of_the_example_are_understood(monkeypatch):
    secrets = tomllib.loads((DEPLOY / "secrets.example.toml").read_text())
    monkeypatch.setattr(access, "_secrets", lambda: secrets)
    monkeypatch.setattr(
        access, "user", lambda: {"email": "ann@example.org", "email_verified": True, "sub": "1"}
    )
    assert access.access() == access.Access("ann@example.org", owner=True)


def test_what_the_container_runs_starts_on_a_read_only_file_system(tmp_path):
    command = json.loads(dict(instructions())["CMD"])
    assert command[:3] == ["streamlit", "run", "/srv/app.py"]
    options = [
        each for each in command[3:] if not each.startswith(("--server.address", "--server.port"))
    ]
    data, temporary, log = tmp_path / "data", tmp_path / "tmp", tmp_path / "refused"
    for folder in (data, temporary):
        folder.mkdir()
    log.touch()
    allowed = (str(data), str(temporary), str(log))
    wrapper = tmp_path / "read_only.py"
    wrapper.write_text(READ_ONLY.format(log=str(log), allowed=allowed))
    places = {"/data": str(data), "/tmp": str(temporary)}
    inside = {
        name: re.sub(r"^/(data|tmp)", lambda found: places[found[0]], value)
        for name, value in environment().items()
    }
    script = [str(wrapper), "run", str(ROOT / "app.py"), *options]
    script += ["--server.address", "127.0.0.1", "--server.port"]
    with (
        serving(None, command=script, TMPDIR=str(temporary), DPVIZ_VISITORS="20", **inside) as app,
        urllib.request.urlopen(app, timeout=30) as answer,
    ):
        assert answer.status == 200
        assert answer.headers["content-security-policy"]
    assert log.read_text() == ""


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_no_file_of_the_deployment_calls_home(file):
    text = file.read_text()
    assert "gatherUsageStats" not in text or "false" in text
    for host in re.findall(r"https?://([\w.-]+)", text):
        assert host.endswith(("example.org", "127.0.0.1")), host
    assert Path("/").joinpath("root").as_posix() not in text
