"""Processes and page tables that the benchmarks share.

Each table stands between two marks that name the benchmark which makes it.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets" / "docs"


def apart(work, *arguments):
    """Run a function in a fresh process, and return its result."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def fields_of(number):
    """Fields of ``/proc/PID/stat`` after the name: 1 is the parent, 11 to 14 are clock ticks."""
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()


def seconds_of(fields):
    """Processor seconds from clock ticks."""
    return sum(map(int, fields)) / os.sysconf("SC_CLK_TCK")


def below():
    """Command and stat fields of each descendant of this process."""
    rows = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            rows[folder.name] = (folder / "cmdline").read_bytes(), fields_of(folder.name)
        except OSError:
            continue  # the process has ended meanwhile
    ours, more = set(), {str(os.getpid())}
    while more:
        more = {number for number, (_, fields) in rows.items() if fields[1] in more}
        ours |= more
    return [rows[number] for number in ours]


def shown(report):
    """The lines of a report, printed as they come."""
    lines = []
    for line in report:
        print(line, flush=True)
        lines.append(line)
    return lines


def write_measured(page, name, lines):
    """Replace what stands between the marks of a benchmark on a page."""
    path = ASSETS / page
    before, rest = path.read_text(encoding="utf-8").split(f"<!-- measured: {name} -->")
    after = rest.split("<!-- end of measured -->", 1)[1]
    measured = "\n".join(lines)
    path.write_text(
        f"{before}<!-- measured: {name} -->\n\n{measured}\n\n<!-- end of measured -->{after}",
        encoding="utf-8",
    )
