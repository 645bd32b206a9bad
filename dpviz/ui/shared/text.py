"""Text on the screen: data are never interpreted as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpviz.escape import escape_markdown
from dpviz.exports.facts import guarantee_sentence, person_words
from dpviz.releases.areas.hexagons import level_titles, level_words
from dpviz.releases.header import Header, price_words
from dpviz.releases.release import Release
from dpviz.render import half_width_words, rounded
from dpviz.render.numbers import MINUS

plain = escape_markdown
"""Text from data or errors, as the screen shows it unchanged."""


def sentence(words: object) -> str:
    r"""Text of an error as a sentence on the screen; a name at its start stays as it is.

    >>> sentence("no such release"), sentence("text.csv: give a header row?")
    ('No such release\\.', 'text\\.csv\\: give a header row?')
    """
    text = str(words).strip()
    if text.partition(" ")[0].isalpha():
        text = text[:1].upper() + text[1:]
    return plain(text if text.endswith((".", "?", "!", "…")) else f"{text}.")


def quoted(names: Iterable[str]) -> str:
    """Names of a list, each in quotes, since a name may hold a comma.

    >>> quoted(["bike", "bus, tram"])
    '“bike”, “bus, tram”'
    """
    return ", ".join(f"“{plain(name)}”" for name in names)


def on_screen(count: float, error: float) -> float:
    """Round a count as shown beside its error, so that sums of shown counts agree."""
    return _number(rounded(count, error))


def half_on_screen(half_width: float) -> float:
    """Half-width of an interval as shown."""
    return _number(half_width_words(half_width))


def _number(words: str) -> float:
    return float(words.replace(",", "").replace(MINUS, "-"))


def cells_in_words(number: int, noun: str = "cell") -> str:
    """Number of cells or areas in words.

    >>> cells_in_words(1), cells_in_words(1200, "area")
    ('1 cell', '1,200 areas')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def level_title(level: str) -> str:
    """Title of a level of areas; hexagons by their mean size.

    >>> level_title("h3:7"), level_title("ward")
    ('hexagons of 5.2 km²', 'ward')
    """
    words = level_words(level)
    return plain(level) if words == level else words


def sizes_in_words(levels: Sequence[str], sizes: Sequence[int]) -> str:
    """Levels of areas with their numbers of areas, coarsest first.

    >>> sizes_in_words(["name"], [6]), sizes_in_words(["district", "ward"], [4, 25])
    ('areas (6)', 'district (4), ward (25)')
    """
    titles = [plain(each) if each in levels else each for each in level_titles(levels)]
    return ", ".join(f"{title} ({size:,})" for title, size in zip(titles, sizes, strict=True))


def badge(header: Header) -> str:
    """Guarantee of a release as a short Markdown badge; red if it has no guarantee."""
    kind, words = header.privacy_status
    colour, icon = "gray", "public"
    if kind == "open":
        colour, icon = "red", "warning"
    elif words.startswith("Demo"):
        colour, icon = "blue", "science"
    # Records that are declared public or synthetic need no protection.
    elif kind == "private" and not header.extra.get("records"):
        colour, icon = "green", "verified_user"
    if kind == "private":
        unit = person_words(header.unit, column=False).partition(" with at most ")[0]
        who = unit.removeprefix("one ").replace("'s records of one ", " and ")
        words = f"{price_words(header.epsilon, header.delta)} per {who}"
        words += f"; {known}" if (known := header.extra.get("records")) else ""
    return f":{colour}-badge[:material/{icon}: {plain(words)}]"


def guarantee_help(noun: str, *releases: Release) -> str | None:
    """The guarantees behind private releases' badges in plain words, for a tooltip; else None.

    ``noun`` is the owner's plural of what is counted, in place of "records".
    """
    sentences = [guarantee_sentence([each], "A", noun) for each in releases]
    private = [plain(words) for kind, words in sentences if kind == "private"]
    return "\n\n".join(dict.fromkeys(private)) or None
