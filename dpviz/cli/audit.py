"""The command that tries to refute a method's claim."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpviz.cli.outputs import apart
from dpviz.cli.root import Epsilon, Json, app, emit, progress, settings
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.evaluation.audit import Audit
    from dpviz.evaluation.file_audit import FileAudit, Outcome

PROCESSES = 2
"""Worker processes, where nobody says how many."""


@app.command()
def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help="A name or alias; all, sequences, roads or extremes for many; files for builds.",
        ),
    ],
    epsilon: Epsilon = 1.0,
    trials: Annotated[
        int | None,
        typer.Option(
            help="Runs on each of two inputs, and ten at least on all that are tried; 40,000 by "
            "default, 200 builds of files."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Of the bound, over all events that are tried.")
    ] = 0.9999,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, key=value; repeat at will.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the simulated noise; 0 by default.")
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="The noise of releases: slower, not repeatable.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="With all: a page (.md) of the table.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="With all: worker processes; 2 by default.")
    ] = None,
    own_process: Annotated[
        bool, typer.Option("--own-process", help="With files: each build in a process of its own.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bound a method's real epsilon from below, by runs on worst-case neighbouring inputs.

    Inputs are tiny and made here. A bound above epsilon refutes the claim; one below proves
    nothing.
    """
    from dpviz.evaluation.audits import audited, group, small

    if output is not None:
        if Path(output).suffix.lower() != ".md":
            raise ParameterError(f"output {output!r}: give a .md file")
        apart(output)
    _check_fit(
        method,
        {
            "--set": parameters,
            "--output": output,
            "--seed": seed,
            "--secure": secure,
            "--processes": processes,
            "--own-process": own_process,
        },
    )
    if method.lower() == "files":
        _files(epsilon, trials, confidence, own_process, as_json)
        return
    trials = 40_000 if trials is None else trials
    if group(method) is not None:
        workers = PROCESSES if processes is None else processes
        _all(method.lower(), epsilon, trials, confidence, seed or 0, workers, output, as_json)
        return
    chosen = small(method, **settings(parameters))
    result = audited(
        chosen,
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed or 0,
        secure=secure,
        progress=progress(),
    )
    facts = {
        **dataclasses.asdict(result),
        "violates": result.violates,
        "guarantee": chosen.guarantee,
        "parameters": chosen.parameters(),
    }
    emit(facts, as_json, "\n".join(_lines(result, result.method)))


def _check_fit(method: str, given: Mapping[str, object]) -> None:
    """Refuse options that an audit has no use for."""
    from dpviz.evaluation.audits import group

    name = method.lower()
    if name == "files":
        fitting, remedy = {"--own-process"}, "leave it out"
    elif group(name) is None:
        fitting, remedy = {"--set", "--seed", "--secure"}, "leave it out, or audit all"
    else:
        fitting, remedy = {"--output", "--seed", "--processes"}, "leave it out, or name one method"
        if name == "extremes":
            fitting, remedy = fitting - {"--output"}, "leave it out; --json prints every row"
    for option, value in given.items():
        if value is not None and value is not False and option not in fitting:
            raise ParameterError(f"audit {method}: takes no {option}: {remedy}")
    if given["--secure"] and given["--seed"] is not None:
        raise ParameterError("--seed repeats simulated noise, --secure is never repeated")


def _lines(result: Audit | FileAudit, what: str, unit: str = "record") -> list[str]:
    """What one audit found, in words."""
    verdict = "VIOLATES" if result.violates else "not refuted at"
    more, fewer = result.probabilities
    other = "without" if result.more_likely == "with" else "with"
    lines = [
        f"{what}: {verdict} epsilon = {result.epsilon:g}",
        f"the real epsilon is at least {result.epsilon_lower_bound:.4g} "
        f"(confidence {result.confidence:g}, {result.trials:,} runs on each input)",
        f"inputs: {result.neighbours}",
        f"event: {result.event}",
        f"it happens in {100 * more:.4f} % of the runs {result.more_likely} the {unit}, "
        f"in {100 * fewer:.4f} % {other} it",
    ]
    structure = getattr(result, "structure_epsilon", None)
    if structure is not None:
        lines.append(f"exact loss of the tree's structure: {structure:.6g}")
    return lines


def _all(
    name: str,
    epsilon: float,
    trials: int,
    confidence: float,
    seed: int,
    processes: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Audit every setting of a group; a page keeps its rows of settings outside the group."""
    from dpviz.evaluation.audits import audit_all, existing_rows, group, page
    from dpviz.files.writing import write_bytes

    results = []
    words = group(name) or []
    finished = audit_all(
        words,
        epsilon,
        trials=trials,
        confidence=confidence,
        seed=seed,
        processes=processes,
        progress=progress(),
    )
    with closing(finished):  # here, where a Ctrl-C is known to be under way
        for word, each in finished:
            results.append((word, each))
            if output is not None:  # as far as it is: an interrupt loses one audit, not all
                rows = {} if name == "all" else existing_rows(output, each)
                command = (
                    f"audit all --epsilon {epsilon:g} --trials {trials} -o {Path(output).name}"
                )
                write_bytes(output, page(results, command, rows).encode())
    facts = {
        "audits": [
            {"setting": word, **dataclasses.asdict(each), "violates": each.violates}
            for word, each in results
        ]
    }
    lines = [
        f"{word:<36} at least {each.epsilon_lower_bound:<7.4g}"
        f"{'VIOLATES' if each.violates else 'not refuted'}"
        for word, each in results
    ]
    emit(facts, as_json, "\n".join(lines))


def _files(
    epsilon: float, trials: int | None, confidence: float, own_process: bool, as_json: bool
) -> None:
    """Audit whole builds, from a file to a release, for each kind of data."""
    from dpviz.evaluation.file_audit import TRIALS, audit_files

    results = []
    for each in audit_files(
        run_outside if own_process else run_here,
        epsilon,
        trials=TRIALS if trials is None else trials,
        confidence=confidence,
        progress=progress(),
    ):
        results.append(each)
        if not as_json:
            emit({}, False, "\n".join(_lines(each, f"files of {each.kind}", "unit")))
    if as_json:
        audits = [{**dataclasses.asdict(each), "violates": each.violates} for each in results]
        emit({"audits": audits}, True, "")


def run_here(words: Sequence[str]) -> Outcome:
    """A command in this process, as a shell would see it end."""
    from dpviz.cli import INTERRUPTED, main
    from dpviz.evaluation.file_audit import Outcome

    before, sys.argv = sys.argv, ["dpviz", *words]
    output, complaint = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(complaint):
            main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception as error:  # a traceback: what an interpreter makes of it
        return Outcome(1, repr(error))
    finally:
        sys.argv = before
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return Outcome(code, complaint.getvalue())


def run_outside(words: Sequence[str]) -> Outcome:
    """A command in a process of its own."""
    from dpviz.evaluation.file_audit import Outcome

    # Not from the current folder (-P), where a stranger's modules may be.
    started = [sys.executable, "-P", "-c", "from dpviz.cli import main; main()", *words]
    done = subprocess.run(started, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stderr)
