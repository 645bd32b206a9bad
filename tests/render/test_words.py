"""Numbers and legends in words."""

import pytest

from dpviz.render import density_legend, rounded, short, with_noise
from dpviz.render.legend import log_ticks


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (1237.4, 58.8, "1,240 ± 60"),
        (12345, 1470, "12,300 ± 1,500"),
        (0.3, 14.7, "0 ± 15"),
        (-31.2, 14.7, "-31 ± 15"),
        (12.34, 0.61, "12.3 ± 0.6"),
        (7, 0, "7"),
    ],
)
def test_noise_decides_the_digits(value, half, text):
    assert with_noise(value, half) == text


def test_rounded_keeps_the_place_of_the_noise():
    assert rounded(9_876_543, 20_000) == "9,880,000"


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.5, "0.5"), (35_123, "35,000"), (-4.56, "-4.6")]
)
def test_short(value, text):
    assert short(value) == text


def test_ticks_lie_on_the_ramp_in_order():
    for low, high in [(0.3, 42_000), (5, 6), (1e-4, 1e9)]:
        places = [at for at, _ in log_ticks(low, high)]
        assert places == sorted(places)
        assert min(places) >= -1e-9
        assert max(places) <= 1 + 1e-9
        assert 2 <= len(places) <= 5


def test_the_legend_names_its_unit_and_what_is_not_on_the_ramp():
    legend = density_legend((1, 1000)).to_dict()
    assert "per km²" in legend["title"]
    assert [swatch["hatch"] for swatch in legend["swatches"]] == [False, True]
