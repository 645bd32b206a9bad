"""Rights on a server with a login: to look, to publish, to own the server.

The login is Streamlit's (OpenID Connect): the section ``[auth]`` of the server's secrets. The rules
stand beside it in ``[dpviz.access]``, never on a page. Without a login everyone who reaches the app
may look, and only the local user may publish. This room sees the login provider's claims about a
user, never a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from string import punctuation
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

import streamlit as st
from streamlit.config import get_option
from streamlit.errors import StreamlitSecretNotFoundError

from dpviz.ui.local import is_local_request
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.text import plain

P = ParamSpec("P")
T = TypeVar("T")

LISTS = {"look": ("everyone", "users"), "publish": ("users",), "owners": ()}
"""Rules that list addresses, and the words for every visitor or every user."""

RULES: dict[str, Any] = {"look": "users", "publish": "users", "owners": (), "trust_email": False}
"""Keys of the section, and their default values."""

USER_SEPARATOR = " · by "
"""Separator between a spend's purpose and its user's name."""


@dataclass(frozen=True)
class Access:
    """Rights of the current visitor.

    Attributes:
        name: name of the user: the address that the provider vouches for, or ``sub:`` and its own
            name of them; empty without a login.
        look: see pages and open releases.
        publish: spend, and set lifetime budgets.
        owner: see all accounts.
        problem: error in the owner's rules; it refuses all access.
    """

    name: str = ""
    look: bool = True
    publish: bool = True
    owner: bool = False
    problem: str = ""


def has_login() -> bool:
    """Return whether this server has a login, or rules for one."""
    return _guarded(_secrets())


def only_local_visitors() -> bool:
    """Return whether only this computer can reach the server: the visitor is the local user.

    A server with a login is for others, wherever it listens: a proxy may stand on this computer.
    """
    if has_login():
        return False
    return is_local_request(st.get_option("server.address"), st.context.headers)


def user() -> Mapping[str, Any]:
    """Claims about the visitor from the login provider; empty if not logged in."""
    claims = st.user.to_dict()
    return claims if claims.get("is_logged_in") else {}


def access() -> Access:
    """Return the visitor's rights; unreadable rules refuse all access."""
    secrets = _secrets()
    if not _guarded(secrets):
        return Access(publish=only_local_visitors())
    rules = _section(secrets, "dpviz").get("access", {})
    problem = _problem(secrets, rules)
    if problem:
        return Access(look=False, publish=False, problem=problem)
    rules = {**RULES, **rules}
    claims = user()
    if not claims:
        return Access(look=rules["look"] == "everyone", publish=False)
    email = _email(claims, rules["trust_email"])
    owner = _admits(rules["owners"], email)
    return Access(
        name=_percent_encoded(email) or f"sub:{_percent_encoded(str(claims.get('sub', '')))}",
        look=owner or _admits(rules["look"], email),
        publish=owner or _admits(rules["publish"], email),
        owner=owner,
    )


def _secrets() -> Mapping[str, Any] | None:
    """Secrets of this server; None if they cannot be read, which refuses all access.

    Looked up once for a question: where there is no file, Streamlit looks for one every time.
    """
    try:
        return st.secrets.to_dict()
    except StreamlitSecretNotFoundError:
        return None if any(Path(each).exists() for each in get_option("secrets.files")) else {}


def section(name: str) -> Mapping[str, Any]:
    """A section of this server's secrets; empty if it does not exist."""
    return _section(_secrets(), name)


def _guarded(secrets: Mapping[str, Any] | None) -> bool:
    rules = _section(secrets, "dpviz").get("access")
    return secrets is None or bool(_section(secrets, "auth")) or bool(rules)


def _section(secrets: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    section = (secrets or {}).get(name, {})
    return section if isinstance(section, Mapping) else {}


def _problem(secrets: Mapping[str, Any] | None, rules: Any) -> str:
    """Return the error in the rules, or "".

    Without this check, a misspelt rule would admit every visitor.
    """
    if secrets is None:
        return "the file of secrets cannot be read"
    if not _section(secrets, "auth"):
        return "rules without a login: add the section [auth]"
    if not isinstance(rules, Mapping):
        return "no table: write [dpviz.access]"
    unknown = sorted(set(rules) - set(RULES))
    if unknown:
        return f"unknown: {', '.join(unknown)}; give {', '.join(RULES)}"
    for name, words in LISTS.items():
        rule = rules.get(name, ())
        if not isinstance(rule, list | tuple) and rule not in words:
            return f"{name}: give a list of addresses, such as 'ann@example.org' or '*@example.org'"
    return "" if isinstance(rules.get("trust_email", False), bool) else "trust_email: true or false"


def _email(claims: Mapping[str, Any], trusted: bool) -> str:
    """Email address verified by the login provider, in lower case; empty if unverified."""
    verified = claims.get("email_verified", trusted)
    return _lower_case_ascii(str(claims.get("email") or "")) if verified in (True, "true") else ""


def _lower_case_ascii(address: str) -> str:
    """Lower-case an ASCII address; leave other letters: K (kelvin) must not equal k."""
    return address.lower() if address.isascii() else address


def _percent_encoded(name: str) -> str:
    """Percent-encode all but visible ASCII, so that no name can imitate another."""
    return quote(name, re.sub("[?\N{PERCENT SIGN}]", "", punctuation), errors="replace")


def _admits(rule: Any, email: str) -> bool:
    """Return whether a rule admits a user who has logged in."""
    if isinstance(rule, str):
        return True
    wanted = [_lower_case_ascii(str(each).strip()) for each in rule]
    return bool(email) and any(
        email.endswith(each[1:]) if each.startswith("*@") else email == each for each in wanted
    )


def with_user_name(purpose: str) -> str:
    """Purpose of a spend with the user's name, as stored in the ledger."""
    name = access().name
    return f"{purpose}{USER_SEPARATOR}{name}" if name else purpose


def may_see_page() -> bool:
    """Show the login state, and return whether the visitor may see the page."""
    if not has_login():
        return True
    mine = access()
    if mine.name:
        with st.container(horizontal=True, vertical_alignment="center", key="dpviz-login"):
            st.caption(f"Logged in as {plain(mine.name)}", width="content")
            st.button("Log out", icon=":material/logout:", on_click=st.logout, key="access.out")
    else:
        st.button("Log in", icon=":material/login:", on_click=st.login, key="access.in")
    if mine.look:
        return True
    if mine.problem:
        st.error(f"The access rules of this server are wrong ({plain(mine.problem)}).")
    elif mine.name:
        st.info("Your login may not see this server: ask its owner.", icon=":material/lock:")
    else:
        st.info("This server requires a log-in.", icon=":material/lock:")
    return False


def fragment(draw: Callable[P, T]) -> Callable[P, T]:
    """Make a fragment that reruns alone, and checks the visitor's rights each time.

    A refusal in it is a line of the part, and its end: around a fragment no block of the page would
    see it.
    """

    @wraps(draw)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not access().look:
            st.rerun()  # rerun the page: its gate shows why
        with ErrorsShown():
            return draw(*args, **kwargs)
        return st.stop()

    return st.fragment(checked)


def may_publish() -> bool:
    """Return whether the visitor may spend; show a message if not."""
    if access().publish:
        return True
    st.info(
        "You can view releases here, but not publish or set budgets. Ask the owner of this server."
        if has_login()
        else "Publishing and setting budgets require a login on a server that others can reach, "
        "and this one has none: use the app on your own computer, or ask the owner of this server.",
        icon=":material/lock:",
    )
    return False
