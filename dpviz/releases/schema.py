"""The typed header of a release's file: checked before anything is made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from dpviz.domain.attributes import MOST_KINDS
from dpviz.errors import ReleaseError
from dpviz.sequences.alphabet import MOST_SYMBOLS
from dpviz.sequences.model import LONGEST

Word = Annotated[str, Field(max_length=1_000)]
Text = Annotated[str, Field(max_length=10_000)]
Positive = Annotated[FiniteFloat, Field(gt=0)]
NotNegative = Annotated[FiniteFloat, Field(ge=0)]
Lengths = Annotated[list[NotNegative], Field(min_length=1, max_length=LONGEST)]
Limits = Annotated[list[FiniteFloat], Field(min_length=1, max_length=4)]


class Strict(BaseModel):
    """Values of the stated types only; further fields, of later versions, stay."""

    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())


class BudgetEntry(Strict):
    """One row of the budget breakdown."""

    purpose: Text
    epsilon: NotNegative
    delta: NotNegative = 0.0
    mechanism: Text = ""
    theorem: Text = ""


class Common(Strict):
    """What the header of every kind holds."""

    method: Word
    parameters: dict[Word, Any]
    private: bool
    guarantee: Text
    epsilon: Positive
    delta: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.0
    neighbouring: Text = "add or remove one record"
    unit: Text = "one record"
    budget: Annotated[list[BudgetEntry], Field(max_length=100_000)] = []
    source: Text = ""
    noise: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class KindsEntry(Strict):
    """A public list of kinds."""

    column: Word
    names: Annotated[list[Word], Field(min_length=1, max_length=MOST_KINDS)]


class ValuesEntry(Strict):
    """A public clip of values and their grid."""

    model_config = ConfigDict(strict=True, extra="forbid")

    column: Word
    low: FiniteFloat
    high: FiniteFloat
    grid: Positive


class TimeEntry(Strict):
    """The axis of time of a public domain."""

    step: NotNegative
    zone: Word = "UTC"
    cycle: Literal["day", "week"] | None = None
    span: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)] | None = None
    hour_worth: Positive | None = None


class DomainEntry(Strict):
    """A public domain."""

    lower: Limits
    upper: Limits
    columns: Annotated[list[Word], Field(min_length=1, max_length=4)]
    crs: Text
    bits: Annotated[int, Field(ge=1, le=62)]
    time: TimeEntry | None = None
    kinds: KindsEntry | None = None
    values: ValuesEntry | None = None


class PointHeader(Common):
    """Header of a release of points."""

    kind: Literal["points"]
    domain: DomainEntry


class RoadExtra(Strict):
    """What a method on roads learnt privately."""

    limit: Annotated[int, Field(ge=0)] | None = None
    max_length: Annotated[int, Field(ge=0)] | None = None
    kept: FiniteFloat | None = None
    lengths: list[FiniteFloat] = []
    of_steps: Annotated[list[dict[Word, Any]], Field(max_length=1_000)] = []
    counted: Literal["trips", "events"] = "trips"


class RoadTime(Strict):
    """The steps of time of a release of trips."""

    column: Word
    period: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]
    every: Annotated[str, Field(max_length=20)]
    zone: Word = "UTC"
    cycle: Literal["day", "week"] | None = None
    span: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)] | None = None


class RoadHeader(Common):
    """Header of a release of trips along roads."""

    kind: Literal["roads"]
    time: RoadTime | None = None
    crs: Text = ""
    extra: RoadExtra = RoadExtra()  # type: ignore[assignment]
    directed: bool = False  # files before directed graphs say nothing


class SequenceHeader(Common):
    """Header of a release of sequences."""

    kind: Literal["sequences"]
    alphabet: Annotated[list[Word], Field(min_length=1, max_length=MOST_SYMBOLS)]
    follows: str | None = None
    model: Literal["contexts", "trips", "grams", "ranking"] = "contexts"  # all older files hold
    lengths: Annotated[list[Lengths], Field(max_length=LONGEST)] = []  # of trips
    ruled: bool = False
    variance: NotNegative = 0.0
    root_variance: NotNegative | None = None  # of contexts whose root was measured beside


class AreaHeader(Common):
    """Header of a release of areas."""

    kind: Literal["areas"]
    domain: DomainEntry
    levels: Annotated[list[Word], Field(min_length=1, max_length=16)]
    resolution: Annotated[int, Field(ge=0, le=15)] | None = None


HEADERS: TypeAdapter[PointHeader | RoadHeader | SequenceHeader | AreaHeader] = TypeAdapter(
    Annotated[PointHeader | RoadHeader | SequenceHeader | AreaHeader, Field(discriminator="kind")]
)


def checked(stated: dict[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """The kind of a release and its header's fields, each of the stated type.

    Args:
        stated: the header as it was read.
        name: of the file, for messages.

    Raises:
        ReleaseError: a field that is missing, of another type or out of range; the place is named.
    """
    try:
        header = HEADERS.validate_python(stated)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"][1:] or first["loc"])[:80] or "kind"
        raise ReleaseError(f"{name}: the header is damaged at {place!r}: {first['msg']}") from None
    fields = header.model_dump(exclude_unset=True)
    return fields.pop("kind"), fields
