"""Your releases: stored before they are shown, found in another session, opened four ways."""

import json
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.errors import ReleaseError
from dpviz.exports import Note, Presentation
from dpviz.releases.points.region_file import read_regions
from dpviz.releases.store import kind_in
from dpviz.ui.points import share
from dpviz.ui.shared import access, releases
from dpviz.ui.shared.shelf import LOST_FILE, Shelf, kept_release, read_any
from tests.ui.files import uploaded
from tests.ui.opening import open_tab, opened_page, tables, texts
from tests.ui.paying import pay

RECORDS = np.full((500, 2), 0.5)


@pytest.fixture
def release():
    """Paid for from the test's ledger."""
    domain = dpviz.Domain((0, 0), (1, 1))
    handle = dpviz.from_points(RECORDS, domain, name="visits")
    return dpviz.build(handle, "ugrid", 1.0, ledger=dpviz.Ledger(), conclude=False)


@pytest.fixture
def stored(release):
    """The same, kept."""
    return Shelf().keep(release, "here", Presentation("Mine"))


def test_a_release_and_its_receipt_are_files_that_read_back(release):
    stored = Shelf().keep(release, "here", Presentation("Bicycles"))
    again, opened = Shelf().open(stored.id)
    assert again == stored
    assert opened.count(opened.domain.bounds).count == release.count(release.domain.bounds).count
    assert stored.receipt["epsilon"] == 1.0
    assert sum(row["epsilon"] for row in stored.receipt["prices"]) <= 1.0 + 1e-12
    (listed,) = Shelf().of("here")
    assert listed.label == f"ε = 1 · {stored.at[:10]} {stored.at[11:16]} UTC · Bicycles"
    assert Shelf().of("user:another") == []


@pytest.mark.slow
def test_a_release_is_removed_by_its_owner_alone_and_its_epsilon_stays_spent(stored):
    with pytest.raises(ReleaseError, match="belongs to another user"):
        Shelf().remove(stored.id, "user:another")
    app = opened_page(data="city-50k")
    assert "Its ε stays spent in the ledger" in texts(app)
    app.button(key=f"explore.side.mine.remove.{stored.id}").click().run()
    assert "What you publish is kept here" in texts(app)
    assert Shelf().of("here") == []
    assert not Shelf().path(stored.id).exists()
    assert [each.release for each in dpviz.Ledger().account("visits").spends] == [stored.id]


def test_a_release_whose_file_is_lost_is_said_to_be(stored):
    Shelf().path(stored.id).unlink()
    with pytest.raises(ReleaseError, match=LOST_FILE):
        Shelf().open(stored.id)
    page = opened_page(data="city-50k")
    assert LOST_FILE.partition(";")[0] in texts(page)
    assert [each.disabled for each in page.button if each.label == "Open this release"] == [True]


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "0" * 31, "x" * 32, "0" * 32])
def test_an_invalid_release_id_opens_nothing(name):
    with pytest.raises(ReleaseError, match="no such release here"):
        Shelf().open(name)


@pytest.mark.slow
def test_the_title_and_noun_typed_once_at_publish_are_everywhere():
    app = opened_page("publish", data="city-50k")
    app.text_input(key="publish.title").set_value(" Crimes, 2010 ")
    app.text_input(key="publish.noun").set_value("crimes")
    app = pay(app.run())
    (stored,) = Shelf().of("here")
    assert stored.presentation == Presentation("Crimes, 2010", noun="crimes")
    app.session_state["publish.step"] = 3
    open_tab(app, "Share", "publish")
    shared = (app.text_input(key=f"publish.share.{name}").value for name in ("title", "noun"))
    assert list(shared) == ["Crimes, 2010", "crimes"]
    (frame,) = opened_page("r", id=stored.id).get("iframe")
    assert "<h1>Crimes, 2010</h1>" in frame.proto.srcdoc
    assert "</strong> crimes" in frame.proto.srcdoc


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explore", "sequences", "trips"])
def test_a_release_that_is_paid_for_on_any_page_takes_the_words_typed_there(page):
    app = opened_page("" if page == "explore" else page, sensitive="1")
    app.text_input(key=f"{page}.title").set_value("Ambulances")
    app.text_input(key=f"{page}.noun").set_value("calls")
    pay(app.run())
    (stored,) = Shelf().of("here")
    assert stored.presentation == Presentation("Ambulances", noun="calls")


