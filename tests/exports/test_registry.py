"""The data-use statement as an entry of the public registry: its fields, and no others."""

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import dpviz
from dpviz.exports.data_use import data_use
from dpviz.exports.registry import RegistryEntry
from tests.notebook.releases import moves, streets

PAGE = Path(__file__).parents[2] / "assets" / "registry.md"


def leaves(model, path=""):
    """The fields of a model and of those in it, with dots."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and hasattr(inner, "model_fields"):
            yield from leaves(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}"


@pytest.fixture(scope="module")
def releases():
    domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
    points = dpviz.from_points(np.full((30, 2), 0.5), domain, name="Café visits", public=True)
    made = [
        dpviz.build(points, "ugrid", 0.5, cells=2, seed=1),
        dpviz.build(points, areas="h3:3", seed=1),
    ]
    return [*made, streets(), moves()]


def test_every_kind_of_release_makes_an_entry_that_publishers_complete(releases):
    for release in releases:
        draft = data_use(release)
        assert RegistryEntry.model_validate(draft).model_dump() == draft
        basic = draft["deployment"]["basic"]
        unknown = {name for name, value in basic.items() if value is None}
        assert unknown <= {*basic} - {"description", "data_product_type"}
        complete = {
            **basic,
            "name": "Visits",
            "data_curators": ["A city"],
            "intended_use": "Planning",
            "data_product_region": "A city",
            "publication_date": date(2026, 1, 1).isoformat(),
            "data_product_sector": "Government",
        }
        draft["deployment"]["basic"] = complete
        assert RegistryEntry.model_validate(draft).deployment.basic.data_curators == ["A city"]
    assert re.fullmatch(r"[a-z0-9-]+", data_use(releases[0])["url_slug"])


def test_what_the_registry_does_not_know_is_refused(releases):
    for path, value in (("surprise", 1), ("tier", 4), ("status", "Done")):
        with pytest.raises(ValidationError):
            RegistryEntry.model_validate(data_use(releases[0]) | {path: value})
    draft = data_use(releases[0])
    draft["deployment"]["basic"]["publication_date"] = "1/1/2026"
    with pytest.raises(ValidationError):
        RegistryEntry.model_validate(draft)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Cafés in Łódź Straße 7", "cafes-in-odz-strasse-7"),
        ("東京の病院", None),
        (".._.._etc_passwd", "etc-passwd"),
    ],
)
def test_a_name_in_any_script_is_kept_and_its_slug_is_plain(name, slug):
    domain = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
    points = dpviz.from_points([[0.5, 0.5]], domain, name=name, public=True)
    draft = data_use(dpviz.build(points, "ugrid", 0.5, cells=2, seed=1))
    assert json.loads(json.dumps(draft))["deployment"]["basic"]["name"] == name
    assert draft["url_slug"] == slug
    assert RegistryEntry.model_validate(draft).model_dump() == draft


def test_the_page_compares_every_field():
    named = re.findall(r"^\| `([\w.]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert named == list(leaves(RegistryEntry))


def test_roads_say_whether_trips_or_events_are_counted():
    trips = streets()
    header = replace(trips.header, extra={**trips.header.extra, "counted": "events"})
    for release, counted in ((trips, "trips"), (replace(trips, header=header), "events")):
        words = data_use(release)["deployment"]["basic"]["description"]
        assert words.startswith(f"Noisy counts of {counted} on a road network.")
