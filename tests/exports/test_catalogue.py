"""Metadata for catalogues, as the validators of their standards read them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import rdflib
from pystac import Item
from rdflib.namespace import DCAT, DCTERMS, RDF, XSD

import dpviz
from tests.commands import as_json
from tests.notebook.releases import commutes, moves, streets

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is:DeprecationWarning")
"""Of the libraries that read JSON-LD."""

SCHEMA = rdflib.Namespace("http://schema.org/")


@pytest.fixture(scope="module")
def path(sensitive, tmp_path_factory):
    """Path of a private release."""
    return sensitive.save(tmp_path_factory.mktemp("catalogue") / "visits.parquet")


@pytest.fixture(scope="module")
def yearly(tmp_path_factory):
    """Path of a release with a period."""
    domain = dpviz.Domain.from_bounds(
        [14, 50, 15, 51], period=("2024-01-01", "2025-01-01"), zone="Europe/Berlin"
    )
    table = pa.table({"lon": [14.5], "lat": [50.5], "time": ["2024-05-01"]})
    data = dpviz.load(table, domain, public=True, name="visits")
    release = dpviz.build(data, "ugrid", epsilon=1.0, cells=2)
    return release.save(tmp_path_factory.mktemp("yearly") / "year.parquet")


def test_a_stac_item_is_valid_by_the_schemas_of_stac_and_states_the_guarantee(path, sensitive):
    item = Item.from_dict(as_json("info", path, "--code", "stac"))
    item.validate()  # by the schemas in pystac
    assert item.bbox == [10, 50, 11, 51]
    assert item.properties["privacy:guarantee"] == sensitive.header.guarantee
    assert item.properties["privacy:epsilon"] == 0.5
    assert item.assets["data"].href == path.name


def test_a_period_is_the_time_of_a_stac_item(yearly):
    item = Item.from_dict(as_json("info", yearly, "--code", "stac"))
    item.validate()
    ends = [item.properties[f"{name}_datetime"] for name in ("start", "end")]
    assert ends == ["2023-12-31T23:00:00Z", "2024-12-31T23:00:00Z"]


@pytest.mark.parametrize("make", [commutes, streets, moves])
def test_releases_without_a_box_are_described_too(make, tmp_path):
    path = make().save(tmp_path / "r.parquet")
    item = Item.from_dict(as_json("info", path, "--code", "stac"))
    item.validate()
    assert item.properties["privacy:private"] is False
    assert "privacy:epsilon" not in item.properties
    for code in ("dcat", "croissant"):
        assert make().header.guarantee in str(as_json("info", path, "--code", code))


def test_a_dataset_of_dcat_has_what_the_profile_requires(yearly):
    stated = as_json("info", yearly, "--code", "dcat")
    graph = rdflib.Graph().parse(data=json.dumps(stated), format="json-ld", base="https://a.org/")
    (dataset,) = graph.subjects(RDF.type, DCAT.Dataset)
    for needed in (DCTERMS.title, DCTERMS.description, DCTERMS.spatial, DCTERMS.provenance):
        assert graph.value(dataset, needed) is not None, needed
    file = graph.value(dataset, DCAT.distribution)
    assert graph.value(file, DCAT.accessURL) == rdflib.URIRef("https://a.org/year.parquet")
    size = rdflib.Literal(f"{yearly.stat().st_size}", datatype=XSD.nonNegativeInteger)
    assert graph.value(file, DCAT.byteSize) == size
    assert graph.value(graph.value(file, DCAT.mediaType), RDF.type) == DCTERMS.MediaType
    pairs = graph.objects(dataset, SCHEMA.additionalProperty)
    named = {str(graph.value(each, SCHEMA.name)): graph.value(each, SCHEMA.value) for each in pairs}
    assert float(named["epsilon"]) == 1


def test_croissant_is_valid_by_its_own_program_which_reads_the_rows(path, sensitive):
    """In a process of its own: its libraries warn."""
    file = path.with_name("croissant.json")
    file.write_text(json.dumps(as_json("info", path, "--code", "croissant")))

    def croissant(*words):
        program = Path(sys.executable).with_name("mlcroissant")
        done = subprocess.run([program, *words, "--jsonld", file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    missing = re.findall(r"([\w/]+)\" is recommended", croissant("validate"))
    assert {each.rpartition("/")[2] for each in missing} <= {
        *("citeAs", "datePublished", "license", "version"),  # the publisher's
    }
    rows = croissant("load", "--record_set", "rows", "--num_records", "2")
    assert "'rows/lo': [0, 0]" in rows
    assert f"'rows/count': {float(sensitive.nodes.count[0])!r}" in rows