def test_the_receipt_of_a_release_is_there_before_its_file(release, monkeypatch):
    receipts = []

    def full(path):
        receipts.append(path.with_suffix(".json").exists())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(release), "save", lambda _, path: full(path))
    assert "No space left" in kept_release(lambda: release, "here")[1]
    assert receipts == [True]
    assert Shelf().of("here") == []


def test_a_damaged_receipt_hides_no_other(stored):
    Shelf().path("a" * 32).with_suffix(".json").write_text("{")
    Shelf().path("b" * 32).with_suffix(".json").write_text(json.dumps({"id": "b"}))
    assert [each.id for each in Shelf().of("here")] == [stored.id]


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_paid(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("DPVIZ_RELEASES", str(blocked))
    built = []
    with pytest.raises(ReleaseError, match="nothing was spent"):
        kept_release(lambda: built.append(1), "here")
    assert built == []


def test_a_release_that_cannot_be_kept_after_payment_is_still_handed_over(release, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Shelf, "keep", full)
    made, problem = kept_release(lambda: release, "here")
    assert made is release
    assert "No space left" in problem


@pytest.mark.slow
def test_paying_keeps_the_release_and_a_new_visit_opens_it_by_its_link():
    app = pay(opened_page(data="city-50k", sensitive="1", epsilon="0.5"))
    (spend,) = dpviz.Ledger().account("city-50k").spends
    assert app.query_params["release"] == spend.release
    assert spend.outcome == "released"
    assert Shelf().find(spend.release).receipt["epsilon"] == 0.5
    again = opened_page(release=spend.release)
    assert "verified_user: ε = 0.5 per record]" in texts(again).replace("\\", "")
    assert again.get("bidi_component")
    assert "Exact" not in texts(again)
    assert len(dpviz.Ledger().account("city-50k").spends) == 1


def test_a_release_of_the_list_is_in_the_address_until_it_is_closed(stored):
    app = opened_page(data="city-50k")
    app.button(key="explore.side.mine.open").click().run()
    assert app.query_params["release"] == stored.id
    assert app.button(key="explore.close")
    app.button(key="explore.close").click().run()
    assert "release" not in app.query_params
    assert not [button for button in app.button if button.key == "explore.close"]


@pytest.mark.slow
def test_closing_a_release_of_a_link_leaves_none_of_its_places(stored):
    app = opened_page(release=stored.id, rect=(0.1, 0.1, 0.5, 0.5), camera=(0.5, 0.5, 9))
    assert app.query_params["rect"]
    app.button(key="explore.close").click().run().run()
    assert not {"release", "rect"} & set(app.query_params)
    assert not app.warning


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "gone", "places"),
    [
        ("explore", "0" * 32, {"rect": "14.62,-23.88,14.7,-23.82", "camera": "14.7,-23.8,12"}),
        ("trips", "file", {"from": "14.62,-23.88,14.7,-23.82"}),
    ],
)
def test_places_on_a_release_that_is_gone_are_none_on_what_is_shown_in_its_stead(
    page, gone, places
):
    """A removed release's rectangle was answered from the demo, and stayed in the address."""
    app = opened_page(page, release=gone, **places)
    assert len(app.warning) == 1
    assert not {"release", *places} & set(app.run().query_params)


def answers(app):
    """Number of answers in the history of the release on the map."""
    return sum(map(len, tables(app, "noisy count", "cells")))


