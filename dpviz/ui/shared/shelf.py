"""Releases on disk: every paid release is stored with a receipt before it is shown.

One folder of the owner's choice (``$DPVIZ_RELEASES``; else ``releases`` beside the ledger) holds a
release ``<id>.parquet`` and a receipt ``<id>.json`` for each payment. A series is a folder
``<account>.series`` with one receipt. All are public like every release. The id is the ledger's
random one: anyone who knows it may open the release, and a list is shown only to its owner. This
room sees releases only, never a record.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpviz.errors import DpvizError, ReleaseError
from dpviz.exports import Presentation
from dpviz.exports.presentation import MAX_LENGTHS, PLAIN
from dpviz.files.writing import write_bytes
from dpviz.private.ledger import Ledger, account_key
from dpviz.releases.counts import domain_of
from dpviz.releases.series import KEY as SERIES
from dpviz.releases.series import node_files, read_series
from dpviz.releases.series_days import day_windows
from dpviz.releases.store import NEEDED, read, stated_kind

VARIABLE = "DPVIZ_RELEASES"
MAX_SHOWN = 200
"""Most releases of a list, the newest."""
LOST_FILE = "the file of this release is not here; what was paid for it stays spent"
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Stored:
    """A release stored on this server.

    Attributes:
        id: the ledger's, which names both files.
        owner: who may see it in a list.
        title: for a list: that of its presentation, else its data set's name.
        kind: kind of its data.
        at: when it was written, ISO 8601.
        receipt: prices, what they paid for, and theorems.
        words: public presentation of its page, as plain values.
    """

    id: str
    owner: str
    title: str
    kind: str
    at: str
    receipt: dict[str, Any]
    words: dict[str, Any] = field(default_factory=dict)

    @property
    def presentation(self) -> Presentation:
        """Title, subtitle, noun and notes of its page."""
        return Presentation.from_dict(self.words)

    @property
    def label(self) -> str:
        """Price, day, minute and title, for a list: first what differs between those of a file."""
        when = f"{self.at[:10]} {self.at[11:16]} UTC"
        return f"ε = {self.receipt.get('epsilon', 0):g} · {when} · {self.title}"


class Shelf:
    """The folder of releases; every operation reads the disk again.

    Raises:
        ReleaseError: the environment names another folder wherever the app is started.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        given = folder or os.environ.get(VARIABLE)
        self.folder = Path(given).expanduser() if given else Ledger().path.parent / "releases"
        if given and not folder and not self.folder.is_absolute():
            raise ReleaseError(
                f"{VARIABLE}={given}: what is published here would not be in the list of an app "
                f"started elsewhere; give the whole path, such as {self.folder.absolute()}"
            )

    def ready(self) -> None:
        """Refuse before payment if the release could not be stored.

        Raises:
            ReleaseError: the folder cannot be made or written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"\0" * 4096)
        except OSError as error:
            raise ReleaseError(
                f"the folder of releases cannot be written ({error.strerror}): nothing was spent; "
                f"make room, or set {VARIABLE} to another folder"
            ) from None

    def keep(self, release: Any, owner: str, presentation: Presentation = PLAIN) -> Stored:
        """Store a paid release, its receipt and the public words under which it is shown.

        In this order, so that a release that is lost is in the list of who paid for it.

        Raises:
            DpvizError: it cannot be written, or was not paid for.
        """
        receipt, kind = receipt_of(release), release.kind
        identity = str(receipt["release_id"])
        if not _ID.fullmatch(identity):
            raise ReleaseError(
                "a release without an id of the ledger cannot be kept: publish it again"
            )
        title = (presentation.title or str(receipt["data_set"]))[: MAX_LENGTHS["title"]]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        words = presentation.to_dict()
        stored = Stored(identity, owner, title, kind, now, receipt, words)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(stored)
        try:
            release.save(self.path(identity))
        except BaseException:
            self.path(identity).with_suffix(".json").unlink(missing_ok=True)
            raise
        return stored

    def keep_series(self, account: str, owner: str, title: str) -> Stored:
        """Store the receipt of a series, by the id of its first release, unless it is there.

        Raises:
            DpvizError: no series of this account.
        """
        folder = self.series_folder(account)
        first = read(node_files(folder)[0], "areas")
        identity = str(first.header.extra["release_id"])
        try:
            return self.find(identity)
        except ReleaseError:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            (whole, *_), _ = day_windows(read_series(folder))
            receipt = receipt_of(whole) | {"account": account}
            stored = Stored(identity, owner, title, SERIES, now, receipt)
            self._write(stored)
            return stored

    def present(self, identity: str, owner: str, presentation: Presentation) -> None:
        """Store the public words under which a release of this owner is shown.

        Raises:
            ReleaseError: no such release of this owner.
        """
        stored = self.find(identity)
        if stored.owner != owner:
            raise ReleaseError("this release belongs to another user: log in as its owner")
        title = presentation.title or stored.title
        self._write(replace(stored, title=title, words=presentation.to_dict()))

    def _write(self, stored: Stored) -> None:
        text = json.dumps(stored.__dict__, indent=2, ensure_ascii=False, default=str)
        write_bytes(self.path(stored.id).with_suffix(".json"), text.encode())

    def path(self, identity: str) -> Path:
        """Path of a release's file.

        Raises:
            ReleaseError: no id, for instance a path in its place.
        """
        if not _ID.fullmatch(identity):
            raise ReleaseError("no such release here: check the link")
        return self.folder / f"{identity}.parquet"

    def series_folder(self, account: str) -> Path:
        """Folder of the releases of an account's series."""
        return self.folder / f"{account_key(account)}.{SERIES}"

    def file(self, stored: Stored) -> Path:
        """File of a release, or folder of a series."""
        if stored.kind == SERIES:
            return self.series_folder(str(stored.receipt.get("account")))
        return self.path(stored.id)

    def version(self, stored: Stored) -> str:
        """Text that changes with the public words of a release, and with each day of a series."""
        file = self.file(stored)
        files = [each for each in (file, *node_files(file)) if each.exists()]
        return repr((stored.words, [(each.name, each.stat().st_mtime_ns) for each in files]))

    def find(self, identity: str) -> Stored:
        """Find a release by its id.

        Raises:
            ReleaseError: no release with this id, or a damaged receipt.
        """
        try:
            values = json.loads(self.path(identity).with_suffix(".json").read_text("utf-8"))
            stored = Stored(**values)
            _ = stored.presentation  # refuses a damaged one
        except (OSError, ValueError, TypeError, AttributeError):
            raise ReleaseError("no such release here: check the link, or open its file") from None
        if (
            stored.id != identity
            or stored.kind not in (*NEEDED, SERIES)
            or not isinstance(stored.receipt, dict)
        ):
            raise ReleaseError("the receipt of this release is damaged: open its file instead")
        return stored

    def open(self, identity: str) -> tuple[Stored, Any]:
        """Read a release or a series, and its receipt.

        Raises:
            ReleaseError: no release with this id, or it is damaged or lost.
        """
        stored = self.find(identity)
        file = self.file(stored)
        if not file.exists():
            raise ReleaseError(LOST_FILE)
        return stored, (read_series if stored.kind == SERIES else read)(file)

    def of(self, owner: str) -> list[Stored]:
        """Releases of one owner, newest first; damaged receipts are skipped."""
        releases = []
        for file in self.folder.glob("*.json"):
            if _ID.fullmatch(file.stem):
                try:
                    releases.append(self.find(file.stem))
                except ReleaseError:
                    continue  # one damaged receipt must not hide the others
        mine = [each for each in releases if each.owner == owner]
        return sorted(mine, key=lambda each: (each.at, each.id), reverse=True)[:MAX_SHOWN]

    def remove(self, identity: str, owner: str) -> None:
        """Delete a release of this owner; the ledger keeps its spend.

        The file goes first: should that fail, the release is still in the list.

        Raises:
            ReleaseError: no such release of this owner.
        """
        if self.find(identity).owner != owner:
            raise ReleaseError("this release belongs to another user: log in as its owner")
        for suffix in (".parquet", ".json"):
            self.path(identity).with_suffix(suffix).unlink(missing_ok=True)


