"""Numbers in words, rounded as far as their noise allows; the map's tooltip does the same."""

from __future__ import annotations

import math

from dpviz.releases.answers import RangeAnswers

MINUS = "−"
"""Minus sign of numbers in words, as wide as +; a hyphen is narrower."""

NO_BREAK = "\u00a0"
"""A space at which no line ends: a number and its unit stay together."""

LAST_DIGITS = 1e-7
"""Share of a decimal place below which an excess counts as a rounding error of floats: that of a
float32, in which maps get standard deviations, is 6e-8."""


def rounded(value: float, half_width: float) -> str:
    """``value`` at the last decimal place that an uncertainty of ``half_width`` leaves meaning.

    It is the place to which :func:`half_width_words` rounds.

    >>> rounded(1237.4, 58.8), rounded(-1237.4, 0), rounded(-0.2, 14.7)
    ('1,240', '−1,237', '0')
    """
    if not _is_width(half_width):
        return _at_place(value, 0) if abs(value) >= 10 or value % 1 == 0 else short(value)
    return _at_place(value, _shown(half_width)[1])


def half_width_words(half_width: float) -> str:
    """Text of a half-width after ±, rounded up: no interval is shown narrower than it is.

    It is whole from 1 on, as counts are, and has two digits where it begins with 1, 2 or 3, else
    one.

    >>> [half_width_words(half) for half in (24.1, 51, 39.2, 2.9, 0.29, 0)]
    ['25', '60', '40', '3', '0.29', '0']
    """
    if not _is_width(half_width):
        return rounded(half_width, 0)
    half, place = _shown(half_width)
    return _at_place(half, place)


def with_noise(value: float, half_width: float) -> str:
    """A value and the half-width of its 95 % interval.

    >>> with_noise(1237.4, 58.8), with_noise(24.04, 2.9), with_noise(7, 0)
    ('1,240 ± 60', '24 ± 3', '7')
    """
    if not _is_width(half_width):
        return rounded(value, half_width)
    return f"{rounded(value, half_width)} ± {half_width_words(half_width)}"


def within_noise(words: str) -> bool:
    """Return whether the interval of :func:`with_noise` holds zero.

    >>> within_noise("−1,200 ± 3,400"), within_noise("1,240 ± 60"), within_noise("7")
    (True, False, False)
    """
    value, _, half = words.translate({ord(","): "", ord("−"): "-"}).partition(" ± ")
    return bool(half) and abs(float(value)) <= float(half)


def count_words(answers: RangeAnswers) -> str:
    """The first of some counts, with both its errors together."""
    return with_noise(float(answers.count[0]), float(answers.total_error[0]))


def interval_words(value: float, half_width: float) -> str:
    """The ends of an interval, so rounded that they add up with :func:`with_noise`.

    >>> interval_words(1237.4, 58.8), interval_words(7, 0)
    ('1,180 to 1,300', '7 to 7')
    """
    if not _is_width(half_width):
        return f"{rounded(value, 0)} to {rounded(value, 0)}"
    half, place = _shown(half_width)
    middle = _nearest(value, place)
    return f"{_at_place(middle - half, place)} to {_at_place(middle + half, place)}"


def short(value: float) -> str:
    """Two significant digits with thousands separated: legends, densities.

    >>> [short(v) for v in (0, 0.0123, 4.56, 1234, 987654)]
    ['0', '0.012', '4.6', '1,200', '990,000']
    """
    if value == 0 or not math.isfinite(value):
        return "0"
    place = math.floor(math.log10(abs(value))) - 1
    text = _at_place(value, place)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _is_width(half_width: float) -> bool:
    return math.isfinite(half_width) and half_width > 0


def _shown(half_width: float) -> tuple[float, int]:
    """The half-width after ±, and the decimal place of its last digit: whole from 1 on.

    An exact count is whole, so rounding to whole numbers never makes an interval miss it.
    """
    half, place = _rounded_up(half_width)
    return (float(math.ceil(half)), 0) if half >= 1 and place < 0 else (half, place)


