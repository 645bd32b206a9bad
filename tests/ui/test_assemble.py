"""The joined script is one module with nothing left out."""

import re

from dpviz.ui.map.assemble import ENTRY, FOLDER, script, style


def test_every_file_is_joined_once():
    text = script()
    for file in FOLDER.glob("*.js"):
        assert text.count(f"// --- {file.name}\n") == 1, f"{file.name} is not imported"


def test_only_the_entry_point_is_exported():
    assert re.findall(r"^(?:import|export) .*", script(), re.MULTILINE) == [
        "export default function (args) {"
    ]
    assert script().rindex("// --- ") == script().index(f"// --- {ENTRY}")


def test_top_level_names_do_not_clash():
    names = re.findall(r"^(?:function|class|const|let) (\w+)", script(), re.MULTILINE)
    names += re.findall(r"^export default", script(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_nothing_is_rendered_as_html():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", script())
    assert "expression(" not in style()