def read_any(path: str | os.PathLike[str]) -> Any:
    """Read a release of any kind from a file.

    Raises:
        ReleaseError: another file, a damaged one, or one of a newer version.
    """
    if stated_kind(path) is None:
        raise ReleaseError(
            f"{Path(path).name}: no release: choose a .parquet file that dpviz wrote"
            if Path(path).is_file()
            else f"{Path(path).name}: no such file: check its name"
        )
    return read(path)


def receipt_of(release: Any) -> dict[str, Any]:
    """Receipt of a payment: amount, purpose, theorem. It is as public as the release."""
    header = release.header
    receipt = {
        "release_id": header.extra.get("release_id"),
        "data_set": header.source,
        "guarantee": header.guarantee,
        "epsilon": header.epsilon,
        "delta": header.delta,
        "neighbouring": header.neighbouring,
        "unit": header.unit,
        "method": header.method,
        "parameters": header.parameters,
        "prices": list(header.budget),
    }
    if header.weaker:
        receipt |= {"calendar": header.extra["calendar"], "weaker": header.weaker}
    domain = domain_of(release)
    if domain is not None:
        receipt |= {"bounds": list(domain.bounds), "crs": domain.crs}
    return receipt


def kept_release(
    make: Callable[[], Any], owner: str, presentation: Presentation = PLAIN
) -> tuple[Any, str]:
    """Build a release, pay for it, and store it before it is shown.

    Args:
        make: pays, and returns the release.
        owner: see :class:`Stored`.
        presentation: public words of the release.

    Returns:
        The release, and what went wrong in keeping it (empty: nothing).

    Raises:
        ReleaseError: it could not be kept, so nothing was paid.
    """
    shelf = Shelf()
    shelf.ready()
    release = make()
    try:
        shelf.keep(release, owner, presentation)
    except (DpvizError, OSError) as error:
        return release, str(error)
    return release, ""
