"""The app around its pages: set-up, style, and what runs before each of them."""

from __future__ import annotations

import streamlit as st

from dpviz.ui.map.component import preload
from dpviz.ui.shared import log
from dpviz.ui.shared.navigation import page_modules, page_of
from dpviz.ui.shared.permalink import one_step_a_page
from dpviz.ui.shared.releases import open_given
from dpviz.ui.shared.turns import admitted, turn, wait_for_place

STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding: 3rem 1.5rem 2rem;}
[data-testid="stMetricValue"] {font-size: 1.5rem;}
[data-testid="stSidebarHeader"] {height: 2rem;}
.st-key-dpviz-preload, .st-key-dpviz-address {display: none;}
h1 {font-size: 1.6rem !important; padding: 0 0 0.25rem !important;}
h2 {font-size: 1.25rem !important; padding: 0.5rem 0 0.25rem !important;}
h3 {font-size: 1.05rem !important; padding: 0.5rem 0 0.25rem !important;}
[data-testid="stSelectbox"] input {text-overflow: ellipsis;}
[data-testid="stSidebarUserContent"] {padding-top: 0.75rem;}
[data-testid="stCaptionContainer"] {color: inherit; opacity: 0.78;}
[data-testid="stMarkdownContainer"] td + td {overflow-wrap: anywhere;}
.st-key-help-methods td:nth-child(2) {white-space: nowrap;}
.katex-display {overflow: visible !important;}
button[kind="primary"], button[kind="primaryFormSubmit"] {color: light-dark(#fff, #0f1317);}
:is(.st-key-learn-do, .st-key-learn-take) [data-testid="stAlertContainer"] {padding: 0.6rem 1rem;}
[class*="-aside"] {padding-bottom: 0.5rem;}
[class*="st-key-learn"] .katex-display {margin: 0.4rem 0;}
[class*="-tour-learn"] button p {font-size: 1rem; text-decoration: underline;}
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stToolbar"], button,
  [data-testid="stExpander"], [class*="-tour-box"] {display: none !important;}
  [data-testid="stAppViewContainer"], [data-testid="stMain"],
  .stApp {position: static !important; overflow: visible !important; height: auto !important;}
  [data-testid="stMainBlockContainer"] {padding: 0; max-width: none;}
  [data-testid="stHorizontalBlock"] {break-inside: avoid;}
}
@media (max-width: 640px) {
  [class*="-headline"] {flex-wrap: nowrap;}
  [class*="-headline"] button kbd {display: none;}
  [class*="-headline"] button p {position: absolute; width: 1px; height: 1px; overflow: hidden;}
  [class*="-tour-box"] {padding: 0.5rem 0.75rem; gap: 0.25rem;}
  [class*="-tour-steps"] {gap: 0.1rem;}
  [class*="-tour-steps"] button {min-height: 1.75rem;}
  [class*="-tour-box"] p {font-size: 0.875rem; line-height: 1.4;}
  .st-key-help-methods thead {display: none;}
  .st-key-help-methods :is(table, tbody, tr, td) {display: block; border: none; padding: 0;}
  .st-key-help-methods tr {padding: 0.5rem 0; border-bottom: 1px solid #8884;}
  .st-key-help-methods td:first-child {font-weight: 600;}
  .st-key-learn-body [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) {
    flex-direction: column; flex-wrap: nowrap; gap: 1rem;}
  .st-key-learn-body [data-testid="stColumn"],
  .st-key-learn-body [data-testid="stColumn"] > [data-testid="stVerticalBlock"] {display: contents;}
  .st-key-learn-body [data-testid="stLayoutWrapper"]:has(> [class*="-aside"]) {order: 1;}
}
</style>"""


def summaries() -> dict[str, str]:
    """What every page is for, by its title: the first sentence of its docstring."""
    texts = {
        each.TITLE: " ".join((each.__doc__ or "").split("\n\n")[0].split())
        for each in page_modules()
    }
    return {title: text.removeprefix(f"{title}: ") for title, text in texts.items()}


def run() -> None:
    """Show the app."""
    log.redact()
    # Before the navigation, which would fetch its own icon of the page from a server elsewhere.
    st.set_page_config(page_icon="🗺️", layout="wide")
    first, *others = page_modules()
    page = st.navigation([page_of(first, default=True), *map(page_of, others)])
    st.set_page_config(page_title=f"{page.title} · dpviz")
    st.html(STYLE)
    one_step_a_page()
    preload()
    st.title(page.title, anchor=False)
    if not admitted():
        wait_for_place()
        return
    with turn():
        open_given()
        page.run()
