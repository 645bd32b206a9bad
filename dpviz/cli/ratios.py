"""The command that sums up evaluations: every method's error as a share of one method's."""

from __future__ import annotations

from typing import Annotated

import typer

from dpviz.cli.root import Json, app, emit


@app.command()
def ratios(
    files: Annotated[list[str], typer.Argument(help="CSV files of 'dpviz evaluate'.")],
    against: Annotated[str, typer.Option(help="The method that counts as 1.")] = "privtree",
    as_json: Json = False,
) -> None:
    """Geometric means of (mean relative error / that of one method) over evaluations."""
    from dpviz.evaluation.ratios import error_ratios, means, table

    by_method = error_ratios(files, against)
    emit({"against": against, "ratios": means(by_method)}, as_json, table(by_method))
