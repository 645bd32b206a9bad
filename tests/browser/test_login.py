"""The login against a provider on loopback: who comes in, as whom, and what the owner sees."""

import pytest
from playwright.sync_api import expect

import dpviz
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


def test_a_user_logs_in_and_the_owner_sees_all_accounts(open_page, ledgers, tmp_path):
    path = ledgers / "login.sqlite"
    ledger = dpviz.Ledger(path)
    ledger.spend("clinic", 0.5, what="privtree", purpose="page Explore · by bob@example.org")
    claims = {"sub": "1", "email": "Ann@example.org", "email_verified": True}
    with provider(claims) as address:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(SECRETS.format(client=CLIENT, address=address))
        options = ("--secrets.files", str(secrets))
        with serving(ROOT / "app.py", *options, DPVIZ_LEDGER=str(path)) as app:
            page = open_page(f"{app}/help")
            expect(page.get_by_text("This server requires a log-in")).to_be_visible()
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_text("Logged in as ann@example.org")).to_be_visible()
            idle(page)
            page.goto(f"{app}/owner")
            expect(page.get_by_test_id("stMetricValue").first).to_have_text("1")
            expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
