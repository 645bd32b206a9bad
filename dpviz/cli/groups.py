"""Groups of options: a command takes one object for each group that it shares with others."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from dpviz.errors import ParameterError


def option(*names: str, default: Any = None, help: str, **limits: Any) -> Any:  # noqa: A002 - typer's own word
    """A field of a group that is an option; ``MISSING`` for one that must be given."""
    return dataclasses.field(
        default=default, metadata={"option": typer.Option(*names, help=help, **limits)}
    )


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are groups stand for the options in them.

    Below the decorator that registers the command; a group is a dataclass of :func:`option` and of
    other groups.

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
        objects = {name: _filled(group, values) for name, group in groups.items()}
        command(**values, **objects)

    run.__signature__ = signature.replace(parameters=list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in options.items()}
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


def _options(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from _options(hint)
            continue
        if "option" in field.metadata:
            hint = Annotated[hint, field.metadata["option"]]
        none = field.default is dataclasses.MISSING
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if none else field.default,
            annotation=hint,
        )


def _filled(group: Any, values: dict[str, Any]) -> Any:
    """A group with its values, which are taken out of all of them."""
    hints = get_type_hints(group)
    return group(
        **{
            field.name: _filled(hints[field.name], values)
            if dataclasses.is_dataclass(hints[field.name])
            else values.pop(field.name)
            for field in dataclasses.fields(group)
        }
    )
