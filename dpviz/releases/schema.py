"""The typed header of a release file, checked before the release is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
)

from dpviz.domain.attributes import MAX_KINDS
from dpviz.errors import ReleaseError
from dpviz.releases.header import SCHEMA
from dpviz.sequences.alphabet import MAX_SYMBOLS

Word = Annotated[str, Field(max_length=1_000)]
Text = Annotated[str, Field(max_length=10_000)]
Positive = Annotated[FiniteFloat, Field(gt=0)]
NotNegative = Annotated[FiniteFloat, Field(ge=0)]
Limits = Annotated[list[FiniteFloat], Field(min_length=1, max_length=4)]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
LARGEST = 1e300
"""Bound of a parameter's size: its neighbours are still floats."""
Period = Annotated[list[Word], Field(min_length=2, max_length=2)]
Ends = Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]


def _plain(value: Any) -> Any:
    """A parameter value: finite number, text, boolean, None, or a list of these."""
    for each in value if isinstance(value, list) else [value]:
        if not (
            isinstance(each, str | None)
            or (isinstance(each, int | float) and -LARGEST < each < LARGEST)
        ):
            raise ValueError("Input should be a number, a text or a list of them")
    return value


Parameter = Annotated[Any, AfterValidator(_plain)]


class Strict(BaseModel):
    """A schema that refuses unknown fields and other types."""

    model_config = ConfigDict(strict=True, extra="forbid", protected_namespaces=())


class BudgetEntry(Strict):
    """One row of the budget breakdown."""

    purpose: Text
    epsilon: NotNegative
    delta: NotNegative = 0.0
    mechanism: Text = ""
    theorem: Text = ""


class Extra(BaseModel):
    """Extra header fields of every kind of release; methods add more."""

    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())

    records: Text = ""
    ledger: Text = ""
    release_id: Word = ""
    promises: list[Text] = []


class Common(Strict):
    """Header fields of every kind of release."""

    version: Literal[2] = Field(alias="schema", exclude=True)  # SCHEMA
    method: Word
    parameters: dict[Word, Parameter]
    private: bool
    guarantee: Text
    epsilon: Positive
    delta: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.0
    neighbouring: Text = "add or remove one record"
    unit: Text = "one record"
    budget: Annotated[list[BudgetEntry], Field(max_length=100_000)] = []
    source: Text = ""
    noise: dict[Word, Parameter] = {}
    extra: Extra = Extra()


class KindsEntry(Strict):
    """A public list of kinds."""

    column: Word
    names: Annotated[list[Word], Field(min_length=1, max_length=MAX_KINDS)]


class ValuesEntry(Strict):
    """A public clip of values and their grid."""

    column: Word
    low: FiniteFloat
    high: FiniteFloat
    grid: Positive


class Clock(Strict):
    """The notation of times."""

    zone: Word = "UTC"
    cycle: Literal["day", "week"] | None = None
    span: Ends | None = None


class TimeEntry(Clock):
    """The axis of time of a public domain."""

    step: NotNegative


class StepsEntry(Clock):
    """The time steps of a release that is split by them."""

    column: Word
    period: Ends
    every: Annotated[str, Field(max_length=20)]


class DomainEntry(Strict):
    """A public domain."""

    lower: Limits
    upper: Limits
    columns: Annotated[list[Word], Field(min_length=1, max_length=4)]
    crs: Text
    bits: Annotated[int, Field(ge=1, le=62)]
    time: TimeEntry | None = None
    values: ValuesEntry | None = None


class WorkloadEntry(Strict):
    """A declared workload of rectangles."""

    name: Word
    side: NotNegative | None = None


PriorFit = Annotated[list[NotNegative], Field(min_length=4, max_length=4)]


class PriorEntry(Strict):
    """A public prior: kind, hash, weights; of each tree and level whether used, a, misfit, gain."""

    kind: Literal["points", "cells", "polygons", "release", "land"]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    weight: Word | None = None
    fits: list[Annotated[list[PriorFit], Field(max_length=64)]] = []


class MapExtra(Extra):
    """Extra header fields of points and areas: workload, and part of a larger release."""

    prior: PriorEntry | None = None

    bits: Annotated[int, Field(ge=1, le=62)] | None = None
    workload: WorkloadEntry | None = None
    period: Period | None = None
    marginal: list[Word] | None = None
    counts: Literal["persons"] | None = None
    slots: Annotated[int, Field(ge=1)] = 1
    weighted: bool = False
    mechanism: Word = ""
    asked_delta: Share = 0.0
    scale_squared: NotNegative = 0.0
    rho: NotNegative = 0.0
    kind: Word | None = None


