"""Files that were sound and are not any more: changed where their format has structure."""

import copy
import gzip
import io
import json
import re
import sqlite3
import struct
import zipfile
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SECRET = "Planted-Lovelace"
"""In cells of every seed: no message may hold it."""

ODD = (
    None, True, "", " ", "nan", "NaN", "1e400", -1, 0, 2**63, -(2**63), 10**400, 1e308, 0.1, [], {},
    [[]], [None], {"a": {"a": []}}, "\0", "\ud800", "٣", "²", "a" * 5_000, "1..999999999", "1;2",
    '"', "'; DROP TABLE a", "../../etc/passwd", "EPSG:999999", "Point", "Polygon", [1, 2, 3, 4, 5],
    [[0, 0], [0, 0]], ["1", "2"], [1e308, -1e308], ["NaN", "NaN"], SECRET,
)  # fmt: skip


def odd(random):
    return copy.deepcopy(ODD[random.integers(len(ODD))])


def json_mutant(content, random):
    """One to three members replaced, removed, repeated or nested."""
    document = json.loads(content)
    for _ in range(random.integers(1, 4)):
        places = list(_places(document))
        if not places:
            break
        parent, key = places[random.integers(len(places))]
        change = random.integers(5)
        if change == 0:
            del parent[key]
        elif change == 1 and isinstance(parent, list):
            parent.extend(copy.deepcopy(parent[key]) for _ in range(random.integers(1, 500)))
        elif change == 2:
            value = parent[key]
            for _ in range(random.integers(1, 300)):
                value = [value] if random.integers(2) else {"geometry": value}
            parent[key] = value
        else:
            parent[key] = odd(random)
    return json.dumps(document).encode()


def _places(value):
    if isinstance(value, dict):
        for key, child in value.items():
            yield value, key
            yield from _places(child)
    elif isinstance(value, list):
        for key, child in enumerate(value):
            yield value, key
            yield from _places(child)


def text_mutant(content, random):
    """Cells replaced, removed, repeated; lines, too; quotes and separators of other kinds."""
    pieces = re.split(rb"([,\n])", content)
    for _ in range(random.integers(1, 6)):
        at = random.integers(len(pieces))
        change = random.integers(5)
        if change == 0:
            pieces[at] = str(odd(random)).encode("utf-8", "surrogatepass")
        elif change == 1:
            pieces[at] = [b";", b"\t", b"\r", b'"', b"\xff\xfe", b"\0", b"\n\n"][random.integers(7)]
        elif change == 2:
            del pieces[at]
            pieces = pieces or [b""]
        elif change == 3:
            pieces[at] *= int(random.integers(2, 2_000))
        else:
            other = random.integers(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
    return b"".join(pieces)


def xml_mutant(content, random):
    """Tags, attributes and texts replaced, removed, repeated."""
    pieces = re.findall(rb"<[^>]*>|[^<]+", content)
    for _ in range(random.integers(1, 5)):
        at = random.integers(len(pieces))
        change = random.integers(4)
        if change == 0:
            del pieces[at]
        elif change == 1:
            value = str(odd(random)).encode("utf-8", "replace")
            pieces[at] = re.sub(rb'"[^"]*"', b'"' + re.escape(value) + b'"', pieces[at], count=1)
        elif change == 2:
            pieces[at] *= int(random.integers(2, 50))
        else:
            pieces.insert(at, pieces[random.integers(len(pieces))])
    return b"".join(pieces)


def parquet_mutant(content, random):
    """Columns of other types, names and lengths; the header of GeoParquet; now and then bytes."""
    if random.integers(4) == 0:
        return byte_mutant(content, random)
    table = pq.read_table(io.BytesIO(content))
    metadata = dict(table.schema.metadata or {})
    for _ in range(random.integers(1, 3)):
        at = int(random.integers(table.num_columns))
        name, column = table.column_names[at], table.column(at)
        change = random.integers(6)
        if change == 0 and table.num_columns > 1:
            table = table.remove_column(at)
        elif change == 1:
            table = table.rename_columns(
                [str(odd(random)).encode("utf-8", "replace").decode() if k == at else each
                 for k, each in enumerate(table.column_names)]
            )  # fmt: skip
        elif change == 2:
            table = table.set_column(at, name, _typed(len(column), random))
        elif change == 3:
            table = pa.concat_tables([table] * int(random.integers(2, 200)))
        elif change == 4:
            table = table.slice(0, int(random.integers(2)))
        elif b"geo" in metadata:
            metadata[b"geo"] = json_mutant(metadata[b"geo"], random)
    target = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), target)
    return target.getvalue()


def _typed(rows, random):
    """A column of a type that nobody expects."""
    kinds = (
        pa.nulls(rows),
        pa.array([[1, None]] * rows),
        pa.array([[[SECRET]]] * rows),
        pa.array([{"x": 1.0, "y": SECRET}] * rows),
        pa.array([True] * rows),
        pa.array([b"\xff\0"] * rows),
        pa.array([SECRET] * rows).dictionary_encode(),
        pa.array([2**63] * rows, pa.uint64()),
        pa.array([float("nan")] * rows),
        pa.array(np.datetime64("2030-01-01", "ns") + np.arange(rows)),
        pa.array([5] * rows, pa.time32("s")),
        pa.array(["1e999"] * rows, pa.large_string()),
        pa.array([b"\1" + b"\1\0\0\0" + b"\0" * 15] * rows),
    )
    return kinds[random.integers(len(kinds))]


