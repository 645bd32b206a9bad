"""Tables on pages, each between two marks that name the benchmark which makes it."""

from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets"


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
