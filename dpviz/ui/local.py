"""Checks that a server and its client are both on this computer."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

RELAYED = ("x-forwarded-", "x-real-ip", "forwarded", "via")
"""Prefixes of headers that only a proxy adds."""


def is_loopback(address: str | None) -> bool:
    """Return whether an address is reachable from this computer only.

    >>> [is_loopback(each) for each in ("127.0.0.1", "localhost", "0.0.0.0", None)]
    [True, True, False, False]
    """
    if address is None or address == "localhost":
        return address is not None
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address.startswith("unix:")


def is_local_request(address: str | None, headers: Mapping[str, str]) -> bool:
    """Return whether only this computer reaches the server, and asks it without a proxy.

    >>> is_local_request("127.0.0.1", {"Host": "localhost:8501"})
    True
    """
    given = {name.lower(): value for name, value in headers.items()}
    host = given.get("host", "localhost").rsplit(":", 1)[0].strip("[]")
    return (
        is_loopback(address)
        and is_loopback(host)
        and not any(name.startswith(RELAYED) for name in given)
    )
