"""The command ``dpviz build``: checks before payment, payment, printed facts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dpviz
from dpviz.cli.data import OPTIONS_OF, POINTS, RELEASES, SYMBOLS, Data
from dpviz.cli.groups import given, grouped, option, require_applicable
from dpviz.cli.options import Bits, BuildOptions
from dpviz.cli.outputs import locked, require_free, require_writable, save_release
from dpviz.cli.rectangles import rectangles
from dpviz.cli.root import app, emit, print_stderr, progress, settings
from dpviz.cli.sizes import SIZES
from dpviz.errors import ParameterError
from dpviz.files.foreign import PACKED

if TYPE_CHECKING:
    from dpviz.methods.points.declared import Declared
    from dpviz.private.handle import DataHandle, Handle
    from dpviz.private.ledger import Ledger
    from dpviz.releases.release import Release


@app.command()
@grouped
def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="File or folder of records, URL of a database, name of a built-in data set, or "
            "generate:N for N synthetic trips.",
        ),
    ],
    common: BuildOptions,
    data: Data,
    method: str | None = option(
        "Method's name or alias, see 'dpviz methods' (default: ladder_tree; areas with --areas, "
        "pairs with --from and --to, event-histogram with --graph, markov for sequences)."
    ),
    workload: str | None = option(
        "Expected queries; they set parameters by a public rule, except those given by --set."
        " Points: uniform, hot (small squares where records are), districts, or a CSV file of"
        " public rectangles. Trips: clustered:LENGTH (default: clustered:10), corridor, or a "
        "file of public paths."
    ),
    want: list[str] | None = option(
        "Accuracy target to state in the release, worded as in 'dpviz plan'; repeatable."
    ),
    prior: str | None = option(
        "PUBLIC data about the same place, which the map may follow at no price: a file of points, "
        "polygons or cells, a release, or 'land', for records on land."
    ),
    prior_weight: str | None = option("Column of weights of --prior, such as inhabitants."),
    bits: Bits = None,
    sum_share: float | None = option("Share of epsilon for --sum (default: half)."),
    delta: float | None = option(
        "Delta such as 1e-6, for --areas, ugrid with cells, quadtree with top, or --kinds: count "
        "persons per cell, step and category (default: none)."
    ),
    weighted: bool = option(
        "With --areas and --delta: a person of n > K slots counts √(K/n) in each, not 1 in K.",
        default=False,
    ),
) -> None:
    """Build one private release; the ledger pays its epsilon.

    Example: dpviz build visits.csv --bounds=-74.3,40.4,-73.6,41 --unit person --max-per-unit 5
    --epsilon 1 -o map.parquet

    What is counted follows from the options: points with --bounds alone, areas with --areas, flows
    between them with --from and --to, trips or events on streets with --graph, sequences of symbols
    with --alphabet, sequences of places in time with --side. Public data (--public) cost nothing.
    """
    from dpviz.build import build as build_release
    from dpviz.methods import method_with
    from dpviz.methods.points.declared import Declared
    from dpviz.methods.request import DEFAULT_METHODS
    from dpviz.private.ledger import Ledger
    from dpviz.private.load.priors import refuse_own_records
    from dpviz.queries.wishes import parse_all

    kind = data.kind(source)
    beside = {"workload": workload, "want": want, "bits": bits, "sum_share": sum_share}
    beside |= {"delta": delta, "weighted": weighted or None}
    beside |= {"prior": prior, "prior_weight": prior_weight}
    beside["dataset"] = common.dataset
    stated = {name: value for name, value in beside.items() if value is not None}
    require_applicable(kind, given(data) | stated, OPTIONS_OF)
    workload_for = workload_rule(workload) if kind == POINTS else lambda _: workload
    name, parameters = method or DEFAULT_METHODS[RELEASES[kind]], settings(common.parameters)
    chosen = method_with(name, RELEASES[kind], parameters)
    if prior is None and prior_weight is not None:
        raise ParameterError("--prior-weight requires --prior: give both, or neither")
    if want:
        parse_all(want)
    if delta == 0:
        raise ParameterError("--delta 0 is pure ε-DP: leave it out")
    require_writable(common.output)
    with locked(common.output):
        account = Ledger(common.ledger)
        require_free(common.output, source, workload, prior, *data.files, ledger=common.ledger)
        started = time.perf_counter()
        if common.declare_public and not common.public:
            raise ParameterError("--declare-public requires --public: give both, or neither")
        how: dict[str, Any] = {"public": common.public or None, "name": common.dataset}
        how |= {"bits": bits, "progress": progress()}
        handle = data.load(source, **how)
        if getattr(handle, "synthetic", False) and common.ledger is not None:
            raise ParameterError(
                "--ledger is not for built-in data, which cost nothing: leave it out"
            )
        public_prior = None
        if prior is not None:
            refuse_own_records(Path(prior), Path(source))
            public_prior = dpviz.prior(prior, handle.domain, prior_weight)
        queries = workload_for(handle)
        if isinstance(queries, Declared):
            chosen = queries.method(name, parameters)
            if not queries.following(name, {}) and queries.name != "uniform" and not common.as_json:
                print_stderr(f"note: {unchanged(chosen.name, queries.name)}")
        limited = _has_limit(account, handle)
        release: Release = build_release(
            handle,
            chosen,
            common.epsilon,
            workload=queries,
            prior=public_prior,
            neighbours=common.neighbours,
            seed=common.seed,
            ledger=account,
            purpose=common.purpose,
            declare_public=common.declare_public,
            wishes=want or (),
            sum_share=sum_share,
            delta=delta,
            weighted=weighted,
            progress=progress(),
            conclude=False,
        )
        save_release(release.save, common.output, account, release.header.extra.get("release_id"))
    seconds = time.perf_counter() - started
    if not common.as_json:
        for line in _notes(handle, data, source, kind):
            print_stderr(f"note: {line}")
    if not limited:
        print_stderr(
            f"note: data set {handle.name!r} has no lifetime budget yet, so spending is not "
            "limited: set one with 'dpviz ledger set'"
        )
    if handle.tally is not None and handle.tally.warning:
        print_stderr(f"warning: {handle.name!r}: {handle.tally.warning}")
    facts, (first, *rest) = SIZES[release.kind](release)
    if handle.tally is not None:
        facts["records"] = handle.tally.facts
    facts |= {
        "epsilon": release.header.epsilon,
        "guarantee": release.header.guarantee,
        "seconds": round(seconds, 3),
    }
    lines = [f"{common.output}: {first}, {seconds:.2f} s", release.header.guarantee, *rest]
    emit(facts, common.as_json, "\n".join(lines), made=common.output)


def workload_rule(workload: str | None) -> Callable[[DataHandle], Declared | None]:
    """Return a function from data to the declared workload; refuse a bad workload at once."""
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
    return f"workload {workload} sets no parameter of {name}: choose one of {fitting}"


def _has_limit(ledger: Ledger, data: Handle[Any]) -> bool:
    """Return whether the data is public or has a lifetime budget; note an unfinished build.

    Asked before the payment: once the release stands, an unreadable ledger is no reason to fail.
    """
    if data.public:
        return True
    account = ledger.account(data.account)
    if account.spends and (last := account.spends[-1]).outcome == "paid":
        print_stderr(
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
    path = Path(source.lower())
    text = Path(path.stem if path.suffix in PACKED else path).suffix == ".txt"
    if kind == SYMBOLS and text and data.frame.column is data.units.unit is None:
        notes.append(
            f"{handle.name!r} is read as one sequence per line, since it is a .txt file: "
            "'dpviz check' counts the lines that could be read"
        )
    if handle.tally is None and not handle.public:
        notes.append("'dpviz check' shows the owner what was dropped")
    return notes
