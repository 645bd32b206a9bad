"""The table of attacks in the documentation.

``uv run python -m tests.figures SECONDS [VISITORS [SEED]]``: mutants of every input format and kind
of release, from a seed on, and busy visitors of the app. Each goes on for about so many seconds,
and the command ends at the first that succeeds.
"""

import sys
import tempfile
import time
from pathlib import Path

from dpviz.errors import DpvizError
from tests.benchmarks import visitors
from tests.fuzz import test_inputs as inputs
from tests.releases import test_fuzz as releases

PAGE = Path(__file__).parents[1] / "assets" / "results" / "attacks.md"
HEAD = """# Attacks and what they came to

Sound files of every input format and every kind of release, changed in their bytes, cells or
members. Each gave records or answers, or one clear line without a planted
secret. The time is this process's; the child that parses has limits of its own.
Made by `uv run python -m tests.figures {asked}`, which ends at the first that does
otherwise.

| files | mutants | read | refused | slowest, ms |
|---|---|---|---|---|
{mutants}"""

VISITS = """
Visitors opened the app and moved ε as fast as it answered. Memory is the server's: before, at
most, once they had left and their sessions had ended, and the same two of as many others.

| visitors | pages made | lost | slowest health answer, s | MB before | at most | after they left \
| at most with others | after those |
|---|---|---|---|---|---|---|---|---|
"""


def row(*cells) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |\n"


def input_row(name: str, until: float, folder: Path, first: int = 0) -> str:
    """Mutants of an input format."""
    suffix, content, mutation, read = inputs.FORMATS[name]
    refused, spent = [], [0.0]

    def counting(path):
        try:
            return read(path)
        except DpvizError:
            refused.append(path)
            raise

    inputs.FORMATS[name] = (suffix, content, mutation, counting)
    while time.monotonic() < until:
        spent.append(inputs.withstands(name, first + len(spent), folder))
    most = len(spent) - 1
    return row(name, most, most - len(refused), len(refused), round(1000 * max(spent)))


def release_row(family: str, until: float, folder: Path, first: int = 0) -> str:
    """Mutants of a kind of release."""
    spent, refused = [0.0], 0
    while time.monotonic() < until:
        started = time.process_time()
        refused += releases.mutant_survives(family, first + len(spent), folder / "mutant.parquet")
        spent.append(time.process_time() - started)
    most = len(spent) - 1
    return row(f"release of {family}", most, most - refused, refused, round(1000 * max(spent)))


def main(seconds: float, visiting: int, first: int) -> None:
    """Write the page: so many seconds of mutants and of each visit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        share = seconds / (len(inputs.FORMATS) + len(releases.FAMILIES))
        rows = [input_row(k, time.monotonic() + share, folder, first) for k in inputs.FORMATS]
        rows += [release_row(k, time.monotonic() + share, folder, first) for k in releases.FAMILIES]
    page = HEAD.format(asked=" ".join(sys.argv[1:]), mutants="".join(rows))
    if visiting:
        page += VISITS + row(*visitors.measured(visiting, seconds).values())
    PAGE.write_text(page)


if __name__ == "__main__":
    seconds, visiting, first = (*sys.argv[1:], "0", "0")[:3]
    main(float(seconds), int(visiting), int(first))
