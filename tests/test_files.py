"""Files are written whole or not at all, wherever a Ctrl-C falls."""

import itertools
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpviz.errors import ReleaseError
from dpviz.files import write_bytes


def interrupted_at(step, act):
    """Whether an act was over before its line of this number, of Python's, where a Ctrl-C falls."""
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


# It may fall between the opening of a file and the block that closes it.
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
        # In a thread of its own: what a handler held when a tracer ended it stays with the thread,
        # and would be called the cause of what fails there next (CPython 3.11).
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
    for each in (pipe, link):
        with pytest.raises(ReleaseError, match="no plain file: name another"):
            write_bytes(each, b"new")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert set(tmp_path.iterdir()) == {pipe, link}


def test_a_link_to_a_file_is_replaced(tmp_path):
    (tmp_path / "old.csv").write_bytes(b"old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "old.csv")
    write_bytes(tmp_path / "link.csv", b"new")
    assert (tmp_path / "link.csv").read_bytes() == b"new"
    assert (tmp_path / "old.csv").read_bytes() == b"old"