@pytest.mark.slow
def test_an_answer_stands_in_the_history_of_its_release_alone(stored):
    """Regression: one list held the answers of all releases without naming them."""
    app = opened_page(data="city-50k", rect="14.6,-23.9,14.75,-23.75", epsilon="0.5", tab="History")
    app.select_slider(key="explore.epsilon").set_value(1.0).run()
    assert answers(app) == 2  # both answers are about the same records: ε is a column
    app.button(key="explore.side.mine.open").click().run().run()
    assert app.query_params["release"] == stored.id
    assert answers(open_tab(app, "History")) == 0
    app.session_state["explore.rect"] = (0.1, 0.1, 0.5, 0.5)
    assert answers(app.run()) == 1
    app.button(key="explore.close").click().run().run()
    assert answers(open_tab(app, "History")) == 2


def test_a_shared_file_has_the_rectangles_asked_of_its_release(release):
    asked = [{"west": 0.1, "south": 0.1, "east": 0.5, "north": 0.5}]
    assert share.queried_rectangles("page", release, asked) == [(0.1, 0.1, 0.5, 0.5)]
    assert share.queried_rectangles("page", release, []) == []


def test_a_link_to_nothing_is_one_clear_line_and_the_page_still_opens():
    app = opened_page(release="../../secret", data="city-50k")
    line = texts(app).replace("\\", "")
    assert line.count("The release of this address is not shown: no such release here") == 1
    # The same line as for a removed release.
    assert line.count("What is here is of other data") == 1
    assert app.get("bidi_component")


@pytest.mark.slow
def test_the_address_of_a_file_s_release_names_nothing_else_and_f5_says_so(release, tmp_path):
    path = dpviz.save(release, tmp_path / "r.parquet")
    app = opened_page(data="city-50k", method="ugrid", epsilon="0.5").run()
    before = dict(app.query_params)
    uploaded(app, "explore.open.file", "r.parquet", path.read_bytes())
    app.button(key="explore.open").click().run().run()
    assert set(app.query_params) <= {"release", "camera"}
    (gone,) = opened_page(**app.query_params).warning
    assert "was opened from a file" in gone.value
    app.button(key="explore.close").click().run().run()
    assert dict(app.query_params) == before
    assert app.select_slider(key="explore.epsilon").value == 0.5
    assert app.selectbox(key="explore.method").value == "ugrid"


@pytest.mark.slow
def test_the_file_that_the_server_was_given_gives_way_to_a_link(release, tmp_path, monkeypatch):
    monkeypatch.setattr(releases, "only_local_visitors", lambda: True)
    monkeypatch.setenv(releases.OPENED, str(dpviz.save(release, tmp_path / "r.parquet")))
    for address, shown in (({}, True), ({"release": "given"}, True), ({"data": "city-50k"}, False)):
        app = opened_page(**address)
        assert [button.key for button in app.button].count("explore.close") == shown


def test_the_list_is_of_the_one_person_of_a_server_without_a_login(release, monkeypatch):
    script = "from dpviz.ui.shared.releases import your_releases\nyour_releases('x')\n"
    Shelf().keep(release, "here", Presentation("Mine alone"))
    monkeypatch.setattr(releases, "only_local_visitors", lambda: False)
    shared = AppTest.from_string(script, default_timeout=60).run()
    assert "no login: you can view releases, but not publish" in texts(shared)
    assert not shared.selectbox
    monkeypatch.setattr(releases, "only_local_visitors", lambda: True)
    alone = AppTest.from_string(script, default_timeout=60).run()
    assert "no login" not in texts(alone)
    assert alone.selectbox[0].options[0].endswith("Mine alone")


def test_a_release_uploaded_as_records_says_what_it_is_and_opens(release, tmp_path):
    content = dpviz.save(release, tmp_path / "r.parquet").read_bytes()
    assert kind_in(tmp_path / "r.parquet") == "points"
    app = opened_page(data="Your own file")
    uploaded(app, "explore.file", "r.parquet", content)
    assert "is a release of dpviz, not records" in texts(app)
    app.button(key="explore.instead").click().run()
    assert any(button.label == "Close this release" for button in app.button)


