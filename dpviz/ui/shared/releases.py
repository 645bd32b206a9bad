"""Open a release from a list, an upload or a link; list the visitor's paid releases.

A list belongs to the logged-in user, or to the local user of a server that only this computer can
reach. Other visitors cannot publish.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.counts import is_points
from dpviz.releases.store import kind_in
from dpviz.render.cells import domain_bounds
from dpviz.ui.server import OPENED
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import has_login, only_local_visitors, user
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.navigation import PAGE, base_path, page_named
from dpviz.ui.shared.panels import ErrorsShown, as_json, file_button
from dpviz.ui.shared.shelf import LOST_FILE, Shelf, Stored, read_any
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.uploads import upload_path

PARAMETER = "release"
"""Address parameter with the id of a release that is kept here."""
FILES = ("file", "upload", GIVEN := "given")
"""Words in the address for releases that are not kept here; prefixes of their keys."""
GONE = (
    "The release of this address was opened from a file, which an address cannot hold: open the "
    "file again. What is shown here is another map."
)


@dataclass(frozen=True, eq=False)
class Opened:
    """An opened release of any origin; its records are unknown."""

    key: str
    title: str
    release: Any

    @property
    def page(self) -> str:
        """Key of the page that shows the release."""
        kind: str = self.release.kind
        if kind == "points" and self.release.domain.dims == 4:
            return "trips"
        if kind == "flows":
            return "trips"
        return "explore" if kind in ("points", "areas") else kind


def login_digest() -> str:
    """Digest of the logged-in user's identity; empty if not logged in."""
    claims = user()
    if not claims:
        return ""
    name = f"{claims.get('iss')}|{claims.get('sub') or claims.get('email')}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def visitor() -> str:
    """Owner key of the visitor's releases: a digest of the login, never a name."""
    if digest := login_digest():
        return f"user:{digest}"
    if only_local_visitors():
        return "here"
    return f"visit:{st.session_state.setdefault('releases.visit', uuid.uuid4().hex)}"


def opened(page: str, fields: Sequence[permalink.Field]) -> Opened | None:
    """The release that a page shows in place of a data set; None if there is none.

    Args:
        page: its key.
        fields: places on its map, which are left out with the release that they were of.
    """
    place, asked = f"opened.{page}", permalink.parameter(PARAMETER)
    current: Opened | None = st.session_state.get(place)
    if asked == st.session_state.get(f"{page}.own"):
        asked = None  # paid in this visit: its form is shown too
    if asked in FILES:
        if current is None:
            st.warning(GONE, icon=":material/link_off:")
            permalink.write({PARAMETER: None})
            permalink.clear_fields(page, fields)
        return current
    if asked and (current is None or current.key != asked):
        try:
            stored, release = Shelf().open(asked)
        except DpvizError as error:
            why = (
                f"The release of this address is not shown: {error}. What is here is of other data."
            )
            st.warning(plain(why), icon=":material/link_off:")
            permalink.write({PARAMETER: None})
            if current is None:
                permalink.clear_fields(page, fields)
        else:
            current = Opened(asked, stored.title, release)
            if current.page != page:
                show(current)
            st.session_state[place] = current
    return current


def show(release: Opened) -> None:
    """Go to the page that shows a release; its address names the release only, for F5."""
    page = release.page
    if f"opened.{page}" not in st.session_state:
        st.session_state[f"{page}.closed"] = st.session_state.get(f"{page}.link", {})
    st.session_state[f"opened.{page}"] = release
    name = release.key.partition(":")[0]
    st.session_state[f"{page}.link"] = {PARAMETER: name}  # the page reads it from there
    st.session_state.pop(f"{page}.epsilon", None)  # drop the page's own ε
    st.switch_page(page_named(page))


def open_command_line_file() -> None:
    """Open the file given to ``dpviz app`` when a session starts, for the local user only."""
    path = os.environ.get(OPENED)
    if not path or "releases.given" in st.session_state or not only_local_visitors():
        return
    st.session_state["releases.given"] = True
    if permalink.parameter(PARAMETER) != GIVEN and st.query_params.to_dict():
        return  # a link to something other than a release
    with ErrorsShown():
        show(Opened(f"{GIVEN}:{path}", Path(path).stem, read_any(path)))


