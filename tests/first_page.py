"""The page that a newcomer's browser shows before the app is there: the demo, as the app shows it.

``uv run python -m tests.first_page`` writes it, from a run of the app.
"""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from dpviz.exports.pack import Packer, base64_of, compressed
from dpviz.files.arrow import number_array, numbers, tuples
from dpviz.render.cells import ALWAYS, ZOOM_STEPS, adaptive, density_scale, domain_bounds, home_zoom
from dpviz.render.detail import QUIET
from dpviz.ui.first_paint import DEMO
from dpviz.ui.map.component import TILES
from dpviz.ui.shared.navigation import page_modules

PAGE = """\
<template id="dpviz-first" data-page="{title}">
<nav>{links}</nav>
<main>
<h1>{title}</h1>
<section>
<div><p>{welcome}</p><button data-for=".st-key-explore-tour-close button">Close</button></div>
<div>{steps}</div>
</section>
<p><span class="badge">{badge}</span></p>
<div class="columns"><div class="map"></div><aside>{hint}</aside></div>
<div class="figures">{figures}</div>
</main>
</template>
<script type="application/json" id="dpviz-first-scene">{scene}</script>
<script type="text/plain" id="dpviz-first-columns">"""

SCRIPT = Path(__file__).parents[1] / "dpviz" / "ui" / "shared" / "script.py"
PLACES = 7
"""Decimals of degrees and of units of the map, a thousandth of a pixel: the last bits of a
coordinate are not the same on all machines."""
NEARER = 0.2
"""Zooms beyond that of a usual map for which its cells come along."""


def demo():
    """The app as a newcomer finds it."""
    app = AppTest.from_file(str(SCRIPT), default_timeout=60).run()
    assert not app.exception
    return app


def few_cells(mark, release):
    """The cells that are seen where the whole domain is, each with the middle of its class."""
    detail, scale = adaptive(release), density_scale(release)
    classes = scale.classes(detail.total / detail.km2)
    since, until = (number_array(mark.table[name]) for name in ("since", "until"))
    limit = (home_zoom(domain_bounds(release.domain)) + NEARER) * ZOOM_STEPS
    rows = np.flatnonzero((detail.kind < QUIET) & (classes >= 0) & (since <= limit))
    middles = np.append(np.diff(scale.bounds) / 2 + scale.bounds[:-1], 2 * scale.bounds[-1])
    bounds = number_array(mark.table["bounds"].combine_chunks().values).reshape(-1, 4)[rows]
    last = np.where(until[rows] > limit, ALWAYS, until[rows])  # its own cells do not come along
    table = pa.table(
        {
            "bounds": tuples(np.round(bounds, PLACES - 1).astype(np.float32)),
            "density": numbers(middles[classes[rows]].astype(np.float32)),
            "since": numbers(since[rows].astype(np.uint8)),
            "until": numbers(last.astype(np.uint8)),
        }
    )
    layer = mark.layer
    layer.fixed, layer.pickable = True, False
    bind = {f"get{name.title()}": name for name in table.column_names}
    return replace(mark, layer=layer, table=table, bind=bind, rows=())


def coarse(value):
    """Floats of JSON to so many digits."""
    if isinstance(value, dict):
        return {name: coarse(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [coarse(each) for each in value]
    return round(value, PLACES) if isinstance(value, float) else value


def carried(release, scene):
    """The scene as JSON, and the bytes of its columns."""
    cells, *ground = scene.marks
    scene = replace(scene, marks=[few_cells(cells, release), *ground])
    packer = Packer()
    for name, table in scene.tables.items():
        for column in table.column_names:
            values = table[column].combine_chunks()
            if pa.types.is_list(values.type) and pa.types.is_fixed_size_list(values.values.type):
                flat = np.round(number_array(values.values.values), PLACES).reshape(-1, 2)
                packer.add(f"{name}.{column}", flat, number_array(values.offsets))
            else:
                packer.add_tables({name: table.select([column])})
    spec = scene.to_dict() | {"key": "explore.map", "height": 560, "tiles": TILES}
    return coarse(spec | {"columns": packer.index}), packer.block()


def plain(markdown):
    """A line of Markdown as HTML, without its icons."""
    bare = re.sub(r"\\(\W)", r"\1", re.sub(r":material/\w+: ?", "", markdown))
    text = escape(bare, quote=False)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)


def page(app):
    """The HTML, and the bytes of the columns that it carries."""
    (_, (release, _)), scene = app.session_state["explore.scene"]
    spec, block = carried(release, scene)
    marked = [each.value for each in app.markdown]
    badge = next(each for each in marked if "badge[" in each)
    head = next(each for each in marked if "Draw a rectangle or" in each)
    steps = "".join(f"<p>{plain(each)}</p>" for each in marked if each.startswith(":material/"))
    hints = [each.value for each in app.caption if each.value.startswith("Press ▭")]
    ways = zip(("mouse", "finger"), hints, strict=True)
    learn = next(each.label for each in app.button if each.label.startswith("**Open Learn"))
    first, *others = page_modules()
    paths = [(each.TITLE, each.__name__.rsplit(".", 1)[-1]) for each in others]
    fields = {
        "title": app.title[0].value,
        "links": "".join(
            f'<a href="./{path}">{name}</a>' for name, path in [(first.TITLE, ""), *paths]
        ),
        "welcome": plain(marked[0]),
        "steps": f'{steps}<a href="./learn">{plain(learn)}</a>',
        "badge": plain(re.search(r"\[(.+)\]", badge)[1]),
        "hint": f"<p>{plain(head)}</p>"
        + "".join(f'<p class="{pointer}">{plain(hint)}</p>' for pointer, hint in ways),
        "figures": "".join(
            f"<p>{plain(each.label)}<b>{plain(each.value)}</b></p>" for each in app.metric[:4]
        ),
        "scene": json.dumps(spec, separators=(",", ":")),
    }
    return PAGE.format(**fields), block


def contents(html):
    """The page's words, and what its scene says: a property that is empty says nothing."""
    before, mark, rest = html.partition('id="dpviz-first-scene">')
    scene, end, after = rest.partition("</script>")
    return before + mark + end + after, filled(json.loads(scene))


def filled(value):
    """Without what is empty."""
    if isinstance(value, dict):
        return {name: filled(each) for name, each in value.items() if each not in ("", None, False)}
    return [filled(each) for each in value] if isinstance(value, list) else value


def read():
    """The page as it is written: HTML, and the bytes of its columns."""
    html, mark, rest = DEMO.read_text(encoding="utf-8").rpartition('id="dpviz-first-columns">')
    return html + mark, gzip.decompress(b64decode(rest.split("<")[0]))


if __name__ == "__main__":
    html, block = page(demo())
    DEMO.write_text(f"{html}{base64_of(compressed(block))}</script>\n", encoding="utf-8")
