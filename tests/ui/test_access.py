"""A login: who may look, who may publish, whose name a spend carries; closed where in doubt."""

import re
from pathlib import Path

import pytest

import dpviz
import dpviz.ui
from dpviz.ui.shared import access, releases
from tests.ui.opening import app_of

AUTH = {"redirect_uri": "http://127.0.0.1/oauth2callback", "cookie_secret": "c" * 32}
ANN = {
    "is_logged_in": True,
    "iss": "https://id.example",
    "sub": "17",
    "email": "Ann@example.org",
    "email_verified": True,
}
STRANGER = {"is_logged_in": False}


def visit(monkeypatch, claims, rules=None, page=""):
    """The app, or a page, that this person is about to open."""
    monkeypatch.setattr(access.st.user.__class__, "to_dict", lambda _: dict(claims))
    app = app_of(page)
    app.secrets.update(secrets_of(rules))
    return app


def secrets_of(rules=None, auth=AUTH):
    return {"auth": auth, "dpviz": {} if rules is None else {"access": rules}}


def allowed(monkeypatch, claims, rules=None, auth=AUTH):
    monkeypatch.setattr(access, "_secrets", lambda: secrets_of(rules, auth))
    monkeypatch.setattr(access, "user", lambda: claims if claims.get("is_logged_in") else {})
    return access.access()


@pytest.mark.parametrize(
    ("claims", "rules", "look", "publish", "owner"),
    [
        (STRANGER, None, False, False, False),
        (ANN, None, True, True, False),
        (STRANGER, {"look": "everyone"}, True, False, False),
        (ANN, {"publish": ["bob@example.org"]}, True, False, False),
        (ANN, {"publish": ["*@EXAMPLE.org"]}, True, True, False),
        (ANN, {"look": ["*@ample.org"], "publish": []}, False, False, False),
        (ANN, {"look": [], "publish": [], "owners": ["ann@example.org"]}, True, True, True),
        ({**ANN, "email_verified": False}, {"owners": ["ann@example.org"]}, True, True, False),
        ({**ANN, "email": ""}, {"look": ["*@example.org"]}, False, True, False),
    ],
)
def test_logins_get_the_rights_of_the_rules(monkeypatch, claims, rules, look, publish, owner):
    mine = allowed(monkeypatch, claims, rules)
    assert (mine.look, mine.publish, mine.owner) == (look, publish, owner)
    assert mine.problem == ""


def test_an_address_that_nobody_vouches_for_counts_only_where_the_owner_says_so(monkeypatch):
    claims = {name: value for name, value in ANN.items() if name != "email_verified"}
    assert allowed(monkeypatch, claims).name == "sub:17"
    assert allowed(monkeypatch, claims, {"trust_email": True}).name == "ann@example.org"


@pytest.mark.parametrize(
    ("email", "sub", "name"),
    [
        # The Kelvin sign instead of the K of Kate.
        ("\u212aate@example.org", "1", "%E2%84%AAate@example.org"),
        ("\u0430nn@example.org", "1", "%D0%B0nn@example.org"),  # a Cyrillic а
        ("", "kate@example.org", "sub:kate@example.org"),
        ("", "x · by kate@example.org", "sub:x%20%C2%B7%20by%20kate@example.org"),
        ("", "../../kate\x00\u202e", "sub:../../kate%00%E2%80%AE"),
        ("", "\ud800", "sub:%3F"),
        ("", "Kate", "sub:Kate"),
        ("", "kate", "sub:kate"),
    ],
)
def test_no_user_passes_for_another(monkeypatch, email, sub, name):
    """Neither the owner, nor the ledger, nor the folder of releases mixes them up."""
    claims = {**ANN, "email": email, "sub": sub}
    mine = allowed(monkeypatch, claims, {"owners": ["kate@example.org", "kate"]})
    assert (mine.name, mine.owner) == (name, False)
    assert access.with_user_name("page Explore").rpartition(access.USER_SEPARATOR)[2] == name
    monkeypatch.setattr(releases, "user", lambda: claims)
    assert re.fullmatch(r"user:[0-9a-f]{32}", releases.visitor())


@pytest.mark.parametrize(
    ("rules", "auth", "message"),
    [
        ({"pubish": []}, AUTH, "unknown: pubish"),
        ({"look": "nobody"}, AUTH, "look: give a list"),
        ({"publish": "everyone"}, AUTH, "publish: give a list"),
        ({"owners": "ann@example.org"}, AUTH, "owners: give a list"),
        ({"trust_email": "yes"}, AUTH, "trust_email: true or false"),
        ("everyone", AUTH, "no table"),
        ({"look": "everyone"}, {}, "rules without a login"),
    ],
)
def test_wrong_rules_let_nobody_in(monkeypatch, rules, auth, message):
    mine = allowed(monkeypatch, ANN, rules, auth)
    assert (mine.look, mine.publish, mine.owner) == (False, False, False)
    assert mine.problem.startswith(message)


