"""Synthetic sequences in files: what is written is read again with the same alphabet."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.build import build
from dpviz.errors import ReleaseError
from dpviz.lists import join_list
from dpviz.private.load.sequences import read_sequences
from dpviz.releases.sequences.samples import UNREADABLE, save_sequences
from dpviz.releases.store import save
from dpviz.sequences.alphabet import Alphabet
from tests.commands import as_json, fails
from tests.sequences.cases import public
from tests.vault import sequences_of

pytestmark = pytest.mark.slow

AWKWARD = ("New York", 'Oslo, "N"', "a;b")
NAMES = st.lists(
    st.text(st.sampled_from('ab ,;"\t\n\r\x0b\x00\u2028\xa0\ufeffé|'), max_size=4)
    | st.text(max_size=4),
    min_size=3,
    max_size=3,
    unique=True,
)


@pytest.fixture(scope="module")
def release():
    return build(public([[0, 1, 2], [2, 0], [1], [1, 1, 0]] * 20), "markov", 5.0, seed=1)


def over(release, names):
    return dataclasses.replace(release, alphabet=Alphabet(tuple(names)))


def read_back(path, alphabet):
    data = sequences_of(read_sequences(path, alphabet, public=True))
    return [tuple(alphabet.names[at] for at in data[row].tolist()) for row in range(len(data))]


def readable(name, ending):
    """Return whether a written symbol reads back as one symbol in this format."""
    if ending == ".parquet":
        return bool(name)
    if ending == ".csv":
        return bool(name) and not {*"\r\n"} & {*name}
    mark = name.startswith("\ufeff")  # which is left out at the beginning of a line
    return name.encode().split() == [name.encode()] and not {*",;"} & {*name} and not mark


@pytest.mark.parametrize("ending", UNREADABLE)
@settings(max_examples=40)
@given(names=NAMES)
def test_a_written_file_is_read_back(ending, names, release, tmp_path_factory):
    named = over(release, names)
    path = tmp_path_factory.getbasetemp() / f"samples{ending}"
    path.unlink(missing_ok=True)
    if not all(readable(name, ending) for name in names):
        with pytest.raises(ReleaseError, match=r"^samples\.\w+: symbol .* again: [a-z .]+$"):
            save_sequences(named, path)
        assert not path.exists()
        return
    drawn = named.sample(30, seed=2)
    assert save_sequences(named, path, 30, seed=2) == len(drawn)
    assert read_back(path, named.alphabet) == [row for row in drawn if row]


def test_the_command_writes_what_a_build_reads(release, tmp_path):
    save(over(release, AWKWARD), tmp_path / "r.parquet")
    words = ("sample", tmp_path / "r.parquet", "-n", 40, "--seed", 3, "-o")
    assert "write .csv or .parquet" in fails(*words, tmp_path / "s.txt")
    built = []
    for ending in (".csv", ".parquet"):
        source, out = tmp_path / f"s{ending}", tmp_path / f"again{ending}.parquet"
        assert as_json(*words, source)["sequences"] == 40
        again = ("build", source, "--alphabet", join_list(AWKWARD), "--public")
        assert as_json(*again, "--seed", 4, "-o", out)["symbols"] == 3
        built.append(as_json("topk", out, "-k", 5)["top"])
    assert built[0] == built[1]
