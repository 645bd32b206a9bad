"""What stays is set aside, so that Streamlit's collection after every run of a page is a short one.

Streamlit collects garbage whenever a page has run. With everything loaded that is a walk over some
300,000 objects of modules, a quarter of a second in which no visitor is answered; what is set aside
is passed over. What an ended session leaves behind in a circle of references is found by a sweep.

Streamlit keeps a closed page for a while, as its visitor may come back, and forgets it no sooner
than when another one leaves. Until then it holds what was uploaded: on a quiet server, for days.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from threading import Lock

from streamlit import config
from streamlit.runtime import get_instance

DUE = 60.0
"""Seconds after which a run of a page ends with a sweep."""

_sweeping = Lock()
_last = time.monotonic()
_modules = 0


def sweep() -> None:
    """Free what nobody can reach any more, and set the rest aside."""
    global _last, _modules
    with _sweeping:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        _last, _modules = time.monotonic(), len(sys.modules)


async def forget_ended() -> None:
    """Without end: let go of visits whose time to come back is over, and of what they held.

    It runs where requests are answered: what it changes is Streamlit's, and of no thread but that.
    """
    while True:
        await asyncio.sleep(min(DUE, max(1, config.get_option("server.disconnectedSessionTTL"))))
        ended = get_instance()._session_mgr._session_storage._cache.expire()  # type: ignore[attr-defined]
        for _, visit in ended:
            visit.session.shutdown()
            visit.session.session_state.clear()  # Streamlit's loop still names the last visit
        if ended:
            await asyncio.to_thread(sweep)


def sweep_if_due() -> None:
    """A sweep, if the last one is a minute ago; what modules have been loaded since is set aside.

    That takes no time; what else is set aside with it, the next sweep looks at.
    """
    global _modules
    if time.monotonic() - _last >= DUE:
        sweep()
    elif len(sys.modules) != _modules:
        with _sweeping:
            gc.freeze()
            _modules = len(sys.modules)
