"""One login for all tabs of a browser: who logs out, or in as another, does so in each of them.

A tab's session belongs to who was logged in when it was opened, and would show their releases to
whoever sits down next. Tabs tell each other who is here by a digest, and one of another user goes
to the first page anew; so does one that the browser's Back brings out of its memory. Who follows a
link and has to log in first comes to the link's address after that.
"""

from __future__ import annotations

import json

import streamlit as st

from dpviz.ui.shared.navigation import base_path

KEY = "dpviz-login"
"""Of the container that holds the script, which the style sheet hides."""

SCRIPT = """<script>
(() => {{
  const who = {who}, home = {home}, held = "dpviz-asked";
  const anew = () => who ? location.replace(home) : location.reload();
  const channel = new BroadcastChannel("dpviz-login:" + home);
  window.dpvizLogin?.close();
  window.dpvizLogin = channel;
  channel.onmessage = (event) => {{ if (event.data !== who) anew(); }};
  channel.postMessage(who);
  addEventListener("pageshow", (event) => {{ if (event.persisted) anew(); }});
  const opened = !("dpvizUser" in window);  // a page that has just been left is no stranger's
  window.dpvizUser = who;
  if (!who) {{  // at once: Firefox loses what is written while one leaves for another site
    if (opened) sessionStorage.setItem(held, location.href);
    return;
  }}
  const asked = sessionStorage.getItem(held);
  sessionStorage.removeItem(held);
  if (asked && asked !== location.href) location.replace(asked);
}})();
</script>"""


def same_login(who: str) -> None:
    """Load the browser's tabs of other users anew, and go on to what was asked for before a login.

    Args:
        who: a digest of the user; empty for who has not logged in.
    """
    script = SCRIPT.format(who=json.dumps(who), home=json.dumps(base_path()))
    with st.container(key=KEY):
        st.html(script, unsafe_allow_javascript=True)
