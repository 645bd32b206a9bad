"""The page Help leads to every page, and lists the commands of the documentation."""

import re

from streamlit.testing.v1 import AppTest

from dpviz.ui.pages.help import WISHES
from dpviz.ui.shared.navigation import page_modules
from tests.readme import command_table


def test_help_leads_to_every_page_and_lists_the_commands_of_the_documentation():
    def script():
        from dpviz.ui.pages.help import page

        page()

    app = AppTest.from_function(script, default_timeout=60).run()
    shown = [each for each in page_modules() if not getattr(each, "HIDDEN", False)]
    names = [each.__name__.rsplit(".", 1)[-1] for each in shown]
    assert [*WISHES] == names[:-1]  # in the order of the navigation; the last is Help itself
    links = [each.proto.label for each in app.get("page_link")]
    assert links == [f"… {wish}" for wish in WISHES.values()]
    text = re.sub(r"\\(.)", r"\1", "\n".join(each.value for each in app.markdown))
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in command_table().splitlines()[2:]]
    assert len(rows) >= 4
    for words, does in rows:
        assert f"- **{words.strip().strip('`')}:** {does.strip()}" in text
