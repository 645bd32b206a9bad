"""The templates of pages, in which every name and number is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from dpviz.lazy import jinja2
from dpviz.private.curve import upper_limit
from dpviz.render.numbers import short, within_noise
from dpviz.render.scene import Bounds


def page(template: str, **words: Any) -> str:
    """Render a template as a page."""
    return environment().get_template(template).render(**words)


@cache
def environment() -> jinja2.Environment:
    """The templates, with every name and number escaped."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("dpviz.exports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests["within_noise"] = within_noise
    templates.filters |= {"degrees": _degrees, "short": short, "upper_limit": upper_limit}
    return templates


def _degrees(rect: Bounds) -> str:
    west, south, east, north = (f"{value:.4f}".replace("-", "−") for value in rect)
    return f"{west} to {east} east, {south} to {north} north"
