"""Each joined script is one module with nothing left out."""

import re

import pytest

from dpviz.render.client.assemble import ENTRIES, FOLDER, script, style

hosts = pytest.mark.parametrize("entry", ENTRIES)

OFFERED = {
    "hosts/streamlit.js": [
        "export default function ({data, parentElement, setStateValue, setTriggerValue}) {"
    ],
    "hosts/overlay.js": ["export default function ({data}) {"],
    "hosts/file.js": [],
    "hosts/widget.js": ["export default {render};"],
}


def modules(entry):
    return re.findall(r"^// --- (\S+)$", script(entry), re.MULTILINE)


def test_every_file_is_joined_once_for_some_host():
    for entry in ENTRIES:
        assert len(set(modules(entry))) == len(modules(entry))
    joined = {name for entry in ENTRIES for name in modules(entry)}
    assert joined == {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.js")}


@hosts
def test_the_entry_point_is_last_and_nothing_else_is_exported(entry):
    assert modules(entry)[-1] == entry
    left = re.findall(r"^(?:import|export) .*", script(entry), re.MULTILINE)
    assert left == OFFERED[entry]


@hosts
def test_top_level_names_do_not_clash(entry):
    names = re.findall(
        r"^(?:async )?(?:function|class|const|let) (\w+)", script(entry), re.MULTILINE
    )
    assert names
    assert len(names) == len(set(names))


def test_the_script_of_an_overlay_is_small():
    """Streamlit sends a program with every message of it: 139 kB with each rectangle's answer."""
    assert len(script("hosts/overlay.js")) < 5_000


@hosts
def test_nothing_is_rendered_as_html(entry):
    written = r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write"
    assert not re.search(written, script(entry))
    assert "expression(" not in style()
