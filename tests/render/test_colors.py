"""Every colour ramp is monotone and even, for every eye and in grey; the accent is distinct."""

import numpy as np
import pytest

from dpviz.render.colors import (
    ACCENT,
    ACCENTS,
    LAND,
    MORE_A,
    MORE_B,
    PALETTES,
    QUIET,
    WATER,
    classed,
    from_oklab,
    oklab,
)

EYES = {
    "typical": np.eye(3),
    # Machado, Oliveira, Fernandes, IEEE TVCG 15(6), 2009: severity 1, on linear RGB.
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
EVEN = 5.9
"""The smallest step between neighbouring stops, OKLab times 100."""


def linear(rgb):
    value = np.asarray(rgb, float) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def seen(rgb, eye):
    value = np.clip(linear(rgb) @ np.array(EYES[eye]).T, 0, 1)
    return 255 * np.where(value <= 0.0031308, value * 12.92, 1.055 * value ** (1 / 2.4) - 0.055)


def luminance(rgb):
    return linear(rgb) @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    low, high = sorted((luminance(one) + 0.05, luminance(other) + 0.05))
    return high / low


ramps = pytest.mark.parametrize(
    ("name", "theme"), [(name, theme) for name in PALETTES for theme in ("light", "dark")]
)


@ramps
@pytest.mark.parametrize("eye", EYES)
def test_a_ramp_leads_away_from_the_ground_in_even_steps(name, theme, eye):
    stops = seen(PALETTES[name].of(theme), eye)
    steps = np.diff(luminance(stops))
    assert (steps < 0).all() if theme == "light" else (steps > 0).all()
    assert np.linalg.norm(np.diff(oklab(stops), axis=0), axis=1).min() * 100 > EVEN


@ramps
def test_the_lowest_class_is_nearest_to_the_ground(name, theme):
    ground = np.array(LAND.of(theme))
    away = [contrast(color, ground) for color in classed(name, 7).of(theme)]
    assert away == sorted(away)
    assert away[0] < 1.6
    assert away[-1] > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_are_seen_on_the_ground(theme):
    assert min(contrast(c, LAND.of(theme)) for c in classed("tide", 5, 0.5).of(theme)) >= 3
    assert contrast(QUIET.of(theme), LAND.of(theme)) >= 3


@pytest.mark.parametrize(("theme", "least"), [("light", 1.15), ("dark", 1.25)])
def test_the_sea_is_told_from_the_land(theme, least):
    """Screens show the darkest colours alike: only a thin shore told them apart."""
    assert least <= contrast(WATER.of(theme), LAND.of(theme)) < 1.4  # quiet, below the cells


@ramps
@pytest.mark.parametrize("eye", ["typical", "protanopia", "deuteranopia"])
def test_the_accent_is_no_colour_of_the_map(name, theme, eye):
    accent = np.array(ACCENTS[name].of(theme))
    assert contrast(accent, LAND.of(theme)) >= 4.5
    if name == "grey":
        return  # a grey of the same lightness is another colour for these eyes alone
    away = oklab(seen(PALETTES[name].of(theme), eye)) - oklab(seen([accent], eye))
    assert np.linalg.norm(away, axis=1).min() * 100 >= 8


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eye", ["typical", "protanopia", "deuteranopia"])
def test_the_two_sides_of_a_difference_are_told_apart(theme, eye):
    a, b = (oklab(seen(side.of(theme), eye)) for side in (MORE_A, MORE_B))
    assert np.linalg.norm(a - b, axis=1).min() * 100 > EVEN
    for side in (MORE_A, MORE_B):
        away = [contrast(color, LAND.of(theme)) for color in side.of(theme)]
        assert away == sorted(away)


def test_colours_survive_oklab_and_back():
    colors = np.array([[0, 0, 0], [255, 255, 255], [194, 65, 12], [24, 32, 94]])
    np.testing.assert_allclose(from_oklab(oklab(colors)), colors, atol=0.05)
    assert oklab([255, 255, 255])[0] == pytest.approx(1, abs=1e-4)
    assert ACCENT.light != ACCENT.dark