def sqlite_mutant(content, random):
    """Values in tables of a GeoPackage, its own ones among them, and its schema."""
    if random.integers(4) == 0:
        return byte_mutant(content, random)
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(content[:18] + b"\1\1" + content[20:])
        listed = db.execute("SELECT type, name FROM sqlite_master").fetchall()
        names = [name for kind, name in listed if kind == "table"]
        names = [name for name in names if not name.startswith(("rtree", "sqlite"))]
        for trigger in (name for kind, name in listed if kind == "trigger"):
            db.execute(f'DROP TRIGGER "{trigger}"')
        for _ in range(random.integers(1, 4)):
            if not names:
                break
            table = names[random.integers(len(names))]
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            column = columns[random.integers(len(columns))]
            value = odd(random)
            if isinstance(value, (list, dict)) or (isinstance(value, int) and abs(value) >= 2**63):
                value = bytes(random.integers(0, 256, 30, dtype=np.uint8))
            elif isinstance(value, str):
                value = value.encode("utf-8", "replace").decode()
            try:
                if random.integers(5):
                    db.execute(f'UPDATE "{table}" SET "{column}" = ?', [value])
                else:
                    db.execute(f'DROP TABLE "{table}"')
                    names.remove(table)
            except sqlite3.Error:
                continue
        db.commit()
        return db.serialize()


def lines_mutant(content, random):
    """Lines of JSON: one to three records changed as documents, repeated, or cut."""
    lines = content.splitlines()
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(lines)))
        change = random.integers(4)
        if change == 0:
            lines[at] = lines[at][: random.integers(len(lines[at]) + 1)]
        elif change == 1:
            lines[at:at] = [lines[at]] * int(random.integers(1, 500))
        elif change == 2:
            lines[at] = json.dumps(odd(random)).encode()
        elif lines[at].startswith(b"{"):
            try:
                lines[at] = json_mutant(lines[at], random)
            except ValueError:  # it was cut before
                lines[at] = b"{"
    return b"\n".join(lines)


def packed_mutant(mutation):
    """What is compressed changed, and now and then the bytes that compress it."""

    def mutant(content, random):
        if random.integers(3) == 0:
            return byte_mutant(content, random)
        return gzip.compress(mutation(gzip.decompress(content), random), mtime=0)

    return mutant


def zip_mutant(changes):
    """Members of an archive changed by their ending, removed, renamed or repeated.

    Args:
        changes: a mutation for each ending.
    """

    def mutant(content, random):
        if random.integers(5) == 0:
            return byte_mutant(content, random)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
        for _ in range(random.integers(1, 3)):
            at = int(random.integers(len(members)))
            name, inner = members[at]
            change = random.integers(8)
            if change == 0 and len(members) > 1:
                del members[at]
            elif change == 1:
                members[at] = (OTHER_NAMES[random.integers(len(OTHER_NAMES))], inner)
            elif change == 2:
                members.append((f"other/{name}", inner))
            else:
                mutation = changes.get(name.rpartition(".")[2], byte_mutant)
                members[at] = (name, mutation(inner, random))
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, inner in dict(members).items():
                archive.writestr(zipfile.ZipInfo(name), inner)
        return target.getvalue()

    return mutant


OTHER_NAMES = ("../a.shp", "/a.shp", "a.SHP", "b.dbf", "a.shp/", "\xff.shp", "x" * 300, "xl/a.xml")


def shape_mutant(content, random):
    """Numbers in the header and the records of a .shp or .shx: kinds, lengths, coordinates."""
    changed = bytearray(content)
    for _ in range(random.integers(1, 4)):
        fields = [(0, ">i"), (24, ">i"), (28, "<i"), (32, "<i"), (36, "<d"), (60, "<d")]
        if len(changed) > 128:  # records: number, length, kind of shape, x, y
            begin = 100 + 28 * int(random.integers((len(changed) - 100) // 28))
            fields += [(begin, ">i"), (begin + 4, ">i"), (begin + 8, "<i"), (begin + 12, "<d")]
        at, kind = fields[random.integers(len(fields))]
        values = EXTREME_FLOATS if kind == "<d" else EXTREME_INTEGERS
        number = struct.pack(kind, values[random.integers(len(values))])
        changed[at : at + len(number)] = number
    return bytes(changed)


def dbf_mutant(content, random):
    """Counts, lengths and types in the header of a .dbf, and cells of its records."""
    changed = bytearray(content)
    for _ in range(random.integers(1, 4)):
        change = random.integers(4)
        if change == 0:
            changed[4:8] = struct.pack("<i", EXTREME_INTEGERS[random.integers(8)])
        elif change == 1:
            changed[8:12] = random.integers(0, 256, 4, dtype=np.uint8).tobytes()
        elif change == 2 and len(changed) > 48:
            changed[43] = b"CNDLMFBI@\0\xff"[random.integers(11)]
        elif len(changed) > 66:
            at = int(random.integers(66, len(changed)))
            cell = (b"\xff\xfe\0a", b"1e99", b"\x1a*\r ", b"-   ")[random.integers(4)]
            changed[at : at + 4] = cell
    return bytes(changed)


EXTREME_INTEGERS = (0, 1, -1, 5, 31, 2**31 - 1, -(2**31), 9994)
EXTREME_FLOATS = (0.0, -0.0, float("nan"), float("inf"), -1e308, 5e-324, 1e30, 180.0)


def byte_mutant(content, random):
    """A few bytes changed, cut or repeated."""
    mutant = bytearray(content)
    for _ in range(random.integers(1, 8)):
        if not mutant:
            break
        at = int(random.integers(len(mutant)))
        change = random.integers(4)
        if change == 0:
            mutant[at] ^= 1 << random.integers(8)
        elif change == 1:
            mutant[at] = random.integers(256)
        elif change == 2:
            del mutant[at : at + int(random.integers(1, 50))]
        else:
            mutant[at:at] = mutant[at : at + int(random.integers(1, 50))]
    return bytes(mutant)
