"""Payment for a build: free on public data, else ε of the data set, paid by a button."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dpviz.errors import BudgetError, PrivacyError
from dpviz.private.ledger import Account, Ledger, account_key
from dpviz.private.ledger.balance import RECORDS
from dpviz.private.ledger.names import clean_name
from dpviz.progress import Progress
from dpviz.releases.header import WEAKER, longer_words, price_words, repeated
from dpviz.ui.shared.access import may_publish, with_user_name
from dpviz.ui.shared.presentation import text_fields
from dpviz.ui.shared.releases import visitor
from dpviz.ui.shared.same_people import Trace, paid_unit, propose, remember, trace_of
from dpviz.ui.shared.shelf import kept_release
from dpviz.ui.shared.text import plain

Data = TypeVar("Data", bound=Any)
T = TypeVar("T")

HELP = (
    "The ledger keeps what every data set has spent, under this name, over all visits. Use one "
    "name for all files about the same people."
)


UPLOADS = "uploads."
"""Accounts of what visitors upload: ``uploads.user.DIGEST.NAME``, or ``visit`` for ``user``."""


_UPLOADED = re.compile(r"^uploads\.(user|visit)\.[^.]+\.")


def dataset_name(
    prefix: str, file: Any, columns: Sequence[str], unit: str, *, public: bool = False
) -> str:
    """Name of a file's data set in the ledger: typed if confidential, else the file name.

    Args:
        prefix: prefix of the widgets' keys.
        file: uploaded.
        columns: columns of the file.
        unit: the privacy unit in words, without its bound.
        public: True if its records are declared public.

    Raises:
        BudgetError: the ledger accounts for this name by another privacy unit.
        PrivacyError: records declared public that the ledger knows as sensitive, under this name or
            another one that a file of this name had in this visit.
    """
    name = suggestion = clean_name(Path(file.name).stem)
    if not public:
        field, of = f"{prefix}.dataset", f"{prefix}.dataset.of"
        if field not in st.session_state or st.session_state[field] == st.session_state.get(of):
            st.session_state[field] = suggestion  # keep a typed name
        st.session_state[of] = suggestion
        name = st.text_input("Name of the data set in the ledger", key=field, help=HELP)
        trace = trace_of(suggestion, file.size, columns)
        _same_people(field, name.strip() or suggestion, trace, unit)
    name = name.strip() or suggestion
    names = st.session_state.setdefault(f"names.{suggestion}", {})
    if not public:
        names[name] = account_name(name)
        return name
    for each, account in {name: account_name(name), **names}.items():
        if Ledger().sensitive(account):
            raise PrivacyError(
                f"{each!r} is confidential, as the ledger records: it cannot be public too. Choose "
                "“confidential”, or rename the file if it holds other records"
            )
    return name


def _same_people(field: str, name: str, trace: Trace, unit: str) -> None:
    """Show the account of this name; if there is none, offer the visitor's others.

    Raises BudgetError: it is accounted for another privacy unit.
    """
    lasting = not visitor().startswith("visit:")
    st.session_state.pop(f"{field}.likely", None)
    accounts = {
        shown_name(each.dataset): each for each in Ledger().accounts() if is_own(each.dataset)
    }
    key = account_key(name)
    own = next((each for known, each in accounts.items() if account_key(known) == key), None)
    if own is not None:
        remember(own.dataset, trace, lasting=lasting)
        st.caption(account_summary(own))
        paid = paid_unit(own) or unit
        if paid != unit:
            one = paid.removeprefix("one ")
            same = f"“Each {one} is another person”" if paid in RECORDS else f"the column “{one}”"
            raise BudgetError(
                f"{name!r} is accounted for {paid}, not {unit}: choose {same}, or another name "
                "for data about other people"
            )
    elif accounts:
        propose(field, name, trace, accounts, lasting=lasting)


def charge_visitor(data: Data) -> Data:
    """Charge builds of an uploaded file to accounts that other visitors cannot reach.

    These are accounts of the login, or of this visit. The local user of a server that only this
    computer reaches is its owner, and uses the accounts of the command line.
    """
    data.account = account_name(data.account)
    return data


def is_own(account: str) -> bool:
    """Return whether an account is one of this visitor's."""
    mine = account_name("")
    return account.startswith(mine) and bool(mine or not account.startswith(UPLOADS))


def account_name(name: str) -> str:
    """Name in the ledger of a data set that this visitor calls so."""
    who = visitor()
    return name if who == "here" else f"{UPLOADS}{who[:17].replace(':', '.')}.{name}"


def shown_name(account: str) -> str:
    """Account name as its owner typed it."""
    return _UPLOADED.sub("", account)


