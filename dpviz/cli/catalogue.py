"""Commands that list the methods and the built-in data sets."""

from __future__ import annotations

import dataclasses
from typing import Any

import typer

from dpviz.cli.root import Json, app, emit

datasets = typer.Typer(no_args_is_help=True, help="List the built-in data sets.")
app.add_typer(datasets, name="datasets")


@app.command()
def methods(as_json: Json = False) -> None:
    """List all methods: data, guarantee, parameters, paper."""
    from dpviz.methods import METHODS

    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "kind": cls.kind,
            "title": cls.title,
            "guarantee": cls.guarantee,
            "dimensions": list(cls.dims),
            "parameters": {
                field.name: describe(field) for field in cls.parameter_fields().values()
            },
            "aliases": sorted(cls.presets),
            "paper": cls.paper,
            "advice": cls.advice,
        }
        for name, cls in sorted(METHODS.items(), key=lambda item: (item[1].kind, item[0]))
    ]
    cells = [
        (
            row["name"],
            row["guarantee"].replace("none", "NOT PRIVATE"),
            "/".join(map(str, row["dimensions"])) + "-D" if row["dimensions"] else row["kind"],
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        + f"  {row['paper']}"
        for line, row in zip(cells, rows, strict=True)
    ]
    emit({"methods": rows}, as_json, "\n".join(lines))


def describe(field: dataclasses.Field[Any]) -> dict[str, Any]:
    """A parameter as plain values: default, limits, choices, help."""
    limits = field.metadata["parameter"]
    return {
        "type": str(field.type).removesuffix(" | None"),
        "default": field.default,
        "low": limits.low,
        "high": limits.high,
        "choices": list(limits.choices),
        "optional": limits.optional,
        "help": limits.help,
    }


@datasets.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List the built-in data sets."""
    from dpviz.datasets import DATASETS

    rows = [
        {
            "name": name,
            "title": each.title,
            "records": each.size,
            "dimensions": each.domain.dims,
            "bounds": list(each.domain.bounds),
            "public": each.public,
            "licence": each.licence,
            "source": each.source,
        }
        for name, each in DATASETS.items()
    ]
    lines = [
        f"{row['name']:<18}{row['records']:>10,} records  {row['dimensions']}-D  {row['title']} "
        f"({row['source']})"
        for row in rows
    ]
    emit({"datasets": rows}, as_json, "\n".join(lines))
