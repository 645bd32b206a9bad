"""Commands that keep one's own base map: a public file below every map of this installation."""

from __future__ import annotations

from typing import Annotated

import typer

from dpviz.cli.root import app

basemap = typer.Typer(no_args_is_help=True, help="Keep your own base map below every map.")
app.add_typer(basemap, name="basemap")


@basemap.command("set")
def set_basemap(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Public file (.geojson, .gpkg, .parquet).")
    ],
) -> None:
    """Copy a public file of streets, water and places: the app and exports draw it.

    Where it shows nothing, maps keep the bundled ground.
    """
    from dpviz.render.basemap_file import install

    typer.echo(f"Maps now show {install(file)}.")


@basemap.command("clear")
def clear_basemap() -> None:
    """Delete the copy: maps show the bundled ground again."""
    from dpviz.render.basemap_file import uninstall

    uninstall()
    typer.echo("Maps now show the bundled ground.")