def _rounded_up(half_width: float) -> tuple[float, int]:
    """A half-width rounded up, and the decimal place of its last digit."""
    exponent = math.floor(math.log10(half_width))
    place = exponent - 1 if half_width / 10.0**exponent < 4 else exponent
    digits = math.ceil(half_width / 10.0**place * (1 - LAST_DIGITS))
    if digits == 40:  # 39.2 is rounded up to 40, which begins with 4
        digits, place = 4, place + 1
    return float(f"{digits}e{place}"), place


def _outwards(value: float, place: int, sign: int) -> str:
    """The lower end (sign −1) or the upper one (1) of an interval, rounded away from its middle."""
    end, step = _nearest(value, place), float(f"1e{place}")
    inside = sign * (value - end) > LAST_DIGITS * step
    return _at_place(end + sign * step if inside else end, place)


def _nearest(value: float, place: int) -> float:
    """By all digits of a float, halves to the even: NumPy's own numbers round otherwise."""
    return round(float(value), -place)


def _at_place(value: float, place: int) -> str:
    result = _nearest(value, place)
    return f"{0.0 if result == 0 else result:,.{max(0, -place)}f}".replace("-", MINUS)


def percent(share: float, places: int = 0) -> str:
    """A share in per cent as every text has it, with a no-break space before the sign.

    Only an exact share is 0 or 100 %.

    >>> percent(0.953) == f"95{NO_BREAK}%", percent(0.0123, 1) == f"1.2{NO_BREAK}%"
    (True, True)
    >>> [percent(*each).split() for each in ((0.002,), (0.998,), (0.0002, 1), (1.0,))]
    [['under', '1', '%'], ['over', '99', '%'], ['under', '0.1', '%'], ['100', '%']]
    """
    number, before = round(100 * share, places), ""
    if number in (0, 100) and LAST_DIGITS < share < 1 - LAST_DIGITS:
        before, step = ("over ", -1) if number else ("under ", 1)
        number += step * 10.0**-places
    return f"{before}{number:.{places}f}{NO_BREAK}%"


def percent_interval(value: float, low: float, high: float) -> str:
    """A share and its interval in per cent, with the decimal places that the interval allows.

    >>> percent_interval(0.42, 0.381, 0.459).replace(NO_BREAK, " ")
    '42.0 % (38.1 to 45.9 %)'
    >>> percent_interval(0.42, 0.3402, 0.4998).replace(NO_BREAK, " ")
    '42 % (34 to 50 %)'
    """
    half = min(50.0 * (high - low), 5.0)
    first, least, most = _with_ends(100.0 * value, 100.0 * low, 100.0 * high, half)
    return f"{first}{NO_BREAK}% ({least} to {most}{NO_BREAK}%)"


def with_interval(value: float, low: float, high: float) -> str:
    """Any other value and its interval, whose ends are rounded outwards.

    >>> with_interval(12.13, 11.82, 12.42), with_interval(123, 71, 182)
    ('12.13 (11.82 to 12.42)', '120 (70 to 190)')
    """
    first, least, most = _with_ends(value, low, high, (high - low) / 2)
    return f"{first} ({least} to {most})"


def _with_ends(value: float, low: float, high: float, half: float) -> tuple[str, str, str]:
    if not _is_width(half):
        return rounded(value, 0), rounded(low, 0), rounded(high, 0)
    place = _rounded_up(half)[1]
    return _at_place(value, place), _outwards(low, place, -1), _outwards(high, place, 1)


def odds(epsilon: float) -> str:
    """e^ε, by which at most one record changes the odds of any conclusion; of any ε.

    >>> odds(1.0), odds(10.0), odds(1000.0)
    ('2.72', '22,026', '10^434')
    """
    if epsilon < math.log(1e6):
        factor = math.exp(epsilon)
        return f"{factor:,.3g}" if factor < 1e3 else f"{factor:,.0f}"
    return f"10^{epsilon / math.log(10):,.0f}"
