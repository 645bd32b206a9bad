"""``python -m dpviz``: the command, where the folder of scripts is not on the path."""

from dpviz.cli import program

program()
