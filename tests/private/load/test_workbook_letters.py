"""A cell of a workbook with letters that XML lacks is missing, and refuses no other."""

import io
import zipfile
from xml.etree.ElementTree import fromstring

import pytest

import dpviz
from dpviz.errors import DataError
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


@pytest.mark.parametrize("before", [1, 2, 40, 90])
@pytest.mark.parametrize("piece", [256, 1024, 1 << 20])
@pytest.mark.parametrize("reference", ["&#%s1;", "&#x%s1F;", "&#9%s;"])
def test_a_long_reference_across_the_ends_of_pieces(reference, piece, before):
    """One cell with it refused the workbook."""
    text = f"<a>{'x' * (piece - 3 - before)}{reference % ('0' * 90)}{'y' * 99}</a>"
    assert fromstring(Marked(io.BytesIO(text.encode())).read()).text.count(MARK) == 1


@pytest.mark.parametrize("size", range(1, 14))
def test_an_end_of_letters_as_they_are_is_text_where_none_begin(size):
    class Slow(io.BytesIO):
        def read(self, many=-1):
            return super().read(size)

    text = b"<a>]]>x]]]><![CDATA[&#1;]]>]]]]><![CDATA[]]]]></a>"
    assert fromstring(Marked(Slow(text)).read()).text == "]]>x]]]>&#1;]]]]>]]"


ENCODINGS = ("utf8", "UTF-16", "ISO-8859-1", "windows-1252", "US-ASCII", "GB18030", "a new one")


def declared(written, encoding):
    """The same workbook, whose parts with cells say an encoding, and hold what it has."""
    raw, page = io.BytesIO(), "utf-8" if encoding == "a new one" else encoding
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    with zipfile.ZipFile(io.BytesIO(written)) as given, zipfile.ZipFile(raw, "w") as archive:
        for member in given.namelist():
            content = given.read(member)
            if member in ("xl/a.xml", "xl/sharedStrings.xml"):
                text = content.decode().removeprefix('<?xml version="1.0"?>')
                content = (head + text).encode(page, "xmlcharrefreplace")
            archive.writestr(member, content)
    return raw.getvalue()


def both_ways(tmp_path, make):
    """Files of a workbook whose sheet is read as it is, or written anew if that must be."""
    paths = [tmp_path / way / "a.xlsx" for way in ("one", "two")]
    for path, odd in zip(paths, (False, True), strict=True):
        path.parent.mkdir()
        path.write_bytes(make(odd))
    return paths


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_parts_of_another_encoding(encoding, shared, tmp_path):
    """An odd cell, or one with a letter that XML lacks, refused them."""
    for number, (who, units) in enumerate([("zo\u00eb".encode(), 2), (b"zo&#1;", 1)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths = both_ways(
            folder, lambda odd, who=who: declared(workbook(who, shared=shared, odd=odd), encoding)
        )
        check(lambda path: dpviz.load(path, BOX, unit="who"), paths, 0)
        assert total(paths[0], unit="who") == units


@pytest.mark.parametrize("shared", [False, True])
def test_an_end_of_letters_as_they_are_is_an_id(shared, tmp_path):
    """A sheet with it was read, but refused as soon as another row was odd."""
    paths = both_ways(tmp_path, lambda odd: workbook(b"zo]]>e", shared=shared, odd=odd))
    check(lambda path: dpviz.load(path, BOX, unit="who"), paths, 0)
    assert total(paths[0], unit="who") == 2


@pytest.mark.parametrize("facts", [b'ht="1" ht="1"', b'x:dy="1"', b'1="1"'])
def test_a_sheet_that_is_no_xml_is_refused_whatever_its_other_rows_are(facts, tmp_path):
    def make(odd):
        raw = io.BytesIO()
        written = workbook(b"zo", shared=False, odd=odd)
        with zipfile.ZipFile(io.BytesIO(written)) as given, zipfile.ZipFile(raw, "w") as archive:
            for member in given.namelist():
                content = given.read(member).replace(b'<row r="3"', b'<row r="3" ' + facts)
                archive.writestr(member, content)
        return raw.getvalue()

    paths = both_ways(tmp_path, make)
    check(lambda path: dpviz.load(path, BOX), paths, 0)
    with pytest.raises(DataError, match="damaged"):
        total(paths[0])


@pytest.mark.parametrize("kind", ["str", "inlineStr", "s", "n"])
def test_a_cell_without_a_value_writes_over_none(kind, tmp_path):
    """It did where its sheet was written anew."""
    who = f'zo</t></is></c><c r="A3" t="{kind}"/><c r="D3" t="inlineStr"><is><t>'.encode()
    paths = both_ways(tmp_path, lambda odd: workbook(who, shared=False, odd=odd))
    check(lambda path: dpviz.load(path, BOX, unit="who"), paths, 0)
    assert total(paths[0], unit="who") == 2
