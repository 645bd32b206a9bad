"""The data-use statement as an entry of the public registry: its fields, and no others."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.exports.data_use import data_use
from tests.notebook.releases import moves, streets

PAGE = Path(__file__).parents[2] / "assets" / "docs" / "registry.md"
DOMAIN = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))

WORDS = {
    "status": ["Draft"],
    "tier": [1, 2, 3],
    "deployment.basic.data_product_type": ["Summary statistics", "Machine learning model"],
    "deployment.dp_variant.variant_name": ["Pure DP", "Approximate DP", None],
    "deployment.deployment_model.model_name": ["Central"],
    "deployment.deployment_model.release_type": ["One release"],
    "deployment.deployment_model.data_source_type": ["Static"],
    "deployment.deployment_model.access_type": ["Non-interactive"],
}
"""Of those that the registry's schema allows, the ones that a release may say."""

PUBLISHERS = {
    *("name", "data_curators", "intended_use", "data_product_region", "publication_date"),
    *("data_product_sector", "url_slug", "registry_authors", "sources", "notes", "justification"),
    *("preprocessing_and_hyperparameter_tuning", "variant_name", "privacy_unit"),
    *("privacy_unit_details", "epsilon", "delta", "rho"),
}
"""Fields that may be null in the schema, most of them for the publisher to fill in."""


def leaves(entry, path=""):
    """Fields with dots and their values."""
    for name, value in entry.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


@pytest.mark.parametrize("kind", ["points", "areas", "roads", "sequences", "private"])
def test_every_kind_of_release_makes_an_entry_of_the_registrys_fields_and_words(kind):
    points = dpviz.from_points(np.full((30, 2), 0.5), DOMAIN, name="Visits", public=True)
    sensitive = dpviz.from_points(np.full((30, 2), 0.5), DOMAIN, name="Visits")
    release = {
        "points": lambda: dpviz.build(points, "ugrid", 0.5, cells=2, seed=1),
        "areas": lambda: dpviz.build(points, areas="h3:3", seed=1),
        "private": lambda: dpviz.build(sensitive, "ugrid", 0.5, cells=2, ledger=None),
        "roads": streets,
        "sequences": moves,
    }[kind]()
    entry = dict(leaves(data_use(release)))
    named = re.findall(r"^\| `([\w.]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [*entry] == named
    for name, words in WORDS.items():
        assert entry[name] in words
    assert {name.rpartition(".")[2] for name in entry if entry[name] is None} <= PUBLISHERS
    others = {type(each) for name, each in entry.items() if name != "tier"} - {str, type(None)}
    assert others == ({float} if kind == "private" else set())


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Cafés in Łódź Straße 7", "cafes-in-odz-strasse-7"),
        ("東京の病院", None),
        (".._.._etc_passwd", "etc-passwd"),
    ],
)
def test_a_name_in_any_script_is_kept_and_its_slug_is_plain(name, slug):
    points = dpviz.from_points([[0.5, 0.5]], DOMAIN, name=name, public=True)
    draft = data_use(dpviz.build(points, "ugrid", 0.5, cells=2, seed=1))
    assert json.loads(json.dumps(draft))["deployment"]["basic"]["name"] == name
    assert draft["url_slug"] == slug


def test_roads_say_whether_trips_or_events_are_counted():
    trips = streets()
    header = replace(trips.header, extra={**trips.header.extra, "counted": "events"})
    for release, counted in ((trips, "trips"), (replace(trips, header=header), "events")):
        words = data_use(release)["deployment"]["basic"]["description"]
        assert words.startswith(f"Noisy counts of {counted} on a road network.")
