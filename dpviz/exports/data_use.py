"""The data-use statement: what is hidden, from whom, at which ε; in words, and for a registry.

The fields follow the proposals for public registries of deployments of differential privacy (C.
Dwork, N. Kohli, D. Mulligan: Differential Privacy in Practice: Expose Your Epsilons! JPC 9(2),
2019; P. Nanayakkara, E. Ghazi, S. Vadhan, arXiv:2509.13509). Everything is from the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.exports.facts import statement

if TYPE_CHECKING:
    from dpviz.releases.header import Header
    from dpviz.releases.release import Release

FROM = "everyone who sees the release, whatever else they know"
NOT_HIDDEN = "the public domain, the method and its parameters, and that there are such records"
COMPOSITION = "the rows of the budget add up; other releases of the same records add their ε"
POST_PROCESSING = "all that is shown or computed of the release is made from its noisy values alone"
PRODUCTS = {
    "areas": "noisy counts of records in public areas",
    "points": "noisy counts of records in cells of a map",
    "roads": "noisy counts of events on a road network",
    "sequences": "a noisy model of sequences of symbols",
}


def data_use(release: Release) -> dict[str, Any]:
    """An entry for a registry; null is for the publisher to fill in.

    A release that is NOT PRIVATE has no ε, δ and relation here: it guarantees nothing.
    """
    from dpviz.methods import METHODS

    header = release.header
    known = METHODS.get(header.method)
    domain = getattr(release, "domain", None)
    private = header.private
    return {
        "name": header.source or None,
        "publisher": None,
        "contact": None,
        "intended_use": None,
        "published": None,
        "prior_access_to_records": None,
        "data_set": header.source or None,
        "data_product": PRODUCTS[release.kind],
        "area": None if domain is None else list(domain.place.bounds),
        "crs": None if domain is None else domain.crs,
        "private": private,
        "guarantee": header.guarantee,
        "definition": definition(header),
        "model": "central: a trusted curator adds noise before publication",
        "epsilon": header.epsilon if private else None,
        "delta": header.delta if private else None,
        "relation": header.neighbouring if private else None,
        "privacy_unit": header.unit if private else None,
        "hidden_from": FROM if private else "nobody",
        "not_hidden": NOT_HIDDEN if private else None,
        "method": header.method,
        "parameters": dict(header.parameters),
        "mechanisms": sorted({row["mechanism"] for row in header.budget if row.get("mechanism")}),
        "budget": [{"purpose": row["purpose"], "epsilon": row["epsilon"]} for row in header.budget],
        "composition": COMPOSITION if private else None,
        "post_processing": POST_PROCESSING,
        "reference": known.paper if known else None,
        "release_id": header.extra.get("release_id"),
        "software": "dpviz",
    }


def definition(header: Header) -> str:
    """Which definition of differential privacy a release fulfils."""
    if not header.private:
        return "none"
    return "approximate differential privacy" if header.delta else "pure differential privacy"


def sentences(release: Release) -> tuple[str, ...]:
    """The statement in plain words: what is hidden, from whom, at which ε."""
    header = release.header
    if not header.private:
        return statement(header)
    return (
        f"This release is {PRODUCTS[release.kind]}, made from the data set "
        f"{header.source or 'of its publisher'}.",
        f"It hides {header.unit} from {FROM}.",
        *statement(header)[1:],
    )
