"""Groups of options: a command takes one object for each group that it shares with others."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer


def option(*names: str, default: Any = None, help: str) -> Any:  # noqa: A002 - typer's own word
    """A field of a group that is an option; ``MISSING`` for one that must be given."""
    return dataclasses.field(default=default, metadata={"option": typer.Option(*names, help=help)})


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are groups stand for the options in them.

    Below the decorator that registers the command; a group is a dataclass of :func:`option`.

    Raises:
        TypeError: two groups have an option of one name.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if dataclasses.is_dataclass(parameter.annotation)
    }
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        for each in _options(groups[name]) if name in groups else (parameter,):
            if each.name in options:
                raise TypeError(f"{command.__name__} has the option {each.name} twice")
            options[each.name] = each.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        objects = {
            name: group(
                **{field.name: values.pop(field.name) for field in dataclasses.fields(group)}
            )
            for name, group in groups.items()
        }
        command(**values, **objects)

    run.__signature__ = signature.replace(parameters=list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in options.items()}
    del run.__wrapped__
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty
            if field.default is dataclasses.MISSING
            else field.default,
            annotation=Annotated[hints[field.name], field.metadata["option"]]
            if "option" in field.metadata
            else hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
