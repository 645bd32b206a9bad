"""The page Help and the pages of the documentation tell the same."""

import re

from streamlit.testing.v1 import AppTest

from dpviz.ui.pages.help import KEYS
from tests.readme import TABLES, command_table, page_table


def shown():
    def script():
        from dpviz.ui.pages.help import page

        page()

    app = AppTest.from_function(script, default_timeout=60).run()
    return re.sub(r"\\(.)", r"\1", "\n".join(each.value for each in app.markdown))


def cells(table):
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()[2:]]
    return [[re.sub(r"[`*]", "", cell).strip() for cell in row] for row in rows]


def test_help_lists_the_pages_methods_and_commands_of_the_documentation():
    text, method_table = shown(), TABLES["methods.md"]["methods"]
    for page, purpose in cells(page_table()):
        assert f"| {page} | {purpose} |" in text
    for words, does in cells(command_table()):
        assert f"| {words} | {does} |" in text
    for name, guarantee, *_, paper in cells(method_table()):
        assert f"| {name} | {guarantee} | {paper} |" in text
    counts = [len(cells(table())) for table in (page_table, command_table, method_table)]
    assert min(counts) >= 4
    # Headers, separator lines, keys.
    assert text.count("\n| ") == sum(counts) + 3 * 2 + 2 + len(KEYS)