def noise_seed(prefix: str) -> int:
    """Seed of simulated noise on public data, with the button that changes it."""
    place = f"{prefix}.seed"
    if st.button(
        "New noise",
        icon=":material/casino:",
        key=f"{prefix}.resample",
        help="The same data and ε with fresh noise. The data are public: nothing is spent.",
    ):
        st.session_state[place] += 1
    seed: int = st.session_state[place]
    return seed


class Job(threading.Thread):
    """A build in its own thread, so that a click on the page cannot interrupt a paid build.

    Streamlit stops a running script at every touch, also where it would keep the job, and a double
    click presses a button twice: only a job that the session has is started, by whichever run.

    Args:
        make: builds; it is given where to report how far it is.
    """

    def __init__(self, make: Callable[[Progress], Any]) -> None:
        super().__init__(daemon=True)
        self.fraction, self.what = 0.0, "Publishing"
        self.made: Any = None
        self.error: Exception | None = None
        self._make = make

    @property
    def ended(self) -> bool:
        """True if the job has started and finished."""
        return self.ident is not None and not self.is_alive()

    def run(self) -> None:
        """Build, and store the result or the error."""
        try:
            self.made = self._make(self._report)
        except Exception as error:  # raised again on the waiting page
            self.error = error

    def _report(self, fraction: float, what: str) -> None:
        self.fraction, self.what = min(fraction, 1.0), what


@dataclass(frozen=True)
class Paid:
    """A paid release of the source with this key.

    ``problem`` says why it could not be kept on this server (empty: it is), ``note`` what the page
    knew when it was ordered.
    """

    key: str
    release: Any
    problem: str
    note: Any


