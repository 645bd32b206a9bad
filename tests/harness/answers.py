"""Answers of commands, pages, scenes and notebook cells from stored releases."""

import base64
import gzip
import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from unittest.mock import patch

import dpviz
from tests.harness.releases import path_of

RECTS = [f"--rect={box}" for box in ("14,-24,15,-23", "14.2,-23.9,14.7,-23.3", "14.9,-23.1,15,-23")]
PERIOD, HOURS = "--period=2024-01-02,2024-01-04", "--period=Mon 08:00,Fri 18:00"
PATHS = ["--path=0,1,2", "--path=7", "--between=0,48"]
QUESTIONS = (
    *((("query",), (name, "plain"), RECTS) for name in ("privtree", "ugrid", "dawa", "privelet")),
    (("query",), ("hilbert_rtree", "plain"), RECTS),
    (("query",), ("quadtree", "4-D"), ["--rect=0,0,0,0,1,1,1,1", "--rect=0,0,0.2,0.1,0.5,1,1,0.9"]),
    *((("query",), ("privtree", label), [*RECTS, PERIOD]) for label in ("time", "all")),
    (("query",), ("privtree", "week"), [*RECTS, HOURS]),
    (("timeline",), ("privtree", "time"), [RECTS[1], "--every=1d"]),
    *((("query",), ("ugrid", "kinds"), [*RECTS, *kind]) for kind in ([], ["--kind=car"])),
    (("query",), ("privtree", "sums"), RECTS),
    (("query",), ("privtree", "plain"), ["--regions=wards.geojson", "--name=ward"]),
    (("query",), ("areas", "wards.geojson"), ["--areas"]),
    (("query",), ("areas", "h3:6"), RECTS),
    (("query",), ("event-histogram", "trips"), PATHS),
    (("query",), ("event-histogram", "timed"), [*PATHS, PERIOD]),
    (("query",), ("flows", "events"), PATHS),
    (("timeline",), ("event-histogram", "timed"), PATHS[:1]),
    (("query",), ("markov", "symbols"), ["--string=a,b", "--string=c"]),
    (("topk",), ("ngram", "symbols"), ["-k", "9"]),
    (("next",), ("markov", "symbols"), ["--context=a"]),
    *((("info",), each, []) for each in (("privtree", "all"), ("markov", "places"))),
)
"""Equivalent commands (the first that exists answers), a release, and its options."""

PAGES = (
    [("privtree", "plain")],
    [("privtree", "plain"), ("quadtree", "plain")],
    *([("privtree", label)] for label in ("time", "kinds", "sums")),
    [("areas", "wards.geojson")],
)


def cases():
    for commands, release, options in QUESTIONS:
        name = " ".join((commands[0], *release, *options))
        yield name, partial(printed, commands, path_of(*release), options)
    for releases in PAGES:
        paths = [path_of(*each) for each in releases]
        yield f"page {' and '.join(map(' '.join, releases))}", partial(page, paths)
        if len(releases) == 2 or releases[0][1] == "plain":
            yield f"scene {' and '.join(map(' '.join, releases))}", partial(scene, paths)
    for name, label in (("markov", "places"), ("event-histogram", "trips"), ("privtree", "time")):
        html = partial(lambda path: {"html": dpviz.read(path)._repr_html_()}, path_of(name, label))
        yield f"notebook {name} {label}", html


def run(*words):
    """Exit code and output of a command in this process."""
    from dpviz.cli import main

    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["dpviz", *words]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            return ended.code, out.getvalue() or err.getvalue()


def printed(commands, path, options):
    """Each key of the JSON that a command prints."""
    for command in commands:
        code, text = run(*command.split(), path, *options, "--json")
        if code == 0:
            return json.loads(text)
    return {"refused": text}


def page(paths):
    """Each script of a map in one file, its columns unpacked, and the rest of the page."""
    code, text = run("share", *paths, "-o", "page.html", "--rect=14.2,-23.9,14.7,-23.3")
    if code:
        return {"refused": text}
    html, facts = Path("page.html").read_text(encoding="utf-8"), {}
    for name, inner in re.findall(r'<script id="(\w+)"[^>]*>(.*?)</script>', html, re.DOTALL):
        if name == "columns":
            facts[name] = gzip.decompress(base64.b64decode(inner))
        elif inner.lstrip().startswith("{"):
            facts |= {f"{name}.{key}": value for key, value in json.loads(inner).items()}
    words = re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL)
    return facts | {"page without scripts": words}


def scene(paths):
    """Each key of a scene, and each column of its tables."""
    from dpviz.render.view import release_scene

    shown = release_scene([dpviz.read(path) for path in paths], paths)
    yield from shown.to_dict().items()
    for name, drawn in shown.tables.items():
        for column in drawn.column_names:
            yield f"{name}.{column}", drawn[column].to_pylist()