def test_secrets_that_cannot_be_read_let_nobody_in(monkeypatch, tmp_path):
    broken = tmp_path / "secrets.toml"
    broken.write_text("[auth")
    monkeypatch.setattr(access, "get_option", lambda _: [str(broken)])

    def to_dict(_):
        raise access.StreamlitSecretNotFoundError("broken")

    monkeypatch.setattr(access.st.secrets.__class__, "to_dict", to_dict)
    assert access.access() == access.Access(
        look=False, publish=False, problem="the file of secrets cannot be read"
    )
    broken.unlink()
    assert access.access() == access.Access()


@pytest.mark.slow
def test_a_stranger_sees_the_way_in_and_nothing_else(monkeypatch):
    app = visit(monkeypatch, STRANGER).run()
    assert [button.label for button in app.button] == ["Log in"]
    assert not app.selectbox


@pytest.mark.slow
def test_viewers_cannot_spend_or_set_a_budget(monkeypatch):
    app = visit(monkeypatch, ANN, {"publish": []})
    app.query_params.update({"data": "city-50k", "sensitive": "1"})
    app.run()
    assert any("but not publish or set budgets" in each.value for each in app.info)
    assert not [each for each in app.button if each.label.startswith("Publish")]
    assert dpviz.Ledger().accounts() == ()


@pytest.mark.slow
def test_a_spend_carries_the_name_and_owners_see_it(monkeypatch):
    rules = {"owners": ["ann@example.org"]}
    with monkeypatch.context() as patch:
        patch.setattr(access, "access", lambda: access.Access(name="bob@example.org"))
        purpose = access.with_user_name("page Explore")
    assert purpose == "page Explore · by bob@example.org"
    ledger = dpviz.Ledger()
    ledger.set_total("clinic", 2.0)
    ledger.spend("clinic", 0.5, what="privtree", purpose=purpose)
    ledger.spend("uploads.user.0123456789ab.taxi", 0.25, what="ugrid", purpose="page Explore")
    for claims, shown in ((ANN, True), ({**ANN, "email": "eve@example.org"}, False)):
        app = visit(monkeypatch, claims, rules, "owner").run()
        assert bool(app.dataframe) == shown
        if shown:
            accounts, payments = (each.value for each in app.dataframe)
            assert accounts["data set"].tolist() == ["clinic", "taxi"]
            assert accounts["ε spent"].tolist() == ["0.5", "0.25"]
            assert accounts["left"].tolist() == ["1.5", "no limit"]
            assert accounts["users"].tolist() == ["bob@example.org", ""]
            assert sorted(payments["user"]) == ["", "bob@example.org"]
            assert sorted(payments["method"]) == ["PrivTree", "Uniform grid"]
        else:
            assert "clinic" not in str([each.value for each in app.info])


def test_users_see_their_own_releases_and_a_proxy_does_not_make_them_the_owner(monkeypatch):
    monkeypatch.setattr(access, "has_login", lambda: True)
    names = []
    for claims in (ANN, {**ANN, "sub": "18"}, {**ANN, "iss": "https://other.example"}):
        monkeypatch.setattr(releases, "user", lambda claims=claims: claims)
        names.append(releases.visitor())
    assert len(set(names)) == 3
    assert all(name.startswith("user:") and "ann" not in name for name in names)
    assert not releases.only_local_visitors()


def test_a_touch_of_a_part_of_the_page_asks_the_rules_again(monkeypatch):
    def rerun():
        raise InterruptedError("the whole page runs")

    drawn = []
    monkeypatch.setattr(access.st, "fragment", lambda draw, **_: draw)
    monkeypatch.setattr(access.st, "rerun", rerun)
    part = access.fragment(drawn.append)
    allowed(monkeypatch, ANN)
    part("for Ann")
    allowed(monkeypatch, ANN, {"look": ["bob@example.org"]})
    with pytest.raises(InterruptedError):
        part("for nobody")
    assert drawn == ["for Ann"]


def test_every_part_that_runs_alone_asks_the_rules():
    plain = {
        path.name
        for path in Path(dpviz.ui.__path__[0]).rglob("*.py")
        if re.search(r"\bst\.fragment\b", path.read_text())
    }
    assert plain == {"access.py"}