def paid_release(
    prefix: str,
    source: Any,
    choice: Any,
    build: Callable[..., Any],
    store: Callable[[Paid], None],
    *,
    note: Any,
    purpose: str = "",
    bar: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Paid | None:
    """Draw fields for public words, the price button and its confirmation; run the paid build.

    Args:
        prefix: prefix of the page's keys.
        source: has ``key`` and ``account``, its name in the ledger.
        choice: has ``epsilon``, and ``delta`` if it may cost some; its ``repr`` says all of it:
            other terms are asked for again.
        build: (source, choice, ledger=…, purpose=…, progress=…, conclude=…); it runs in a thread
            and must not touch the page. Its exceptions are raised here.
        store: puts the paid release where the page keeps it. An interaction with the page may stop
            it at any access to the session; it is then called again.
        note: given back with the release.
        purpose: in the ledger; the page's name by default.
        bar: container of the button, below the fields.

    Returns:
        The release, once, in the run of the script after it was built; None in all others.

    Raises:
        Exception: of the build that failed, in every run until the button is pressed again.
    """
    cost = getattr(choice, "price", choice.epsilon), getattr(choice, "delta", 0.0)
    owner, purpose = visitor(), with_user_name(purpose or f"page {prefix.title()}")
    if not may_publish():
        return None
    slots, ledger = getattr(choice, "slots", None), Ledger()
    again = "" if slots is None else repeated(slots.facts)
    words = text_fields(prefix, ("title", "noun"), repeated=again)

    def make(progress: Progress) -> Paid:
        how = {"ledger": ledger, "purpose": purpose, "progress": progress, "conclude": False}
        release, problem = kept_release(lambda: build(source, choice, **how), owner, words)
        ledger.record_outcome(release.header.extra["release_id"])  # delivered, even if not stored
        return Paid(source.key, release, problem, note)

    account = ledger.account(source.account)
    order = Order(
        terms=f"{source.key}|{choice!r}",
        price=price_words(*cost),
        left="" if account.left is None else f" of {account.left:g} left",
        refused=over_budget_message(account, *cost),
        about=account_summary(account),
    )
    with bar():
        return ordered(prefix, source.key, order, make, store)


@dataclass(frozen=True)
class Order:
    """An order that a press of the price button places.

    Attributes:
        terms: all of it: other terms are asked for again.
        price: in words; ``left`` what there is of it.
        refused: why it cannot be bought; empty if it can.
        about: line beside the button.
    """

    terms: str
    price: str
    left: str = field(default="", compare=False)
    refused: str = field(default="", compare=False)
    about: str = field(default="", compare=False)


def ordered(
    prefix: str, key: str, order: Order, make: Callable[[Progress], T], store: Callable[[T], None]
) -> T | None:
    """Draw the price button and its confirmation, and run what it buys in a thread.

    Args:
        prefix: prefix of the page's keys.
        key: of what the job is for.
        order: what is bought.
        make: pays, in a thread, and must not touch the page.
        store: see :func:`paid_release`, as for the result and errors.
    """
    place = f"{prefix}.job|{key}"
    turn, job = st.session_state.get(place, (0, None))
    over = job is not None and job.ended  # read once: a job ending later is for the next run
    offer = (turn, order)
    agreed = st.session_state.pop(f"{prefix}.agreed", None)
    if job is None and agreed == offer and not order.refused:
        job = Job(make)
        st.session_state[place] = (turn + 1, job)  # a second press must not confirm this offer
    _confirm_payment(prefix, offer, place, job is not None and not over)
    if job is None:
        if agreed is not None and agreed[0] == turn and agreed != offer:
            st.warning("Nothing was spent: what you confirmed has changed.", icon=":material/lock:")
        return None
    if not over:
        if job.ident is None:  # script runs of one session never overlap
            job.start()
        _wait(job)
    if job.error is not None:
        raise job.error
    made: T = job.made
    store(made)
    st.session_state[place] = (turn, None)  # only now: a click may stop the run anywhere
    return made


def _confirm_payment(prefix: str, offer: tuple[int, Order], place: str, runs: bool) -> None:
    """Ask for confirmation in another place, so that a double click does not confirm.

    While the build runs it asks nothing, and does not show what is spent, since that changes.
    """
    order = offer[1]
    asked = st.session_state.get(f"{prefix}.asked") == offer

    def ask(answer: object) -> None:
        """Record the first press, and remove the error of an earlier build from the page."""
        turn, job = st.session_state.get(place, (0, None))
        if job is not None and job.error is not None:
            st.session_state[place] = (turn, None)
        st.session_state[f"{prefix}.asked"] = answer

    def agree() -> None:
        """Record the confirmation in a callback, before the script runs again."""
        st.session_state[f"{prefix}.agreed"] = offer

    # Each offer has its own buttons: a second click, or one on a price that the browser still shows
    # while the page has another, presses nothing else.
    button = f"{prefix}.{hash(offer)}"
    st.button(
        f"Publish: spend {order.price}",
        type="primary",
        icon=":material/lock:",
        key=f"{button}.build",
        disabled=runs or bool(order.refused) or asked,
        help="Cannot be undone. You will be asked to confirm.",
        on_click=ask,
        args=(offer,),
    )
    question = st.empty()  # emptied at once when the build begins
    if runs:
        return
    with question.container(horizontal=True, vertical_alignment="center"):
        if why := order.refused:
            st.warning(f"Nothing was spent. {why}" if asked else why, icon=":material/lock:")
        elif asked:
            warning = f"This spends {order.price}{order.left}; it cannot be undone."
            st.markdown(f":material/lock: **{warning}**", width="content")
            st.button("Spend it", type="primary", key=f"{button}.sure", on_click=agree)
            st.button("Not now", key=f"{button}.not", on_click=ask, args=(None,))
        st.caption(order.about, width="content")


def _wait(job: Job) -> None:
    """Show the progress of a build until it ends, then rerun the page."""
    bar = st.progress(0.0, "Publishing …")
    while job.is_alive():
        bar.progress(job.fraction, f"{job.what} …")
        job.join(0.1)
    st.rerun()


def over_budget_message(account: Account, epsilon: float, delta: float = 0.0) -> str:
    """Sentence on why this cannot be spent; empty if it can."""
    if account.frame:
        each, _, zone = account.frame.partition(" ")
        return (
            f"“{plain(shown_name(account.dataset))}” has a calendar by {each} in {plain(zone)}: "
            f"choose “Every day” in step Data, or publish with “dpviz build --per {each}”."
        )
    if delta and account.left_delta is not None and delta > account.left_delta:
        return f"δ = {delta:g} is more than the {account.left_delta:g} that is left."
    if account.left is None or epsilon <= account.left:
        return ""
    if account.left <= 0:
        name = plain(shown_name(account.dataset))
        return (
            f"Nothing more can be published from “{name}”: its lifetime budget of "
            f"ε = {account.total:g} is spent."
        )
    return f"ε = {epsilon:g} is more than the {account.left:g} that is left."


def account_summary(account: Account) -> str:
    """Spent and remaining ε of a data set in words."""
    price = price_words(account.spent, account.spent_delta)
    spent = f"“{plain(shown_name(account.dataset))}” has spent {price}"
    if account.frame:
        each = account.frame.partition(" ")[0]
        spent += f" for a person's records of one {each} ({WEAKER}{longer_words(account.longer)})"
    if account.total is None or account.left is None:
        return f"{spent} in all; no limit is set."
    total = f"{account.total:g}" + (f" and {account.total_delta:g}" if account.total_delta else "")
    return f"{spent} of {total}; {account.left:g} is left."
