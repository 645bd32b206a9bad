"""Tables that the owner of a server offers: all is chosen in the secrets, nothing on a page."""

import duckdb
import pytest

import dpviz
from tests.private.load.engines.cases import CASES
from tests.ui.opening import app_of, named, texts
from tests.ui.paying import pay

pytestmark = pytest.mark.slow

CASE = CASES["plane0"]
GONE = "This table cannot be read at the moment\\."


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "hidden-place.duckdb"
    with duckdb.connect(str(path)) as db:
        db.register("points", CASE.table)
        db.execute("CREATE TABLE visits AS FROM points")
    return {
        "url": f"duckdb:///{path}",
        "table": "visits",
        "bounds": list(CASE.domain.bounds),
        "title": "Visits of the clinic",
        "unit": "who",
        "max_per_unit": 3,
        "bits": 12,
    }


def opened(section):
    """The first page, without a map, of a server whose secrets have this section."""
    app = app_of()
    app.secrets["dpviz"] = section
    app.query_params["data"] = "Your own file"
    return app.run()


def with_table(facts, name):
    return opened({"tables": {name: facts}})


def offers(app):
    return named(app.selectbox, "Data").options


def chosen(app, name):
    return named(app.selectbox, "Data").set_value(name).run()


def test_a_sensitive_table_is_offered_once_it_has_a_total_and_pays_under_the_owner_s_name(facts):
    assert "Visits of the clinic" not in offers(with_table(facts, "clinic-a"))
    ledger = dpviz.Ledger()
    ledger.set_total("clinic-a", 0.5)
    app = with_table(facts, "clinic-a")
    assert "Visits of the clinic" in offers(app)
    chosen(app, "clinic-a")
    text = texts(app)
    assert "confidential. Privacy unit: one who with at most 3 records" in text
    labels = [each.label for each in (*app.text_input, *app.number_input, *app.segmented_control)]
    for chosen_by_the_owner in ("Name of the data set in the ledger", "These records are"):
        assert chosen_by_the_owner not in labels
    [button] = [each for each in app.button if "spend ε" in each.label]
    if not button.disabled:  # the page's first ε may be above the total
        text += texts(pay(app))
        assert ledger.account("clinic-a").spent > 0
    assert "hidden-place" not in text
    assert "duckdb:" not in text


def test_a_public_table_is_public_because_its_owner_says_so(facts):
    app = chosen(with_table({**facts, "public": True}, "clinic-b"), "clinic-b")
    assert "A table of this server’s owner, already public." in texts(app)
    assert "not private" in texts(app)


def test_a_table_that_is_described_wrongly_is_not_offered(facts):
    dpviz.Ledger().set_total("clinic-c", 1.0)
    wrong_facts = (
        {"bounds": [0] * 4},
        {"bounds": "0,0,1,1"},
        {"columns": ["lon"] * 4},
        {"columns": 5},
        {"publik": True},
        {"url": None},
        {"bits": "many"},
        {"max_per_unit": "many"},
    )
    for change in wrong_facts:
        wrong = {key: value for key, value in {**facts, **change}.items() if value is not None}
        assert "Visits of the clinic" not in offers(with_table(wrong, "clinic-c")), change
    assert "Visits of the clinic" in offers(with_table(facts, "clinic-c"))


@pytest.mark.parametrize("section", ["x", {"tables": "x"}, {"tables": ["x"]}, {"tables": {"a": 1}}])
def test_secrets_that_hold_no_tables_offer_none_and_the_pages_still_open(section):
    assert "Visits of the clinic" not in offers(opened(section))


def test_a_table_that_is_gone_is_one_line(facts):
    dpviz.Ledger().set_total("clinic-d", 1.0)
    app = chosen(with_table({**facts, "url": "duckdb:///gone.duckdb"}, "clinic-d"), "clinic-d")
    assert {each.value for each in app.error} == {GONE}


def test_a_table_that_its_owner_made_sensitive_is_so_at_once(facts):
    """What is kept of a table for a day is kept for what the secrets say of it."""
    dpviz.Ledger().set_total("clinic-e", 1.0)
    for public, word in ((True, "already public"), (False, "confidential")):
        app = chosen(with_table({**facts, "public": public}, "clinic-e"), "clinic-e")
        if public:  # it has a total, so the ledger knows it as sensitive
            assert {each.value for each in app.error} == {GONE}
        else:
            assert f"server’s owner, {word}" in texts(app)