def test_an_upload_that_is_no_release_is_called_the_file():
    app = uploaded(opened_page(), "explore.open.file", "visits.csv", "lon,lat\n")
    app.button(key="explore.open").click().run()
    (error,) = app.error
    assert error.value.replace("\\", "").startswith("The file: no release: choose a .parquet file")
    order = [node.key or node.type for node in app.main]
    # Above the uploader, where it is visible.
    assert order.index("error") < order.index("explore.open.file")
    assert "Open" not in [button.label for button in app.button]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b'{"schema": 99, "kind": "points"}', "schema 99, this version reads"),
        (b"{", "the header is damaged"),
    ],
)
def test_a_release_that_cannot_be_read_is_called_one_and_is_no_file_of_districts(
    header, why, release, tmp_path
):
    """Regression: the file was called no release, and its cells were counted as districts."""
    path = dpviz.save(release, tmp_path / "r.parquet")
    pq.write_table(pq.read_table(path).replace_schema_metadata({"dpviz": header}), path)
    with pytest.raises(ReleaseError, match=why):
        read_any(path)
    with pytest.raises(ReleaseError, match=why):
        read_regions(path, release.domain)


def test_other_files_are_told_from_releases(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no such thing PAR1")
    assert kind_in(tmp_path / "x.parquet") is None
    for name, message in (("x.parquet", "no release"), ("y.parquet", "no such file")):
        with pytest.raises(ReleaseError, match=message):
            read_any(tmp_path / name)


@pytest.mark.parametrize(
    ("address", "headers", "expected"),
    [
        ("127.0.0.1", {"Host": "localhost:8501"}, True),
        ("0.0.0.0", {"Host": "127.0.0.1:8501"}, False),
        (None, {"Host": "localhost:8501"}, False),
        ("127.0.0.1", {"Host": "maps.example.org"}, False),
        ("127.0.0.1", {"Host": "localhost", "X-Forwarded-For": "10.0.0.1"}, False),
    ],
)
def test_one_person_s_server_is_one_that_nobody_else_reaches_and_others_publish_nothing(
    address, headers, expected, monkeypatch
):
    monkeypatch.setattr(access.st, "context", SimpleNamespace(headers=headers))
    monkeypatch.setattr(access.st, "get_option", lambda name: address)
    assert releases.only_local_visitors() is access.access().publish is expected


@pytest.mark.parametrize(
    ("url", "base", "root"),
    [
        ("https://maps.example.org/", "", "https://maps.example.org/"),
        ("https://maps.example.org/publish?data=x#y", "", "https://maps.example.org/"),
        ("https://example.org/maps/private/publish", "maps/private", None),
        ("https://example.org/maps/private", "/maps/private/", None),
        (None, "maps", "/maps/"),
    ],
)
def test_a_link_leads_to_this_server_below_its_path(monkeypatch, url, base, root):
    monkeypatch.setattr(releases.st, "context", SimpleNamespace(url=url))
    monkeypatch.setattr(releases.st, "get_option", lambda name: base)
    expected = root or "https://example.org/maps/private/"
    assert releases.link_of("0" * 32) == f"{expected}r?id={'0' * 32}"


def test_a_link_opens_a_page_to_read_under_its_owners_words_and_no_editor(stored):
    words = Presentation("Visits, 2024", "By place", "visits", (Note(10.5, 50.5, "Old town"),))
    with pytest.raises(ReleaseError, match="belongs to another user"):
        Shelf().present(stored.id, "somebody else", words)
    Shelf().present(stored.id, "here", words)
    assert Shelf().open(stored.id)[0].presentation == words
    assert [each.title for each in Shelf().of("here")] == ["Visits, 2024"]
    app = opened_page("r", id=stored.id)
    (frame,) = app.get("iframe")
    for shown in ("<h1>Visits, 2024</h1>", "By place", "</strong> visits", "Old town"):
        assert shown in frame.proto.srcdoc
    assert not [*app.button, *app.slider, *app.text_input, *app.selectbox]
    line = "No such release here: check the link, or open its file."
    assert line in texts(opened_page("r", id="0" * 32)).replace("\\", "")
