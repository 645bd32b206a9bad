"""The body of every build command: what is refused first, what pays, what is printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dpviz.cli.options import Order
from dpviz.cli.outputs import apart, claimed, keep, recover, writable
from dpviz.cli.root import complain, emit, progress, settings, simulated
from dpviz.errors import ParameterError

if TYPE_CHECKING:
    from dpviz.build import Handle
    from dpviz.releases.release import Release

Facts = tuple[dict[str, Any], list[str]]
"""What is printed of a release: values for JSON, and lines for people."""


def build_release(
    kind: str,
    name: str,
    order: Order,
    inputs: Sequence[str | None],
    load: Callable[[], Handle[Any]],
    describe: Callable[[Any, Any], Facts],
    workload: Callable[[Any], Any] = lambda data: None,
    *,
    columns_named: bool = False,
    wishes: Sequence[str] = (),
    sum_share: float | None = None,
) -> None:
    """Spend epsilon on one release of data of one kind, save it, and say what it is.

    Args:
        kind: of the data.
        name: of the method.
        order: the options that every build has.
        inputs: files that are read, which the release must not replace.
        load: the data; called after everything that can be refused without them.
        describe: what is printed of the release, from it and the data.
        workload: of the data, as :func:`dpviz.build` takes it.
        columns_named: whether the owner named the columns of the coordinates.
        wishes: what is to hold of the release.
        sum_share: of records with values, the share of epsilon for their sums.

    Raises:
        DpvizError: see :func:`dpviz.build`.
    """
    from dpviz.build import Ledger, build
    from dpviz.methods import method_with
    from dpviz.methods.points.declared import Declared
    from dpviz.queries.wishes import parse_all

    parameters = settings(order.parameters)
    chosen = method_with(name, kind, parameters)
    if wishes:
        parse_all(wishes)
    writable(order.output)
    with claimed(order.output):
        account = Ledger(order.ledger)
        recover(order.output, account)
        apart(order.output, *inputs, ledger=order.ledger)
        simulate = simulated(order.seed, order.sampler, order.secure_noise)
        started = time.perf_counter()
        if order.declare_public and not order.public:
            raise ParameterError("--declare-public goes with --public: give both, or neither")
        data = load()
        if data.public and order.purpose:
            raise ParameterError(
                "--purpose is what the ledger notes, which public data do not enter: leave it out"
            )
        if getattr(data, "synthetic", False) and order.ledger is not None:
            raise ParameterError("--ledger is not for the built-in data: leave it out")
        queries = workload(data)
        if isinstance(queries, Declared):
            chosen = queries.method(name, parameters)
            if not queries.following(name, {}) and queries.name != "uniform" and not order.as_json:
                complain(f"note: {unchanged(chosen.name, queries.name)}")
        # Asked now: once the release stands, a ledger that cannot be read is no reason to fail.
        before = [] if data.public else [account.account(each) for each in data.names]
        open_ended = [each for each in before if each.spends and each.spends[-1].outcome == "paid"]
        for each in open_ended[:1]:
            last = each.spends[-1]
            complain(
                f"note: the last build of {each.dataset!r} (ε = {last.epsilon:g}, {last.at}) was "
                "paid for and has not ended: if it was killed when its file was whole, the same "
                "-o again gives that file, and costs nothing"
            )
        release: Release = build(
            data,
            chosen,
            order.epsilon,
            workload=queries,
            neighbours=order.neighbours,
            simulate=simulate,
            seed=order.seed,
            ledger=account,
            purpose=order.purpose,
            declare_public=order.declare_public,
            wishes=wishes,
            sum_share=sum_share,
            progress=progress(),
            conclude=False,
        )
        keep(release.save, order.output, account, release.header.extra.get("release_id"))
    plain = columns_named or getattr(data, "synthetic", False)
    taken = "" if plain else str(getattr(data, "columns", ""))
    if taken and not order.as_json:
        complain(f"note: {data.name!r} is read as places from {taken}")
    if before and all(each.total is None for each in before):
        complain(
            f"note: data set {data.name!r} has no total yet, so nothing limits what is spent: "
            "set it once with 'dpviz ledger set'"
        )
    seconds = time.perf_counter() - started
    if data.tally is None and not data.public and not order.as_json:
        complain("note: 'dpviz check' shows the owner what was dropped")
    elif data.tally is not None and data.tally.warning:
        complain(f"warning: {data.name!r}: {data.tally.warning}")
    facts, (first, *rest) = describe(release, data)
    if data.tally is not None:
        facts["records"] = data.tally.facts
    facts |= {
        "epsilon": release.header.epsilon,
        "guarantee": release.header.guarantee,
        "seconds": round(seconds, 3),
    }
    lines = [f"{order.output}: {first}, {seconds:.2f} s", release.header.guarantee, *rest]
    emit(facts, order.as_json, "\n".join(lines), made=order.output)


def unchanged(name: str, workload: str) -> str:
    """That a method is the same for every workload, and which are not."""
    from dpviz.methods.points.declared import FOLLOWING

    fitting = ", ".join(method for method, rule in FOLLOWING.items() if workload in rule)
    return f"no parameter of {name} follows from the workload {workload}: choose one of {fitting}"
