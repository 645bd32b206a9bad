"""Numbers in words, rounded to what their noise allows. The map's tooltip follows the same rule."""

from __future__ import annotations

import math

MINUS = "−"
"""Of numbers in words, as wide as +; a hyphen is none."""

NO_BREAK = "\u00a0"
"""A space at which no line ends: a number and its unit stay together."""


def rounded(value: float, half_width: float) -> str:
    """``value`` at the last decimal place that an uncertainty of ``half_width`` leaves meaning.

    The half-width keeps one digit, two where it begins with 1, and the value the same place.

    >>> rounded(1237.4, 58.8), rounded(-1237.4, 0), rounded(-0.2, 14.7)
    ('1,240', '−1,237', '0')
    """
    if not (math.isfinite(half_width) and half_width > 0):
        return _at_place(value, 0) if abs(value) >= 10 or value % 1 == 0 else short(value)
    return _at_place(value, _place(half_width))


def with_noise(value: float, half_width: float) -> str:
    """A value and the half-width of its 95 % interval.

    >>> with_noise(1237.4, 58.8), with_noise(12.34, 1.23), with_noise(7, 0)
    ('1,240 ± 60', '12.3 ± 1.2', '7')
    """
    if not (math.isfinite(half_width) and half_width > 0):
        return rounded(value, half_width)
    place = _place(half_width)
    return f"{_at_place(value, place)} ± {_at_place(half_width, place)}"


def interval_words(value: float, half_width: float) -> str:
    """The ends of an interval, so rounded that they add up with :func:`with_noise`.

    >>> interval_words(1237.4, 58.8), interval_words(7, 0)
    ('1,180 to 1,300', '7 to 7')
    """
    if not (math.isfinite(half_width) and half_width > 0):
        return f"{rounded(value, 0)} to {rounded(value, 0)}"
    place = _place(half_width)
    middle, half = round(value, -place), round(half_width, -place)
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


def _place(half_width: float) -> int:
    exponent = math.floor(math.log10(half_width))
    return exponent - 1 if half_width / 10.0**exponent < 2 else exponent


def _at_place(value: float, place: int) -> str:
    result = round(value, -place)
    return f"{0.0 if result == 0 else result:,.{max(0, -place)}f}".replace("-", MINUS)


def percent(share: float, places: int = 0) -> str:
    """A share in per cent, as every text has it: with a space before the sign, and no line break.

    >>> percent(0.953) == f"95{NO_BREAK}%", percent(0.0123, 1) == f"1.2{NO_BREAK}%"
    (True, True)
    """
    return f"{100 * share:.{places}f}{NO_BREAK}%"


def percent_interval(value: float, low: float, high: float) -> str:
    """A share and its interval, both to the place that the interval leaves, and a whole per cent.

    >>> percent_interval(0.42, 0.38, 0.46).replace(NO_BREAK, " ")
    '42 % (38 to 46 %)'
    >>> percent_interval(0.00309, 0.00291, 0.00326).replace(NO_BREAK, " ")
    '0.309 % (0.291 to 0.326 %)'
    """
    half = min(50.0 * (high - low), 5.0)
    first, least, most = (rounded(100.0 * each, half) for each in (value, low, high))
    return f"{first}{NO_BREAK}% ({least} to {most}{NO_BREAK}%)"


def odds(epsilon: float) -> str:
    """e^ε, by which at most one record changes the odds of any conclusion; of any ε.

    >>> odds(1.0), odds(10.0), odds(1000.0)
    ('2.72', '22,026', '10^434')
    """
    if epsilon < math.log(1e6):
        factor = math.exp(epsilon)
        return f"{factor:,.3g}" if factor < 1e3 else f"{factor:,.0f}"
    return f"10^{epsilon / math.log(10):,.0f}"
