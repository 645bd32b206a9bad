"""A cell of a workbook with letters that XML lacks is missing, and refuses no other."""

import io
import zipfile

import pytest

import dpviz
from dpviz.private.load.tables.letters import MARK, Marked
from tests.commands import as_json
from tests.private.load.stability import BOX, MAIN, SPACE, check, packed, sheet

pytestmark = pytest.mark.usefixtures("one_key", "in_this_process")

LACKING = {
    "a reference to nothing": b"&#0;",
    "a reference": b"zo&#1;",
    "a reference in other digits": b"&#x1F;",
    "half a letter": b"&#xD800;",
    "a letter beyond all": b"&#x110000;",
    "a long reference": b"&#" + b"0" * 9 + b"1;",
    "a byte": b"zo\x01",
    "a vertical tab": b"\x0b",
    "no letter": "\uffff".encode(),
    "another encoding": b"zo\xeb",
    "the mark": MARK.encode(),
}
USUAL = b"zo&amp;"
ODD = '<c r="D3" t="e"><v>#SPILL!</v></c>'
"""With it, a sheet is written anew."""


def workbook(who, *, shared, odd):
    """Two records of places, the second with a unit whose id is written so."""
    names = [b"who", b"x", b"y"]
    rows = [
        "".join(f'<c r="{letter}1" t="s"><v>{at}</v></c>' for at, letter in enumerate("ABC")),
        '<c r="A2" t="s"><v>3</v></c><c r="B2"><v>0.5</v></c><c r="C2"><v>0.5</v></c>',
    ]
    cell = '<c r="A3" t="s"><v>4</v></c>'
    if not shared:
        cell = '<c r="A3" t="inlineStr"><is><t>WHO</t></is></c>'
    if who is not None:
        rows.append(f'{cell}<c r="B3"><v>0.5</v></c><c r="C3"><v>0.5</v></c>')
    if odd:
        rows[1] += ODD.replace("3", "2", 1)
    text = "".join(f'<row r="{at}">{row}</row>' for at, row in enumerate(rows, 1))
    texts = [*names, b"ann", *([who] if shared and who is not None else [])]
    raw = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(packed({"a": sheet(text)}))) as usual,
        zipfile.ZipFile(raw, "w") as archive,
    ):
        for member in usual.namelist():
            content = usual.read(member).replace(b"WHO", who or b"")
            if member == "xl/_rels/workbook.xml.rels":
                kind = f"{SPACE}/officeDocument/2006/relationships/sharedStrings"
                link = f'<Relationship Id="r9" Type="{kind}" Target="sharedStrings.xml"/>'.encode()
                content = content.replace(b"</Relationships>", link + b"</Relationships>")
            archive.writestr(member, content)
        items = b"".join(b"<si><t>" + each + b"</t></si>" for each in texts)
        written = f'<sst xmlns="{MAIN}">'.encode() + items + b"</sst>"
        archive.writestr("xl/sharedStrings.xml", written)
    return raw.getvalue()


def total(path, **how):
    return dpviz.load(path, BOX, **how)._index.total


@pytest.mark.parametrize("odd", [False, True], ids=["as it is", "written anew"])
@pytest.mark.parametrize("shared", [False, True], ids=["in its cell", "by its number"])
@pytest.mark.parametrize("who", LACKING.values(), ids=LACKING)
def test_letters_that_xml_lacks_refuse_no_other(who, shared, odd, tmp_path):
    """One such byte refused the workbook, or only beside a row that is written oddly."""
    paths = []
    for name, written in (("one", None), ("two", who)):
        path = tmp_path / name / "a.xlsx"
        path.parent.mkdir()
        path.write_bytes(workbook(written, shared=shared, odd=odd))
        paths.append(path)
    check(lambda path: dpviz.load(path, BOX), paths, 1)
    check(lambda path: dpviz.load(path, BOX, unit="who"), paths, 1)
    assert [total(path) for path in paths] == [1, 2]
    assert [total(path, unit="who") for path in paths] == [1, 1]
    facts = as_json("check", paths[1], "--bounds", "0,0,1,1", "--columns", "x,y", "--unit", "who")
    assert 1 in [count for what, count in facts["facts"].items() if "unit" in what]


@pytest.mark.parametrize("who", [USUAL, b"&#233;", "\u00e9".encode(), b"&#xFFFD;", b"_x0001_"])
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_letters_that_xml_has_are_an_id(who, shared, odd, tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(who, shared=shared, odd=odd))
    assert total(path, unit="who") == 2


@pytest.mark.parametrize("size", range(1, 14))
def test_a_reference_across_the_ends_of_pieces(size):
    class Slow(io.BytesIO):
        def read(self, many=-1):
            return super().read(size)

    text = "a&amp;\u00e9&#1;&#233; \ufdd0 & &#x110000;\U0001f600&#".encode() + b"\xff\x01"
    words = "a&amp;\u00e9\ufdd0&#233; \ufdd0 & \ufdd0\U0001f600&#\ufdd0\ufdd0"
    assert Marked(Slow(text)).read().decode() == words


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_part_of_another_encoding_stays_as_it_is(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><a>\u00e9&#1;</a>'.encode(encoding)
    assert Marked(io.BytesIO(text)).read() == text
