"""Form for a file upload, public or confidential; exact facts are for its owner only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dpviz.private.handle import unit_named
from dpviz.private.load.check import check_source
from dpviz.private.load.data import load
from dpviz.private.load.tally import Tally
from dpviz.roads.steps import Steps
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import charge_visitor, dataset_name
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.preflight import preflight_switch, show_facts, switched_on
from dpviz.ui.shared.releases import offer_release
from dpviz.ui.shared.same_people import ask_about_likely
from dpviz.ui.shared.unit_form import unit_form
from dpviz.ui.shared.uploads import chosen_table, upload_path

UPLOAD = "Your own file"
"""Title of the choice of an upload, and its word in the address."""
AGAIN = (
    "Choose your file again: an upload is kept in memory while its page is open, and is lost when "
    "the page is left or reloaded (F5). {} Releases that were paid for are in your releases."
)
KEPT = "Choices that the address names are kept; make the others again."
KEPT_TO_PUBLISH = (
    "Kept in the address: the area, the person's column, time, categories, method, ε and title. "
    "Choose again, where you had: the CRS, columns of coordinates, marks of numbers, values, and "
    "the name of the data set in the ledger."
)

H = TypeVar("H")
S = TypeVar("S")


@dataclass(frozen=True)
class Upload:
    """An uploaded file, and what its forms share.

    Attributes:
        prefix: prefix of the widgets' keys.
        path: where its bytes are.
        file: of ``st.file_uploader``.
        public: True if its records are declared public.
        table: layer or sheet, if it has several.
        beside: container of a question to the owner; None: in the form.
    """

    prefix: str
    path: Path
    file: Any
    public: bool
    table: str | None
    beside: Any = None

    @property
    def key(self) -> str:
        """Part of the keys of widgets that another file or table resets."""
        return f"{self.file.file_id}{self.table or ''}"

    def unit_and_name(
        self, columns: list[str], records: str = "records", **how: Any
    ) -> tuple[dict[str, Any], str | None]:
        """Ask for the privacy unit, as arguments of a reader, and the name in the ledger.

        The name is None if it is refused; ``records`` and ``how`` are as of :func:`unit_form`.
        """
        unit, bound = None, 1
        with st.container():  # keeps panels below it open when its fields change
            if not self.public:
                unit, bound = unit_form(
                    self.prefix, columns, **{"record": records.removesuffix("s"), **how}
                )
        return {"unit": unit, "max_per_unit": bound}, self.name(columns, unit, records)

    def name(self, columns: list[str], unit: str | None, records: str) -> str | None:
        """Ask for the name in the ledger; None if it is refused: the form keeps its input."""
        with st.container(), ErrorsShown(self.path.name):
            unit = unit_named(unit, records)
            name = dataset_name(self.prefix, self.file, columns, unit, public=self.public)
            if not self.public:
                with self.beside or nullcontext():
                    ask_about_likely(f"{self.prefix}.dataset", "data")
            return name
        return None

    def source(
        self,
        frame: Any,
        how: Mapping[str, Any],
        name: str,
        clock: Mapping[str, Any] | None = None,
        *,
        key: object = "",
        **rules: Any,
    ) -> dict[str, Any]:
        """Fields of a source: its data, read again only if an option changes, key and title.

        Args:
            frame: the public domain of the records.
            how: arguments of both the reading and its check.
            name: name in the ledger.
            clock: column, format and steps of time, where the frame has none.
            key: says what ``repr`` of the frame does not.
            **rules: further arguments of the reading.
        """
        steps, how = dict(clock or {}), {"table": self.table, **how}
        if "time_format" in steps:
            how["time_format"] = steps.pop("time_format")

        def read() -> Any:
            return load(self.path, frame, public=self.public, name=name, **how, **steps, **rules)

        def check() -> Tally:
            given = {"steps": Steps.of(**steps)} if steps else {}
            return check_source(self.path, frame, **how, **given)[0]

        key = f"{self.file.file_id}|{frame, key, how, steps, rules}|{self.public}|{name}"
        data = read_cached(self.prefix, key, read, check)
        return {"data": data, "key": key, "title": Path(self.file.name).name}


def data_choice(
    prefix: str, label: str, titles: Mapping[str, str], start: str | None = None
) -> str:
    """Ask for a data set by its title; begin with ``start`` or the address, if it is on offer."""
    if f"{prefix}.data" not in st.session_state:  # entered anew
        st.session_state.pop(f"{prefix}.files.lost", None)
    options = list(titles)
    start = permalink.one_of("data", start or permalink.parameter("data"), options, options[0])
    return str(
        st.selectbox(
            label,
            options,
            index=options.index(start),
            format_func=lambda name: titles.get(name, name),
            key=f"{prefix}.data",
        )
    )


def public_switch(prefix: str, kind: str = "upload") -> bool:
    """Ask whether the records are public; uploads start as sensitive."""
    public = kind == "built-in" and permalink.parameter("sensitive") != "1"
    words = {"sensitive": "confidential", "public": "already public"}
    answer = st.segmented_control(
        "These records are",
        list(words),
        default=list(words)[public],
        format_func=words.__getitem__,
        required=True,
        key=f"{prefix}.public.{kind}",
        help="Confidential: secure noise, every release costs ε, no exact number is shown. "
        "Already public: exact answers and errors, any ε; nothing shown is protected.",
    )
    return bool(answer == "public")


def files_ready(prefix: str, ready: bool, words: str, kept: str = KEPT) -> bool:
    """Return ``ready``; if it is False, ask for files in these words.

    Where a page is entered at the address of an upload, as by F5 or Back, a line above the page
    says why the file is missing, and what is ``kept``: the form may be closed.
    """
    lost = f"{prefix}.files.lost"
    asked = permalink.parameter("data") == st.session_state[f"{prefix}.data"]
    if ready:
        st.session_state[lost] = False
    else:
        if st.session_state.setdefault(lost, asked):
            messages = st.session_state.get(permalink.MESSAGES, st)
            messages.info(AGAIN.format(kept), icon=":material/upload_file:")
        st.info(words, icon=":material/upload_file:")
    return ready


def upload_form(
    prefix: str,
    describe: Callable[[Upload], S | None],
    *,
    label: str,
    help: str,  # noqa: A002 - the field's own word for it
    place: str = "file",
    owner: bool = False,
    beside: Any = None,
) -> S | None:
    """Draw the uploader and the form for the file; None while it is incomplete.

    Args:
        prefix: prefix of the widgets' keys.
        describe: the source of an upload.
        label: label of the uploader.
        help: help of the uploader.
        place: place of the uploader, after the prefix.
        owner: all records are confidential.
        beside: container of a question to the owner; None: in the form.
    """
    file = st.file_uploader(label, key=f"{prefix}.{place}", help=help)
    public = False if owner else public_switch(prefix)
    if not public:
        preflight_switch(prefix)
    kept = KEPT_TO_PUBLISH if owner else KEPT
    if not files_ready(prefix, file is not None, "Choose a file to begin.", kept):
        return None
    path = upload_path(f"{prefix}.{place}", file)
    with ErrorsShown(path.name):
        if not offer_release(prefix, path, file):
            table = chosen_table(prefix, path, file)
            return describe(Upload(prefix, path, file, public, table, beside))
    return None


def read_cached(
    prefix: str, key: str, read: Callable[[], H], check: Callable[[], Tally] | None = None
) -> H:
    """Handle of a file, read again only if the file or an option changes.

    Args:
        prefix: prefix of the widgets' keys.
        key: says all that the reading depends on.
        read: gives the handle.
        check: exact counts of what a handle of confidential records keeps and drops, shown to
            their owner.

    Raises:
        DataError: no confidential record is kept.
    """

    def make() -> H:
        with st.spinner("Reading the file …"):
            handle: H = charge_visitor(read())
            return handle

    handle = cached(f"{prefix}.upload", key, make)
    if check is not None and not getattr(handle, "public", False) and switched_on(prefix):
        show_facts(cached(f"{prefix}.facts", key, check))
    return handle