class CountHeader(Common):
    """Header fields of every release of counts: the axis along which it is split."""

    kinds: KindsEntry | None = None
    time: StepsEntry | None = None


class PointHeader(CountHeader):
    """Header of a release of points."""

    kind: Literal["points"]
    domain: DomainEntry
    extra: MapExtra = MapExtra()


class StepExtra(Extra):
    """Values that a road method learnt with privacy, for all trips or for one step."""

    limit: Count = 0
    max_length: Count = 0
    kept: FiniteFloat = 1.0
    lengths: list[FiniteFloat] = []
    factors: list[FiniteFloat] = []
    smoothing: Share = 0.0


class RoadExtra(StepExtra):
    """Extra header fields of a release of trips or events on streets."""

    of_steps: Annotated[list[StepExtra], Field(max_length=1_000)] = []
    counted: Literal["trips", "events"] = "trips"
    columns: list[Word] = []
    drop_unknown: bool = False
    workload: Word = ""
    period: Period | None = None


class RoadHeader(CountHeader):
    """Header of a release of trips along roads."""

    kind: Literal["roads"]
    crs: Text = ""
    extra: RoadExtra = RoadExtra()
    directed: bool


class SessionEntry(Strict):
    """Parameters that made places into sequences: time column, session gap in hours."""

    time: Word = ""
    gap: Positive = 12.0


class SequenceExtra(Extra):
    """Extra header fields of sequences: reading options, and the cells of their symbols."""

    column: Word = ""
    drop_unknown: bool = False
    session: SessionEntry = SessionEntry()
    cells: dict[Word, Any] = {}


class SequenceHeader(Common):
    """Header of a release of sequences."""

    kind: Literal["sequences"]
    alphabet: Annotated[list[Word], Field(min_length=1, max_length=MAX_SYMBOLS)]
    follows: str | None = None
    model: Literal["contexts", "grams", "ranking"]
    ruled: bool = False
    variance: NotNegative = 0.0
    root_variance: NotNegative | None = None  # contexts with a separately measured root
    extra: SequenceExtra = SequenceExtra()


class AreaHeader(CountHeader):
    """Header of a release of areas."""

    kind: Literal["areas"]
    domain: DomainEntry
    levels: Annotated[list[Word], Field(min_length=1, max_length=16)]
    resolution: Annotated[int, Field(ge=0, le=15)] | None = None
    extra: MapExtra = MapExtra()


class AreasEntry(Strict):
    """Public areas of a release of flows."""

    domain: DomainEntry
    levels: Annotated[list[Word], Field(min_length=1, max_length=16)]
    resolution: Annotated[int, Field(ge=0, le=15)] | None = None


class FlowExtra(MapExtra):
    """Extra header fields of flows: the columns that were read as their ends."""

    columns: list[Word] = []


class FlowHeader(AreasEntry, CountHeader):
    """Header of a release of flows: the areas of origin, and those of destination."""

    kind: Literal["flows"]
    to: AreasEntry | None = None
    extra: FlowExtra = FlowExtra()


AnyHeader = PointHeader | RoadHeader | SequenceHeader | AreaHeader | FlowHeader
HEADERS: TypeAdapter[AnyHeader] = TypeAdapter(Annotated[AnyHeader, Field(discriminator="kind")])


def checked(packed: bytes, name: str) -> tuple[str, dict[str, Any]]:
    """Check the types of all header fields; return the release kind and the fields.

    ``packed``: the header, JSON. Raises ReleaseError: no JSON, another schema, or a field that is
    unknown, missing, of another type or out of range; the place is named.
    """
    try:
        header = HEADERS.validate_json(packed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"][1:]))[:80] or "kind"
        if place == "schema" and type(first["input"]) is int:
            raise ReleaseError(
                f"{name}: schema {first['input']:.4g}, this version reads {SCHEMA}: update dpviz, "
                "or build it again"
            ) from None
        why = " ".join(first["msg"].split()).removeprefix("Value error, ")[:200]
        raise ReleaseError(f"{name}: the header is damaged at {place!r}: {why}") from None
    fields = header.model_dump(exclude_unset=True)
    if "budget" in fields:
        fields["budget"] = [row.model_dump() for row in header.budget]  # with the default values
    return fields.pop("kind"), fields
