"""Survey of a file for its owner, before the area is chosen."""

from datetime import datetime

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

from dpviz.errors import DataError
from dpviz.private.load.survey import public_extent, survey, time_forms


@pytest.mark.parametrize(
    ("cell", "form", "better"),
    [
        ("03/31/2024 10:00 PM", "99/99/9999 99:99 AM", ("us",)),
        ("31.03.2024", "99.99.9999", ("eu",)),
        ("03/05/2024", "99/99/9999", ("us", "eu")),
        ("1709632800", "9999999999", ("seconds",)),
        ("1709632800000", "9999999999999", ("milliseconds",)),
        ("45356.5", "99999.9", ("excel",)),
        ("Ann ₤7", "xxx ?9", ()),
        (" ", "empty", ()),
    ],
)
def test_the_format_that_reads_most_is_proposed_and_no_value_is_told(tmp_path, cell, form, better):
    (tmp_path / "a.csv").write_text(f't\n2024-03-05T10:00Z\n{cell}\n"{cell}"\n{cell}\n')
    forms = time_forms(tmp_path / "a.csv", "t")
    assert (forms.read, forms.unread, forms.better) == ("9999-99-99T99:99Z", form, better)
    assert (forms.rows, forms.readable) == (4, 1)


def test_empty_times_are_told_apart_in_every_form_of_a_table(tmp_path):
    (tmp_path / "a.csv").write_text("lon,lat,t\n" + "1,2,\n1,2, \n1,2,soon\n1,2,2024-03-05\n")
    pq.write_table(pv.read_csv(tmp_path / "a.csv"), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        facts = survey(tmp_path / name, columns=["lon", "lat"], time="t").tally.facts
        assert facts["with an empty time: dropped"] == 2
        assert facts["without a readable time: dropped"] == 1


def test_a_column_of_timestamps_is_read_without_a_proposal(tmp_path):
    pq.write_table(pa.table({"t": [datetime(2024, 3, 5), None]}), tmp_path / "a.parquet")
    forms = time_forms(tmp_path / "a.parquet", "t")
    assert (forms.readable, forms.unread, forms.better) == (1, "empty", ())


@pytest.mark.parametrize("unread", ["", "x,2\n"])
def test_a_survey_counts_every_record_and_spans_all_places(tmp_path, unread):
    """Empty cells are told apart, beside unreadable ones and without any."""
    (tmp_path / "a.csv").write_text(f"lon,lat\n1,2\n300,-3\n700,-3\n5,91\n{unread},\n1\n")
    surveyed = survey(tmp_path / "a.csv")
    unreadable = {"without a readable place: dropped": 1} if unread else {}
    assert surveyed.tally.facts == {
        "records read": 6 + len(unreadable),
        "lines with another number of fields than the header: dropped": 1,
        "with an empty place: dropped": 1,
        **unreadable,
        "not on the Earth: dropped": 2,
        "kept": 2,
    }
    assert surveyed.extent == (1, -3, 300, 2)
    assert public_extent(tmp_path / "a.csv") == pytest.approx((-1.99, -3.05, 302.99, 2.05))
    (tmp_path / "b.csv").write_text("lon,lat\n")
    assert survey(tmp_path / "b.csv").extent is None
    with pytest.raises(DataError, match="no records with coordinates"):
        public_extent(tmp_path / "b.csv")