def close(page: str) -> None:
    """Close the release and its chosen places, and restore the page's earlier address."""
    for name in (f"opened.{page}", f"{page}.epsilon", f"{page}.link"):
        st.session_state.pop(name, None)
    st.query_params.from_dict(st.session_state.pop(f"{page}.closed", {}))


def release_panel(page: str) -> None:
    """Draw ways to open a release, or the button that closes the open one."""
    if f"opened.{page}" in st.session_state:
        st.button(
            "Close this release",
            icon=":material/close:",
            key=f"{page}.close",
            on_click=close,
            args=(page,),
        )
        return
    with st.popover("Open", icon=":material/folder_open:"):
        refused = st.container()  # visible wherever the form is scrolled
        open_form(page, refused)
        st.divider()
        your_releases(f"{page}.side")


def open_form(prefix: str, refused: Any) -> None:
    """Draw the form that opens an uploaded release."""
    file = st.file_uploader(
        "A release file of any kind",
        key=f"{prefix}.open.file",
        help="The .parquet file that dpviz wrote. Looking at a release costs nothing.",
    )
    label = "Open the file"
    if not st.button(label, icon=":material/folder_open:", key=f"{prefix}.open", type="primary"):
        return
    with refused, ErrorsShown():
        if file is not None:
            show(uploaded(f"{prefix}.open.file", file))
        else:
            st.caption("Choose a file first.")


def uploaded(place: str, file: Any) -> Opened:
    """Read an uploaded release.

    Raises:
        ReleaseError: the file is not a release.
    """
    path = upload_path(place, file)
    try:
        release = read_any(path)
    except DpvizError as error:
        raise ReleaseError(str(error).replace(path.name, "the file")) from None
    return Opened(f"upload:{file.file_id}", Path(file.name).stem[:120], release)


def offer_release(prefix: str, path: Path, file: Any) -> bool:
    """Return whether an upload of records is a release; if so, offer to open it."""
    if cached(f"{prefix}.{path.stem}.kind", file.file_id, lambda: kind_in(path)) is None:
        return False
    st.info("This file is a release of dpviz, not records.", icon=":material/map:")
    if st.button("Open the release", key=f"{prefix}.instead", type="primary"):
        show(uploaded(f"{prefix}.{path.stem}", file))
    return True


def your_releases(prefix: str) -> None:
    """List the visitor's releases, with buttons to open, download, share and remove."""
    mine = Shelf().of(visitor())
    st.markdown("**Your releases**")
    if visitor().startswith("visit:"):
        st.caption(
            "Log in to see your releases."
            if has_login()
            else "This server has no login: you can view releases, but not publish."
        )
    if not mine:
        st.caption("What you publish is kept here, with its receipt.")
        return
    stored = st.selectbox(
        "Your releases",
        mine,
        format_func=lambda each: each.label,
        key=f"{prefix}.mine",
        label_visibility="collapsed",
    )
    if stored is not None:
        _release_row(prefix, stored)


def _release_id_in_address(name: str) -> str | None:
    """Id in the address of a release of this server; None if there is none."""
    asked = permalink.parameter(name)
    try:
        return Shelf().find(asked).id if asked else None
    except ReleaseError:
        return None


RELEASES = tuple(
    permalink.Field(f"{side}.{name}", read)
    for side in "ab"
    for name, read in (("release", _release_id_in_address), ("period", permalink.parameter))
)
"""Address fields of two releases that are compared, and of the periods of those with time."""


def newest_comparable(most: int) -> list[str]:
    """Ids of the visitor's newest releases that can be compared."""
    return [each.id for each in Shelf().of(visitor()) if _is_map_of_points(each)][:most]


def unlisted_note() -> str:
    """Sentence on the visitor's releases that cannot be compared; empty if there is none."""
    others = sum(not _is_map_of_points(each) for each in Shelf().of(visitor()))
    shown = f"{others} of yours {'is' if others == 1 else 'are'} of another kind"
    return (others and f"{shown}: choose releases of points.") or ""


