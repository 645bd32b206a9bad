"""Formats of files: a new one is a module that declares itself; every command and page reads it."""

import dpviz
from dpviz.private.load.tables.delimited import DelimitedText
from dpviz.private.load.tables.formats import Format, formats


def test_a_declared_format_is_read_by_its_name_and_its_first_bytes(tmp_path, monkeypatch):
    def opened(path, name, layer):
        plain = path.with_suffix(".csv")
        plain.write_bytes(path.read_bytes().removeprefix(b"NEW\n"))
        return DelimitedText(plain)

    new = Format(title="New", endings=(".new",), opened=opened, magic=b"NEW\n")
    monkeypatch.setitem(formats(), "New", new)
    domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
    for name in ("a.new", "unnamed"):
        (tmp_path / name).write_bytes(b"NEW\nx,y\n0.25,0.5\n0.75,0.5\n")
        data = dpviz.load(tmp_path / name, domain, public=True)
        release = dpviz.build(data, "quadtree", 1e6, seed=0, height=1)
        assert release.count((0, 0, 0.5, 1)).count.round().tolist() == [1.0]
    assert len({ending for each in formats().values() for ending in each.endings}) == sum(
        len(each.endings) for each in formats().values()
    )
