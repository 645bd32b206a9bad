"""An entry of the Differential Privacy Deployments Registry, as its public schema has it.

The fields, their order and the words they allow are those of ``schemas/deployments-schema.yaml`` of
https://github.com/opendp/deployments-registry-data (version of 15 July 2026, after P. Nanayakkara,
E. Ghazi, S. Vadhan, arXiv:2509.13509). No other field is allowed, there or here. None is for the
publisher to fill in. pydantic is slow to import: this module is imported where it is used.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Names = Annotated[list[str], Field(min_length=1)]
ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"


class Fields(BaseModel):
    """A part of an entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Basic(Fields):
    """Name, curators, use and type of the data product."""

    name: str | None
    data_curators: Names | None
    intended_use: str | None
    data_product_type: Literal[
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    ]
    data_product_region: str | None
    description: str
    publication_date: Annotated[str, Field(pattern=ISO_DATE)] | None
    data_product_sector: (
        Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"] | None
    ) = None


class Variant(Fields):
    """Definition of differential privacy, and the data that it covers."""

    variant_name: (
        Literal["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"] | None
    )
    data_domain: str
    unprotected_quantities: str


class Parameters(Fields):
    """Numbers; which of them depends on the variant."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None


class PrivacyLoss(Fields):
    """Privacy unit and privacy parameters."""

    privacy_unit: str | None
    privacy_unit_details: str | None
    privacy_parameters: Parameters
    privacy_parameters_details: str


class DeploymentModel(Fields):
    """Trust model, actors, and the types of release, data source and access."""

    model_name: Literal["Local", "Central", "Shuffle", "Federated", "Varies"]
    model_name_details: str
    actors: str
    release_type: Literal["One release", "Many releases"]
    release_type_details: str
    data_source_type: Literal["Static", "Dynamic"]
    data_source_type_details: str
    access_type: Literal["Interactive", "Non-interactive"]
    access_type_details: str


class Accounting(Fields):
    """Post-processing, and composition of privacy losses."""

    post_processing: str
    composition: str


class Implementation(Fields):
    """Preprocessing, and mechanisms with their justification."""

    preprocessing_and_hyperparameter_tuning: str | None
    mechanisms: str
    justification: str | None


class Administrative(Fields):
    """Sources, notes and authors of the entry."""

    sources: str | None = None
    notes: str | None = None
    registry_authors: Names | None


class Deployment(Fields):
    """The deployment itself."""

    basic: Basic
    dp_variant: Variant
    privacy_loss: PrivacyLoss
    deployment_model: DeploymentModel
    accounting: Accounting
    implementation: Implementation
    administrative: Administrative


class RegistryEntry(Fields):
    """One entry, a draft of the highest tier."""

    url_slug: str | None
    status: Literal[
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
    ] = "Draft"
    tier: Literal[1, 2, 3] = 3
    deployment: Deployment
