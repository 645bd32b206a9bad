"""Pages of the app: files in ``pages`` with TITLE, ORDER, page(), and MENU if in one."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

import dpviz.ui.pages

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


PAGE = "r"
"""Address of the page of a release, which no menu lists."""


def page_modules(*, owners: bool = False) -> list[ModuleType]:
    """Modules of the pages that all visitors may see, or of those for owners, in order."""
    pages = pkgutil.iter_modules(dpviz.ui.pages.__path__)
    modules = [importlib.import_module(f"dpviz.ui.pages.{each.name}") for each in pages]
    chosen = (each for each in modules if getattr(each, "OWNERS", False) == owners)
    return sorted((each for each in chosen if hasattr(each, "page")), key=lambda each: each.ORDER)


def is_reading() -> bool:
    """Return whether the visitor reads the page of a release, which has no navigation."""
    return urlsplit(str(st.context.url or "")).path == f"{base_path()}{PAGE}"


def base_path() -> str:
    """Path of the app on this server, from its first slash to its last."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}/" if base else "/"


def sections(*, owners: bool) -> dict[str, list[StreamlitPage]]:
    """Pages by the menu that lists them; "" is of pages that stand for themselves."""
    modules = page_modules() + (page_modules(owners=True) if owners else [])
    menus: dict[str, list[StreamlitPage]] = {}
    for module in modules:
        made = page_of(module, default=module is modules[0])
        menus.setdefault(getattr(module, "MENU", ""), []).append(made)
    return menus


def page_named(name: str) -> StreamlitPage:
    """Page of the module with this name."""
    module = importlib.import_module(f"dpviz.ui.pages.{name}")
    return page_of(module, default=name == "explore")


def page_of(module: ModuleType, *, default: bool = False) -> StreamlitPage:
    """A page in the form of Streamlit's navigation."""
    return st.Page(
        module.page,
        title=module.TITLE,
        url_path=module.__name__.rsplit(".", 1)[-1],
        default=default,
        visibility="hidden" if getattr(module, "HIDDEN", False) else "visible",
    )
