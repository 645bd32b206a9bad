"""The command that builds a release: checks before payment, payment, printed facts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpviz.cli.data import POINTS, RELEASES, SYMBOLS, TAKES, Data
from dpviz.cli.described import described
from dpviz.cli.groups import given, grouped, option, require_fit
from dpviz.cli.options import Bits, Order
from dpviz.cli.outputs import apart, claimed, keep, writable
from dpviz.cli.rectangles import rectangles
from dpviz.cli.root import app, complain, emit, progress, settings
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.methods.points.declared import Declared
    from dpviz.private.handle import DataHandle, Handle
    from dpviz.private.ledger import Ledger
    from dpviz.releases.release import Release

METHODS = {"points": "privtree", "areas": "areas", "roads": "event-histogram"}
METHODS["sequences"] = "markov"
"""Default method of each kind of release."""


@app.command()
@grouped
def build(
    source: Annotated[
        str,
        typer.Argument(
            help="File or folder of records, URL of a database, name of a built-in data set, or "
            "generate:N for N synthetic trips."
        ),
    ],
    order: Order,
    data: Data,
    method: str | None = option(
        "Method's name or alias, see 'dpviz methods' (default: privtree; areas with --areas, "
        "event-histogram with --graph, markov for sequences)."
    ),
    workload: str | None = option(
        "Expected queries; they set parameters by a public rule, except those given by --set."
        " Points: uniform, hot (small squares where records are), districts, or a CSV file of"
        " public rectangles. Trips: clustered:LENGTH (default: clustered:10), corridor, or a "
        "file of public paths."
    ),
    want: list[str] | None = option(
        "Accuracy promise to state in the release, worded as in 'dpviz plan'; repeatable."
    ),
    bits: Bits = None,
    sum_share: float | None = option("Share of epsilon for --sum (default: half)."),
) -> None:
    """Spend epsilon on one release of a data set; the ledger pays unless the data are public.

    The public frame decides what is counted: --bounds alone points, --areas areas, --graph trips or
    events on streets, --alphabet sequences of symbols, --side sequences of places in time.
    """
    from dpviz.build import build as release_of
    from dpviz.methods import method_with
    from dpviz.methods.points.declared import Declared
    from dpviz.private.ledger import Ledger
    from dpviz.queries.wishes import parse_all

    kind = data.kind(source)
    beside = {"workload": workload, "want": want, "bits": bits, "sum_share": sum_share}
    beside["dataset"] = order.dataset
    stated = {name: value for name, value in beside.items() if value is not None}
    require_fit(kind, given(data) | stated, TAKES)
    for_what = workload_rule(workload) if kind == POINTS else lambda _: workload
    name, parameters = method or METHODS[RELEASES[kind]], settings(order.parameters)
    chosen = method_with(name, RELEASES[kind], parameters)
    if want:
        parse_all(want)
    writable(order.output)
    with claimed(order.output):
        account = Ledger(order.ledger)
        apart(order.output, source, workload, *data.files, ledger=order.ledger)
        started = time.perf_counter()
        if order.noise == "exact" and order.seed is not None:
            raise ParameterError("--seed repeats simulated noise, --noise exact is never repeated")
        if order.declare_public and not order.public:
            raise ParameterError("--declare-public goes with --public: give both, or neither")
        how: dict[str, Any] = {"public": order.public or None, "name": order.dataset}
        how |= {"bits": bits, "progress": progress()}
        handle = data.load(source, **how)
        if handle.public and order.purpose:
            raise ParameterError(
                "--purpose is what the ledger notes, which public data do not enter: leave it out"
            )
        if getattr(handle, "synthetic", False) and order.ledger is not None:
            raise ParameterError("--ledger is not for the built-in data: leave it out")
        queries = for_what(handle)
        if isinstance(queries, Declared):
            chosen = queries.method(name, parameters)
            if not queries.following(name, {}) and queries.name != "uniform" and not order.as_json:
                complain(f"note: {unchanged(chosen.name, queries.name)}")
        limited = _asked_before(account, handle)
        release: Release = release_of(
            handle,
            chosen,
            order.epsilon,
            workload=queries,
            neighbours=order.neighbours,
            simulate=order.noise == "simulated",
            seed=order.seed,
            ledger=account,
            purpose=order.purpose,
            declare_public=order.declare_public,
            wishes=want or (),
            sum_share=sum_share,
            progress=progress(),
            conclude=False,
        )
        keep(release.save, order.output, account, release.header.extra.get("release_id"))
    seconds = time.perf_counter() - started
    if not order.as_json:
        for line in _notes(handle, data, source, kind):
            complain(f"note: {line}")
    if not limited:
        complain(
            f"note: data set {handle.name!r} has no total yet, so nothing limits what is spent: "
            "set it once with 'dpviz ledger set'"
        )
    if handle.tally is not None and handle.tally.warning:
        complain(f"warning: {handle.name!r}: {handle.tally.warning}")
    facts, (first, *rest) = described(release, handle)
    if handle.tally is not None:
        facts["records"] = handle.tally.facts
    facts |= {
        "epsilon": release.header.epsilon,
        "guarantee": release.header.guarantee,
        "seconds": round(seconds, 3),
    }
    lines = [f"{order.output}: {first}, {seconds:.2f} s", release.header.guarantee, *rest]
    emit(facts, order.as_json, "\n".join(lines), made=order.output)


def workload_rule(workload: str | None) -> Callable[[DataHandle], Declared | None]:
    """Return a function from data to the declared workload; refuse a bad workload at once.

    Raises:
        ParameterError: neither the word of a workload nor a file.
    """
    from dpviz.methods.points.declared import WORKLOADS, Declared

    if workload is None:
        return lambda data: None
    if workload in WORKLOADS or not Path(workload).is_file():
        declared = Declared(workload)
        return lambda data: declared

    def of_file(data: DataHandle) -> Declared:
        return Declared.of(rectangles(workload, data.domain.columns), data.domain)

    return of_file


def unchanged(name: str, workload: str) -> str:
    """Message: the method ignores the workload; lists methods that follow it."""
    from dpviz.methods.points.declared import FOLLOWING

    fitting = ", ".join(method for method, rule in FOLLOWING.items() if workload in rule)
    return f"no parameter of {name} follows from the workload {workload}: choose one of {fitting}"


def _asked_before(ledger: Ledger, data: Handle[Any]) -> bool:
    """Return whether the data is public or has a lifetime budget; note an unfinished build.

    Asked before the payment: once the release stands, an unreadable ledger is no reason to fail.
    """
    if data.public:
        return True
    account = ledger.account(data.account)
    if account.spends and (last := account.spends[-1]).outcome == "paid":
        complain(
            f"note: the last build of {account.dataset!r} (ε = {last.epsilon:g}, {last.at}) was "
            "paid for and has not ended: it is running, or it was killed and its release is lost"
        )
    return account.total is not None


def _notes(handle: Handle[Any], data: Data, source: str, kind: str) -> list[str]:
    """Notes on assumptions made when the records were read."""
    notes = []
    taken = str(getattr(handle, "columns", ""))
    if taken and not data.places.names and not getattr(handle, "synthetic", False):
        notes.append(f"{handle.name!r} is read as places from {taken}")
    text = Path(source.lower().removesuffix(".gz")).suffix == ".txt"
    if kind == SYMBOLS and text and data.frame.column is data.units.unit is None:
        notes.append(
            f"{handle.name!r} is read as a sequence per line, as .txt says, whatever it holds: "
            "'dpviz check' says how many lines were of use"
        )
    if handle.tally is None and not handle.public:
        notes.append("'dpviz check' shows the owner what was dropped")
    return notes
