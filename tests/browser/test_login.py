"""The login against a provider on loopback: who comes in, as whom, and what others then see."""

import hashlib
import json
import socket

import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.exports import Presentation
from dpviz.ui.shared.shelf import Shelf
from tests.browser.conftest import ROOT, idle, serving
from tests.browser.oidc import CLIENT, provider

pytestmark = pytest.mark.browser
SECRETS = """
[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "a secret of this test alone, long enough"
client_id = "{client}"
client_secret = "none"
server_metadata_url = "{address}/.well-known/openid-configuration"

[dpviz.access]
look = ["*@example.org"]
owners = ["ann@example.org"]
"""
ANN = {"sub": "1", "email": "Ann@example.org", "email_verified": True}
BOB = {"sub": "2", "email": "bob@example.org", "email_verified": True}


def secrets_of(address, folder):
    """The file of secrets of a server whose users this provider knows."""
    path = folder / "secrets.toml"
    path.write_text(SECRETS.format(client=CLIENT, address=address))
    return str(path)


def shelved(shelf, ledger, address, user):
    """The id of a release that this user has paid for, and its title."""
    box = dpviz.Domain.from_bounds([14.4, -24.1, 15.0, -23.6])
    records = dpviz.from_points([[14.5, -24.0]], box, name=user["email"].lower().replace("@", "_"))
    release = dpviz.build(records, "ugrid", 0.5, cells=2, ledger=ledger)
    owner = hashlib.sha256(f"{address}|{user['sub']}".encode()).hexdigest()[:32]
    title = f"clinic of {user['sub']}"
    return shelf.keep(release, f"user:{owner}", Presentation(title)).id, title


def logged_in(page, user):
    """Waits until the page is this user's."""
    expect(page.get_by_text(f"Logged in as {user['email'].lower()}")).to_be_visible()
    idle(page)


def test_users_of_one_browser_follow_each_other_and_see_their_own(open_page, ledgers, tmp_path):
    """The owner, then the next user; each sees their own releases."""
    ledger, shelf = dpviz.Ledger(ledgers / "login.sqlite"), Shelf(tmp_path / "releases")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, claims = f"http://127.0.0.1:{port}", dict(ANN)
    secrets = secrets_of(address, tmp_path)
    (hers, her_title), (_, his_title) = (
        shelved(shelf, ledger, address, user) for user in (ANN, BOB)
    )
    places = {"DPVIZ_LEDGER": str(ledger.path), "DPVIZ_RELEASES": str(shelf.folder)}
    with serving(ROOT / "app.py", "--secrets.files", secrets, **places) as app:
        link = f"{app}/?release={hers}"
        page = open_page(link)
        enter = page.get_by_role("button", name="Log in")
        with provider(claims, port):
            expect(page.get_by_text("This server requires a log-in")).to_be_visible()
            assert her_title not in page.content()
            idle(page)
            enter.click()
            logged_in(page, ANN)
            page.goto(link)
            expect(page.get_by_role("button", name="Close this release")).to_be_visible()
            idle(page)
            page.goto(f"{app}/owner")
            expect(page.get_by_test_id("stMetricValue").first).to_have_text("2")
            expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
            idle(page)

            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_text("This server requires a log-in")).to_be_visible()
            idle(page)
            stored = json.dumps([page.context.storage_state(), page.content()])
            for word in (hers, her_title, "ann@", "Ann@", "_streamlit_user"):
                assert word not in stored

            claims.update(BOB)
            enter.click()
            logged_in(page, BOB)
            page.get_by_test_id("stPopoverButton").filter(has_text="Open").click()
            expect(page.get_by_role("combobox", name="Your releases")).to_be_visible()
            assert his_title in page.content()
            assert her_title not in page.content()
            assert page.get_by_role("link", name="Owner").count() == 0
        page.context.clear_cookies()  # shared by all pages of this browser
