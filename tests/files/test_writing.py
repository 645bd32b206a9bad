"""Files are written whole or not at all, wherever a Ctrl-C falls."""

import itertools
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpviz import Ledger
from dpviz.errors import ReleaseError
from dpviz.files.writing import alternative_path, write_bytes, write_file


def interrupted_at(step, act):
    """Run ``act`` with a Ctrl-C at its n-th line; return whether it ended before that."""
    lines = itertools.count()

    def trace(_frame, event, _argument):
        if event == "line" and next(lines) == step:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return False
    finally:
        sys.settrace(before)
    return True


# Ctrl-C may come between the opening of a file and the block that closes it.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("there", [True, False])
def test_a_ctrl_c_at_any_line_leaves_no_temporary_file(tmp_path, there):
    folder, page = tmp_path / "folder", b"new" * 10
    folder.mkdir()
    target = folder / "page.md"
    for step in itertools.count():
        target.unlink(missing_ok=True)
        if there:
            target.write_bytes(b"kept")
        # In its own thread: an exception that a handler held when a tracer ended it stays with it,
        # and would be reported as the cause of the next failure there (CPython 3.11).
        with ThreadPoolExecutor(1) as thread:
            over = thread.submit(interrupted_at, step, lambda: write_bytes(target, page)).result()
        left = {each.name: each.read_bytes() for each in folder.iterdir()}
        assert left in ([{"page.md": b"kept"}] if there else [{}]) + [{"page.md": page}], step
        if over:
            break
    assert step > 20
    assert left == {"page.md": page}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_no_file_takes_the_place_of_a_pipe_or_of_a_device(tmp_path):
    pipe, link = tmp_path / "pipe.csv", tmp_path / "device.csv"
    os.mkfifo(pipe)
    link.symlink_to(os.devnull)
    for each, what in (
        (pipe, "pipe.csv: not a regular file"),
        (link, "is a system path, /dev/null"),
    ):
        with pytest.raises(ReleaseError, match=f"{what}: name another"):
            write_bytes(each, b"new")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert set(tmp_path.iterdir()) == {pipe, link}


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    old, link = tmp_path / "folder" / "old", tmp_path / "link.csv"
    link.symlink_to("folder/old")
    for content in (b"old", b"new"):  # the target does not exist at first
        endings = []

        def write(temporary, content=content, endings=endings):
            endings.append(Path(temporary).suffix)
            Path(temporary).write_bytes(content)

        assert write_file(link, write) == link
        assert endings == [".csv"]  # the ending of the requested name
        assert link.is_symlink()
        assert old.read_bytes() == content
    assert {each.name for each in tmp_path.rglob("*")} == {"folder", "old", "link.csv"}


def test_a_release_whose_name_is_as_long_as_any_is_kept_beside_it_too(tmp_path):
    """Regression: its number made the name too long for the system: paid for, and lost."""
    for letter in "nλ":
        path = tmp_path / f"{letter * (247 // len(letter.encode()))}.parquet"
        path.touch()
        alternative_path(path, 32 * "a").touch()
        assert alternative_path(path.with_name("r.parquet"), 32 * "a").name == "r-aaaaaaaa.parquet"


def test_a_link_in_a_circle_is_refused(tmp_path):
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    with pytest.raises(ReleaseError, match="a link that leads to no file: name another"):
        write_bytes(tmp_path / "a.csv", b"new")
    assert {each.name for each in tmp_path.iterdir()} == {"a.csv", "b.csv"}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no such folder here")
def test_a_file_that_a_standard_file_leads_to_is_refused(tmp_path):
    """Regression: as root, the link /dev/stdout was replaced for the whole machine."""
    with (tmp_path / "open.csv").open("w+b") as file:
        place = f"/proc/self/fd/{file.fileno()}"
        (tmp_path / "link.csv").symlink_to(place)
        for each in (place, tmp_path / "link.csv"):
            with pytest.raises(ReleaseError, match=r"is a system path, /proc/.*: name another"):
                write_bytes(each, b"new")
    assert (tmp_path / "open.csv").read_bytes() == b""


def test_a_ledger_and_its_seal_are_never_replaced(tmp_path):
    ledger = Ledger(tmp_path / "old.csv")
    ledger.spend("people", 1, what="x")
    for each in ledger.files:
        before = each.read_bytes()
        with pytest.raises(ReleaseError, match="is a ledger, or its seal: name another file"):
            write_bytes(each, b"new")
        assert each.read_bytes() == before
    assert ledger.account("people").spent == 1


def test_a_disk_that_takes_no_writes_is_one_line(tmp_path, monkeypatch):
    """Regression: failing to remove the temporary file was a traceback."""

    def refused(*_, **__):
        raise OSError(30, "Read-only file system", "a name that nobody asked for")

    monkeypatch.setattr(Path, "touch", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(
        ReleaseError, match=r"^a\.txt: cannot be written: Read-only file system; name"
    ):
        write_bytes(tmp_path / "a.txt", b"")
