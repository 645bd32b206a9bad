"""Payment for a build: nothing on public data, else ε of its data set, paid by a button."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

from dpviz.errors import DataError, DpvizError, PrivacyError
from dpviz.private.ledger import Account, Ledger, account_key
from dpviz.private.ledger.names import clean_name
from dpviz.progress import Progress
from dpviz.ui.shared.access import may_publish
from dpviz.ui.shared.making import making
from dpviz.ui.shared.releases import visitor
from dpviz.ui.shared.tables import reserved_names
from dpviz.ui.shared.text import plain

Made = TypeVar("Made")
Data = TypeVar("Data", bound=Any)

HELP = (
    "The ledger keeps what every data set has spent, under this name, over all visits. Use one "
    "name for all files about the same people."
)


UPLOADS = "uploads."
"""Accounts of what visitors upload: ``uploads.user.DIGEST.NAME``, or ``visit`` for ``user``."""


_UPLOADED = re.compile(r"^uploads\.(user|visit)\.[^.]+\.")


def dataset_name(prefix: str, suggestion: str, *, public: bool = False) -> str:
    """Name of a file's data set in the ledger: typed if confidential, else the file's own.

    Raises:
        DataError: the name of a table that the owner of this server offers.
        PrivacyError: records declared public that the ledger knows as sensitive, under this name or
            another one that a file of this name had in this visit.
    """
    name = suggestion = clean_name(suggestion)
    if not public:
        field, of = f"{prefix}.dataset", f"{prefix}.dataset.of"
        if field not in st.session_state or st.session_state[field] == st.session_state.get(of):
            st.session_state[field] = suggestion  # a name that was typed stays
        st.session_state[of] = suggestion
        name = st.text_input("Name of the data set in the ledger", key=field, help=HELP)
    name = name.strip() or suggestion
    if account_key(name) in {account_key(each) for each in reserved_names()}:
        raise DataError(
            f"{name!r} is the name of a table of this server’s owner: give these records another"
        )
    names = st.session_state.setdefault(f"names.{suggestion}", {})
    if not public:
        names[name] = _account_name(name)
        return name
    for each, account in {name: _account_name(name), **names}.items():
        if Ledger().sensitive([account]):
            raise PrivacyError(
                f"{each!r} is confidential, says the ledger: it cannot be public too. Choose "
                "“confidential”, or rename the file if it holds other records"
            )
    return name


def charge_visitor(data: Data) -> Data:
    """Let builds of what a visitor uploaded pay from accounts that no other visitor can reach.

    They are those of the login, or of this visit; the one person of a server that only this
    computer reaches is its owner, whose accounts are those of the command line.
    """
    data.names = tuple(map(_account_name, data.names))
    return data


def _account_name(name: str) -> str:
    who = visitor()
    return name if who == "here" else f"{UPLOADS}{who[:17].replace(':', '.')}.{name}"


def shown_name(account: str) -> str:
    """Account name as its owner gave it."""
    return _UPLOADED.sub("", account)


def noise_seed(prefix: str) -> int:
    """The seed of simulated noise on public data, and the button in the sidebar that changes it."""
    place = f"{prefix}.seed"
    with st.sidebar:
        if st.button(
            "New random noise",
            icon=":material/casino:",
            key=f"{prefix}.resample",
            help="The same data and ε with fresh noise. The data are public: nothing is spent.",
        ):
            st.session_state[place] += 1
    seed: int = st.session_state[place]
    return seed


PAUSE = 1.0
"""Seconds after a build in which a press is taken for the second half of a double click."""


class CancelledError(DpvizError):
    """The owner stopped a build; what was paid stays paid."""


CANCELLED = "Cancelled. Nothing was published; the ε of this build had been spent, and stays spent."


class Job(Generic[Made]):
    """A build in a thread of its own: no touch of the page interrupts what is paid for.

    Streamlit stops a running script at every touch, also where it would keep the job, and a double
    click presses a button twice: only a job that the session has is started, by whichever run.

    Args:
        make: builds; it is given where to report how far it is.
        owner: whose build it is, see :mod:`dpviz.ui.shared.making`.
    """

    def __init__(self, make: Callable[[Progress], Made], owner: str = "") -> None:
        self.fraction, self.what, self.cancelled = 0.0, "Publishing", False
        self.counted = self.delivered = False
        self.made: Made | None = None
        self.error: Exception | None = None
        self._make, self._owner = make, owner
        self.thread = threading.Thread(target=self._run, daemon=True)

    @property
    def ended(self) -> bool:
        """True if the job has started and finished."""
        return self.thread.ident is not None and not self.thread.is_alive()

    def start(self) -> None:
        """Start the thread once; script runs of one session never overlap."""
        if self.thread.ident is None:
            self.thread.start()

    def _run(self) -> None:
        try:
            with making(self._owner):
                self.made = self._make(self._report)
        except Exception as error:  # raised again on the page that waits
            paid = isinstance(error.__context__, CancelledError)  # which the payment has renamed
            self.error = CancelledError(CANCELLED) if paid else error

    def _report(self, fraction: float, what: str) -> None:
        if self.cancelled:
            raise CancelledError("the build was cancelled")
        self.fraction, self.what = min(fraction, 1.0), what


def paid_build(
    prefix: str,
    dataset: str,
    epsilon: float,
    make: Callable[[Ledger, Progress], Made],
    *,
    subject: str,
    terms: str,
    store: Callable[[Made], None],
    pane: Any,
) -> Made | None:
    """The button with its price, a second one to confirm it, and the build it pays for.

    Args:
        prefix: of the button's key.
        dataset: the ledger's name of the data set.
        epsilon: the price.
        make: builds, paying from the ledger that it is given; it runs in a thread and must not
            touch the page. What it raises is raised here.
        subject: what is built of: a finished build is given to the page that shows the same.
        terms: all that is chosen: who agreed to other terms is asked again.
        store: puts what was made where the page keeps it. A touch of the page may stop it at any
            access to the session; it is then called again.
        pane: of the buttons; None for the sidebar.

    Returns:
        The build, once, in the run of the script after it ended; None in all others.

    Raises:
        Exception: of the build that failed, in every run until the button is pressed again.
    """
    with pane or st.sidebar:
        if not may_publish():
            return None
    ledger, place = Ledger(), f"{prefix}.job|{subject}"
    job: Job[Made] | None = st.session_state.get(place)
    if job is not None and job.delivered:
        del st.session_state[place]
        job = None
    over = job is not None and job.ended  # asked once: what ends meanwhile is of the next run
    if job is not None and over and not job.counted:
        st.session_state[f"{prefix}.paid"] = (_offer(prefix)[0] + 1, time.monotonic())
        job.counted = True
    with pane or st.sidebar:
        account = ledger.account(dataset)
        offer = (_offer(prefix)[0], f"{subject}|{terms}", epsilon)
        runs = _agreed(prefix, account, offer) if job is None else not over
        _ask(prefix, account, offer, place, runs)
    if job is None:
        if not runs:
            return None
        job = Job(lambda report: make(ledger, report), visitor())
        st.session_state[place] = job
    if not over:
        job.start()
        st.session_state.pop(f"{prefix}.agreed", None)
        _wait(prefix, job)
    if job.error is not None:
        raise job.error
    assert job.made is not None
    store(job.made)
    job.delivered = True  # only now: a touch of the page stops a run at any access to the session
    return job.made


def _agreed(prefix: str, account: Account, offer: tuple[int, str, float]) -> bool:
    """Return whether this offer was confirmed by a visitor who saw the current spending."""
    agreed = st.session_state.get(f"{prefix}.agreed")
    in_time = time.monotonic() - _offer(prefix)[1] >= PAUSE
    if in_time and agreed == (offer, account.spent) and not too_dear(account, offer[2]):
        return True
    st.session_state.pop(f"{prefix}.agreed", None)
    return False


def _ask(
    prefix: str, account: Account, offer: tuple[int, str, float], place: str, runs: bool
) -> None:
    """Ask once more, in another place than the first button: a double click confirms nothing.

    While the build runs it asks nothing, and does not say what is spent, which changes meanwhile.
    """
    (turn, _, epsilon), dear = offer, too_dear(account, offer[2])
    asked, before = st.session_state.get(f"{prefix}.asked", (None, 0.0))

    def ask(answer: object) -> None:
        """Record the first press, and remove the error of an earlier build from the page."""
        job = st.session_state.get(place)
        if job is not None and job.error is not None:
            del st.session_state[place]
        st.session_state[f"{prefix}.asked"] = (answer, account.spent)

    def agree() -> None:
        """Confirm before the script runs, so that nothing comes between press and build."""
        st.session_state[f"{prefix}.agreed"] = (offer, account.spent)

    # Each payment makes new buttons: a second click on an old one presses nothing.
    st.button(
        f"Publish: spend ε = {epsilon:g}",
        type="primary",
        icon=":material/lock:",
        key=f"{prefix}.build.{turn}",
        disabled=runs or bool(dear) or asked == offer,
        help="Cannot be undone. You are asked once more.",
        on_click=ask,
        args=(offer,),
    )
    if runs:
        return
    if dear:
        words = dear
        if asked == offer:  # it was there when the button was pressed
            words = f"Nothing was spent. {dear} "
            words += (
                "The rest has been spent elsewhere meanwhile."
                if account.spent != before
                else "The lifetime budget was set meanwhile."
            )
        st.warning(words, icon=":material/lock:")
    elif asked == offer:
        left = "" if account.left is None else f" of {account.left:g} left"
        words = f"This spends ε = {epsilon:g}{left}; it cannot be undone."
        if account.spent != before:
            words += f" Elsewhere, ε = {account.spent - before:g} was spent meanwhile."
        st.warning(words, icon=":material/lock:")
        with st.container(horizontal=True):
            st.button("Spend it", type="primary", key=f"{prefix}.sure.{turn}", on_click=agree)
            st.button("Not now", key=f"{prefix}.not.{turn}", on_click=ask, args=(None,))
    st.caption(in_words(account))


def _offer(prefix: str) -> tuple[int, float]:
    """Number of builds paid for on this page in this session, and the end of the last one."""
    payment: tuple[int, float] = st.session_state.get(f"{prefix}.paid", (0, -math.inf))
    return payment


def _wait(prefix: str, job: Job[Made]) -> None:
    """Show how far a build is until it ends, then run the page again to show what it made."""
    bar = st.progress(0.0, "Publishing …")
    if st.button("Cancel (what is paid stays paid)", key=f"{prefix}.cancel"):
        job.cancelled = True
    while job.thread.is_alive():
        bar.progress(job.fraction, f"{job.what} …")
        job.thread.join(0.1)
    st.rerun()


def too_dear(account: Account, epsilon: float) -> str:
    """Sentence on why epsilon cannot be spent; empty if it can."""
    if account.left is None or epsilon <= account.left:
        return ""
    if account.left <= 0:
        name = plain(shown_name(account.dataset))
        return (
            f"Nothing more can be published from “{name}”: its lifetime budget of "
            f"ε = {account.total:g} is spent."
        )
    return f"ε = {epsilon:g} is more than the {account.left:g} that is left."


def in_words(account: Account) -> str:
    """Spent and remaining ε of a data set, in words."""
    spent = f"“{plain(shown_name(account.dataset))}” has spent ε = {account.spent:g}"
    if account.total is None or account.left is None:
        return f"{spent} in all. No budget limit is set."
    return f"{spent} of {account.total:g}; {account.left:g} is left."
