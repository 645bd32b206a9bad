"""Every page pays for sensitive data through the one ledger, before any noise is drawn."""

import importlib

import pytest
import streamlit
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.state.safe_session_state import SafeSessionState

import dpviz
from tests.ui.files import bounded, uploaded
from tests.ui.opening import app_of, named, opened_page, texts
from tests.ui.paying import confirm, pay, price

pytestmark = pytest.mark.slow


def explore(**address):
    return opened_page(**{"data": "city-50k", "sensitive": "1", **address})


def shown(app):
    """The release on the map."""
    (_, (release, *_)), _ = app.session_state["explore.scene"]
    return release


def fail(*_, **__):
    raise RuntimeError("secret 51.50137")


def test_a_build_is_paid_and_named_in_the_release():
    app = explore(epsilon="0.5")
    pay(app)
    account = dpviz.Ledger().account("city-50k")
    assert [(row.epsilon, row.what, row.purpose, row.outcome) for row in account.spends] == [
        (0.5, "ladder_tree", "page Explore", "released")
    ]
    assert shown(app).header.extra["release_id"] == account.spends[0].release
    assert "has spent ε = 0.5 in all" in texts(app)


def test_a_file_that_was_paid_for_under_another_name_is_not_public_after_that():
    """Regression: after a click the exact total was shown: only the file's own name was checked."""
    rows = "lon,lat\n" + "14.6,-23.9\n" * 317
    app = opened_page(data="Your own file")
    bounded(uploaded(app, "explore.file", "survey.csv", rows), "explore")
    app.text_input(key="explore.dataset").set_value("clinic").run()
    pay(app)
    assert app.metric
    app.segmented_control(key="explore.public.upload").set_value("public").run()
    assert "'clinic' is confidential, as the ledger records" in texts(app)
    assert not app.metric
    assert "317" not in texts(app)


def test_a_second_click_that_stops_the_run_at_the_job_pays_nothing_more(monkeypatch):
    """Streamlit stops a run where it keeps something, and both clicks agree to the payment."""
    keep, agreed, stopped = SafeSessionState.__setitem__, {}, []

    def stop(state, key, value):
        if key == "explore.agreed":
            agreed[key] = value
        if ".job|" in key and not stopped:
            stopped.append(key)
            keep(state, "explore.agreed", agreed["explore.agreed"])
            raise StopException
        keep(state, key, value)

    app = explore(epsilon="0.5")
    monkeypatch.setattr(SafeSessionState, "__setitem__", stop)
    pay(app)
    app.run()
    assert len(stopped) == 1
    assert [row.outcome for row in dpviz.Ledger().account("city-50k").spends] == ["released"]


def test_two_visitors_share_one_account_and_cannot_overspend():
    dpviz.Ledger().set_total("city-50k", 1.0)
    first, second, third = (explore(epsilon="1") for _ in range(3))
    assert not price(second).disabled
    price(third).click().run()
    pay(first)
    assert "1; 0 is left" in texts(first)
    price(second).click().run()  # its page still shows the old button
    assert price(second).disabled
    assert "1; 0 is left" in texts(second)
    confirm(third)
    for late in (second, third):
        assert "Nothing was spent. Nothing more can be published" in texts(late)
        assert "explore.scene" not in late.session_state
    anew = explore(epsilon="1")
    assert "Nothing more can be published from" in texts(anew)
    assert "Nothing was spent" not in texts(anew)
    assert dpviz.Ledger().account("city-50k").spent == 1.0


def test_who_agreed_to_one_method_is_asked_again_for_another():
    app = explore(epsilon="0.5")
    price(app).click().run()
    assert "This spends ε = 0.5" in texts(app)
    named(app.selectbox, "Method").set_value("ugrid").run()
    assert "This spends" not in texts(app)
    assert "Spend it" not in {each.label for each in app.button}
    pay(app)
    (row,) = dpviz.Ledger().account("city-50k").spends
    assert (row.what, row.epsilon) == ("ugrid", 0.5)


def test_a_press_pays_what_the_button_named_or_nothing():
    """The browser still shows one price while the page has run on with another."""
    app = explore(epsilon="1")
    price(app).click().run()
    shown = app._tree
    app.select_slider(key="explore.epsilon").set_value(0.5).run()
    price(app).click().run()
    assert "This spends ε = 0.5" in texts(app)
    app._tree = shown
    assert "This spends ε = 1" in texts(app)
    app.select_slider(key="explore.epsilon").set_value(0.5)
    confirm(app)
    assert dpviz.Ledger().account("city-50k").spends == ()
    assert "Nothing was spent: what you confirmed has changed" in texts(app)


def test_while_a_build_runs_nothing_is_asked_and_no_sum_is_shown_that_it_changes(monkeypatch):
    monkeypatch.setattr("dpviz.ui.shared.account._wait", lambda *_: streamlit.stop())
    app = pay(explore(epsilon="0.5"))
    assert price(app).disabled
    assert not {"Spend it", "Not now"} & {each.label for each in app.button}
    assert "has spent" not in texts(app)
    app.session_state["explore.job|city-50k|None|1"][1].join(60)


def test_a_damaged_ledger_spends_nothing_and_is_one_clear_line(tmp_path, monkeypatch):
    broken = tmp_path / "ledger.sqlite"
    broken.write_bytes(b"not a database" * 100)
    monkeypatch.setenv("DPVIZ_LEDGER", str(broken))
    app = explore()
    (error,) = app.error
    assert "ledger" in error.value
    assert "explore.scene" not in app.session_state
    assert broken.read_bytes() == b"not a database" * 100


