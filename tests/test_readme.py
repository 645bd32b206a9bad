import importlib
import inspect
import re

import pytest

from tests.readme import README, ROOT, TABLES, with_tables

AGAIN = "run: uv run python -m tests.readme"


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_up_to_date(name):
    text = (ROOT / "assets" / "docs" / name).read_text()
    assert with_tables(name, text) == text, AGAIN


def test_the_readme_is_a_screen_and_a_half():
    assert len(README.read_bytes()) <= 6_000


def public_names():
    for package in ("dpviz", "dpviz.exports", "dpviz.methods", "dpviz.render", "dpviz.datasets"):
        module = importlib.import_module(package)
        yield from ((f"{package}.{name}", getattr(module, name)) for name in module.__all__)


def test_public_functions_document_every_argument():
    checked = 0
    for name, member in public_names():
        if not inspect.isroutine(member):
            continue
        text = inspect.getdoc(member)
        assert text, name
        section = re.search(r"^Args:\n((?: {4}.*\n?)+)", text, re.MULTILINE)
        if section is None:
            continue
        heads = re.findall(r"^ {4}(\S[\w*, ]*?):", section[1], re.MULTILINE)
        documented = [each.strip(" *") for each in ",".join(heads).split(",")]
        assert documented == list(inspect.signature(member).parameters), name
        checked += 1
    assert checked > 15


PAGES = [README, *sorted((ROOT / "assets" / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pictures_and_links_exist(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tests_that_a_page_names_exist(page):
    for target in re.findall(r"\btests/[\w/]+(?:\.py|\.txt)?", page.read_text()):
        assert "NAME" in target or (ROOT / target).exists(), target


def test_tests_of_the_assessment_exist():
    text = (ROOT / "assets" / "docs" / "assessment.md").read_text()
    named = re.findall(r"\b(tests/[\w/]+\.py)::(test_\w+)", text)
    assert len(named) == text.count("`tests/") > 25
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text(), f"{path}::{name}"


def test_the_index_lists_every_page():
    index = ROOT / "assets" / "docs" / "index.md"
    listed = set(re.findall(r"\]\((?!http)([^)#]+)\)", index.read_text()))
    pages = {page.name for page in (ROOT / "assets" / "docs").glob("*.md")} - {index.name}
    assert pages <= listed
