"""Files that were sound and are not any more: changed in their bytes, cells or members."""

import json
import re

SECRET = "Planted-Lovelace"
"""In cells of every seed: no message may hold it."""

ODD = (
    None, True, "", " ", "nan", "NaN", "1e400", -1, 0, 2**63, -(2**63), 10**400, 1e308, 0.1, [], {},
    [[]], [None], {"a": {"a": []}}, "\0", "\ud800", "٣", "²", "a" * 5_000, "1..999999999", "1;2",
    '"', "'; DROP TABLE a", "../../etc/passwd", "EPSG:999999", "Point", "Polygon", [1, 2, 3, 4, 5],
    [[0, 0], [0, 0]], ["1", "2"], [1e308, -1e308], ["NaN", "NaN"], SECRET,
)  # fmt: skip


def odd(random):
    return ODD[random.integers(len(ODD))]


def text_mutant(content, random):
    """Cells replaced, removed, repeated; lines, too; quotes and separators of other kinds.

    Of JSON the values are the cells.
    """
    pieces = re.split(rb"([,\n:\[\]{}])", content)
    for _ in range(random.integers(1, 6)):
        at = random.integers(len(pieces))
        change = random.integers(5)
        if change == 0:
            value = odd(random)
            text = json.dumps(value) if random.integers(2) else str(value)
            pieces[at] = text.encode("utf-8", "surrogatepass")
        elif change == 1:
            pieces[at] = [b";", b"\t", b"\r", b'"', b"\xff\xfe", b"\0", b"[" * 300][
                random.integers(7)
            ]
        elif change == 2:
            del pieces[at]
            pieces = pieces or [b""]
        elif change == 3:
            pieces[at] *= int(random.integers(2, 2_000))
        else:
            other = random.integers(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
    return b"".join(pieces)


def byte_mutant(content, random):
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
