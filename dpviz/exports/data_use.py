"""Data-use statement (protected unit, adversary, ε) in words and as a registry entry.

The text has the facts that C. Dwork, N. Kohli and D. Mulligan (Differential Privacy in Practice:
Expose Your Epsilons!, JPC 9(2), 2019) ask for. The JSON is an entry of the public registry
that resulted, with the fields, order and words of ``schemas/deployments-schema.yaml`` of
https://github.com/opendp/deployments-registry-data (version of 15 July 2026, after P. Nanayakkara,
E. Ghazi, S. Vadhan, arXiv:2509.13509). Everything is from the header.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from dpviz.domain.crs import axis_names
from dpviz.domain.rectangles import limits_text
from dpviz.exports.facts import relation, statement
from dpviz.methods import METHODS
from dpviz.releases.counts import domain_of
from dpviz.releases.header import Header
from dpviz.releases.release import Release

FROM = "everyone who sees the release, whatever else they know"
NOT_HIDDEN = "the public domain, the method and its parameters, and that there are such records"
COMPOSITION = "the rows of the budget add up; other releases of the same records add their ε"
POST_PROCESSING = "all that is shown or computed of the release is made from its noisy values alone"
CENTRAL = "a trusted curator holds the records and adds noise before publication"
LATTICE = (
    "Coordinates are integers on a public lattice and counts are integers, as is the noise that is "
    "added to them: no attack on the bits of floating-point noise applies. Randomness is the "
    "operating system's."
)
PRODUCTS = {
    "areas": "noisy counts of records in public areas",
    "flows": "noisy counts of records from one public area to another",
    "points": "noisy counts of records in cells of a map",
    "roads": "noisy counts of {records} on a road network",
    "sequences": "a noisy model of sequences of symbols",
}


def data_use(release: Release) -> dict[str, Any]:
    """An entry for a registry, as plain values; null is for the publisher to fill in.

    The entry of a release that is NOT PRIVATE has no ε, δ, unit or variant: no guarantee holds.
    """
    header = release.header
    known = METHODS.get(header.method)
    private = header.private
    parameters = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    method = f"{header.method} ({parameters})" if parameters else header.method
    mechanisms = sorted({row["mechanism"] for row in header.budget if row.get("mechanism")})
    identity = header.extra.get("release_id")
    letters = unicodedata.normalize("NFKD", header.source.casefold())
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    slug = "-".join(re.findall(r"[a-z0-9]+", plain))
    model = release.kind == "sequences"
    return {
        "url_slug": slug or None,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": header.source or None,
                "data_curators": None,
                "intended_use": None,
                "data_product_type": "Machine learning model" if model else "Summary statistics",
                "data_product_region": _region(release),
                "description": f"{_sentence(_product(release))} {header.guarantee}.",
                "publication_date": None,
                "data_product_sector": None,
            },
            "dp_variant": {
                "variant_name": ("Approximate DP" if header.delta else "Pure DP")
                if private
                else None,
                "data_domain": _domain(release),
                "unprotected_quantities": _sentence(NOT_HIDDEN)
                if private
                else "Everything: NOT PRIVATE.",
            },
            "privacy_loss": {
                "privacy_unit": header.unit if private else None,
                "privacy_unit_details": _sentence(header.neighbouring) if private else None,
                "privacy_parameters": {
                    "epsilon": header.epsilon if private else None,
                    "delta": (header.delta or None) if private else None,
                    "rho": header.extra.get("rho") if private else None,
                },
                "privacy_parameters_details": _budget(header)
                if private
                else f"{header.guarantee}.",
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": _sentence(CENTRAL),
                "actors": f"The curator is trusted with the records. They are hidden from {FROM}."
                if private
                else "Nothing is hidden.",
                "release_type": "One release",
                "release_type_details": _sentence(COMPOSITION),
                "data_source_type": "Static",
                "data_source_type_details": "One release of the records as they were.",
                "access_type": "Non-interactive",
                "access_type_details": "Answers are computed from the release; asking costs "
                "nothing more.",
            },
            "accounting": {
                "post_processing": _sentence(POST_PROCESSING),
                "composition": _sentence(COMPOSITION),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": None,
                "mechanisms": f"{'; '.join(mechanisms) or 'none'}. Method: {method}. {LATTICE} "
                "Made by dpviz.",
                "justification": None,
            },
            "administrative": {
                "sources": known.paper if known else None,
                "notes": f"Release {identity}." if identity else None,
                "registry_authors": None,
            },
        },
    }


def _product(release: Release) -> str:
    """Name of the published product; for roads it says whether trips or events are counted."""
    return PRODUCTS[release.kind].format(records=getattr(release, "records", "records"))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _region(release: Release) -> str | None:
    """The public box; the publisher fills in its name."""
    domain = domain_of(release)
    if domain is None:
        return None
    return f"{limits_text(domain.without_time.bounds)} ({domain.without_time.crs})"


def _domain(release: Release) -> str:
    """Describe the records that could have been in the data."""
    domain = domain_of(release)
    if domain is None:
        return f"Any records of {release.kind}, of the public alphabet or network of the release."
    columns = ", ".join(axis_names(domain))
    return f"Any records of {columns} inside the public box; others are left out."


def _budget(header: Header) -> str:
    """The rows of the budget in words."""
    rows = "; ".join(f"ε = {row['epsilon']:.4g} for {row['purpose']}" for row in header.budget)
    return _sentence(rows) if rows else ""


def sentences(release: Release) -> tuple[str, ...]:
    """Data-use statement in plain words: protected unit, adversary, ε."""
    header = release.header
    if not header.private:
        return statement(header)
    return (
        f"This release is {_product(release)}, made from the data set "
        f"{header.source or 'of its publisher'}.",
        f"It hides {header.unit} from {FROM}; its neighbouring relation: {relation(header)}.",
        *([header.weaker] if header.weaker else []),
        *statement(header)[1:],
    )
