"""List every message that a user can meet, for review: ``uv run python -m tests.messages``.

One line each: file, line, kind (error, shown, script, template) and the text, with ``{…}`` for
values.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = {
    "error", "warning", "info", "success", "caption", "toast", "markdown", "write", "subheader",
    "button", "checkbox", "toggle", "radio", "selectbox", "segmented_control", "pills", "slider",
    "text_input", "number_input", "text_area", "file_uploader", "multiselect", "download_button",
    "expander", "popover", "echo", "secho", "Option", "Argument", "print",
}  # fmt: skip
"""Functions of Streamlit and typer whose texts appear on a screen."""


def text_of(node: ast.expr) -> str | None:
    """The text of a literal or f-string; None for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(text_of(each) or "{…}" for each in values)
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value)}}}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{text_of(left) or '{…}'}{text_of(right) or '{…}'}"
        case ast.IfExp(body=body, orelse=orelse):
            return f"{text_of(body) or '{…}'} | {text_of(orelse) or '{…}'}"
    return None


def messages(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, kind and text of each message in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        kind = "error" if name.endswith("Error") else "shown" if name in SHOWN else ""
        arguments = [*node.args, *(word.value for word in node.keywords if word.arg == "help")]
        for text in filter(None, map(text_of, arguments if kind else [])):
            if " " in text:
                yield node.lineno, kind, " ".join(text.split())


COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*|\{#.*?#\}", re.DOTALL)
SCRIPT = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`"""
TEMPLATE = r'(?:title|alt|aria-label|placeholder)="[^"]*"|>[^<]+'
JINJA = r"\{\{.*?\}\}|\{%.*?%\}"


def texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, kind and text of each literal of a script, and of each text of a template."""
    kind = "template" if path.suffix == ".html" else "script"
    source = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), path.read_text())
    if kind == "template":
        jinja = {"{{": "{…}", "{%": " "}
        source = re.sub(JINJA, lambda found: jinja[found[0][:2]], source)
    for found in re.finditer(TEMPLATE if kind == "template" else SCRIPT, source):
        text = " ".join(found[0].strip("'\"`>").split())
        if re.search(r"[^\W\d_]{2}", text) and (" " in text or text.istitle()):
            yield source.count("\n", 0, found.start()) + 1, kind, text


if __name__ == "__main__":
    for path in sorted((ROOT / "dpviz").rglob("*.*")):
        read = {".py": messages, ".js": texts, ".html": texts}.get(path.suffix)
        for line, kind, text in sorted(read(path) if read else []):
            print(f"{path.relative_to(ROOT)}:{line}\t{kind}\t{text}")
