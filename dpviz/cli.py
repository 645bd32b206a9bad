"""The command line: thin commands over the functions of the package."""

import typer

app = typer.Typer(no_args_is_help=True)


def main() -> None:
    """Entry point."""
    app()
