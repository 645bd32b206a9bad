"""The client's arithmetic equals the engine's.

Node runs it, or a browser where there is no Node.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest

from dpviz.render import half_width_words, rounded, short, with_noise
from dpviz.render.client.assemble import script
from dpviz.render.numbers import percent_interval, with_interval, within_noise


@pytest.fixture
def evaluated(request):
    """The value of an expression with a program of the client, on some data."""
    node = shutil.which("node")

    def evaluate(program, expression, data):
        if node is None:
            page = request.getfixturevalue("open_file")("<title>no map</title>")
            return page.evaluate(f"data => {{ {script(program)} return {expression}; }}", data)
        code = f"{script(program)}\nconst data = {json.dumps(data)};\n"
        code += f"process.stdout.write(JSON.stringify({expression}));"
        command = [node, "--input-type=module", "-"]
        made = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        assert not made.stderr
        return json.loads(made.stdout)

    return evaluate


def test_numbers_are_rounded_as_those_of_tables(evaluated):
    """Halves went up in the map, to the even digit in tables: 45 ± 50 was 50 here and 40 there.

    And 425.85 ± 1.1 was 425.8 here and 425.9 there: as a float it is more than half way.
    """
    random = np.random.default_rng(4)
    rows = [[n / 2, random.uniform(0.1, 900), random.uniform(0, 50)] for n in range(-600, 600)]
    rows += [[425.85, 1.1, 0.2], [123_456_827, 40, 40], [7, 0, 0], [0.4, 0, 0], [5, 9.6, 99.5]]
    decimals = random.integers(-4, 8, 10_000).tolist()
    for places in decimals:  # many end with 5, where rounding decides
        value = round(random.normal(0, 10 ** (6 - places)), places)
        half, below = (float(f"{each:.2g}") for each in random.exponential(10.0**-places, 2))
        rows.append([value, 10 * half, below])
    mine = evaluated(
        "answer/numbers.js",
        "data.map(([v, h, d]) => [withNoise(v, h), withinNoise(withNoise(v, h)), roundedTo(v, h), "
        "halfWidthWords(h), short(v), withInterval(v, v - d, v + h), "
        "percentInterval(v / 1e3, (v - d) / 1e3, (v + h) / 1e3)])",
        rows,
    )
    for (value, half, below), words in zip(rows, mine, strict=True):
        ends = value, value - below, value + half
        assert words == [
            with_noise(value, half),
            within_noise(with_noise(value, half)),
            rounded(value, half),
            half_width_words(half),
            short(value),
            with_interval(*ends),
            percent_interval(*(each / 1e3 for each in ends)),
        ]


def test_a_place_beyond_the_map_is_at_its_edge(evaluated):
    """At 90° there is no such place: the view was infinite."""
    size = "{width: 1300, height: 450, padding: {top: 9, right: 9, bottom: 9, left: 9}}"
    poles, edges = evaluated(
        "core/mercator.js",
        f"data.map(bounds => fitBounds(bounds, {size}))",
        [[-180, -90, 180, 90], [-180, -85.051129, 180, 85.051129]],
    )
    assert poles == edges
    assert poles["latitude"] == pytest.approx(0, abs=1e-6)


def test_the_tooltip_has_the_unit_of_its_legend(evaluated):
    """4 records on 2 million km² are 2 per million of them, within a noise of 1."""
    columns = {"getCount": 4, "getNoiseSd": 0.1, "getKm2": 2e6, "getInside": 1}
    columns = {name: {"value": [value]} for name, value in columns.items()}
    legend = {"noun": "trees", "surface": {"km2": 1e6, "words": "million km²"}}
    _, density = evaluated(
        "draw/areas.js", "cellWords(data[0], 0, true, 2, data[1])", [columns, legend]
    )
    assert density == "2 per million km² · 2,000,000 km²"


def test_a_countrys_name_never_moves_to_another_country(evaluated):
    """Saudi Arabia's stood in the Arabian Sea, beside the larger name of Iran."""
    names = evaluated(
        "draw/surround.js",
        """(() => {
          const drawn = [];
          const map = Object.assign(Object.create(Surround.prototype), {
            app: {theme: {text: [0, 0, 0]}, sight: {}}, text: 1, sized: () => '',
            words: (pen, name, x, y) => drawn.push([name, x, y])});
          const view = {x: 0, y: 0, width: 800, height: 600, zoom: 3, project: at => at};
          const pen = {measureText: () => ({width: 80}), beginPath() {}, arc() {}, fill() {}};
          map.names(pen, view, data, []);
          return drawn;
        })()""",
        [
            {"name": name, "lon": 400 + 40 * k, "lat": 300, "rank": k, "from": 0, "fixed": fixed}
            for k, (name, fixed) in enumerate([("IRAN", True), ("SAUDI", True), ("Riyadh", False)])
        ],
    )
    assert [name for name, _, _ in names] == ["IRAN", "Riyadh"]
    assert names[0][1] == 400