def release_choice(page: str, side: str) -> Opened | None:
    """Ask for a release to compare as A or B; the session and the address keep the choice."""
    label, place = f"Release {side.upper()}", f"{page}.{side}.release"
    asked: str | None = st.session_state.get(place)
    offered = {each.id: each for each in Shelf().of(visitor()) if _is_map_of_points(each)}
    if asked and asked not in (*offered, *FILES):
        offered[asked] = Shelf().find(asked)  # another visitor's release, opened by its link
    st.session_state.setdefault(f"{place}.stored", asked if asked in offered else None)
    chosen = st.selectbox(
        label,
        list(offered),
        index=None,
        format_func=lambda identity: offered[identity].label,
        key=f"{place}.stored",
        placeholder="Choose one of yours" if offered else "None of yours: open a file",
        label_visibility="collapsed",
    )
    with st.popover("File", icon=":material/folder_open:"):
        file = st.file_uploader(f"A file as {label}", key=f"{place}.file")
    st.session_state[place] = FILES[0] if file is not None else chosen
    if file is None and chosen is None:
        return None

    def read() -> Opened:
        if file is not None or chosen is None:
            made = uploaded(f"{place}.file", file)
        else:
            made = Opened(chosen, offered[chosen].title, Shelf().open(chosen)[1])
        if not is_points(made.release) or made.release.domain.without_time.dims != 2:
            raise ReleaseError(f"{label}: choose a release of points, no other can be compared")
        domain_bounds(made.release.domain)  # raises if no map can show it
        return made

    with ErrorsShown():
        return cached(f"{place}.opened", (chosen, file and file.file_id), read)
    return None


def _is_map_of_points(stored: Stored) -> bool:
    """Return whether a stored release is of points on a map, from its receipt; with time or not."""
    return stored.kind == "points" and len(stored.receipt.get("bounds", ())) in (4, 6)


def _release_row(prefix: str, stored: Stored) -> None:
    shelf = Shelf()
    file = shelf.file(stored)
    lost = not file.exists()
    if lost:
        st.warning(f"**{plain(stored.title)}**: {LOST_FILE}.", icon=":material/link_off:")
    with st.container(horizontal=True, gap="small"):
        key = f"{prefix}.mine.open"
        if st.button("Open this release", icon=":material/map:", key=key, disabled=lost):
            with ErrorsShown():
                show(Opened(stored.id, stored.title, shelf.open(stored.id)[1]))
        file_name, alone = stored.presentation.file_name, file.is_file()
        name = file_name(".parquet", "release.parquet")
        file_button("Download", file.read_bytes, name, f"{prefix}.mine.file", disabled=not alone)
        receipt, name = partial(as_json, stored.receipt), file_name("-receipt.json", "receipt.json")
        file_button("Receipt", receipt, name, f"{prefix}.mine.receipt", "receipt")
    with st.expander("Share", icon=":material/link:"):
        st.caption("Anyone with this link who may open this server sees the release:")
        st.code(link_of(stored.id), language=None, wrap_lines=True)
    if file.is_dir():
        return  # the days of a series stay: each is paid once, and totals need them
    with st.expander("Remove", icon=":material/delete:"):
        st.caption(
            f"**{plain(stored.title)}** is deleted from this server, and its link stops working. "
            "This cannot be undone. Its ε stays spent in the ledger. Download it first if you may "
            "need it again."
        )
        st.button(
            "Remove this release",
            icon=":material/delete:",
            key=f"{prefix}.mine.remove.{stored.id}",
            on_click=_remove,
            args=(stored.id,),
        )


def _remove(identity: str) -> None:
    """Remove one of the visitor's releases, unless another window has removed it."""
    with ErrorsShown():
        Shelf().remove(identity, visitor())


def link_of(identity: str) -> str:
    """Address of the page of a release of this server."""
    place = urlsplit(str(st.context.url or ""))
    root = f"{place.scheme}://{place.netloc}" if place.netloc else ""
    return f"{root}{base_path()}{PAGE}?id={identity}"
