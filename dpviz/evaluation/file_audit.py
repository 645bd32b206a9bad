"""Audits of the whole command line, from a file to a release, on neighbouring files.

An audit of a method starts at the index; here everything before it is under suspicion too. A bench
runs ``dpviz … build`` on either file as it would be run on sensitive data, with the noise of
releases and a ledger, and tells features of what came out: of the release, or of the refusal.
"""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpviz.evaluation.audit import CONFIDENCE
from dpviz.evaluation.file_cases import FileCase, file_cases
from dpviz.evaluation.search import Bench, Finding, finding, runs
from dpviz.progress import Progress
from dpviz.releases.store import read

KINDS = ("points", "roads", "sequences", "areas")

FEATURES = (
    "exit code",
    "checksum of the error",
    "rows of the release",
    "count of everything",
    "count where the unit is",
)
"""What an attacker looks at. A refusal that depends on one unit is a difference like any other."""

TRIALS = 200


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, and what it said on standard error."""

    code: int
    error: str


Run = Callable[[Sequence[str]], Outcome]
"""Runs ``dpviz`` with these words; the command line itself stands above this room."""


@dataclass(frozen=True, kw_only=True)
class FileAudit(Finding):
    """What an audit of files found, and of what.

    Attributes:
        kind: of data: points, roads, sequences or areas.
        epsilon: the claim.
        confidence: of the bound.
        trials: runs on each file, search included.
    """

    kind: str
    epsilon: float
    confidence: float
    trials: int

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower_bound > self.epsilon


def audit_files(
    run: Run,
    epsilon: float = 1.0,
    *,
    cases: Sequence[FileCase] | None = None,
    trials: int = TRIALS,
    confidence: float = CONFIDENCE,
    progress: Progress | None = None,
) -> Iterator[FileAudit]:
    """Try to refute the claim of whole builds, for each kind of data.

    Args:
        run: a command of dpviz.
        epsilon: the claim to test.
        cases: neighbouring files; all of :func:`~dpviz.evaluation.file_cases.file_cases` by
            default.
        trials: runs on each of two files, search included.
        confidence: of the bound of each kind.
        progress: called with the share of the builds that are done.

    Raises:
        ParameterError: fewer than 100 trials, or a confidence outside (0, 1).
    """
    given = cases or file_cases()
    of_kind = {kind: [case for case in given if case.kind == kind] for kind in KINDS}
    builds = {kind: runs(trials, len(chosen)) for kind, chosen in of_kind.items() if chosen}
    done, total = 0, sum(builds.values())

    def report(fraction: float, what: str) -> None:
        if progress is not None:
            progress((done + fraction * builds[kind]) / total, f"{what} files of {kind}")

    for kind in builds:
        with tempfile.TemporaryDirectory() as folder:
            bench = FileBench(run, epsilon, Path(folder), trials, report)
            result = finding(bench, of_kind[kind], FEATURES, confidence)
        done += builds[kind]
        yield FileAudit(
            **vars(result), kind=kind, epsilon=epsilon, confidence=confidence, trials=trials
        )


class FileBench(Bench[FileCase]):
    """Builds from two files."""

    every = 1

    def __init__(
        self, run: Run, epsilon: float, folder: Path, trials: int, progress: Progress | None
    ) -> None:
        super().__init__(trials, 0.0, progress)
        self.command, self.epsilon, self.folder = run, epsilon, folder

    def inputs(self, case: FileCase) -> tuple[Path, Path]:
        """A folder for each, with the files that are beside."""
        places = self.folder / "with", self.folder / "without"
        for place, content in zip(places, (case.larger, case.without), strict=True):
            place.mkdir(exist_ok=True)
            for name, each in {**case.beside, case.file: content}.items():
                (place / name).write_bytes(each)
        return places

    def features(self, case: FileCase, data: Path) -> list[float]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        output = data / "release.parquet"
        output.unlink(missing_ok=True)
        words = [_filled(word, data, case) for word in case.words]
        command = [] if case.kind in ("points", "areas") else [case.kind]
        done = self.command(
            [
                *(*command, "build", str(data / case.file), *words, "-o", str(output)),
                *(
                    "--epsilon",
                    repr(self.epsilon),
                    "--dataset",
                    re.sub(r"\W+", " ", f"{case.kind} {case.name}"),
                ),
                *("--ledger", str(self.folder / "ledger.sqlite"), "--json"),
            ]
        )
        if done.code:
            return [float(done.code), float(zlib.crc32(done.error.encode())), 0.0, 0.0, 0.0]
        return [0.0, 0.0, *_of_release(case.kind, output)]


def _filled(word: str, place: Path, case: FileCase) -> str:
    for name in case.beside:
        word = word.replace(f"{{{name}}}", str(place / name))
    return word


def _of_release(kind: str, path: Path) -> list[float]:
    """Rows, the whole count, and the count where the cases' units are."""
    if kind == "roads":
        roads = read(path, "roads")
        count = roads.edge_count
        return [float(len(roads.nodes)), float(count.sum()), float(count[0])]
    if kind == "areas":
        counts = read(path, "areas").counts
        return [float(len(counts)), float(counts[0]), float(counts[1])]
    if kind == "sequences":
        model = read(path, "sequences").model
        counts = getattr(model, "counts", np.zeros((1, 1)))
        return [float(len(model)), float(counts[0].sum()), float(counts[0, 0])]
    nodes = read(path, "points").nodes
    leaf = nodes.count[nodes.leaf]
    return [float(len(nodes)), float(leaf.sum()), float(leaf[0])]
