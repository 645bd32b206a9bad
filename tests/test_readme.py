import re

import typer.main

from dpviz.cli import app
from tests.readme import README, with_table


def test_the_method_table_is_up_to_date():
    text = README.read_text()
    assert with_table(text) == text, "run: uv run python -m tests.readme"


def test_every_command_is_documented():
    def leaves(command, path):
        children = getattr(command, "commands", None)
        if children is None:
            yield path
            return
        for name, child in children.items():
            yield from leaves(child, f"{path} {name}")

    text = README.read_text()
    missing = [path for path in leaves(typer.main.get_command(app), "dpviz") if path not in text]
    assert missing == []


def test_pictures_and_links_exist():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
