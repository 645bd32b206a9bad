"""Groups of command options, passed to a command as one object each."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING as MISSING
from typing import Annotated, Any, get_type_hints

import typer

from dpviz.errors import ParameterError


def option(help: str, *names: str, default: Any = None, **limits: Any) -> Any:  # noqa: A002 - typer's own word
    """Declare an option of a command or a group, as the default value of a parameter.

    Args:
        *names: further names, such as ``-o``; the option has its parameter's name too.
        default: default value; :data:`MISSING` makes the option required.
    """
    return dataclasses.field(default=default, metadata={"help": help, "names": names, **limits})


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command from a function whose parameters are options or groups of options.

    Apply it below the decorator that registers the command. A group is a dataclass of options and
    of other groups.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters = signature.parameters.values()
    groups = {each.name: each.annotation for each in parameters if _is_group(each.annotation)}
    options: list[inspect.Parameter] = []
    for each in parameters:
        if each.name in groups:
            options += _options(each.annotation)
        else:
            field = isinstance(each.default, dataclasses.Field)
            options.append(_parameter(each.name, each.annotation, each.default) if field else each)

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
    """Options of groups whose values differ from the defaults, by name."""
    values: dict[str, Any] = {}
    for group in groups:
        for field in dataclasses.fields(group):
            value = getattr(group, field.name)
            if dataclasses.is_dataclass(value):
                values |= given(value)
            elif value != field.default:
                values[field.name] = value
    return values


def require_applicable(what: str, options: Mapping[str, Any], takes: Mapping[str, str]) -> None:
    """Refuse an option that this kind of data or release does not use.

    ``takes``: names of the applicable options, separated by spaces, by kind.
    """
    for name in options:
        fitting = [kind for kind, names in takes.items() if name in names.split()]
        if what not in fitting:
            use = f"is for {' and '.join(fitting)}, not" if fitting else "is not"
            raise ParameterError(f"{flag(name)} {use} for {what}: leave it out")


def flag(name: str) -> str:
    """Flag of an option; a final underscore sets its field apart from a word of Python."""
    return f"--{name.rstrip('_').replace('_', '-')}"


_is_group = dataclasses.is_dataclass


def _options(group: Any) -> list[inspect.Parameter]:
    """Typer parameters of a group, including those of groups in it."""
    options: list[inspect.Parameter] = []
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        hint = hints[field.name]
        options += _options(hint) if _is_group(hint) else [_parameter(field.name, hint, field)]
    return options


def _parameter(name: str, hint: Any, field: Any) -> inspect.Parameter:
    """Typer parameter of one option."""
    settings = dict(field.metadata)
    if settings:
        names = settings.pop("names")
        if len(name) > 1 and not any(each.startswith("--") for each in names):
            names = (flag(name), *names)
        hint = Annotated[hint, typer.Option(*names, **settings)]
    missing = field.default is MISSING
    default = inspect.Parameter.empty if missing else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _filled(group: Any, values: dict[str, Any]) -> Any:
    """Make a group from ``values``, and remove them there."""
    filled = {
        name: _filled(hint, values) if _is_group(hint) else values.pop(name)
        for name, hint in get_type_hints(group).items()
    }
    return group(**filled)