def opened_upload(name, *, public=False):
    """Page Explore with a file of one's own, described."""
    app = app_of()
    app.query_params.update({"data": "Your own file"})
    app.run()
    if public:
        app.segmented_control(key="explore.public.upload").set_value("public").run()
    rows = b"lon,lat\n" + b"".join(b"%f,%f\n" % (14.6 + i / 1e3, -23.9) for i in range(50))
    return bounded(uploaded(app, "explore.file", name, rows), "explore")


def test_visitors_of_a_server_cannot_reach_each_other_s_accounts_nor_the_owner_s(monkeypatch):
    ledger = dpviz.Ledger()
    ledger.set_total("visits", 1.0)
    for who in ("visit:0123456789abcdef", "visit:fedcba9876543210"):
        monkeypatch.setattr("dpviz.ui.shared.account.visitor", lambda who=who: who)
        app = opened_upload("visits.csv")
        assert "“visits” has spent ε = 0 in all" in texts(app)
        pay(app)
        assert "“visits” has spent ε = 1 in all" in texts(app)
        assert shown(app).header.source == "visits"
    assert ledger.account("visits").spent == 0
    assert [account.spent for account in ledger.accounts()] == [1, 1, 0]


@pytest.mark.parametrize("page", ["explore", "publish", "sequences"])
def test_built_in_records_that_count_as_confidential_are_the_visitor_s_own(page, monkeypatch):
    """Explore took the owner's account, which all visitors then shared."""
    monkeypatch.setattr("dpviz.ui.shared.account.visitor", lambda: "visit:0123456789abcdef")
    data = "city" if page == "sequences" else "persons"
    app = opened_page(page, data=data, sensitive="1")
    pay(app)
    assert dpviz.Ledger().account(data).spent == 0
    (account,) = dpviz.Ledger().accounts()
    assert account.dataset == f"uploads.visit.0123456789a.{data}"
    assert account.spent == 1.0


def test_a_file_in_place_of_another_has_its_own_name_unless_one_was_typed():
    """Regression: the file was paid from the account of the previous one, under its name."""
    app, rows = opened_upload("visits.csv"), "lon,lat\n14.5,-23.5\n"
    field = lambda: app.text_input(key="explore.dataset")  # noqa: E731
    uploaded(app, "explore.file", "others.csv", rows)
    assert field().value == "others"
    field().set_value("clinic").run()
    uploaded(app, "explore.file", "visits.csv", rows)
    assert field().value == "clinic"


def test_a_name_that_is_refused_leaves_the_area_as_it_was_typed_and_gives_no_extent():
    app = opened_upload("visits.csv")
    dpviz.Ledger().spend("visits", 0.1, what="x")
    app.segmented_control(key="explore.public.upload").set_value("public").run()
    assert "is confidential, as the ledger records" in texts(app)
    assert "Use data extent" not in {each.label for each in app.button}
    app.segmented_control(key="explore.public.upload").set_value("sensitive").run()
    assert app.text_input(key="explore.bounds").value.startswith("14,")
    assert price(app)


def test_a_name_that_is_accounted_for_persons_is_refused_where_it_is_typed_for_single_records():
    dpviz.Ledger().spend("visits", 2.0, what="x", unit="one person")
    app = opened_upload("visits.csv")
    shown = texts(app).replace("\\", "")
    assert "'visits' is accounted for one person, not one record: choose the column" in shown
    assert "Publish: spend" not in " ".join(each.label for each in app.button)
    app.text_input(key="explore.dataset").set_value("others").run()
    assert app.text_input(key="explore.bounds").value.startswith("14,")
    assert price(app)


def test_an_upload_that_the_ledger_knows_as_confidential_is_not_declared_public():
    dpviz.Ledger().spend("visits", 0.1, what="x")
    app = opened_upload("VISITS.csv", public=True)
    assert "is confidential, as the ledger records" in texts(app)
    assert "explore.scene" not in app.session_state
    app = opened_upload("others.csv", public=True)
    assert shown(app).header.extra["records"].startswith("declared")


def test_a_failed_build_is_told_and_the_next_press_pays_again(monkeypatch):
    from dpviz.errors import ParameterError
    from dpviz.ui.shared import skeleton as page

    def failing(handle, *_, ledger, **__):
        ledger.spend(handle.name, 0.5, what="test")
        raise ParameterError("a public reason")

    real = page.build
    monkeypatch.setattr(page, "build", failing)
    app = explore(epsilon="0.5")
    pay(app)
    assert [error.value for error in app.error] == ["A public reason\\."]
    monkeypatch.setattr(page, "build", real)
    pay(app.run())
    assert dpviz.Ledger().account("city-50k").spent == 1.0
    assert "explore.scene" in app.session_state


@pytest.mark.parametrize(
    ("page", "data"),
    [("explore", "city-50k"), ("publish", "city-50k"), ("sequences", "city")],
)
def test_a_fault_after_the_payment_is_recorded_by_every_page(monkeypatch, page, data):
    driver = importlib.import_module("dpviz.build")
    real = driver.header_of

    def fail_of_theirs(handle, *rest, **more):
        # The expected error comes from a simulation on public data.
        return (real if handle.public else fail)(handle, *rest, **more)

    monkeypatch.setattr(driver, "header_of", fail_of_theirs)
    app = opened_page(page, data=data, sensitive="1")
    pay(app)
    assert any("which stays spent" in each.value for each in app.error)
    assert not any("secret" in each.value for each in app.error)
    assert len(app.run().error) == len(app.error)  # no other click removes it
    price(app).click().run()
    assert not app.error
    assert [row.outcome for row in dpviz.Ledger().account(data).spends] == ["failed"]
