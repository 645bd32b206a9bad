"""The table of mutants in the documentation: ``uv run python -m tests.fuzz.figures 1000``."""

import sys
import tempfile
from pathlib import Path

from dpviz.errors import DpvizError
from tests.fuzz import test_inputs as inputs

PAGE = Path(__file__).parents[2] / "assets" / "results" / "mutants.md"
HEAD = """# Mutants of input files

Sound files of every input format, changed where their format has structure (cells, members, tags,
columns and their types, tables of a GeoPackage, now and then bytes). Each was read as sensitive
data: it gave records, or one clear line without a planted secret. The time is this process's; the
child that parses has limits of its own.
Made by `uv run python -m tests.fuzz.figures {most}`, which ends at the first that does otherwise.

| format | mutants | read | refused | slowest, ms |
|---|---|---|---|---|
"""


def row(name: str, most: int, folder: Path) -> str:
    """A line of the table."""
    suffix, content, mutation, read = inputs.FORMATS[name]
    refused = []

    def counting(path):
        try:
            return read(path)
        except DpvizError:
            refused.append(path)
            raise

    inputs.FORMATS[name] = (suffix, content, mutation, counting)
    slowest = max(inputs.withstands(name, seed, folder) for seed in range(most))
    return f"| {name} | {most} | {most - len(refused)} | {len(refused)} | {1000 * slowest:.0f} |\n"


def main() -> None:
    """Write the page."""
    most = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(name, most, Path(folder)) for name in inputs.FORMATS]
    PAGE.write_text(HEAD.format(most=most) + "".join(rows))


if __name__ == "__main__":
    main()
