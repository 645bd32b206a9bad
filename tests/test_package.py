"""Facts about the package: one version, a citation that its readers accept."""

import re
import tomllib
from importlib.metadata import metadata

import yaml

import dpviz
from tests.commands import blocks
from tests.readme import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_version_and_license_are_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "assets" / "docs" / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"] == dpviz.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert {each["name"] for each in citation["authors"]} == {
        each["name"] for each in PROJECT["authors"]
    }
    for page, words in (("changelog.md", "## {}"), ("package.md", "version = {{{}}}")):
        assert words.format(PROJECT["version"]) in (ROOT / "assets" / "docs" / page).read_text()


def test_urls_are_stated_and_their_pages_exist():
    stated = dict(each.split(", ") for each in metadata("dpviz").get_all("Project-URL"))
    assert stated == PROJECT["urls"]
    for each in stated.values():
        page = re.sub(r"https://example\.org/dpviz(\.git)?/?", "", each)
        assert (ROOT / page).exists(), each


def test_the_conda_recipe_asks_for_every_dependency_and_no_other():
    (recipe,) = map(yaml.safe_load, blocks("yaml", ROOT / "assets" / "docs" / "package.md"))
    bounds = [each.partition(" ")[2] for each in recipe["requirements"]["run"][1:]]
    assert bounds == [re.sub(r"^[\w-]+", "", each) for each in PROJECT["dependencies"]]
    assert recipe["about"]["summary"] == PROJECT["description"]
