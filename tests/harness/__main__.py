"""Write the digests of this version, or compare those of two."""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

LONGEST = 200
"""Characters of a value that is stored as it is; a longer one is stored as its SHA-256."""


def digest(value):
    """Bytes as their SHA-256; another value as JSON, or the SHA-256 of it where that is long."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)
    return text if len(text) <= LONGEST else hashlib.sha256(text.encode()).hexdigest()


def write(out, folder):
    """Store the digest of every fact; what fails stores its error under its own name."""
    os.environ["DPVIZ_LEDGER"] = str(Path(folder) / "ledger.db")
    os.chdir(folder)
    from tests.harness import answers, releases, sources

    facts, began = {}, time.monotonic()
    for room in (releases, answers, sources):
        for name, make in room.cases():
            try:
                made = dict(make())
            except Exception as error:  # an error is recorded as a fact
                made = {"error": f"{type(error).__name__}: {error}".replace(str(folder), "")}
            facts |= {f"{name} | {key}": digest(value) for key, value in made.items()}
    out.write_text(json.dumps(facts, indent=0, sort_keys=True, ensure_ascii=False) + "\n")
    errors = sum(name.endswith("| error") for name in facts)
    print(f"{len(facts)} facts, {errors} errors, {time.monotonic() - began:.0f} s: {out}")


def compare(one, other):
    """Print each name whose digest changed, moved, went or came; return whether any changed."""
    before, after = (json.loads(path.read_text()) for path in (one, other))
    gone = {name: before[name] for name in before.keys() - after.keys()}
    new = {name: after[name] for name in after.keys() - before.keys()}
    renamed = {}
    for name in sorted(gone):
        case = name.split(" | ")[0]
        same = [each for each, value in new.items() if value == gone[name]]
        same = [each for each in same if each.startswith(f"{case} | ")] or same
        if len(same) == 1 and same[0] not in renamed.values():
            renamed[name] = same[0]
    lines = [f"renamed  {name}  ->  {renamed[name]}" for name in renamed]
    lines += [f"gone     {name}: {gone[name]}" for name in gone.keys() - renamed.keys()]
    lines += [f"new      {name}: {new[name]}" for name in new.keys() - set(renamed.values())]
    lines += [
        f"changed  {name}: {before[name]}  ->  {after[name]}"
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    ]
    print("\n".join([*sorted(lines), f"{len(lines)} differences of {len(before)} facts"]))
    return bool(lines)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="the JSON file to write")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A.json", "B.json"))
    given = parser.parse_args()
    if (given.out is None) == (given.compare is None):
        parser.error("give OUT.json, or --compare A.json B.json")
    if given.compare:
        sys.exit(compare(*given.compare))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        write(given.out.absolute(), folder)


if __name__ == "__main__":
    main()
