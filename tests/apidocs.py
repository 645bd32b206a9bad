"""The page on the Python API, made from docstrings: ``uv run python -m tests.readme`` writes it."""

import ast
import importlib
import inspect
import itertools
import math
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "assets" / "api.md"
PACKAGES = ("dpviz", "dpviz.exports", "dpviz.methods", "dpviz.render", "dpviz.datasets")
"""What the outside may import: the names in ``__all__`` of these packages."""

LONG = 76
"""Characters of a signature on one line."""

HEAD = """# The Python API

Generated from the docstrings by `uv run python -m tests.readme`; a test says when it is out of
date, and every example here is run by the test suite.
"""


def public():
    """(package, name, object) of every public name, in the order of the page."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__, key=lambda each: (each.isupper(), each.lower())):
            yield package, name, getattr(module, name)


def page():
    """The page as Markdown."""
    sections, last = [HEAD], None
    for package, name, obj in public():
        if package != last:
            last = package
            sections.append(
                f"\n## `{package}`\n\n{prose(importlib.import_module(package).__doc__)}"
            )
        sections.append(f"\n### `{package}.{name}`\n\n{entry(name, obj)}")
    return "\n".join(sections)


def entry(name, obj):
    """Signature, docstring and members of one name."""
    cached = hasattr(obj, "__wrapped__")
    if not (inspect.isclass(obj) or inspect.isroutine(obj) or cached):
        return prose(constant_doc(name, obj))
    text = f"```python\n{name}{signature(obj)}\n```\n\n{prose(inspect.getdoc(obj))}"
    if not inspect.isclass(obj) or issubclass(obj, BaseException):
        return text
    return text + "".join(
        f"\n- `{name}.{member}{signature(each, math.inf)}`: {first(each)}"
        for member, each in members(obj)
    )


def members(cls):
    """(name, object) of the documented methods and properties that a class defines itself."""
    for name, each in vars(cls).items():
        if isinstance(each, (classmethod, staticmethod)):
            each = each.__func__
        if not name.startswith("_") and (inspect.isfunction(each) or isinstance(each, property)):
            yield name, each


def signature(obj, long=LONG):
    """The signature, one parameter a line where it is long; nothing for a property or an error."""
    if isinstance(obj, property) or (inspect.isclass(obj) and issubclass(obj, Exception)):
        return ""
    shown = inspect.signature(obj)
    listed, keyword_only = [], False
    for each in shown.parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            listed.append("*")
        keyword_only = keyword_only or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        listed.append(f"{stars}{each.name}{annotation(each)}{default(each)}")
    back = shown.return_annotation
    arrow = (
        "" if back in (shown.empty, None, "None") else f" -> {back}".replace(" pa.", " pyarrow.")
    )
    text = f"({', '.join(listed)}){arrow}"
    if len(text) <= long:
        return text
    return "(\n" + "".join(f"    {each},\n" for each in listed) + f"){arrow}"


def annotation(parameter):
    """``: type`` as it is written in the source."""
    kind = parameter.annotation
    return "" if kind is parameter.empty else f": {getattr(kind, '__name__', kind)}"


def default(parameter):
    """`` = value``; dots for what has no short form."""
    if parameter.default is parameter.empty:
        return ""
    text = repr(parameter.default)
    return f" = {'…' if text.startswith('<') else text}"


def first(obj):
    """The first paragraph of a docstring, on one line."""
    doc = inspect.getdoc(obj) or ""
    return marked(" ".join(doc.split("\n\n")[0].split()))


def prose(doc):
    """A Google-style docstring as Markdown."""
    assert doc, "no docstring"
    out = []
    for block in inspect.cleandoc(doc).split("\n\n"):
        if block.lstrip().startswith(">>>"):
            out.append(f"```python\n{textwrap.dedent(block)}\n```")
            continue
        section = re.match(r"(\w[\w ]*):\n(?=    )", block)
        if section:
            body = textwrap.dedent(block[section.end() :])
            items = re.split(r"\n(?=\S)", body)
            lines = [re.sub(r"^([\w*, .]+?):\s", r"`\1`: ", " ".join(x.split())) for x in items]
            out.append(f"**{section[1]}**\n\n" + "\n".join(f"- {marked(x)}" for x in lines))
        else:
            out.append(marked(block))
    return "\n\n".join(out) + "\n"


def marked(text):
    """The roles and double backticks of docstrings as Markdown's single ones."""
    text = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text).replace("<", "\\<")


def constant_doc(name, value):
    """The string that stands below the assignment of a public constant, in whichever module."""
    for file in sorted((ROOT / "dpviz").rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        body = ast.parse(source).body if name in source else ()
        for node, after in itertools.pairwise(body):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            named = any(isinstance(each, ast.Name) and each.id == name for each in targets)
            text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if named and text and isinstance(after.value.value, str):
                path = file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
                module = importlib.import_module(path.removesuffix(".__init__"))
                if getattr(module, name) is value:
                    return after.value.value
    return None
