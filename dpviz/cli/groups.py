"""Groups of options: a command takes one object for each group that it shares with others."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from dpviz.errors import ParameterError


def option(help: str, *names: str, default: Any = None, **limits: Any) -> Any:  # noqa: A002 - typer's own word
    """A field that is an option, by default of its name; ``MISSING`` for one that must be given."""
    return dataclasses.field(default=default, metadata={"help": help, "names": names, **limits})


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are groups stand for the options in them.

    Below the decorator that registers the command; a group is a dataclass of :func:`option` and of
    other groups. Python itself refuses two options of one name.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters = signature.parameters.values()
    groups = {each.name: each.annotation for each in parameters if _is_group(each.annotation)}
    options: list[inspect.Parameter] = []
    for each in parameters:
        options += _options(each.annotation) if each.name in groups else [each]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        objects = {name: _filled(group, values) for name, group in groups.items()}
        command(**values, **objects)

    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in options]
    run.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in named}
    del run.__wrapped__
    return run


def given(*groups: Any) -> dict[str, Any]:
    """The options of groups that have another value than by default, by name."""
    values: dict[str, Any] = {}
    for group in groups:
        for field in dataclasses.fields(group):
            value = getattr(group, field.name)
            if dataclasses.is_dataclass(value):
                values |= given(value)
            elif value != field.default:
                values[field.name] = value
    return values


def require_fit(what: str, options: Mapping[str, Any], takes: Mapping[str, str]) -> None:
    """Refuse an option that would be left aside.

    Args:
        what: the kind of data or release.
        options: those that are given, by name.
        takes: by kind, the names of its options between spaces.

    Raises:
        ParameterError: one is not for this kind.
    """
    for name in options:
        fitting = [kind for kind, names in takes.items() if name in names.split()]
        if what not in fitting:
            use = f"is for {' and '.join(fitting)}, not" if fitting else "is not"
            raise ParameterError(f"--{name.replace('_', '-')} {use} for {what}: leave it out")


_is_group = dataclasses.is_dataclass


def _options(group: Any) -> list[inspect.Parameter]:
    """The parameters that stand for a group, those of groups in it included."""
    options: list[inspect.Parameter] = []
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        hint, settings = hints[field.name], dict(field.metadata)
        if _is_group(hint):
            options += _options(hint)
            continue
        if settings:
            names = settings.pop("names")
            if not any(each.startswith("--") for each in names):
                names = (f"--{field.name.replace('_', '-')}", *names)
            hint = Annotated[hint, typer.Option(*names, **settings)]
        missing = field.default is dataclasses.MISSING
        default = inspect.Parameter.empty if missing else field.default
        kind = inspect.Parameter.KEYWORD_ONLY
        options.append(inspect.Parameter(field.name, kind, default=default, annotation=hint))
    return options


def _filled(group: Any, values: dict[str, Any]) -> Any:
    """A group with its values, which are taken out of all of them."""
    filled = {
        name: _filled(hint, values) if _is_group(hint) else values.pop(name)
        for name, hint in get_type_hints(group).items()
    }
    return group(**filled)
